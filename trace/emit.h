/* emit.h: a timeline from a source that tells less than a snapshot of the allocator: events are put
 * behind each other, each with its block, segment or phase. Private to importers.
 *
 * What all of them share: a free is complete when it is asked for, since no such source tells the
 * two apart; memory reserved is known as a total at best, and is then one reservation a device that
 * grows and shrinks (timeline.h, TIMELINE_SUMS_SEGMENTS). Times must not go back within a device:
 * an earlier one becomes that of the event before it, with a warning. */
#ifndef EMIT_H
#define EMIT_H

#include <stdarg.h>
#include <stdint.h>

#include "array.h"
#include "attr.h"
#include "timeline.h"

struct error;

enum { EMIT_DEVICES = UINT8_MAX + 1, EMIT_OPEN_PHASES = 4096 };
#define EMIT_MOST_BYTES (UINT64_C(1) << 46) /* a size above it is damage: 64 TiB */

struct emit_refs {
    ARRAY(uint32_t) list;
};

struct emit_device {
    uint64_t clock_ns, live_bytes, reserved_bytes;
    uint64_t totals[CATEGORY_COUNT];
    struct emit_refs made[CATEGORY_COUNT]; /* live blocks that totals are made of, newest last */
    uint32_t reservation;                  /* the segment; TIMELINE_NONE: none yet */
    ARRAY(uint32_t) open_phases;           /* the innermost is last */
};

struct emit {
    struct timeline *tl;
    struct error *err;
    struct emit_device *devices; /* EMIT_DEVICES of them */
};

/* False: host memory. emit_fini() is to be called in any case. */
bool emit_init(struct emit *e, struct timeline *tl, struct error *err);
void emit_fini(struct emit *e);

/* Each returns false when host memory is exhausted. A block's device, address (TIMELINE_NO_ADDRESS:
 * unknown), sizes, category and names are the caller's, the rest is filled in here. `ref` is
 * TIMELINE_NONE when sizes are absurd: the record is skipped with a warning. */
bool emit_alloc(struct emit *e, uint64_t time_ns, const struct timeline_block *block,
                uint32_t *ref);
bool emit_free(struct emit *e, uint64_t time_ns, uint32_t ref);
/* A block that lived before the first event. */
bool emit_start_block(struct emit *e, const struct timeline_block *block, uint32_t *ref);
/* What a category has from now on, where a source tells totals alone: blocks are made of the
 * differences (timeline.h, TIMELINE_SUMS_BLOCKS), and no sum is ever above both of two totals in
 * turn. */
bool emit_total(struct emit *e, uint64_t time_ns, uint8_t device, enum category category,
                uint64_t bytes);
/* What it had before the first event: a block of the start, which emit_total goes on from. */
bool emit_total_start(struct emit *e, const struct timeline_block *block);
/* What is reserved from now on; before the first event too when it is the device's first. */
bool emit_reserved(struct emit *e, uint64_t time_ns, uint8_t device, uint64_t bytes);
/* A segment of its own, with its place: the driver's call is known. `ref`: its number. */
bool emit_segment(struct emit *e, uint64_t time_ns, const struct timeline_segment *segment,
                  uint32_t *ref);
bool emit_segment_end(struct emit *e, uint64_t time_ns, uint32_t ref);
/* One that was there before the first event. */
bool emit_start_segment(struct emit *e, const struct timeline_segment *segment, uint32_t *ref);
/* Phases nest as they come; the end takes the phase out, wherever it stands. */
bool emit_phase_begin(struct emit *e, uint64_t time_ns, uint8_t device, uint32_t name,
                      uint32_t *phase);
bool emit_phase_end(struct emit *e, uint64_t time_ns, uint32_t phase);
/* Any other event, as it is but for its time. */
bool emit_event(struct emit *e, const struct timeline_event *event, uint32_t *index);

/* At the end: where less is reserved than is allocated at some event, the totals cannot be: reserved
 * is unknown then, with a warning. */
bool emit_check_reserved(struct emit *e);

/* Counts a record that was repaired or skipped; the first one's text is kept. */
void emit_warn(struct timeline *tl, const char *format, ...) ATTR_PRINTF(2, 3);
void emit_warn_args(struct timeline *tl, const char *format, va_list args) ATTR_PRINTF(2, 0);

/* A block with nothing known but what is given: its bytes stand for those requested too, which is
 * what sums by category are of. */
struct timeline_block emit_block(uint8_t device, uint64_t address, uint64_t bytes);

#endif
