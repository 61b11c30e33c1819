/* free_runs.h: fragmentation over time: how much of what is reserved is free at each moment (lod.h), and
 * the largest run of it: what one request can get without new memory.
 *
 *   free       sum of the gaps between blocks in reserved ranges      as analysis/fragmentation.h
 *   largest    the largest gap
 *   scattered  1 - largest / free, in millionths; 0 where nothing is free
 *
 * Built in slices, from the first event on: moments 0 .. moments - 1 are there. 16 bytes an event.
 * Ownership: borrows the timeline, owns the rest. Needs addresses, segments and block sizes; without
 * them `known` is off. Zero bytes can be ended. */
#ifndef FREE_RUNS_H
#define FREE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "pyramid.h"
#include "spans.h"

struct timeline;

enum free_runs_kind { FREE_RUNS_FREE, FREE_RUNS_LARGEST, FREE_RUNS_SCATTERED, FREE_RUNS_KINDS };

struct free_run {
    uint64_t bytes, address;
};

struct free_runs {
    const struct timeline *tl;
    uint8_t device;
    bool known, done, given_up; /* given_up: host memory */
    uint32_t moments;
    ARRAY(uint64_t) free, largest;
    struct pyramid pyramids[FREE_RUNS_KINDS];
    /* while it is built */
    struct spans gaps;
    uint64_t free_bytes;
    ARRAY(struct free_run) heap; /* gaps and such as no longer are, the largest on top */
    size_t gaps_then;            /* gaps when the heap was swept last */
};

/* Moment 0. False: host memory; it is then given up. */
bool free_runs_start(struct free_runs *runs, const struct timeline *tl, uint8_t device);
/* At most `events` more. False: host memory; it is then given up. */
bool free_runs_build(struct free_runs *runs, uint32_t events);
void free_runs_fini(struct free_runs *runs);
/* Over the moments first .. end - 1, not empty, of those that are there. */
struct extremes free_runs_range(const struct free_runs *runs, enum free_runs_kind kind,
                                uint32_t first, uint32_t end);

#endif
