/* caching.c: the course of a request through PyTorch's caching allocator, and of a free: the order
 * of steps of c10/cuda/CUDACachingAllocator.cpp (malloc, get_free_block, alloc_found_block,
 * free_block). */
#include "caching.h"

#include <assert.h>

#include "caching_core.h"
#include "caching_stats.h"
#include "error.h"
#include "framework.h"

/* --- entries --- */

static void send_entry(struct caching *al, struct alloc_entry *entry,
                       const struct segment *segment) {
    const struct home *home = segment_home(al, segment);
    const struct pool *pool = home->pool;
    entry->stream = home->stream;
    entry->segment_address = segment_address(al, segment);
    entry->small_pool = pool->small;
    entry->expandable = segment_page(segment) != 0;
    if (pool->owner) {
        entry->pool_id[0] = pool->owner->id.v[0];
        entry->pool_id[1] = pool->owner->id.v[1];
    }
    al->world.entry(al->world.user, entry);
}

void caching_entry(struct caching *al, enum alloc_entry_kind kind, const struct block *block) {
    if (!al->world.entry)
        return;
    struct alloc_entry entry = {.kind = kind,
                                .address = block_address(block),
                                .bytes = block->requested,
                                .block_bytes = block_bytes(block)};
    send_entry(al, &entry, block_segment(al, block));
}

void caching_entry_range(struct caching *al, enum alloc_entry_kind kind,
                         const struct segment *segment, uint64_t address, uint64_t bytes) {
    if (!al->world.entry)
        return;
    struct alloc_entry entry = {.kind = kind, .address = address, .bytes = bytes};
    send_entry(al, &entry, segment);
}

/* --- finding a free block --- */

static uint64_t growable_bytes(const struct caching *al, const struct block *block) {
    const struct block *next = block_next(al, block);
    return block_bytes(block) +
           (next && block_state(next) == CACHING_BLOCK_UNMAPPED ? block_bytes(next) : 0);
}

/* Holes come before the growable tail: a block counts with the unmapped range behind it. */
static struct block *prefer_hole(const struct caching *al, struct block *block) {
    while (block_is_expandable(al, block)) {
        struct block *next = free_set_next(al, block);
        if (!next || growable_bytes(al, next) >= growable_bytes(al, block))
            break;
        block = next;
    }
    return block;
}

static struct block *skip_reservations(const struct caching *al, struct block *block) {
    while (block && block_is_expandable(al, block))
        block = free_set_next(al, block);
    return block;
}

static bool collects_garbage(const struct caching *al) {
    return al->has_limit && al->settings.garbage_collection_threshold > 0;
}

struct block *caching_find_free(struct caching *al, struct pool *pool, struct home *home,
                                uint64_t rounded) {
    const struct alloc_settings *set = &al->settings;
    if (collects_garbage(al))
        pool->calls++;
    struct block *block = free_set_from(al, home, rounded);
    if (block && block_is_expandable(al, block))
        block = set->expandable_segments ? prefer_hole(al, block) : skip_reservations(al, block);
    if (!block)
        return NULL;
    if (rounded < set->max_split_bytes && block_bytes(block) >= set->max_split_bytes)
        return NULL;
    if (rounded >= set->max_split_bytes &&
        block_bytes(block) - rounded >= set->max_non_split_rounding_bytes)
        return NULL;
    free_set_remove(al, block);
    return block;
}

/* --- handing a block out --- */

static bool should_split(const struct caching *al, const struct request *request,
                         const struct block *block) {
    const struct pool *pool = request->pool;
    uint64_t rest = block_bytes(block) - request->rounded;
    if (pool->owner && pool->owner->options.no_split)
        return false;
    return caching_sizes_split(request->rounded, rest, pool->small, request->expandable,
                               al->settings.max_split_bytes);
}

/* The bookkeeping of inactive_split, for the block just taken from the free set and perhaps cut. */
static void count_split(struct caching *al, enum alloc_pool_class class, const struct block *block,
                        bool was_split, const struct block *rest) {
    struct alloc_stats *stats = &al->stats;
    if (block_is_expandable(al, block))
        return;
    if (rest && was_split) {
        stat_lower(stats->inactive_split_bytes, class, block_bytes(block));
    } else if (rest) {
        stat_raise(stats->inactive_split_bytes, class, block_bytes(rest));
        stat_raise(stats->inactive_split, class, 1);
    } else if (was_split) {
        stat_lower(stats->inactive_split_bytes, class, block_bytes(block));
        stat_lower(stats->inactive_split, class, 1);
    }
}

static uint64_t hand_out(struct caching *al, const struct request *request, struct block *block) {
    enum alloc_pool_class class = pool_class(request->pool);
    struct alloc_stats *stats = &al->stats;
    bool was_split = block_is_split(block);
    struct block *rest = NULL;
    if (should_split(al, request, block)) {
        rest = block_cut(al, block, request->rounded);
        block_take_birth(al, rest, block);
        block_renew(al, block);
        free_set_add(al, rest);
    }
    count_split(al, class, block, was_split, rest);
    block_set_state(block, CACHING_BLOCK_ALLOCATED);
    block->requested = request->bytes;
    block_forget_uses(al, block);
    live_add(al, block);
    caching_entry(al, ALLOC_ENTRY_ALLOC, block);
    stat_raise(stats->allocation, class, 1);
    stat_raise(stats->allocated_bytes, class, block_bytes(block));
    stat_raise(stats->active, class, 1);
    stat_raise(stats->active_bytes, class, block_bytes(block));
    stat_raise(stats->requested_bytes, class, request->bytes);
    if (block_bytes(block) >= al->settings.max_split_bytes)
        stat_raise_one(&stats->oversize_allocations, 1);
    return block_address(block);
}

/* --- the request --- */

/* What one attempt at a new segment and the split after it may need: a reservation's block, a cut,
 * a split. */
static bool prepare_attempt(struct caching *al) {
    return caching_reserve_blocks(al, 4) && caching_reserve_segment(al);
}

static bool start_request(struct caching *al, uint64_t bytes, uint64_t stream,
                          struct request *request) {
    uint64_t rounded = caching_sizes_round(al->settings.divisions, bytes);
    struct private_pool *owner = caching_redirected(al, stream);
    bool small = rounded <= CACHING_SMALL_MAX_BYTES;
    *request = (struct request){
        .bytes = bytes,
        .rounded = rounded,
        .segment_bytes = caching_sizes_segment(al->settings.large_segment_bytes, rounded),
        .redirected = owner != NULL,
        .expandable = al->settings.expandable_segments};
    if (owner)
        request->pool = small ? &owner->small : &owner->large;
    else
        request->pool = small ? &al->small : &al->large;
    request->home = pool_home(al, request->pool, stream);
    return request->home && prepare_attempt(al) && caching_reserve_live(al) &&
           (!collects_garbage(al) || caching_reserve_sides(al));
}

/* A free block of a pool marked use_on_oom, before memory is given back. */
static struct block *borrow(struct caching *al, struct request *request) {
    for (size_t i = 0; i < al->private_pools.count; i++) {
        struct private_pool *owner = al->private_pools.at[i];
        if (!owner->options.use_on_oom)
            continue;
        struct pool *pool = request->pool->small ? &owner->small : &owner->large;
        struct home *home = pool_home(al, pool, request->home->stream);
        if (!home)
            continue; /* without host memory there is nothing to borrow */
        struct block *block = caching_find_free(al, pool, home, request->rounded);
        if (!block)
            continue;
        request->pool = pool;
        request->home = home;
        request->expandable = false;
        return block;
    }
    return NULL;
}

static enum alloc_result out_of_memory(struct caching *al, const struct request *request) {
    const struct alloc_stats *stats = &al->stats;
    uint64_t private_free = 0;
    for (size_t i = 0; i < al->private_pools.count; i++)
        private_free +=
            al->private_pools.at[i]->small.free_bytes + al->private_pools.at[i]->large.free_bytes;
    al->oom = (struct alloc_oom){.requested_bytes = request->bytes,
                                 .rounded_bytes = request->rounded,
                                 .segment_bytes = request->segment_bytes,
                                 .device_total_bytes = al->total_bytes,
                                 .device_free_bytes = al->capacity_bytes - al->used_bytes,
                                 .allowed_bytes = al->has_limit ? al->limit_bytes : 0,
                                 .allocated_bytes = stats->allocated_bytes[ALLOC_POOL_ALL].current,
                                 .reserved_bytes = stats->reserved_bytes[ALLOC_POOL_ALL].current,
                                 .private_pool_bytes = private_free,
                                 .rejected = request->rejected};
    if (request->rejected)
        return ALLOC_OOM;
    al->stats.num_ooms++;
    if (al->world.entry) {
        struct alloc_entry entry = {.kind = ALLOC_ENTRY_OOM,
                                    .address = al->oom.device_free_bytes,
                                    .bytes = request->rounded,
                                    .stream = request->home->stream,
                                    .small_pool = request->pool->small};
        if (request->pool->owner) {
            entry.pool_id[0] = request->pool->owner->id.v[0];
            entry.pool_id[1] = request->pool->owner->id.v[1];
        }
        al->world.entry(al->world.user, &entry);
    }
    return ALLOC_OOM;
}

/* The ways to new memory, in PyTorch's order. *block NULL and ALLOC_OK: none has worked. */
static enum alloc_result find_memory(struct caching *al, struct request *request,
                                     struct block **block) {
    if (collects_garbage(al))
        caching_collect_garbage(al);
    *block = caching_new_segment(al, request);
    if (*block || request->rejected)
        return ALLOC_OK;
    if (!request->redirected && (*block = borrow(al, request)))
        return ALLOC_OK;
    if (!prepare_attempt(al))
        return ALLOC_HOST_MEMORY;
    if (caching_release_available(al, request) && (*block = caching_new_segment(al, request)))
        return ALLOC_OK;
    if (request->rejected || caching_is_suspended(al))
        return ALLOC_OK;
    if (!caching_release_all(al) || !prepare_attempt(al))
        return ALLOC_HOST_MEMORY;
    al->stats.num_alloc_retries++;
    *block = caching_new_segment(al, request);
    return ALLOC_OK;
}

static enum alloc_result take(struct alloc *alloc, uint64_t bytes, uint64_t stream,
                              uint64_t *address) {
    struct caching *al = caching_of(alloc);
    struct request request;
    if (!start_request(al, bytes, stream, &request))
        return ALLOC_HOST_MEMORY;
    if (!caching_is_suspended(al))
        events_process(al);
    struct block *block = caching_find_free(al, request.pool, request.home, request.rounded);
    if (!block) {
        enum alloc_result result = find_memory(al, &request, &block);
        if (result != ALLOC_OK)
            return result;
    }
    if (!block)
        return out_of_memory(al, &request);
    *address = hand_out(al, &request, block);
    return ALLOC_OK;
}

/* --- the free --- */

/* inactive_split moves by what merging swallowed and what came out of it, in one step. */
static void count_merge(struct caching *al, const struct block *merged, uint32_t swallowed,
                        uint64_t swallowed_bytes) {
    struct alloc_stats *stats = &al->stats;
    const struct segment *segment = block_segment(al, merged);
    enum alloc_pool_class class = pool_class(segment_home(al, segment)->pool);
    if (segment_page(segment))
        return;
    bool split = block_is_split(merged);
    uint64_t bytes = split ? block_bytes(merged) : 0;
    if (split && swallowed == 0)
        stat_raise(stats->inactive_split, class, 1);
    else if (swallowed > split)
        stat_lower(stats->inactive_split, class, swallowed - split);
    if (bytes > swallowed_bytes)
        stat_raise(stats->inactive_split_bytes, class, bytes - swallowed_bytes);
    else if (bytes < swallowed_bytes)
        stat_lower(stats->inactive_split_bytes, class, swallowed_bytes - bytes);
}

void caching_complete_free(struct caching *al, struct block *block) {
    struct alloc_stats *stats = &al->stats;
    enum alloc_pool_class class = pool_class(block_home(al, block)->pool);
    uint64_t bytes = block_bytes(block), requested = block->requested, swallowed_bytes = 0;
    uint32_t swallowed = 0;
    caching_entry(al, ALLOC_ENTRY_FREE_COMPLETED, block);
    block_set_state(block, CACHING_BLOCK_FREE);
    struct block *low = block_prev(al, block), *high = block_next(al, block);
    if (high && block_state(high) == CACHING_BLOCK_FREE) {
        swallowed_bytes += block_bytes(high);
        swallowed++;
        free_set_remove(al, high);
        block_join_next(al, block);
    }
    if (low && block_state(low) == CACHING_BLOCK_FREE) {
        swallowed_bytes += block_bytes(low);
        swallowed++;
        free_set_remove(al, low);
        block_take_birth(al, low, block);
        block_join_next(al, low);
        block = low;
    }
    free_set_add(al, block);
    count_merge(al, block, swallowed, swallowed_bytes);
    stat_lower(stats->active, class, 1);
    stat_lower(stats->active_bytes, class, bytes);
    stat_lower(stats->requested_bytes, class, requested);
}

static void give_back(struct alloc *alloc, uint64_t address) {
    struct caching *al = caching_of(alloc);
    struct block *block = live_take(al, address);
    assert(block);
    if (!block)
        return;
    enum alloc_pool_class class = pool_class(block_home(al, block)->pool);
    block_set_state(block, CACHING_BLOCK_PENDING);
    stat_lower(al->stats.allocation, class, 1);
    stat_lower(al->stats.allocated_bytes, class, block_bytes(block));
    caching_entry(al, ALLOC_ENTRY_FREE_REQUESTED, block);
    if (block_bytes(block) >= al->settings.max_split_bytes &&
        al->stats.oversize_allocations.current > 0)
        stat_lower_one(&al->stats.oversize_allocations, 1);
    if (block_uses(al, block))
        events_free_used(al, block);
    else
        caching_complete_free(al, block);
}

static enum alloc_result record_stream(struct alloc *alloc, uint64_t address, uint64_t stream) {
    struct caching *al = caching_of(alloc);
    struct block *block = live_find(al, address);
    assert(block);
    return !block || events_record_use(al, block, stream) ? ALLOC_OK : ALLOC_HOST_MEMORY;
}

static enum alloc_result empty_cache(struct alloc *alloc) {
    return caching_release_all(caching_of(alloc)) ? ALLOC_OK : ALLOC_HOST_MEMORY;
}

/* --- life, settings, statistics --- */

void caching_set_memory_fraction(struct alloc *alloc, double fraction) {
    struct caching *al = caching_of(alloc);
    assert(fraction >= 0 && fraction <= 1);
    al->has_limit = fraction < 1 || !al->framework->full_fraction_lifts_limit;
    al->limit_bytes = (uint64_t)(fraction * (double)al->total_bytes);
}

static struct alloc *create(const struct alloc_config *config, struct error *err) {
    if (config->settings.backend != ALLOC_BACKEND_NATIVE) {
        error_set(err, ERROR_USAGE,
                  "allocator native, and settings with another backend: one of them is too many");
        return NULL;
    }
    struct caching *al = xcalloc(1, sizeof *al);
    if (!al) {
        error_host_memory(err);
        return NULL;
    }
    const struct framework *framework = config->framework ? config->framework : framework_row(0);
    al->alloc.ops = &caching_ops;
    al->settings = config->settings;
    al->framework = framework;
    al->world = config->world;
    al->total_bytes = config->total_bytes;
    al->capacity_bytes = config->capacity_bytes;
    al->next_address = ALLOC_FIRST_ADDRESS;
    al->next_number = 1;
    al->small.small = true;
    al->option_fraction = config->settings.memory_fraction;
    uint64_t max_split = config->settings.max_split_bytes;
    al->stats.max_split_size = max_split > INT64_MAX ? -1 : (int64_t)max_split;
    if (al->option_fraction < 1)
        caching_set_memory_fraction(&al->alloc, al->option_fraction);
    return &al->alloc;
}

static void destroy(struct alloc *alloc) {
    struct caching *al = caching_of(alloc);
    pool_fini(al, &al->small);
    pool_fini(al, &al->large);
    for (size_t i = 0; i < al->private_pools.count; i++)
        private_pool_destroy(al, al->private_pools.at[i]);
    array_fini(&al->private_pools);
    array_fini(&al->redirects);
    array_fini(&al->pool_reserved);
    array_fini(&al->homes);
    array_fini(&al->blocks);
    array_fini(&al->sides);
    array_fini(&al->births);
    array_fini(&al->segments);
    array_fini(&al->uses);
    array_fini(&al->fifos);
    xfree(al->live);
    xfree(al);
}

bool caching_change_settings(struct alloc *alloc, const char *text, struct error *err) {
    struct caching *al = caching_of(alloc);
    return alloc_settings_change(text, al->framework, &al->settings, err);
}

static const struct alloc_stats *stats(const struct alloc *alloc) {
    return &((const struct caching *)(const void *)alloc)->stats;
}

static const struct alloc_oom *last_oom(const struct alloc *alloc) {
    return &((const struct caching *)(const void *)alloc)->oom;
}

const struct alloc_ops caching_ops = {
    .name = "native",
    .doc = "PyTorch's caching allocator (c10 CUDACachingAllocator)",
    .heeds_settings = true,
    .create = create,
    .destroy = destroy,
    .take = take,
    .free = give_back,
    .record_stream = record_stream,
    .empty_cache = empty_cache,
    .set_memory_fraction = caching_set_memory_fraction,
    .stats = stats,
    .last_oom = last_oom,
    .write_oom = alloc_oom_message,
};
