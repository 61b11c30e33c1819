/* align.h: the second timeline on the first one's axis: a monotone map between their moments,
 * request by request.
 *
 * What is counted is `work`: the allocations and frees up to a moment, so that events which only
 * one side records (segments, phases, completions) shift nothing. Anchors are the begins and ends
 * of the phases that both have, in the longest common order of their names (a trace need not know
 * of steps, nor nest as the simulation does); between them work goes in proportion: equal runs meet
 * one to one. Without any work, moments count. */
#ifndef ALIGN_H
#define ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

struct align_anchor {
    uint32_t a, b; /* work */
};

struct align_work {
    uint32_t *at; /* [moments], never falling */
    uint32_t moments;
};

struct align {
    struct align_work a, b;
    ARRAY(struct align_anchor) anchors; /* both strictly rising, from (0, 0) */
};

bool align_build(struct align *align, const struct timeline *a, const struct timeline *b,
                 struct error *err);
void align_fini(struct align *align);
/* The moment of b for a moment of a: the first that has done as much; the end (moments) for the
 * end. */
uint32_t align_map(const struct align *align, uint32_t moment);
uint32_t align_common_phases(const struct align *align); /* anchors that came from phases */

#endif
