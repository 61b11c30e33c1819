/* tl_window.h: a timeline as it would be had its recording begun at a later event: what is alive
 * there becomes the start state. For tests of all that must work on windows of a run. */
#ifndef TL_WINDOW_H
#define TL_WINDOW_H

#include <stdlib.h>

#include "suite.h"
#include "timeline.h"

static inline uint32_t tlw_later(uint32_t event, uint32_t from) {
    return event == TIMELINE_NONE || event < from ? TIMELINE_NONE : event - from;
}

static inline bool tlw_is_before(uint32_t event, uint32_t from) {
    return event == TIMELINE_NONE || event < from;
}

/* The mapped pieces of a reservation at the cut, as segments of the start, in `out` by address. */
static inline void tlw_add_reservation(const struct timeline *tl, uint32_t segment, uint32_t from,
                                       struct timeline *out) {
    const uint64_t page = UINT64_C(1) << 21;
    const struct timeline_segment *s = &tl->segments.at[segment];
    size_t pages = (size_t)(s->bytes / page);
    char *mapped = calloc(pages + 1, 1);
    assert_non_null(mapped);
    for (uint32_t i = 0; i < from; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->ref == segment && (e->kind == EVENT_SEGMENT_MAP || e->kind == EVENT_SEGMENT_UNMAP))
            memset(mapped + (e->address - s->address) / page, e->kind == EVENT_SEGMENT_MAP,
                   (size_t)(e->bytes / page));
    }
    for (size_t i = 0, end; i < pages; i = end) {
        for (end = i + 1; end < pages && mapped[end] == mapped[i];)
            end++;
        struct timeline_segment piece = *s;
        piece.stack = 0;
        piece.alloc_event = piece.free_event = TIMELINE_NONE;
        piece.address = s->address + i * page;
        piece.bytes = (end - i) * page;
        if (mapped[i])
            timeline_add_segment(out, &piece);
    }
    free(mapped);
}

static inline uint32_t *tlw_add_segments(const struct timeline *tl, uint32_t from,
                                         struct timeline *out) {
    uint32_t *map = malloc((tl->segments.count + 1) * sizeof *map);
    assert_non_null(map);
    for (uint32_t i = 0; i < tl->segments.count; i++) {
        struct timeline_segment s = tl->segments.at[i];
        s.stack = 0;
        map[i] = (uint32_t)out->segments.count;
        if (s.free_event != TIMELINE_NONE && s.free_event < from)
            continue;
        if (s.expandable && tlw_is_before(s.alloc_event, from)) {
            tlw_add_reservation(tl, i, from, out);
            continue;
        }
        s.alloc_event = tlw_later(s.alloc_event, from);
        s.free_event = tlw_later(s.free_event, from);
        timeline_add_segment(out, &s);
    }
    return map;
}

static inline uint32_t *tlw_add_blocks(const struct timeline *tl, uint32_t from,
                                       const uint32_t *segments, struct timeline *out) {
    uint32_t *map = malloc((tl->blocks.count + 1) * sizeof *map);
    assert_non_null(map);
    for (uint32_t i = 0; i < tl->blocks.count; i++) {
        struct timeline_block b = tl->blocks.at[i];
        map[i] = TIMELINE_NONE;
        if (b.complete_event != TIMELINE_NONE && b.complete_event < from)
            continue;
        bool freed = b.free_event != TIMELINE_NONE && b.free_event < from;
        b.pending_at_start = freed || (b.pending_at_start && b.alloc_event == TIMELINE_NONE);
        b.alloc_event = tlw_later(b.alloc_event, from);
        b.free_event = tlw_later(b.free_event, from);
        b.complete_event = tlw_later(b.complete_event, from);
        b.phase = TIMELINE_NONE;
        b.stack = 0;
        b.segment = b.segment == TIMELINE_NONE ? TIMELINE_NONE : segments[b.segment];
        map[i] = timeline_add_block(out, &b);
    }
    return map;
}

/* Phases are left out. Of reservations only those are known that nothing was unmapped from. */
static inline struct timeline *tl_window(const struct timeline *tl, uint32_t from) {
    struct timeline *out = timeline_create();
    assert_non_null(out);
    out->has = tl->has & ~(uint32_t)(TIMELINE_HAS_PHASE | TIMELINE_HAS_STACK);
    out->alloc_settings = timeline_string(out, timeline_text(tl, tl->alloc_settings));
    for (size_t i = 1; i < tl->streams.count; i++)
        assert_true(array_push(&out->streams, tl->streams.at[i]));
    for (size_t i = 0; i < tl->devices.count; i++)
        assert_true(array_push(&out->devices, tl->devices.at[i]));
    uint32_t *segments = tlw_add_segments(tl, from, out);
    uint32_t *blocks = tlw_add_blocks(tl, from, segments, out);
    for (uint32_t i = from; i < tl->events.count; i++) {
        struct timeline_event e = tl->events.at[i];
        if (e.kind <= EVENT_FREE_COMPLETED || e.kind == EVENT_STREAM_USE) {
            e.ref = blocks[e.ref];
        } else if (e.kind <= EVENT_SEGMENT_UNMAP) {
            e.ref = segments[e.ref];
        } else if (e.kind == EVENT_OOM) {
            struct timeline_oom oom = tl->ooms.at[e.ref];
            oom.event = i - from;
            oom.message = oom.op = oom.owner = 0;
            e.ref = (uint32_t)out->ooms.count;
            assert_true(array_push(&out->ooms, oom));
        } else {
            e.kind = EVENT_OTHER; /* indexes stay i - from */
            e.ref = TIMELINE_NONE;
        }
        timeline_add_event(out, &e);
    }
    free(segments);
    free(blocks);
    return out;
}

#endif
