/* alloc.c: the table of allocator models, and the way through it. */
#include "alloc.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "bfc.h"
#include "caching.h"
#include "cuda_async.h"
#include "live_sum.h"
#include "packed.h"

static const struct alloc_ops *const rows[] = {
    &caching_ops, &cuda_async_ops, &bfc_ops, &bfc_growth_ops, &live_sum_ops, &packed_ops,
};

const struct alloc_ops *alloc_row(size_t index) {
    return index < sizeof rows / sizeof rows[0] ? rows[index] : NULL;
}

const struct alloc_ops *alloc_find(const char *name) {
    for (size_t i = 0; alloc_row(i); i++)
        if (strcmp(rows[i]->name, name) == 0)
            return rows[i];
    return NULL;
}

const struct alloc_ops *alloc_of_backend(enum alloc_backend backend) {
    return backend == ALLOC_BACKEND_CUDA_MALLOC_ASYNC ? &cuda_async_ops : &caching_ops;
}

struct alloc *alloc_create(const struct alloc_ops *ops, const struct alloc_config *config,
                           struct error *err) {
    return ops->create(config, err);
}

void alloc_destroy(struct alloc *al) {
    if (al)
        al->ops->destroy(al);
}

enum alloc_result alloc_take(struct alloc *al, uint64_t bytes, uint64_t stream, uint64_t *address) {
    assert(bytes > 0);
    return al->ops->take(al, bytes, stream, address);
}

void alloc_free(struct alloc *al, uint64_t address) {
    al->ops->free(al, address);
}

enum alloc_result alloc_record_stream(struct alloc *al, uint64_t address, uint64_t stream) {
    return al->ops->record_stream ? al->ops->record_stream(al, address, stream) : ALLOC_OK;
}

enum alloc_result alloc_empty_cache(struct alloc *al) {
    return al->ops->empty_cache ? al->ops->empty_cache(al) : ALLOC_OK;
}

void alloc_set_memory_fraction(struct alloc *al, double fraction) {
    assert(fraction >= 0 && fraction <= 1);
    if (al->ops->set_memory_fraction)
        al->ops->set_memory_fraction(al, fraction);
}

const struct alloc_stats *alloc_get_stats(const struct alloc *al) {
    return al->ops->stats(al);
}

const struct alloc_oom *alloc_last_oom(const struct alloc *al) {
    return al->ops->last_oom(al);
}

void alloc_write_oom(const struct alloc *al, unsigned device_ordinal, char *out, size_t size) {
    const struct alloc_oom *oom = alloc_last_oom(al);
    if (al->ops->write_oom)
        al->ops->write_oom(oom, device_ordinal, out, size);
    else
        snprintf(out, size, "allocator %s: out of memory for %llu bytes", al->ops->name,
                 (unsigned long long)oom->requested_bytes);
}
