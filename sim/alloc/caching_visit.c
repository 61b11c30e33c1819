/* caching_visit.c: a look at every block, the self-check of the whole state, and the resets of
 * statistics. */
#include "caching_core.h"
#include "error.h"

static const struct caching *model_of(const struct alloc *alloc) {
    return (const struct caching *)(const void *)alloc;
}

static uint64_t segment_bytes(const struct caching *al, const struct segment *segment) {
    uint64_t sum = 0;
    for (const struct block *b = block_at(al, segment->first); b; b = block_next(al, b))
        sum += block_bytes(b);
    return sum;
}

/* What all blocks of a segment have in common. */
static struct caching_block describe(const struct caching *al, const struct segment *segment) {
    const struct home *home = segment_home(al, segment);
    struct caching_block out = {.stream = home->stream,
                                .segment_address = segment_address(al, segment),
                                .segment_bytes = segment_bytes(al, segment),
                                .small_pool = home->pool->small,
                                .expandable = segment_page(segment) != 0};
    if (home->pool->owner)
        out.pool_id = home->pool->owner->id;
    return out;
}

void caching_visit(const struct alloc *alloc,
                   void (*visit)(void *user, const struct caching_block *block), void *user) {
    const struct caching *al = model_of(alloc);
    for (size_t i = 1; i < al->segments.count; i++) {
        const struct segment *segment = &al->segments.at[i];
        if (!segment->home)
            continue;
        struct caching_block out = describe(al, segment);
        const struct block *block = block_at(al, segment->first);
        for (; block; block = block_next(al, block)) {
            out.address = block_address(block);
            out.bytes = block_bytes(block);
            out.state = block_state(block);
            bool used = out.state == CACHING_BLOCK_ALLOCATED || out.state == CACHING_BLOCK_PENDING;
            out.requested_bytes = used ? block->requested : 0;
            visit(user, &out);
        }
    }
}

/* --- the self-check --- */

struct sums {
    uint64_t live, live_bytes, active, active_bytes, requested, reserved, segments;
    uint64_t split, split_bytes, free_blocks, unmapped_blocks;
};

static bool broken(struct error *err, const struct block *block, const char *what) {
    return error_set(err, ERROR_BAD_INPUT, "block at %#llx: %s",
                     block ? (unsigned long long)block_address(block) : 0, what);
}

/* Both neighbours of one idle state would have been joined. */
static bool check_links(const struct caching *al, const struct segment *segment,
                        const struct block *block, struct error *err) {
    const struct block *next = block_next(al, block);
    if (&al->segments.at[block->segment] != segment)
        return broken(err, block, "wrong segment");
    if (block_bytes(block) == 0)
        return broken(err, block, "no bytes");
    if (next && (block_prev(al, next) != block || block_address(next) != block_end(block)))
        return broken(err, block, "wrong link to the next");
    bool idle =
        block_state(block) == CACHING_BLOCK_FREE || block_state(block) == CACHING_BLOCK_UNMAPPED;
    if (next && idle && block_state(next) == block_state(block))
        return broken(err, block, "not joined with the next");
    return true;
}

static bool is_in_set(const struct caching *al, const struct home *home,
                      const struct block *block) {
    const struct block *at = free_set_from(al, home, block_bytes(block));
    while (at && at != block && block_bytes(at) == block_bytes(block))
        at = free_set_next(al, at);
    return at == block;
}

static bool check_block(const struct caching *al, const struct segment *segment,
                        const struct block *block, struct sums *sums, struct error *err) {
    if (!check_links(al, segment, block, err))
        return false;
    if (block_state(block) != CACHING_BLOCK_UNMAPPED)
        sums->reserved += block_bytes(block);
    switch (block_state(block)) {
    case CACHING_BLOCK_FREE:
        sums->free_blocks++;
        if (!segment_page(segment) && block_is_split(block)) {
            sums->split++;
            sums->split_bytes += block_bytes(block);
        }
        return is_in_set(al, segment_home(al, segment), block) ||
               broken(err, block, "not in the free set");
    case CACHING_BLOCK_UNMAPPED:
        sums->unmapped_blocks++;
        return unmapped_from(al, segment_home(al, segment), block_address(block)) == block ||
               broken(err, block, "not in the unmapped set");
    case CACHING_BLOCK_ALLOCATED:
        sums->live++;
        sums->live_bytes += block_bytes(block);
        if (live_find(al, block_address(block)) != block)
            return broken(err, block, "not found by its address");
        break;
    case CACHING_BLOCK_PENDING:
        break;
    }
    sums->active++;
    sums->active_bytes += block_bytes(block);
    sums->requested += block->requested;
    return true;
}

static uint64_t count_pool(const struct caching *al, const struct pool *pool, uint64_t *unmapped) {
    uint64_t count = 0;
    for (size_t i = 0; i < pool->homes.count; i++) {
        const struct home *home = pool->homes.at[i];
        for (struct block *b = free_set_from(al, home, 0); b; b = free_set_next(al, b))
            count++;
        for (struct block *b = unmapped_from(al, home, 0); b;
             b = unmapped_from(al, home, block_address(b) + 1))
            ++*unmapped;
    }
    return count;
}

static bool check_sets(const struct caching *al, const struct sums *sums, struct error *err) {
    uint64_t unmapped = 0;
    uint64_t count = count_pool(al, &al->small, &unmapped) + count_pool(al, &al->large, &unmapped);
    for (size_t i = 0; i < al->private_pools.count; i++) {
        count += count_pool(al, &al->private_pools.at[i]->small, &unmapped);
        count += count_pool(al, &al->private_pools.at[i]->large, &unmapped);
    }
    if (count != sums->free_blocks || unmapped != sums->unmapped_blocks)
        return broken(err, NULL, "the sets hold more than the segments");
    return al->live_count == sums->live || broken(err, NULL, "stale live addresses");
}

static bool same(struct error *err, const char *name, const struct alloc_stat *stat,
                 uint64_t counted) {
    const struct alloc_stat *all = &stat[ALLOC_POOL_ALL];
    uint64_t sum = stat[ALLOC_POOL_SMALL].current + stat[ALLOC_POOL_LARGE].current;
    if (all->current == counted && sum == counted && all->peak >= all->current)
        return true;
    return error_set(err, ERROR_BAD_INPUT, "%s is %llu (pools %llu), counted %llu", name,
                     (unsigned long long)all->current, (unsigned long long)sum,
                     (unsigned long long)counted);
}

bool caching_check(const struct alloc *alloc, struct error *err) {
    const struct caching *al = model_of(alloc);
    const struct alloc_stats *stats = &al->stats;
    struct sums sums = {0};
    for (size_t i = 1; i < al->segments.count; i++) {
        const struct segment *segment = &al->segments.at[i];
        if (!segment->home)
            continue;
        sums.segments += segment_page(segment) == 0;
        const struct block *block = block_at(al, segment->first);
        for (; block; block = block_next(al, block))
            if (!check_block(al, segment, block, &sums, err))
                return false;
    }
    if (sums.reserved != al->used_bytes || al->used_bytes > al->capacity_bytes)
        return broken(err, NULL, "the driver's bytes do not add up");
    return check_sets(al, &sums, err) && same(err, "allocation", stats->allocation, sums.live) &&
           same(err, "allocated_bytes", stats->allocated_bytes, sums.live_bytes) &&
           same(err, "active", stats->active, sums.active) &&
           same(err, "active_bytes", stats->active_bytes, sums.active_bytes) &&
           same(err, "requested_bytes", stats->requested_bytes, sums.requested) &&
           same(err, "segment", stats->segment, sums.segments) &&
           same(err, "reserved_bytes", stats->reserved_bytes, sums.reserved) &&
           same(err, "inactive_split", stats->inactive_split, sums.split) &&
           same(err, "inactive_split_bytes", stats->inactive_split_bytes, sums.split_bytes);
}

/* --- resets --- */

static void reset_peak(struct alloc_stat *stat) {
    stat->peak = stat->current;
}

static void reset_sums(struct alloc_stat *stat) {
    stat->allocated = stat->freed = 0;
}

static void for_each_stat(struct caching *al, void (*apply)(struct alloc_stat *stat)) {
    struct alloc_stats *stats = &al->stats;
    struct alloc_stat *const by_pool[] = {
        stats->allocation,     stats->allocated_bytes, stats->active,
        stats->active_bytes,   stats->requested_bytes, stats->segment,
        stats->reserved_bytes, stats->inactive_split,  stats->inactive_split_bytes,
    };
    for (size_t i = 0; i < sizeof by_pool / sizeof by_pool[0]; i++)
        for (size_t class = 0; class < ALLOC_POOL_CLASS_COUNT; class ++)
            apply(&by_pool[i][class]);
    for (size_t i = 0; i < al->pool_reserved.count; i++)
        for (size_t class = 0; class < ALLOC_POOL_CLASS_COUNT; class ++)
            apply(&al->pool_reserved.at[i].reserved_bytes[class]);
    apply(&stats->oversize_allocations);
    apply(&stats->oversize_segments);
}

void caching_reset_peak_stats(struct alloc *alloc) {
    for_each_stat(caching_of(alloc), reset_peak);
}

void caching_reset_accumulated_stats(struct alloc *alloc) {
    struct alloc_stats *stats = &caching_of(alloc)->stats;
    for_each_stat(caching_of(alloc), reset_sums);
    stats->num_alloc_retries = stats->num_ooms = stats->num_sync_all_streams = 0;
    stats->num_device_alloc = stats->num_device_free = stats->num_oom_rejections = 0;
}
