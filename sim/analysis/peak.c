/* peak.c: see peak.h. */
#include "peak.h"

#include <string.h>

#include "timeline.h"

/* The walk's own sums: requested bytes by category, which counters.h has as block bytes only. */
struct walk {
    struct counters now;
    uint64_t requested[CATEGORY_COUNT];
};

static void start(const struct timeline *tl, uint8_t device, struct walk *w) {
    memset(w, 0, sizeof *w);
    counters_start(tl, device, &w->now);
    for (size_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->alloc_event == TIMELINE_NONE && b->device == device)
            w->requested[b->category] += b->requested_bytes;
    }
}

static void raise_peak(struct peak *p, uint64_t bytes, uint32_t event) {
    if (bytes > p->bytes) {
        p->bytes = bytes;
        p->event = event;
    }
}

static void start_peak(struct peak *p, uint64_t bytes) {
    p->bytes = bytes;
    p->event = TIMELINE_NONE;
}

static void start_peaks(const struct walk *w, struct peaks *out) {
    start_peak(&out->allocated, w->now.allocated);
    start_peak(&out->active, w->now.active);
    start_peak(&out->requested, w->now.requested);
    start_peak(&out->reserved, w->now.reserved);
    for (size_t c = 0; c < CATEGORY_COUNT; c++)
        start_peak(&out->category[c], w->requested[c]);
    out->at_allocated = w->now;
    memcpy(out->requested_at_allocated, w->requested, sizeof w->requested);
}

static void visit_alloc(const struct timeline_block *b, uint32_t event, struct walk *w,
                        struct peaks *out) {
    w->requested[b->category] += b->requested_bytes;
    raise_peak(&out->category[b->category], w->requested[b->category], event);
    raise_peak(&out->active, w->now.active, event);
    raise_peak(&out->requested, w->now.requested, event);
    if (w->now.allocated > out->allocated.bytes) {
        raise_peak(&out->allocated, w->now.allocated, event);
        out->at_allocated = w->now;
        memcpy(out->requested_at_allocated, w->requested, sizeof w->requested);
    }
}

static void visit(const struct timeline *tl, uint32_t event, struct walk *w, struct peaks *out) {
    const struct timeline_event *e = &tl->events.at[event];
    if (e->kind == EVENT_ALLOC) {
        visit_alloc(&tl->blocks.at[e->ref], event, w, out);
    } else if (e->kind == EVENT_FREE_COMPLETED) {
        const struct timeline_block *b = &tl->blocks.at[e->ref];
        w->requested[b->category] -= b->requested_bytes;
    } else if (e->kind == EVENT_SEGMENT_ALLOC || e->kind == EVENT_SEGMENT_MAP) {
        raise_peak(&out->reserved, w->now.reserved, event);
    }
}

static void add_device(const struct timeline *tl, uint8_t device, struct peaks *out) {
    if (!(tl->has & TIMELINE_HAS_DEVICE) || device >= tl->devices.count)
        return;
    out->has_device = true;
    out->total_bytes = tl->devices.at[device].total_bytes;
    out->context_bytes = tl->devices.at[device].context_bytes;
    out->device_bytes = out->reserved.bytes + out->context_bytes;
}

void peak_find(const struct timeline *tl, uint8_t device, struct peaks *out) {
    memset(out, 0, sizeof *out);
    struct walk w;
    start(tl, device, &w);
    start_peaks(&w, out);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        if (tl->events.at[i].device != device)
            continue;
        counters_apply(tl, device, i, &w.now);
        visit(tl, i, &w, out);
    }
    out->at_end = w.now;
    add_device(tl, device, out);
}

uint64_t peak_time_ns(const struct timeline *tl, uint32_t event) {
    if (event >= tl->events.count)
        return 0;
    uint64_t first = tl->events.at[0].time_ns, at = tl->events.at[event].time_ns;
    return at > first ? at - first : 0;
}

static const struct timeline_block *block_of(const struct timeline *tl, uint32_t event) {
    if (event >= tl->events.count || tl->events.at[event].kind != EVENT_ALLOC)
        return NULL;
    return &tl->blocks.at[tl->events.at[event].ref];
}

const char *peak_op(const struct timeline *tl, uint32_t event) {
    const struct timeline_block *b = block_of(tl, event);
    return b ? timeline_text(tl, b->op) : "";
}

const char *peak_owner(const struct timeline *tl, uint32_t event) {
    const struct timeline_block *b = block_of(tl, event);
    return b ? timeline_text(tl, b->owner) : "";
}
