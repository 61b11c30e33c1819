/* align.h: the second timeline on the first one's axis: a monotone map between their moments.
 *
 * What is counted is `work`: the allocations and frees up to a moment, so that events which only
 * one side records (segments, phases, completions) shift nothing. Anchors are points where both
 * meet; between them work goes in proportion: equal runs meet one to one. Without any work, moments
 * count.
 *
 *   phases     the begins and ends of the phases that both have, in the longest common order of their
 *              names (a trace need not know of steps, nor nest as the simulation does)
 *   requests   the requests that are the same in both, as `vramsim validate` matches them
 *   peaks      the peaks of both, and from there request by request
 *   time       time since the start, as shares of the whole: the clocks need not be the same
 *
 * On top of it the second timeline may be moved and stretched by hand. */
#ifndef ALIGN_H
#define ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "i18n.h"

struct error;
struct request_match;
struct timeline;
struct track;

/* id, text */
#define ALIGN_MODES(X)                                                                             \
    X(PHASES, TEXT_ALIGN_PHASES)                                                                   \
    X(REQUESTS, TEXT_ALIGN_REQUESTS)                                                               \
    X(PEAKS, TEXT_ALIGN_PEAKS)                                                                     \
    X(TIME, TEXT_ALIGN_TIME)

enum align_mode {
#define X(id, text) ALIGN_BY_##id,
    ALIGN_MODES(X)
#undef X
        ALIGN_MODE_COUNT
};

struct align_anchor {
    uint32_t a, b; /* work */
};

struct align_work {
    uint32_t *at; /* [moments], never falling */
    uint32_t moments;
};

struct align {
    struct align_work a, b;
    ARRAY(struct align_anchor) anchors; /* both strictly rising; outside of them b stands still */
    enum align_mode mode;
    /* By hand: moment m of a meets what m * stretch + shift would. */
    double stretch, shift;
};

/* By phases. */
bool align_build(struct align *align, const struct timeline *a, const struct timeline *b,
                 struct error *err);
void align_fini(struct align *align);
/* Another way to meet; what was done by hand stays. `match` is that of the two, for requests. Where a
 * source lacks what the mode needs (phases, a clock) work or moments count. After a failure all is as
 * it was. */
bool align_choose(struct align *align, enum align_mode mode, const struct track *a,
                  const struct track *b, const struct request_match *match, struct error *err);
/* Moves b to the right by so many moments of a; stretches it about a moment of a, which keeps what it
 * meets; takes both back. */
void align_nudge(struct align *align, double moments);
void align_stretch(struct align *align, uint32_t about, double factor);
void align_reset(struct align *align);
static inline bool align_is_moved(const struct align *align) {
    return align->stretch < 1 || align->stretch > 1 || align->shift < 0 || align->shift > 0;
}
/* The moment of b for a moment of a: the first that has done as much; the end (moments) for the
 * end. */
uint32_t align_map(const struct align *align, uint32_t moment);
uint32_t align_common_phases(const struct align *align); /* anchors that came from phases */

/* For align_modes.c: an anchor must rise in both; one that does not is left out, so that the map
 * stays monotone. False: host memory. */
bool align_add_anchor(struct align *align, uint32_t a, uint32_t b);
bool align_add_phases(struct align *align, const struct timeline *a, const struct timeline *b);
/* The allocations and frees up to each moment. */
bool align_count_work(const struct timeline *tl, struct align_work *work);
uint32_t align_work_done(const struct align_work *work);
void align_count_moments(struct align_work *work);

#endif
