/* cuda_async.c: see cuda_async.h. */
#include "cuda_async.h"

#include <stdio.h>

#include "checked.h"
#include "cuda_pool.h"
#include "error.h"
#include "framework.h"
#include "units.h"

struct cuda_async {
    struct alloc alloc;
    const struct framework *framework;
    struct alloc_world world;
    struct cuda_pool pool;
    uint64_t total_bytes;
    uint64_t limit_bytes;     /* UINT64_MAX: none */
    uint64_t requested_bytes; /* of live blocks: what the limit and the message count */
    struct alloc_stats stats;
    struct alloc_oom oom;
};

static struct cuda_async *async_of(struct alloc *alloc) {
    return (struct cuda_async *)(void *)alloc;
}

/* What PyTorch reports is the pool's; every other statistic stays 0. */
static void update_stats(struct cuda_async *al) {
    const struct cuda_pool *pool = &al->pool;
    const struct alloc_stat used = {.current = pool->used_bytes, .peak = pool->used_peak};
    al->stats.allocated_bytes[ALLOC_POOL_ALL] = used;
    al->stats.active_bytes[ALLOC_POOL_ALL] = used;
    al->stats.reserved_bytes[ALLOC_POOL_ALL] =
        (struct alloc_stat){.current = pool->reserved_bytes, .peak = pool->reserved_peak};
}

static enum alloc_result out_of_memory(struct cuda_async *al, uint64_t bytes, uint64_t stream) {
    const struct cuda_pool *pool = &al->pool;
    uint64_t free_bytes = pool->capacity_bytes - pool->reserved_bytes, rounded = bytes;
    checked_round_up(bytes, pool->options.align_bytes, &rounded);
    al->oom =
        (struct alloc_oom){.requested_bytes = bytes,
                           .rounded_bytes = rounded,
                           .segment_bytes = bytes,
                           .device_total_bytes = al->total_bytes,
                           .device_free_bytes = free_bytes,
                           .allowed_bytes = al->limit_bytes == UINT64_MAX ? 0 : al->limit_bytes,
                           .allocated_bytes = al->requested_bytes,
                           .reserved_bytes = pool->reserved_bytes};
    const struct alloc_entry entry = {
        .kind = ALLOC_ENTRY_OOM, .address = free_bytes, .bytes = rounded, .stream = stream};
    if (al->world.entry)
        al->world.entry(al->world.user, &entry);
    return ALLOC_OOM;
}

/* The driver has refused: wait for the stream, give back what is free, ask once more. */
static enum alloc_result trim_and_retry(struct cuda_async *al, uint64_t bytes, uint64_t stream,
                                        uint64_t *address) {
    if (al->world.stream_wait)
        al->world.stream_wait(al->world.user, stream);
    cuda_pool_notice(&al->pool);
    if (!cuda_pool_trim(&al->pool, 0))
        return ALLOC_HOST_MEMORY;
    return cuda_pool_take(&al->pool, bytes, stream, address);
}

static enum alloc_result take(struct alloc *alloc, uint64_t bytes, uint64_t stream,
                              uint64_t *address) {
    struct cuda_async *al = async_of(alloc);
    uint64_t sum;
    enum alloc_result result = ALLOC_OOM;
    if (checked_add(al->requested_bytes, bytes, &sum) && sum <= al->limit_bytes) {
        result = cuda_pool_take(&al->pool, bytes, stream, address);
        if (result == ALLOC_OOM && al->framework->async_trims_on_oom)
            result = trim_and_retry(al, bytes, stream, address);
    }
    if (result == ALLOC_OK)
        al->requested_bytes = sum;
    update_stats(al);
    return result == ALLOC_OOM ? out_of_memory(al, bytes, stream) : result;
}

static void give_back(struct alloc *alloc, uint64_t address) {
    struct cuda_async *al = async_of(alloc);
    al->requested_bytes -= cuda_pool_free(&al->pool, address);
    update_stats(al);
}

static enum alloc_result record_stream(struct alloc *alloc, uint64_t address, uint64_t stream) {
    return cuda_pool_use(&async_of(alloc)->pool, address, stream) ? ALLOC_OK : ALLOC_HOST_MEMORY;
}

static enum alloc_result empty_cache(struct alloc *alloc) {
    struct cuda_async *al = async_of(alloc);
    bool ok = cuda_pool_synchronize(&al->pool) && cuda_pool_trim(&al->pool, 0);
    update_stats(al);
    return ok ? ALLOC_OK : ALLOC_HOST_MEMORY;
}

/* Unlike the native allocator's, a fraction of 1 is a limit. */
static void set_memory_fraction(struct alloc *alloc, double fraction) {
    struct cuda_async *al = async_of(alloc);
    al->limit_bytes = (uint64_t)(fraction * (double)al->total_bytes);
}

static void write_oom(const struct alloc_oom *oom, unsigned device, char *out, size_t size) {
    char allocated[UNITS_TEXT_BYTES], asked[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES];
    char available[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];
    snprintf(out, size,
             "Allocation on device %u would exceed allowed memory. (out of memory)\n"
             "Currently allocated     : %s\n"
             "Requested               : %s\n"
             "Device limit            : %s\n"
             "Free (according to CUDA): %s\n"
             "PyTorch limit (set by user-supplied memory fraction)\n"
             "                        : %s",
             device, units_format_pytorch(oom->allocated_bytes, allocated),
             units_format_pytorch(oom->requested_bytes, asked),
             units_format_pytorch(oom->device_total_bytes, total),
             units_format_pytorch(oom->device_free_bytes, available),
             units_format_pytorch(oom->allowed_bytes ? oom->allowed_bytes : UINT64_MAX, limit));
}

static struct alloc *create(const struct alloc_config *config, struct error *err) {
    struct cuda_async *al = xcalloc(1, sizeof *al);
    if (!al) {
        error_host_memory(err);
        return NULL;
    }
    /* PyTorch sets the threshold and the policies; chunk and alignment are assumptions (docs/allocators.md). */
    static const struct cuda_pool_options options = {.chunk_bytes = 32 * MIB,
                                                     .align_bytes = 512,
                                                     .release_threshold = UINT64_MAX,
                                                     .follows_events = true,
                                                     .opportunistic = true,
                                                     .internal_dependencies = true};
    al->alloc.ops = &cuda_async_ops;
    al->framework = config->framework ? config->framework : framework_row(0);
    al->world = config->world;
    al->total_bytes = config->total_bytes;
    al->limit_bytes = UINT64_MAX;
    cuda_pool_init(&al->pool, &options, &al->world, config->capacity_bytes);
    return &al->alloc;
}

static void destroy(struct alloc *alloc) {
    cuda_pool_fini(&async_of(alloc)->pool);
    xfree(alloc);
}

static const struct alloc_stats *stats(const struct alloc *alloc) {
    return &((const struct cuda_async *)(const void *)alloc)->stats;
}

static const struct alloc_oom *last_oom(const struct alloc *alloc) {
    return &((const struct cuda_async *)(const void *)alloc)->oom;
}

const struct alloc_ops cuda_async_ops = {
    .name = "cudaMallocAsync",
    .doc = "PyTorch's backend:cudaMallocAsync, on a model of the driver's pool",
    .heeds_settings = true,
    .create = create,
    .destroy = destroy,
    .take = take,
    .free = give_back,
    .record_stream = record_stream,
    .empty_cache = empty_cache,
    .set_memory_fraction = set_memory_fraction,
    .stats = stats,
    .last_oom = last_oom,
    .write_oom = write_oom,
};
