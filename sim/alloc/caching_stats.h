/* caching_stats.h: raising and lowering of PyTorch's four-field statistics. */
#ifndef CACHING_STATS_H
#define CACHING_STATS_H

#include <assert.h>

#include "alloc.h"

static inline void stat_raise_one(struct alloc_stat *stat, uint64_t amount) {
    stat->current += amount;
    stat->allocated += amount;
    if (stat->current > stat->peak)
        stat->peak = stat->current;
}

static inline void stat_lower_one(struct alloc_stat *stat, uint64_t amount) {
    assert(stat->current >= amount);
    stat->current -= amount;
    stat->freed += amount;
}

/* `stat` is one of alloc_stats' arrays: the sum and the class move together. */
static inline void stat_raise(struct alloc_stat *stat, enum alloc_pool_class class,
                              uint64_t amount) {
    stat_raise_one(&stat[ALLOC_POOL_ALL], amount);
    stat_raise_one(&stat[class], amount);
}

static inline void stat_lower(struct alloc_stat *stat, enum alloc_pool_class class,
                              uint64_t amount) {
    stat_lower_one(&stat[ALLOC_POOL_ALL], amount);
    stat_lower_one(&stat[class], amount);
}

#endif
