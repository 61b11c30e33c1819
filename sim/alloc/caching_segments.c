/* caching_segments.c: plain segments from the driver, and the ways to give memory back: garbage
 * collection, the release of oversize blocks, and the release of everything that a retry and
 * empty_cache do. */
#include <assert.h>

#include "caching_core.h"
#include "caching_stats.h"
#include "checked.h"

/* --- the driver --- */

/* Segments start at multiples of this. */
#define ADDRESS_STEP UINT64_C(2097152)

bool driver_plan_address(struct caching *al, uint64_t bytes, bool reservation, uint64_t *address) {
    uint64_t span, next;
    if (bytes >= CACHING_BYTES_END)
        return false;
    if (al->world.plan_address) {
        *address = al->world.plan_address(al->world.user, bytes, reservation);
        return *address != 0 && *address % CACHING_MIN_BLOCK_BYTES == 0 &&
               *address < CACHING_ADDRESS_END - bytes;
    }
    if (!checked_round_up(bytes, ADDRESS_STEP, &span) ||
        !checked_add(al->next_address, span, &next) || next > CACHING_ADDRESS_END)
        return false;
    *address = al->next_address;
    al->next_address = next;
    return true;
}

/* The pool's own figures; made at its first memory, there is room (caching_pools.c). */
static struct alloc_stat *reserved_of(struct caching *al, const struct private_pool *owner) {
    struct caching_pool_reserved *found = pool_reserved_find(al, owner->id);
    if (!found) {
        assert(al->pool_reserved.count < al->pool_reserved.capacity);
        found = &al->pool_reserved.at[al->pool_reserved.count++];
        *found = (struct caching_pool_reserved){.id = owner->id};
    }
    return found->reserved_bytes;
}

void driver_took(struct caching *al, struct pool *pool, uint64_t bytes) {
    al->used_bytes += bytes;
    al->stats.num_device_alloc++;
    stat_raise(al->stats.reserved_bytes, pool_class(pool), bytes);
    if (pool->owner)
        stat_raise(reserved_of(al, pool->owner), pool_class(pool), bytes);
}

void driver_gave_back(struct caching *al, struct pool *pool, uint64_t bytes) {
    al->used_bytes -= bytes;
    al->stats.num_device_free++;
    stat_lower(al->stats.reserved_bytes, pool_class(pool), bytes);
    if (pool->owner)
        stat_lower(reserved_of(al, pool->owner), pool_class(pool), bytes);
}

/* --- new segments --- */

/* A sum that overflows is over any limit. */
static bool reserved_would_exceed(const struct caching *al, uint64_t bytes, uint64_t limit) {
    uint64_t sum;
    return !checked_add(al->stats.reserved_bytes[ALLOC_POOL_ALL].current, bytes, &sum) ||
           sum > limit;
}

static struct block *plain_segment(struct caching *al, const struct request *request) {
    uint64_t bytes = request->segment_bytes, address;
    if (bytes > al->capacity_bytes - al->used_bytes ||
        !driver_plan_address(al, bytes, false, &address))
        return NULL;
    struct segment *segment = segment_create(al, request->home, address, bytes, 0);
    driver_took(al, request->pool, bytes);
    stat_raise(al->stats.segment, pool_class(request->pool), 1);
    if (bytes >= al->settings.max_split_bytes)
        stat_raise_one(&al->stats.oversize_segments, 1);
    caching_entry_range(al, ALLOC_ENTRY_SEGMENT_ALLOC, segment, address, bytes);
    return block_at(al, segment->first);
}

struct block *caching_new_segment(struct caching *al, struct request *request) {
    if (al->has_limit && reserved_would_exceed(al, request->segment_bytes, al->limit_bytes))
        return NULL;
    if (al->settings.throw_on_cudamalloc_oom) {
        uint64_t most = (uint64_t)(al->option_fraction * (double)al->total_bytes);
        if (reserved_would_exceed(al, request->segment_bytes, most)) {
            al->stats.num_oom_rejections++;
            request->rejected = true;
            return NULL;
        }
    }
    return request->expandable ? expandable_grow(al, request) : plain_segment(al, request);
}

/* --- giving back --- */

static bool is_whole_segment(const struct caching *al, const struct block *block) {
    return !block_is_split(block) && !block_is_expandable(al, block);
}

/* cudaFree of the segment that the free block fills. */
static void release_segment(struct caching *al, struct block *block) {
    struct segment *segment = block_segment(al, block);
    struct pool *pool = segment_home(al, segment)->pool;
    uint64_t bytes = block_bytes(block);
    assert(is_whole_segment(al, block));
    free_set_remove(al, block);
    driver_gave_back(al, pool, bytes);
    stat_lower(al->stats.segment, pool_class(pool), 1);
    if (bytes >= al->settings.max_split_bytes && al->stats.oversize_segments.current > 0)
        stat_lower_one(&al->stats.oversize_segments, 1);
    caching_entry_range(al, ALLOC_ENTRY_SEGMENT_FREE, segment, block_address(block), bytes);
    segment_drop(al, segment);
}

static struct block *first_free(const struct caching *al, const struct pool *pool, size_t *home) {
    struct block *block = NULL;
    for (; *home < pool->homes.count && !block; ++*home)
        block = free_set_from(al, pool->homes.at[*home], 0);
    return block;
}

/* The free blocks of a pool in the order of the set, stream by stream; the current one may go away.
 */
struct walk {
    const struct pool *pool;
    size_t next_home;
    struct block *next;
};

static struct walk walk_start(const struct caching *al, const struct pool *pool) {
    struct walk walk = {.pool = pool};
    walk.next = first_free(al, pool, &walk.next_home);
    return walk;
}

static struct block *walk_step(const struct caching *al, struct walk *walk) {
    struct block *block = walk->next;
    if (block) {
        walk->next = free_set_next(al, block);
        if (!walk->next)
            walk->next = first_free(al, walk->pool, &walk->next_home);
    }
    return block;
}

/* Of the default pool. */
static uint32_t age_in_calls(const struct caching *al, const struct block *block) {
    return al->large.calls - block_side(al, block)->freed_calls;
}

/* One round: releases all that is as old as `least_age`. Returns the bytes. */
static uint64_t collect_older(struct caching *al, double least_age, double *total_age,
                              uint64_t *count) {
    uint64_t freed = 0;
    struct walk walk = walk_start(al, &al->large);
    for (struct block *block; (block = walk_step(al, &walk));) {
        double age = age_in_calls(al, block);
        if (!is_whole_segment(al, block) || age < least_age)
            continue;
        freed += block_bytes(block);
        *total_age -= age;
        --*count;
        release_segment(al, block);
    }
    return freed;
}

void caching_collect_garbage(struct caching *al) {
    double share = al->settings.garbage_collection_threshold * (double)al->limit_bytes;
    uint64_t threshold = (uint64_t)share;
    uint64_t reserved = al->stats.reserved_bytes[ALLOC_POOL_ALL].current;
    if (reserved <= threshold)
        return;
    uint64_t target = reserved - threshold, freed = 0, count = 0;
    double total_age = 0;
    struct walk walk = walk_start(al, &al->large);
    for (struct block *block; (block = walk_step(al, &walk));) {
        if (block_is_split(block))
            continue; /* unsplit blocks of reservations count, though they are never released */
        total_age += age_in_calls(al, block);
        count++;
    }
    uint64_t last_round = 1;
    while (freed < target && last_round > 0 && count > 0) {
        last_round = collect_older(al, total_age / (double)count, &total_age, &count);
        freed += last_round;
    }
}

bool caching_release_available(struct caching *al, const struct request *request) {
    uint64_t max_split = al->settings.max_split_bytes;
    if (max_split == UINT64_MAX)
        return false;
    uint64_t want = request->rounded > max_split ? request->rounded : max_split, freed = 0;
    struct block *block = free_set_from(al, request->home, want);
    if (block && is_whole_segment(al, block)) {
        release_segment(al, block);
        return true;
    }
    block = free_set_last_before(al, request->home, want);
    while (block && block_bytes(block) >= max_split && freed < want) {
        struct block *below = free_set_prev(al, block);
        if (is_whole_segment(al, block)) {
            freed += block_bytes(block);
            release_segment(al, block);
        }
        block = below;
    }
    return freed >= want;
}

static bool release_free_of(struct caching *al, struct pool *pool) {
    struct walk walk = walk_start(al, pool);
    for (struct block *block; (block = walk_step(al, &walk));)
        if (is_whole_segment(al, block))
            release_segment(al, block);
    return expandable_unmap_free(al, pool);
}

static bool release_both(struct caching *al, struct private_pool *pool) {
    return release_free_of(al, &pool->small) && release_free_of(al, &pool->large);
}

static bool is_in_use(const struct caching *al, const struct private_pool *pool) {
    for (size_t i = 0; i < al->redirects.count; i++)
        if (al->redirects.at[i].pool == pool)
            return true;
    for (size_t i = 1; i < al->segments.count; i++)
        if (al->segments.at[i].home && segment_home(al, &al->segments.at[i])->pool->owner == pool)
            return true;
    return false;
}

/* Pools out of use give back what they can, and disappear with their last segment. */
static bool release_freeable_pools(struct caching *al, const struct private_pool *only) {
    for (size_t i = 0; i < al->private_pools.count; i++) {
        struct private_pool *pool = al->private_pools.at[i];
        if (pool->use_count > 0 || (only && only != pool))
            continue;
        if (!release_both(al, pool))
            return false;
        if (is_in_use(al, pool))
            continue;
        private_pool_destroy(al, pool);
        al->private_pools.count--;
        for (size_t j = i; j < al->private_pools.count; j++)
            al->private_pools.at[j] = al->private_pools.at[j + 1];
        i--;
    }
    return true;
}

bool caching_release_all(struct caching *al) {
    if (!caching_is_suspended(al)) {
        events_wait_all(al, NULL);
        if (!release_free_of(al, &al->large) || !release_free_of(al, &al->small))
            return false;
    }
    return release_freeable_pools(al, NULL);
}

bool caching_release_pool(struct caching *al, struct private_pool *pool) {
    if (pool->use_count > 0)
        return true;
    if (!caching_is_suspended(al))
        events_wait_all(al, pool);
    return release_freeable_pools(al, pool);
}
