/* compare.h: the simulated run against the real one: the result of `vramsim validate`.
 *
 * Requests are aligned (alignment.h) up to the end of each side's last step when that is complete:
 * what a recording program frees as it ends says nothing about the step. Peaks are those of the
 * whole timelines. A source without requests is compared by its peaks alone (compare_level).
 * curve_distance: both curves of allocated memory, sampled after every request;
 * the area between them over the area of the real one. A request that only one side has counts with
 * its whole height. 0: equal. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "alignment.h"
#include "steps.h"
#include "window.h"

struct error;
struct timeline;

struct compare_value {
    uint64_t real, simulated;
};

struct compare_step {
    struct compare_value allocated_peak, reserved_peak; /* running maxima at the step's end */
    struct compare_value own_peak;                      /* allocated, within the step */
};

/* Blocks alive before a window, on both sides; `equal`: how many have one of their size there. */
struct compare_alive {
    uint32_t real, simulated, equal;
    uint64_t real_bytes, simulated_bytes; /* requested */
};

enum { COMPARE_TEXT_BYTES = 160 };

/* The allocator over the recorded requests: what it said against what is recorded. */
struct compare_place {
    bool is_done, is_equal;
    uint64_t addresses, addresses_equal, segments, segments_equal;
    uint64_t allocated, active, reserved; /* the model's peaks */
    /* the first difference, as each says it; "" when equal */
    char recorded[COMPARE_TEXT_BYTES], model[COMPARE_TEXT_BYTES];
};

/* At which level: what both sources tell. */
enum compare_level {
    COMPARE_REQUESTS, /* request by request, and all below */
    COMPARE_TOTALS,   /* no requests, but what an allocator had over time: peaks alone */
    COMPARE_DEVICE    /* what the whole device had over time: its peak alone */
};

struct comparison {
    enum compare_level level; /* below REQUESTS: no alignment, no steps, no curve, no window */
    struct alignment_side simulated, real;
    struct alignment alignment;
    uint64_t requests_real, requests_simulated, requests_equal;
    struct compare_value allocated, active, reserved; /* peaks */
    struct compare_value device; /* reserved and context against what the device had; with DEVICE */
    bool has_allocated, has_active, has_reserved; /* both sources know them */
    ARRAY(struct compare_step) steps;             /* those that both have */
    uint32_t steps_real, steps_simulated;
    double curve_distance;
    bool is_window; /* the next three are known */
    struct window window;
    uint32_t window_step; /* the simulated step in which it begins, from 1; 0: none */
    struct compare_alive alive;
    struct compare_place place;
    struct compare_value own_allocated, own_active,
        own_reserved; /* as the three above before compare_place() */
};

/* False: host memory, or too many requests. compare_fini() frees. The timelines must outlive the
 * comparison. */
bool compare_find(const struct timeline *simulated, uint8_t simulated_device,
                  const struct timeline *real, uint8_t real_device, struct comparison *out,
                  struct error *err);
void compare_fini(struct comparison *comparison);

/* Requests and frees are equal, but not (or not known to be) where the blocks lie, which the real
 * source tells. */
bool compare_wants_place(const struct comparison *comparison);
/* From now on the peaks of the simulated side are the model's, and `place` is part of the verdict.
 */
void compare_place(struct comparison *comparison, const struct compare_place *place);

bool compare_is_equal(const struct comparison *comparison);
/* (simulated - real) / real; 0 when both are 0, infinite when only the real one is. */
double compare_error(struct compare_value value);
/* Is the error of peak allocated and of peak reserved, or that of the device, each where known, at
 * most `tolerance` (0.02 = 2 %)? */
bool compare_is_within(const struct comparison *comparison, double tolerance);

#endif
