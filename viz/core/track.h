/* track.h: one timeline as the viewer shows it: its levels of detail, keyframes, peaks and names.
 *
 * Ownership: borrows the timeline, which must outlive it; owns the rest. Must not be moved once
 * built. */
#ifndef TRACK_H
#define TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "before.h"
#include "live.h"
#include "lod.h"
#include "owners.h"
#include "peaks.h"
#include "streams.h"

struct error;
struct timeline;

enum { TRACK_LANES = 3 };

struct track {
    const struct timeline *tl;
    uint8_t device;
    struct lod lod;
    struct live live;
    struct streams streams; /* begun: streams_build */
    struct owners owners;
    struct peaks peaks;
    struct before before;
    ARRAY(uint32_t) lanes[TRACK_LANES];   /* phases by depth, in order of their beginning */
    uint64_t context_bytes;               /* outside the allocator; 0 where unknown */
    uint64_t capacity_bytes;              /* 0: unknown */
    bool allocated_known, reserved_known; /* reserved: or what is used of the device */
};

/* The file's name, without its folders. */
const char *track_name(const struct track *track);
bool track_build(struct track *track, const struct timeline *tl, uint8_t device, struct error *err);
void track_fini(struct track *track);
/* The first moment of the highest total. */
uint32_t track_peak(const struct track *track);
/* What a full picture must have room for: capacity, reserved, allocated, with the context below
 * them. */
uint64_t track_top(const struct track *track, bool with_capacity);
/* The innermost phase at a moment that the lanes hold, or TIMELINE_NONE. */
uint32_t track_phase(const struct track *track, uint32_t moment);
uint32_t track_phase_end(const struct track *track, uint32_t phase); /* the moment after it */
/* The beginning of the next (or previous) phase of any lane seen from a moment; the moment itself
 * when there is none. */
uint32_t track_next_phase(const struct track *track, uint32_t moment);
uint32_t track_previous_phase(const struct track *track, uint32_t moment);

#endif
