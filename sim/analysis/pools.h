/* pools.h: the figures of torch.cuda.memory_stats() and memory_summary(), by pool, from walking a
 * timeline.
 *
 * Source: pytorch c10/cuda/CUDACachingAllocator.cpp (2.6 to 2.15): update of the statistics in
 * alloc_found_block, free_block, try_merge_blocks; names as in torch/cuda/memory.py. Blocks and
 * segments that were there before the first event count as allocated before it; what was freed
 * before it is not known. Non-releasable memory (inactive_split) needs addresses;
 * `has_inactive_split` is off when the source lacks them or when its addresses do not fit PyTorch's
 * rule that the low part of a free block is handed out. */
#ifndef POOLS_H
#define POOLS_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct timeline;

struct pool_stat {
    uint64_t current, peak, allocated, freed;
};

enum pool_class { POOL_ALL, POOL_LARGE, POOL_SMALL, POOL_CLASS_COUNT };

/* id, key in memory_stats() */
#define POOL_METRICS(X)                                                                            \
    X(ALLOCATED_BYTES, "allocated_bytes")                                                          \
    X(ACTIVE_BYTES, "active_bytes")                                                                \
    X(REQUESTED_BYTES, "requested_bytes")                                                          \
    X(RESERVED_BYTES, "reserved_bytes")                                                            \
    X(INACTIVE_SPLIT_BYTES, "inactive_split_bytes")                                                \
    X(ALLOCATION, "allocation")                                                                    \
    X(ACTIVE, "active")                                                                            \
    X(SEGMENT, "segment")                                                                          \
    X(INACTIVE_SPLIT, "inactive_split")

enum pool_metric {
#define X(id, key) POOL_##id,
    POOL_METRICS(X)
#undef X
        POOL_METRIC_COUNT
};

struct pools {
    struct pool_stat stat[POOL_METRIC_COUNT][POOL_CLASS_COUNT];
    struct pool_stat oversize_allocations, oversize_segments; /* sizes >= max_split_bytes */
    uint64_t ooms;
    bool has_inactive_split;
};

/* The figures after the events [0, end). `max_split_bytes` UINT64_MAX: no limit, nothing is
 * oversize. False: host memory. */
bool pools_find(const struct timeline *tl, uint8_t device, uint32_t end, uint64_t max_split_bytes,
                struct pools *out, struct error *err);

const char *pool_metric_key(enum pool_metric metric);

#endif
