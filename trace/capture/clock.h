/* clock.h: the clocks of a capture, ns. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_realtime(void) { /* since 1970: CUPTI's and PyTorch's */
    return clock_read(CLOCK_REALTIME);
}

static inline uint64_t clock_monotonic(void) {
    return clock_read(CLOCK_MONOTONIC);
}

#endif
