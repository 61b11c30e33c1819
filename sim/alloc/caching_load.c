/* caching_load.c: see caching_load.h. */
#include "caching_load.h"

#include <assert.h>

#include "caching_core.h"
#include "caching_stats.h"
#include "checked.h"
#include "error.h"
#include "framework.h"

/* Streams of pending blocks: from the top down, where no handle is. */
#define LAST_STREAM UINT64_MAX

static bool refuse(struct error *err, const struct caching_block *block, const char *what) {
    return error_set(err, ERROR_BAD_INPUT, "block at 0x%llx: %s",
                     (unsigned long long)block->address, what);
}

static bool is_same_segment(const struct caching_block *a, const struct caching_block *b) {
    return a->segment_address == b->segment_address && a->segment_bytes == b->segment_bytes &&
           a->stream == b->stream && a->pool_id.v[0] == b->pool_id.v[0] &&
           a->pool_id.v[1] == b->pool_id.v[1] && a->small_pool == b->small_pool &&
           a->expandable == b->expandable;
}

/* --- what the blocks of one segment must be --- */

static bool is_idle(const struct caching_block *block) {
    return block->state == CACHING_BLOCK_FREE || block->state == CACHING_BLOCK_UNMAPPED;
}

/* Unmapped ranges begin and end at pages. */
static bool check_unmapped(const struct caching_block *block, uint64_t page, struct error *err) {
    if (!block->expandable)
        return refuse(err, block, "unmapped, but in a plain segment");
    uint64_t offset = block->address - block->segment_address;
    uint64_t end = offset + block->bytes;
    if (offset % page || (end % page && end != block->segment_bytes))
        return refuse(err, block, "unmapped, but not at a page");
    return true;
}

static bool check_segment(const struct caching_block *blocks, size_t count, uint64_t page,
                          struct error *err) {
    uint64_t at = blocks[0].segment_address, end;
    if (!checked_add(at, blocks[0].segment_bytes, &end) || end > CACHING_ADDRESS_END ||
        blocks[0].segment_bytes >= CACHING_BYTES_END)
        return refuse(err, blocks, "its segment ends beyond all addresses");
    if (at % CACHING_MIN_BLOCK_BYTES)
        return refuse(err, blocks, "its segment does not begin at a multiple of 512");
    if (blocks[0].expandable && page >= CACHING_PAGE_END)
        return refuse(
            err, blocks,
            "its segment would be mapped in pages of 16 TiB or more: large_segment_size_mb");
    for (size_t i = 0; i < count; i++) {
        const struct caching_block *block = &blocks[i];
        if (block->address != at)
            return refuse(err, block, "does not begin where the one before ends");
        if (block->bytes == 0 || block->bytes % CACHING_MIN_BLOCK_BYTES || block->bytes > end - at)
            return refuse(err, block, "its size is no multiple of 512 or exceeds the segment");
        if (i > 0 && is_idle(block) && block->state == blocks[i - 1].state)
            return refuse(err, block, "free like the one before, but not joined with it");
        if (block->state == CACHING_BLOCK_UNMAPPED && !check_unmapped(block, page, err))
            return false;
        at += block->bytes;
    }
    return at == end || refuse(err, &blocks[count - 1], "its segment goes on behind it");
}

/* --- loading --- */

/* NULL: there is no such pool yet. */
static struct pool *find_pool(struct caching *al, struct caching_pool_id id, bool small) {
    if (id.v[0] == 0 && id.v[1] == 0)
        return small ? &al->small : &al->large;
    for (size_t i = 0; i < al->private_pools.count; i++) {
        struct private_pool *pool = al->private_pools.at[i];
        if (pool->id.v[0] == id.v[0] && pool->id.v[1] == id.v[1])
            return small ? &pool->small : &pool->large;
    }
    return NULL;
}

/* NULL: host memory. */
static struct pool *find_or_make_pool(struct caching *al, struct caching_pool_id id, bool small) {
    static const struct caching_pool_options none = {0};
    struct pool *pool = find_pool(al, id, small);
    if (!pool && caching_pool_create(&al->alloc, id, none) == ALLOC_OK)
        pool = find_pool(al, id, small);
    return pool;
}

static bool add_event(struct caching *al, const struct block *block, uint64_t event) {
    if (!caching_reserve_sides(al))
        return false;
    if (al->uses.count == 0 && !array_push(&al->uses, (struct use){0}))
        return false;
    if (al->uses.count >= UINT32_MAX || !array_reserve(&al->uses, al->uses.count + 1))
        return false;
    uint64_t stream = LAST_STREAM - al->fifos.count;
    uint32_t id = (uint32_t)al->uses.count;
    struct fifo fifo = {.stream = stream, .first = id, .last = id};
    if (!array_push(&al->fifos, fifo))
        return false;
    al->uses.at[al->uses.count++] =
        (struct use){.stream = stream, .event = event, .block = block_id(al, block)};
    block_side(al, block)->events = 1;
    al->pending_events++;
    return true;
}

static void count_active(struct caching *al, const struct pool *pool, const struct block *block) {
    struct alloc_stats *stats = &al->stats;
    enum alloc_pool_class class = pool_class(pool);
    stat_raise(stats->active, class, 1);
    stat_raise(stats->active_bytes, class, block_bytes(block));
    stat_raise(stats->requested_bytes, class, block->requested);
    if (block_state(block) != CACHING_BLOCK_ALLOCATED)
        return;
    stat_raise(stats->allocation, class, 1);
    stat_raise(stats->allocated_bytes, class, block_bytes(block));
    if (block_bytes(block) >= al->settings.max_split_bytes)
        stat_raise_one(&stats->oversize_allocations, 1);
}

/* `block` has its place and size; now it gets its state. */
static bool load_block(struct caching *al, struct block *block, const struct caching_block *from,
                       const uint64_t **next_event) {
    struct pool *pool = block_home(al, block)->pool;
    block_set_state(block, from->state);
    switch (from->state) {
    case CACHING_BLOCK_FREE:
        free_set_add(al, block);
        if (block_is_split(block) && !from->expandable) {
            stat_raise(al->stats.inactive_split, pool_class(pool), 1);
            stat_raise(al->stats.inactive_split_bytes, pool_class(pool), block_bytes(block));
        }
        return true;
    case CACHING_BLOCK_UNMAPPED:
        unmapped_add(al, block);
        return true;
    case CACHING_BLOCK_ALLOCATED:
        block->requested = from->requested_bytes;
        block_forget_uses(al, block);
        live_add(al, block);
        count_active(al, pool, block);
        return true;
    case CACHING_BLOCK_PENDING:
        block->requested = from->requested_bytes;
        block_forget_uses(al, block);
        count_active(al, pool, block);
        return add_event(al, block, *(*next_event)++);
    }
    return true;
}

static uint64_t mapped_bytes(const struct caching_block *blocks, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (blocks[i].state != CACHING_BLOCK_UNMAPPED)
            sum += blocks[i].bytes;
    return sum;
}

static void count_segment(struct caching *al, struct pool *pool, const struct caching_block *first,
                          uint64_t mapped) {
    driver_took(al, pool, mapped);
    if (first->expandable)
        return;
    stat_raise(al->stats.segment, pool_class(pool), 1);
    if (first->segment_bytes >= al->settings.max_split_bytes)
        stat_raise_one(&al->stats.oversize_segments, 1);
}

/* Memory that the model plans itself lies above all that was loaded. */
static void plan_above(struct caching *al, const struct caching_block *first) {
    uint64_t end = first->segment_address + first->segment_bytes;
    if (end > al->next_address &&
        !checked_round_up(end, CACHING_SMALL_SEGMENT_BYTES, &al->next_address))
        al->next_address = UINT64_MAX; /* and so the driver has none */
}

static bool load_segment(struct caching *al, const struct caching_block *blocks, size_t count,
                         const uint64_t **next_event, struct error *err) {
    uint64_t page = 0, mapped = mapped_bytes(blocks, count);
    if (blocks->expandable)
        page = blocks->small_pool ? CACHING_SMALL_SEGMENT_BYTES : al->settings.large_segment_bytes;
    if (mapped > al->capacity_bytes - al->used_bytes)
        return refuse(err, blocks, "the segments exceed the device's memory");
    struct pool *pool = find_or_make_pool(al, blocks->pool_id, blocks->small_pool);
    struct home *home = pool ? pool_home(al, pool, blocks->stream) : NULL;
    if (!home || count >= UINT32_MAX || !caching_reserve_blocks(al, (uint32_t)count) ||
        !caching_reserve_segment(al))
        return error_host_memory(err);
    struct segment *segment =
        segment_create(al, home, blocks->segment_address, blocks->segment_bytes, page);
    count_segment(al, pool, blocks, mapped);
    plan_above(al, blocks);
    uint32_t id = segment->first;
    for (size_t i = 0; i < count; i++) {
        uint32_t next = 0;
        if (i + 1 < count)
            next = block_id(al, block_cut(al, block_at(al, id), blocks[i].bytes));
        if (!caching_reserve_live(al) || !load_block(al, block_at(al, id), &blocks[i], next_event))
            return error_host_memory(err);
        id = next;
    }
    return true;
}

bool caching_load_state(struct alloc *alloc, const struct caching_block *blocks, size_t count,
                        const uint64_t *pending_events, struct error *err) {
    struct caching *al = caching_of(alloc);
    const uint64_t *next_event = pending_events;
    assert(al->segments.count == 0 && al->live_count == 0);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && is_same_segment(&blocks[first], &blocks[end]);)
            end++;
        const struct caching_block *from = &blocks[first];
        uint64_t page =
            from->small_pool ? CACHING_SMALL_SEGMENT_BYTES : al->settings.large_segment_bytes;
        if (!check_segment(from, end - first, page, err) ||
            !load_segment(al, from, end - first, &next_event, err))
            return false;
    }
    al->loaded_number = al->next_number;
    caching_reset_accumulated_stats(alloc);
    return true;
}

void caching_notice_events(struct alloc *alloc) {
    struct caching *al = caching_of(alloc);
    if (!caching_is_suspended(al))
        events_process(al);
}

/* --- the order of loaded segments --- */

static void set_number(struct caching *al, struct segment *segment, uint64_t number) {
    for (struct block *b = block_at(al, segment->first); b; b = block_next(al, b))
        if (block_state(b) == CACHING_BLOCK_FREE)
            free_set_remove(al, b);
    segment_set_number(segment, number);
    for (struct block *b = block_at(al, segment->first); b; b = block_next(al, b)) {
        if (block_state(b) != CACHING_BLOCK_FREE)
            continue;
        uint32_t calls = al->sides.count > 0 ? block_side(al, b)->freed_calls : 0;
        free_set_add(al, b);
        if (al->sides.count > 0)
            block_side(al, b)->freed_calls = calls; /* its age is what it was */
    }
}

static void change_segments(struct caching *al, struct segment *a, struct segment *b) {
    uint64_t number = segment_number(a);
    set_number(al, a, segment_number(b));
    set_number(al, b, number);
}

/* Two free blocks of equal size. */
static void change_births(struct caching *al, struct block *a, struct block *b) {
    uint64_t *x = &al->births.at[block_id(al, a)], *y = &al->births.at[block_id(al, b)], birth = *x;
    free_set_remove(al, a);
    free_set_remove(al, b);
    *x = *y;
    *y = birth;
    free_set_add(al, a);
    free_set_add(al, b);
}

/* The two, neither younger than the loaded state, change places in the order of the set; false:
 * the rule does not let them. */
static bool change_places(struct caching *al, struct block *a, struct block *b, uint64_t loaded) {
    struct segment *of_a = block_segment(al, a), *of_b = block_segment(al, b);
    switch (al->framework->tie_rule) {
    case TIE_OLDER_SEGMENT:
        if (of_a == of_b || segment_number(of_a) > loaded || segment_number(of_b) > loaded)
            return false;
        change_segments(al, of_a, of_b);
        return true;
    case TIE_OLDER_BLOCK:
        if (al->births.at[block_id(al, a)] >= al->loaded_number ||
            al->births.at[block_id(al, b)] >= al->loaded_number)
            return false;
        change_births(al, a, b);
        return true;
    case TIE_LOWER_ADDRESS:
        break;
    }
    return false;
}

bool caching_settle_tie(struct alloc *alloc, uint64_t bytes, uint64_t stream,
                        struct caching_pool_id pool_id, uint64_t address, uint64_t loaded) {
    struct caching *al = caching_of(alloc);
    uint64_t rounded = caching_sizes_round(al->settings.divisions, bytes);
    struct pool *pool = find_pool(al, pool_id, rounded <= CACHING_SMALL_MAX_BYTES);
    if (!pool)
        return false;
    const struct home *home = NULL;
    for (size_t i = 0; i < pool->homes.count && !home; i++)
        if (pool->homes.at[i]->stream == stream)
            home = pool->homes.at[i];
    struct block *taken = home ? free_set_from(al, home, rounded) : NULL;
    struct block *wanted = taken;
    while (wanted && block_bytes(wanted) == block_bytes(taken) && block_address(wanted) != address)
        wanted = free_set_next(al, wanted);
    if (!wanted || wanted == taken || block_bytes(wanted) != block_bytes(taken))
        return false;
    return change_places(al, taken, wanted, loaded);
}
