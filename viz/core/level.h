/* level.h: the three heights that a timeline may be compared by, like with like, and their signed
 * difference between two timelines, exact over the merged events.
 *
 *   allocated   blocks, down when the free is requested
 *   reserved    segments and mapped ranges
 *   device      reserved and what is outside the allocator
 *
 * Moment m of the first meets the moments of the second from align_map(m) on, as far as the next moment
 * that meets another; where several of both meet, in proportion: a timeline differs from itself by 0 at
 * every moment. What is after that of the first is in no pair but the last one's.
 *
 * Built in slices, from the first event on; 16 bytes an event of the first. Ownership: borrows the
 * tracks and their alignment, which must stay as it is; owns the rest. Zero bytes can be ended. */
#ifndef LEVEL_H
#define LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "i18n.h"
#include "lod.h"
#include "pyramid.h"

struct align;
struct track;

enum level { LEVEL_ALLOCATED, LEVEL_RESERVED, LEVEL_DEVICE, LEVEL_COUNT };

enum text_id level_text(enum level level);
bool level_known(const struct track *track, enum level level);
uint64_t level_bytes(const struct track *track, enum level level, const struct lod_state *state);

struct level_gap {
    const struct track *a, *b;
    const struct align *align;
    enum level level;
    bool known, done, given_up; /* given_up: host memory */
    uint32_t moments;           /* of the first: 0 .. moments - 1 are there */
    ARRAY(int64_t) low, high;   /* first - second */
    struct pyramid pyramid;
    /* while it is built */
    struct lod_state state_a, state_b;
    uint32_t at_b;
};

/* False: host memory; it is then given up. */
bool level_gap_start(struct level_gap *gap, const struct track *a, const struct track *b,
                     const struct align *align, enum level level);
/* About so many more moments of the first. False: host memory; it is then given up. */
bool level_gap_build(struct level_gap *gap, uint32_t moments);
void level_gap_fini(struct level_gap *gap);
/* Over the moments first .. end - 1 of the first, not empty, of those that are there. */
struct extremes level_gap_range(const struct level_gap *gap, uint32_t first, uint32_t end);

#endif
