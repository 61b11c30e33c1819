/* space.h: what lies where after any number of events, quickly: the reserved ranges and the active
 * blocks in them, for a map that follows the cursor.
 *
 *   changes     events that reserve memory or give it back
 *   keyframes   the reserved ranges after every 256 changes, or as many as there are ranges
 *   active      keyframes of the active blocks (live.h)
 *
 * Ownership: borrows the timeline, owns the rest. Needs addresses, segments and block sizes; without
 * them `known` is off and every moment is empty. Zero bytes can be ended. */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "live.h"
#include "placement.h"
#include "spans.h"

struct timeline;

enum { SPACE_STEP = 256 };

struct space_keyframe {
    size_t change; /* changes before it */
    size_t first;  /* in spans */
    uint32_t count;
};

struct space_placed {
    uint64_t address;
    uint32_t block;
};

struct space {
    const struct timeline *tl;
    uint8_t device;
    bool known, done, given_up; /* given_up: host memory */
    uint32_t next;              /* event to be looked at */
    struct live active;
    ARRAY(uint32_t) changes;
    ARRAY(struct space_keyframe) keyframes;
    ARRAY(struct span) spans;

    /* the moment it stands at */
    struct placement placement;
    uint32_t moment;
    uint64_t serial; /* another one: the ranges are others */
    bool valid;
    struct spans reserved;
    size_t change; /* of `reserved`; SIZE_MAX: nowhere */
    struct live_set set;
    ARRAY(struct space_placed) placed, other;
};

/* Built in slices: at most about `events` more, until `done`. False: host memory; it is then given up,
 * empty. */
void space_start(struct space *space, const struct timeline *tl, uint8_t device);
bool space_build(struct space *space, uint32_t events);
void space_fini(struct space *space);
/* Once it is done. `placement` becomes what analysis/placement.h finds after `moment` events. False: host memory; it is
 * then empty. */
bool space_read(struct space *space, uint32_t moment);

#endif
