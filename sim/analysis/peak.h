/* peak.h: the highest value of each figure of a device, and where it is first reached.
 *
 * The figures are those of counters.h. A peak's event is the first after which the figure has its
 * highest value; TIMELINE_NONE: it stood there before the first event. One pass over the events.
 * Device memory in use = reserved + what lives outside the allocator (context, libraries). */
#ifndef PEAK_H
#define PEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"

struct peak {
    uint64_t bytes;
    uint32_t event;
};

struct peaks {
    struct peak allocated, active, requested, reserved;
    struct peak category[CATEGORY_COUNT];            /* of each band alone, requested bytes */
    struct counters at_allocated;                    /* the state at the peak of allocated */
    uint64_t requested_at_allocated[CATEGORY_COUNT]; /* requested bytes by category there */
    struct counters at_end;
    bool has_device; /* the next three are known */
    uint64_t total_bytes, context_bytes;
    uint64_t device_bytes; /* reserved peak + context */
};

void peak_find(const struct timeline *tl, uint8_t device, struct peaks *out);

/* Nanoseconds between the first event and `event`; 0 for TIMELINE_NONE and for clocks that run
 * backwards. */
uint64_t peak_time_ns(const struct timeline *tl, uint32_t event);
/* The op of the allocation at `event`, "" when it is none or unknown. Likewise the owner (module
 * path). */
const char *peak_op(const struct timeline *tl, uint32_t event);
const char *peak_owner(const struct timeline *tl, uint32_t event);

#endif
