/* compare_window.h: figures of a part of a run, for compare.c. */
#ifndef COMPARE_WINDOW_H
#define COMPARE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct alignment_side;
struct compare_alive;

struct window_peaks {
    uint64_t allocated, active, reserved;
};

/* The highest figures within the side, the state that it begins with included. */
struct window_peaks window_peaks(const struct alignment_side *side);

/* What lives before event `begin` of the simulated side, and before `real_begin` of the real one, by
 * requested sizes. False: host memory. */
bool alive_find(const struct alignment_side *simulated, uint32_t begin,
                const struct alignment_side *real, uint32_t real_begin, struct compare_alive *out);

#endif
