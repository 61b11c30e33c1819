/* caching.h: PyTorch's CUDA caching allocator, native backend, as a plan of addresses (no memory is
 * touched), and what it offers beyond alloc.h: run-time settings, memory fraction, statistics
 * resets, private pools, captures, a look at every block.
 *
 * Source: PyTorch c10/cuda/CUDACachingAllocator.cpp, 2.0 to 2.15; rules, evidence and what is left
 * out: docs/allocators.md. Every `al` below must be a model created by caching_ops. Ownership: the
 * model owns segments, blocks and pools. One thread at a time. */
#ifndef CACHING_H
#define CACHING_H

#include <stdbool.h>
#include <stdint.h>

#include "alloc.h"

struct error;

extern const struct alloc_ops caching_ops; /* the row "native" */

/* Settings text as PYTORCH_ALLOC_CONF, at run time (alloc_settings_change). */
bool caching_change_settings(struct alloc *al, const char *text, struct error *err);
/* torch.cuda.set_per_process_memory_fraction, 0 <= fraction <= 1. */
void caching_set_memory_fraction(struct alloc *al, double fraction);
/* torch.cuda.reset_peak_memory_stats and reset_accumulated_memory_stats. */
void caching_reset_peak_stats(struct alloc *al);
void caching_reset_accumulated_stats(struct alloc *al);

/* --- private pools ---
 * A pool has an id pair: (n, 0) for CUDA graphs, (0, n) for user pools; (0, 0) is the default pool
 * and no private one. */
struct caching_pool_id {
    uint64_t v[2];
};

struct caching_pool_options {
    /* the default pool may take its free blocks before an out-of-memory (2.9 on) */
    bool use_on_oom;
    bool no_split; /* its blocks are never split (2.9 on) */
};

/* Which requests a redirection catches. */
struct caching_filter {
    bool all_streams;
    uint64_t stream; /* valid unless all_streams */
};

/* Makes the pool with use count 1, or raises the use count (options then only add). ALLOC_OK or
 * ALLOC_HOST_MEMORY. */
enum alloc_result caching_pool_create(struct alloc *al, struct caching_pool_id id,
                                      struct caching_pool_options options);
/* Uses the pool (use count + 1) and sends the requests that `filter` catches to it, until
 * caching_pool_end. */
enum alloc_result caching_pool_begin(struct alloc *al, struct caching_pool_id id,
                                     struct caching_filter filter);
void caching_pool_end(struct alloc *al, struct caching_pool_id id);
/* Use count - 1; at 0 the next release of the cache returns the pool's whole free segments. */
void caching_pool_release(struct alloc *al, struct caching_pool_id id);
/* empty_cache of one private pool; without effect while the pool is in use. */
enum alloc_result caching_empty_cache_pool(struct alloc *al, struct caching_pool_id id);
/* A stream capture (CUDA graph) is under way, with its redirection by caching_pool_begin: events
 * are not asked and memory is not given back until it ends. */
void caching_set_capture(struct alloc *al, bool under_way);

struct caching_pool_info {
    struct caching_pool_id id;
    uint32_t use_count;
    uint64_t reserved_bytes, free_bytes;
};

/* The private pools in order of creation; false after the last. */
bool caching_pool_row(const struct alloc *al, uint32_t index, struct caching_pool_info *info);

/* memory_stats()' reserved_bytes_by_private_pools: every pool that ever had memory, those that are
 * gone too. NULL after the last. */
struct caching_pool_reserved {
    struct caching_pool_id id;
    struct alloc_stat reserved_bytes[ALLOC_POOL_CLASS_COUNT];
};

const struct caching_pool_reserved *caching_pool_reserved_row(const struct alloc *al,
                                                              uint32_t index);

/* --- every block --- */
enum caching_block_state {
    CACHING_BLOCK_FREE,
    CACHING_BLOCK_UNMAPPED, /* address space of a reservation without memory */
    CACHING_BLOCK_ALLOCATED,
    CACHING_BLOCK_PENDING /* freed; other streams have not passed yet */
};

struct caching_block {
    uint64_t address, bytes;
    uint64_t requested_bytes; /* allocated and pending blocks; else 0 */
    uint64_t stream;
    uint64_t segment_address, segment_bytes; /* of a reservation: all of its address space */
    struct caching_pool_id pool_id;
    enum caching_block_state state;
    bool small_pool, expandable;
};

/* Segment by segment (order unspecified but reproducible), the blocks of each in address order
 * without gaps. */
void caching_visit(const struct alloc *al,
                   void (*visit)(void *user, const struct caching_block *block), void *user);
/* Invariants of the whole state against the statistics, for tests: links, free sets, sums. */
bool caching_check(const struct alloc *al, struct error *err);

#endif
