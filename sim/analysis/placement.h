/* placement.h: what lies where after an event: the device's reserved ranges, the live blocks in
 * them, the gaps between.
 *
 *   range   |block|  gap  |block|block|   gap      |      sorted by address; adjacent free blocks
 *           ^ range.address                               always merge: a gap is one free block
 *
 * A range is a plain segment, or a maximal mapped stretch of an expandable reservation. `event`
 * TIMELINE_NONE: the state before the first event. Needs addresses, segments and block sizes
 * (timeline.has). Blocks that overlap or lie outside (bad data) leave no gap there. */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

struct placement_range {
    uint64_t address, bytes;
    uint32_t segment;
    bool is_expandable, is_small;
};

struct placement_gap {
    uint64_t address, bytes;
    uint32_t range;
};

struct placement {
    ARRAY(struct placement_range) ranges;
    ARRAY(uint32_t) blocks; /* live, by address */
    ARRAY(struct placement_gap) gaps;
};

bool placement_is_known(const struct timeline *tl);
/* False: host memory. placement_fini() frees. */
bool placement_find(const struct timeline *tl, uint8_t device, uint32_t event,
                    struct placement *out, struct error *err);
/* For a placement whose ranges and blocks somebody else has found, each sorted by address: finds the
 * gaps. False: host memory; the gaps are then none. */
bool placement_find_gaps(const struct timeline *tl, struct placement *placement);
void placement_fini(struct placement *placement);

#endif
