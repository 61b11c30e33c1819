/* counters.h: the sums over a timeline at an event, by walking the events once. Names and rules are PyTorch's
 * (torch.cuda.memory_stats; c10/cuda/CUDACachingAllocator.cpp, getDeviceStats):
 *   allocated  sum of block sizes, down at FREE_REQUESTED      active     likewise, down at FREE_COMPLETED
 *   requested  sum of requested sizes, down at FREE_COMPLETED  reserved   segments and mapped ranges
 * One set for a device. Only devices with ordinal == `device` count. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdint.h>

#include "timeline.h"

struct counters {
    uint64_t allocated, active, requested, reserved; /* bytes */
    uint64_t by_category[CATEGORY_COUNT];            /* active bytes */
    uint32_t blocks, segments;                       /* active blocks, segments */
};

/* The state before the first event. */
void counters_start(const struct timeline *tl, uint8_t device, struct counters *c);
/* Applies event `index`. */
void counters_apply(const struct timeline *tl, uint8_t device, uint32_t index, struct counters *c);

#endif
