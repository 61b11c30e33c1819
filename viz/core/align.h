/* align.h: the second timeline on the first one's axis: a monotone, piecewise-linear map between
 * their moments.
 *
 * Anchors are the begins and ends of phases that both have (same depth, name and how often it came
 * before), between them moments go in proportion. Without common phases the whole goes in
 * proportion: two runs of the same length are then compared event by event. */
#ifndef ALIGN_H
#define ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

struct align_anchor {
    uint32_t a, b;
};

struct align {
    ARRAY(struct align_anchor) anchors; /* both strictly rising, from (0, 0) to both ends */
};

bool align_build(struct align *align, const struct timeline *a, const struct timeline *b,
                 struct error *err);
void align_fini(struct align *align);
/* The moment of b for a moment of a, rounded up; the end (moments) for the end. */
uint32_t align_map(const struct align *align, uint32_t moment);
uint32_t align_common_phases(const struct align *align); /* anchors that came from phases */

#endif
