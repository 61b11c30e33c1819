/* live.h: which blocks are allocated (or active: PyTorch's word for those not yet given back, frees
 * that a stream still holds included) at a moment, oldest first.
 *
 * Keyframes hold the live blocks of a moment; one follows the last after 4,096 moments, or as many
 * as it has blocks, so that all of them together stay below 4 bytes an event. A seek filters one
 * keyframe and the allocations since. */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

enum { LIVE_STEP = 4096 };

struct live_keyframe {
    uint32_t moment;
    uint32_t count;
    size_t first; /* in ids */
};

struct live_set {
    ARRAY(uint32_t) ids;
};

struct live {
    const struct timeline *tl;
    uint8_t device;
    bool active; /* until FREE_COMPLETED, not until FREE_REQUESTED */
    ARRAY(struct live_keyframe) keyframes;
    ARRAY(uint32_t) ids; /* blocks */
    /* while it is built */
    bool done;
    struct live_set set; /* at the last keyframe */
};

bool live_build(struct live *live, const struct timeline *tl, uint8_t device, struct error *err);
/* The active blocks, in slices: keyframes up to about `events` more at a time, until `done`. False: host
 * memory. */
void live_start_active(struct live *live, const struct timeline *tl, uint8_t device);
bool live_more(struct live *live, uint32_t events);
void live_fini(struct live *live);
/* Is a block that was there before `moment` not yet freed? */
bool live_is(const struct live *live, uint32_t block, uint32_t moment);
/* The last one at or before `moment`. */
const struct live_keyframe *live_keyframe(const struct live *live, uint32_t moment);
/* False: host memory exhausted; the set is then empty. */
bool live_at(const struct live *live, uint32_t moment, struct live_set *set);

#endif
