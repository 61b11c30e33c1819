/* caching_expandable.c: expandable segments: one large reservation of addresses a pool and stream,
 * backed page by page.
 *
 *   | allocated | free | allocated | free | unmapped .................... |
 *                                    grow maps pages here ^, joining them to the free part before
 *
 * At most one unmapped block lies between two mapped ones, and all cuts of it are at pages of the
 * reservation. */
#include <assert.h>

#include "caching_core.h"
#include "checked.h"
#include "framework.h"

static bool is_idle(const struct block *block) {
    return block_state(block) == CACHING_BLOCK_FREE || block_state(block) == CACHING_BLOCK_UNMAPPED;
}

static bool has_room(const struct caching *al, const struct block *from, uint64_t bytes) {
    uint64_t sum = 0;
    for (const struct block *b = from; b && sum < bytes && is_idle(b); b = block_next(al, b))
        sum += block_bytes(b);
    return sum >= bytes;
}

/* The chain of idle blocks, by address, that can be made into `bytes`; NULL: none. */
static struct block *find_chain(const struct caching *al, const struct home *home, uint64_t bytes) {
    struct block *unmapped = unmapped_from(al, home, 0);
    while (unmapped) {
        struct block *below = block_prev(al, unmapped);
        struct block *start = below && is_idle(below) ? below : unmapped;
        if (has_room(al, start, bytes))
            return start;
        unmapped = unmapped_from(al, home, block_address(unmapped) + 1);
    }
    return NULL;
}

/* --- reservations --- */

static uint64_t reservation_bytes(const struct caching *al, uint64_t page) {
    uint64_t most, bytes;
    if (!checked_add(al->total_bytes, al->total_bytes / 8, &most))
        most = UINT64_MAX;
    bytes = most;
    if (al->settings.expandable_reserve_fraction > 0)
        bytes = (uint64_t)(al->settings.expandable_reserve_fraction * (double)al->total_bytes);
    else if (al->settings.expandable_reserve_bytes > 0)
        bytes = al->settings.expandable_reserve_bytes;
    if (bytes > most)
        bytes = most;
    if (bytes >= CACHING_BYTES_END) /* more than there are addresses for */
        bytes = CACHING_BYTES_END - page;
    return checked_round_up(bytes, page, &bytes) ? bytes : 0;
}

static struct block *reserve(struct caching *al, const struct request *request) {
    uint64_t page =
        request->pool->small ? CACHING_SMALL_SEGMENT_BYTES : al->settings.large_segment_bytes;
    if (page >= CACHING_PAGE_END) /* 16 TiB: no device backs one */
        return NULL;
    uint64_t bytes = reservation_bytes(al, page), address;
    if (bytes == 0 || !driver_plan_address(al, bytes, true, &address))
        return NULL;
    if (al->framework->drops_small_reservation && bytes < request->rounded)
        return NULL; /* made and dropped: the address is spent */
    struct segment *segment = segment_create(al, request->home, address, bytes, page);
    struct block *block = block_at(al, segment->first);
    unmapped_add(al, block);
    return block;
}

/* --- mapping --- */

/* Takes free neighbours in; the block is in no set before, in the free set after. Returns the
 * whole. */
static struct block *join_free(struct caching *al, struct block *block) {
    struct block *low = block_prev(al, block), *high = block_next(al, block);
    if (high && block_state(high) == CACHING_BLOCK_FREE) {
        free_set_remove(al, high);
        block_join_next(al, block);
    }
    if (low && block_state(low) == CACHING_BLOCK_FREE) {
        free_set_remove(al, low);
        block_take_birth(al, low, block);
        block_join_next(al, low);
        block = low;
    }
    free_set_add(al, block);
    return block;
}

/* Backs the first `bytes` of an unmapped block, in whole pages. NULL: the device has no memory
 * left. */
static struct block *map(struct caching *al, struct block *block, uint64_t bytes) {
    const struct segment *segment = block_segment(al, block);
    uint64_t mapped, address = block_address(block);
    if (!checked_round_up(bytes, segment_page(segment), &mapped) ||
        mapped > al->capacity_bytes - al->used_bytes)
        return NULL;
    unmapped_remove(al, block);
    if (mapped < block_bytes(block))
        unmapped_add(al, block_cut(al, block, mapped));
    block_set_state(block, CACHING_BLOCK_FREE);
    struct pool *pool = segment_home(al, segment)->pool;
    block = join_free(al, block);
    driver_took(al, pool, mapped);
    caching_entry_range(al, ALLOC_ENTRY_SEGMENT_MAP, segment, address, mapped);
    return block;
}

struct block *expandable_grow(struct caching *al, const struct request *request) {
    uint64_t need = request->rounded;
    struct block *block = find_chain(al, request->home, need);
    if (!block)
        block = reserve(al, request);
    if (block && block_state(block) == CACHING_BLOCK_UNMAPPED)
        block = map(al, block, block_bytes(block) < need ? block_bytes(block) : need);
    while (block && block_bytes(block) < need) {
        struct block *next = block_next(al, block);
        if (!next || block_state(next) != CACHING_BLOCK_UNMAPPED)
            return NULL; /* a reservation smaller than the request */
        uint64_t missing = need - block_bytes(block);
        block = map(al, next, missing < block_bytes(next) ? missing : block_bytes(next));
    }
    if (!block)
        return NULL;
    free_set_remove(al, block);
    return block;
}

/* --- unmapping --- */

/* Joins an unmapped block, in no set, with unmapped neighbours; it is in the set after. */
static struct block *join_unmapped(struct caching *al, struct block *block) {
    struct block *low = block_prev(al, block), *high = block_next(al, block);
    if (high && block_state(high) == CACHING_BLOCK_UNMAPPED) {
        unmapped_remove(al, high);
        block_join_next(al, block);
    }
    if (low && block_state(low) == CACHING_BLOCK_UNMAPPED) {
        unmapped_remove(al, low);
        block_take_birth(al, low, block);
        block_join_next(al, low);
        block = low;
    }
    unmapped_add(al, block);
    return block;
}

/* The whole pages inside a block: [*low, *high); false: none. */
static bool page_range(const struct caching *al, const struct segment *segment,
                       const struct block *block, uint64_t *low, uint64_t *high) {
    uint64_t start = segment_address(al, segment), page = segment_page(segment);
    uint64_t from = block_address(block) - start, to = from + block_bytes(block);
    uint64_t below = from % page;
    *low = start + (below ? from + (page - below) : from);
    *high = start + to - to % page;
    return *low < *high;
}

/* Two block slots are reserved. */
static void unmap(struct caching *al, struct block *block, uint64_t low, uint64_t high) {
    struct segment *segment = block_segment(al, block);
    struct pool *pool = segment_home(al, segment)->pool;
    if (al->world.stream_wait)
        al->world.stream_wait(al->world.user, segment_home(al, segment)->stream);
    free_set_remove(al, block);
    if (low > block_address(block)) {
        struct block *rest = block;
        block = block_cut(al, block, low - block_address(block));
        block_take_birth(al, block, rest);
        block_renew(al, rest);
        free_set_add(al, rest);
    }
    if (high < block_end(block))
        free_set_add(al, block_cut(al, block, high - block_address(block)));
    block_set_state(block, CACHING_BLOCK_UNMAPPED);
    block = join_unmapped(al, block);
    driver_gave_back(al, pool, high - low);
    caching_entry_range(al, ALLOC_ENTRY_SEGMENT_UNMAP, segment, low, high - low);
    if (!block_is_split(block)) {
        unmapped_remove(al, block);
        segment_drop(al, segment);
    }
}

/* What unmap leaves of a block is smaller than a page, so walking on by the order of the set is
 * safe. */
static bool unmap_home(struct caching *al, const struct home *home) {
    struct block *block = free_set_from(al, home, 0);
    while (block) {
        uint64_t low, high;
        uint32_t id = block_id(al, block);
        if (!caching_reserve_blocks(al, 2))
            return false;
        block = block_at(al, id);
        struct block *next = free_set_next(al, block);
        const struct segment *segment = block_segment(al, block);
        if (segment_page(segment) && page_range(al, segment, block, &low, &high))
            unmap(al, block, low, high);
        block = next;
    }
    return true;
}

bool expandable_unmap_free(struct caching *al, struct pool *pool) {
    for (size_t i = 0; i < pool->homes.count; i++)
        if (!unmap_home(al, pool->homes.at[i]))
            return false;
    return true;
}
