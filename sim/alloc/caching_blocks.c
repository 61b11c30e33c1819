/* caching_blocks.c: slots of blocks and segments, cutting and joining of neighbours, and the map
 * from the address of a live block to it. */
#include <assert.h>
#include <string.h>

#include "caching_core.h"
#include "framework.h"

enum { LIVE_FIRST_BITS = 6 };

static bool reserve_births(struct caching *al) {
    if (al->births.count >= al->blocks.capacity)
        return true;
    if (!array_reserve_tight(&al->births, al->blocks.capacity))
        return false;
    al->births.count = al->births.capacity;
    return true;
}

void block_renew(struct caching *al, const struct block *block) {
    if (al->framework->tie_rule == TIE_OLDER_BLOCK)
        al->births.at[block_id(al, block)] = al->next_number++;
}

void block_take_birth(struct caching *al, const struct block *to, const struct block *from) {
    if (al->framework->tie_rule == TIE_OLDER_BLOCK)
        al->births.at[block_id(al, to)] = al->births.at[block_id(al, from)];
}

bool caching_reserve_blocks(struct caching *al, uint32_t count) {
    if (al->spare_blocks >= count)
        return true;
    size_t used = al->blocks.count ? al->blocks.count : 1; /* slot 0 is "none" */
    if (used + count > UINT32_MAX || !array_reserve_tight(&al->blocks, used + count))
        return false;
    if (al->blocks.count == 0)
        al->blocks.count = 1;
    if (al->sides.count > 0 && !caching_reserve_sides(al))
        return false;
    if (al->framework->tie_rule == TIE_OLDER_BLOCK && !reserve_births(al))
        return false;
    al->spare_blocks = count; /* at least: the rest is found when asked for */
    return true;
}

bool caching_reserve_sides(struct caching *al) {
    size_t count = al->blocks.capacity, before = al->sides.count;
    if (before >= count && before > 0)
        return true;
    if (!array_reserve_tight(&al->sides, count > 0 ? count : 1))
        return false;
    al->sides.count = al->sides.capacity;
    memset(al->sides.at + before, 0, (al->sides.count - before) * sizeof *al->sides.at);
    return true;
}

/* The caller has reserved. */
static uint32_t block_slot(struct caching *al) {
    uint32_t id = al->free_block_slot;
    if (id) {
        al->free_block_slot = block_at(al, id)->next;
    } else {
        assert(al->blocks.count < al->blocks.capacity);
        id = (uint32_t)al->blocks.count++;
    }
    if (al->spare_blocks)
        al->spare_blocks--;
    return id;
}

static void drop_block(struct caching *al, struct block *block) {
    block->segment = 0;
    block->next = al->free_block_slot;
    al->free_block_slot = block_id(al, block);
    al->spare_blocks++;
}

bool caching_reserve_segment(struct caching *al) {
    if (al->free_segment_slot)
        return true;
    size_t used = al->segments.count ? al->segments.count : 1;
    if (used + 1 > UINT32_MAX || !array_reserve_tight(&al->segments, used + 1))
        return false;
    if (al->segments.count == 0)
        al->segments.count = 1;
    return true;
}

struct segment *segment_create(struct caching *al, struct home *home, uint64_t address,
                               uint64_t bytes, uint64_t page) {
    uint32_t id = al->free_segment_slot;
    if (id)
        al->free_segment_slot = al->segments.at[id].first;
    else
        id = (uint32_t)al->segments.count++;
    uint32_t first = block_slot(al);
    assert(page % 1048576 == 0 && page < CACHING_PAGE_END && al->next_number < UINT64_C(1) << 40);
    struct segment *segment = &al->segments.at[id];
    *segment = (struct segment){
        .number_page = page >> 20 << 40 | al->next_number++, .home = home->index, .first = first};
    struct block *block = block_at(al, first);
    assert(address % 512 == 0 && address < CACHING_ADDRESS_END);
    *block = (struct block){.place = address, .segment = id};
    block_set_state(block, page ? CACHING_BLOCK_UNMAPPED : CACHING_BLOCK_FREE);
    block_set_bytes(block, bytes);
    block_renew(al, block);
    return segment;
}

void segment_drop(struct caching *al, struct segment *segment) {
    struct block *only = block_at(al, segment->first);
    assert(!block_is_split(only));
    drop_block(al, only);
    segment->home = 0;
    segment->first = al->free_segment_slot;
    al->free_segment_slot = (uint32_t)(segment - al->segments.at);
}

struct block *block_cut(struct caching *al, struct block *block, uint64_t bytes) {
    uint64_t whole = block_bytes(block);
    assert(bytes > 0 && bytes < whole);
    uint32_t id = block_slot(al);
    struct block *high = block_at(al, id);
    *high = (struct block){.place = block_address(block) + bytes,
                           .segment = block->segment,
                           .prev = block_id(al, block),
                           .next = block->next};
    block_set_state(high, block_state(block));
    block_set_bytes(high, whole - bytes);
    if (block->next)
        block_at(al, block->next)->prev = id;
    block->next = id;
    block_set_bytes(block, bytes);
    block_renew(al, high);
    return high;
}

void block_join_next(struct caching *al, struct block *low) {
    struct block *high = block_at(al, low->next);
    assert(block_state(high) == block_state(low) && block_address(high) == block_end(low));
    block_set_bytes(low, block_bytes(low) + block_bytes(high));
    low->next = high->next;
    if (high->next)
        block_at(al, high->next)->prev = block_id(al, low);
    drop_block(al, high);
}

/* --- live addresses: linear probing, at most 3/4 full, holes closed on removal --- */

static uint32_t live_slot(const struct caching *al, uint64_t address) {
    return (uint32_t)((address >> 9) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - al->live_bits));
}

static uint32_t live_mask(const struct caching *al) {
    return (UINT32_C(1) << al->live_bits) - 1;
}

static void put_live(struct caching *al, uint32_t id) {
    uint32_t slot = live_slot(al, block_address(block_at(al, id)));
    while (al->live[slot])
        slot = (slot + 1) & live_mask(al);
    al->live[slot] = id;
}

bool caching_reserve_live(struct caching *al) {
    if (al->live && (uint64_t)(al->live_count + 1) * 4 <= (uint64_t)live_mask(al) * 3)
        return true;
    uint32_t bits = al->live ? al->live_bits + 1 : LIVE_FIRST_BITS;
    if (bits > 31)
        return false;
    uint32_t *grown = xcalloc((size_t)1 << bits, sizeof *grown);
    if (!grown)
        return false;
    uint32_t *old = al->live;
    uint32_t old_slots = old ? live_mask(al) + 1 : 0;
    al->live = grown;
    al->live_bits = bits;
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i])
            put_live(al, old[i]);
    xfree(old);
    return true;
}

void live_add(struct caching *al, const struct block *block) {
    put_live(al, block_id(al, block));
    al->live_count++;
}

static uint32_t find_live_slot(const struct caching *al, uint64_t address) {
    uint32_t slot = live_slot(al, address);
    while (al->live[slot] && block_address(block_at(al, al->live[slot])) != address)
        slot = (slot + 1) & live_mask(al);
    return slot;
}

struct block *live_find(const struct caching *al, uint64_t address) {
    if (!al->live)
        return NULL;
    uint32_t id = al->live[find_live_slot(al, address)];
    return id ? block_at(al, id) : NULL;
}

struct block *live_take(struct caching *al, uint64_t address) {
    if (!al->live)
        return NULL;
    uint32_t mask = live_mask(al), hole = find_live_slot(al, address), id = al->live[hole];
    if (!id)
        return NULL;
    for (uint32_t slot = (hole + 1) & mask; al->live[slot]; slot = (slot + 1) & mask) {
        uint32_t wanted = live_slot(al, block_address(block_at(al, al->live[slot])));
        if (((slot - wanted) & mask) < ((slot - hole) & mask))
            continue; /* it would lie before its first slot */
        al->live[hole] = al->live[slot];
        hole = slot;
    }
    al->live[hole] = 0;
    al->live_count--;
    return block_at(al, id);
}
