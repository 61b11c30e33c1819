/* marks.c: see marks.h. */
#include "marks.h"

#include "level.h"
#include "timeline.h"
#include "track.h"

void marks_start(struct marks *m, const struct track *track) {
    memset(m, 0, sizeof *m);
    m->track = track;
    lod_state_at(&track->lod, 0, &m->state);
}

void marks_fini(struct marks *m) {
    array_fini(&m->retries);
    array_fini(&m->breaks);
    memset(m, 0, sizeof *m);
}

static bool look_at_event(struct marks *m, uint32_t event) {
    const struct timeline_event *e = &m->track->tl->events.at[event];
    if (e->device != m->track->device)
        return true;
    bool gives = e->kind == EVENT_SEGMENT_FREE || e->kind == EVENT_SEGMENT_UNMAP;
    if (gives && !m->emptied) {
        m->open.event = m->open.bytes > 0 ? m->open.event : event;
        m->open.bytes += e->bytes;
    }
    if (gives)
        return true;
    bool asks =
        e->kind == EVENT_SEGMENT_ALLOC || e->kind == EVENT_SEGMENT_MAP || e->kind == EVENT_OOM;
    struct mark_retry found = m->open;
    m->open.bytes = 0;
    m->emptied = e->kind == EVENT_EMPTY_CACHE;
    found.again = event;
    return !asks || found.bytes == 0 || array_push(&m->retries, found);
}

/* By how much; 0: nothing is wrong, or not known. */
static uint64_t excess(const struct marks *m, enum mark_kind kind) {
    const struct track *track = m->track;
    uint64_t high = m->state.total, low = m->state.reserved;
    if (kind == MARK_ALLOCATED &&
        !(level_known(track, LEVEL_ALLOCATED) && level_known(track, LEVEL_RESERVED)))
        return 0;
    if (kind == MARK_CAPACITY) {
        if (track->capacity_bytes == 0 || !level_known(track, LEVEL_DEVICE))
            return 0;
        high = level_bytes(track, LEVEL_DEVICE, &m->state);
        low = track->capacity_bytes;
    }
    return high > low ? high - low : 0;
}

static bool look_at_state(struct marks *m, uint32_t moment) {
    for (enum mark_kind kind = MARK_ALLOCATED; kind < MARK_KINDS; kind++) {
        uint64_t bytes = excess(m, kind);
        struct mark_break *last = m->last[kind] ? &m->breaks.at[m->last[kind] - 1] : NULL;
        struct mark_break fresh = {moment, moment + 1, kind, bytes};
        if (bytes == 0)
            continue;
        if (last && last->end == moment) {
            last->end++;
            last->bytes = bytes > last->bytes ? bytes : last->bytes;
            continue;
        }
        if (!array_push(&m->breaks, fresh))
            return false;
        m->last[kind] = m->breaks.count;
    }
    return true;
}

bool marks_build(struct marks *m, uint32_t events) {
    uint32_t all = m->track->lod.moments;
    for (uint64_t stop = (uint64_t)m->moments + events; m->moments < all && m->moments < stop;) {
        uint32_t moment = m->moments++;
        if (moment > 0)
            lod_apply(&m->track->lod, moment - 1, &m->state);
        if ((moment == 0 || look_at_event(m, moment - 1)) && look_at_state(m, moment))
            continue;
        marks_fini(m);
        m->given_up = true;
        return false;
    }
    m->done = m->moments == all;
    return true;
}
