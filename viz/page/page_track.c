/* page_track.c: see page_track.h. */
#include "page_track.h"

#include <string.h>

#include "error.h"
#include "timeline.h"
#include "track.h"
#include "xalloc.h"

/* A pass over the events: the state after those that were applied. */
struct pass {
    const struct timeline *tl;
    const uint32_t *kind_of;
    uint8_t device;
    uint64_t total, reserved;
    uint32_t kind; /* of the block that the last event took or gave back */
    int64_t bytes; /* and how much; 0: none */
};

static void start_pass(struct pass *p, const struct page_track *page) {
    const struct timeline *tl = page->track->tl;
    *p = (struct pass){.tl = tl, .kind_of = page->kinds.of, .device = page->track->device};
    struct lod_state s;
    lod_state_at(&page->track->lod, 0, &s);
    p->total = s.total;
    p->reserved = s.reserved;
}

static void apply(struct pass *p, uint32_t event) {
    const struct timeline_event *e = &p->tl->events.at[event];
    p->bytes = 0;
    if (e->device != p->device)
        return;
    if (e->kind == EVENT_ALLOC || e->kind == EVENT_FREE_REQUESTED) {
        if (e->ref >= p->tl->blocks.count)
            return;
        uint64_t bytes = p->tl->blocks.at[e->ref].block_bytes;
        p->kind = p->kind_of[e->ref];
        p->bytes = e->kind == EVENT_ALLOC ? (int64_t)bytes : -(int64_t)bytes;
        p->total += (uint64_t)p->bytes;
    } else if (e->kind == EVENT_SEGMENT_ALLOC || e->kind == EVENT_SEGMENT_MAP) {
        p->reserved += e->bytes;
    } else if (e->kind == EVENT_SEGMENT_FREE || e->kind == EVENT_SEGMENT_UNMAP) {
        p->reserved -= e->bytes;
    }
}

/* --- which moments are kept --- */

struct extremes {
    uint64_t max, min, reserved;
    uint32_t max_at, min_at, reserved_at;
};

static void take(struct extremes *x, const struct pass *p, uint32_t moment, bool first) {
    if (first || p->total > x->max) {
        x->max = p->total;
        x->max_at = moment;
    }
    if (first || p->total < x->min) {
        x->min = p->total;
        x->min_at = moment;
    }
    if (first || p->reserved > x->reserved) {
        x->reserved = p->reserved;
        x->reserved_at = moment;
    }
}

static void mark(uint8_t *keep, const struct extremes *x) {
    keep[x->max_at] = keep[x->min_at] = keep[x->reserved_at] = 1;
}

static void mark_buckets(const struct page_track *page, uint32_t moments, uint8_t *keep) {
    struct pass p;
    struct extremes x = {0};
    start_pass(&p, page);
    for (uint32_t m = 0; m < moments; m++) {
        bool first = m % page->bucket == 0;
        if (m > 0)
            apply(&p, m - 1);
        if (first && m > 0)
            mark(keep, &x);
        if (first)
            keep[m] = 1;
        if (m > 0 && p.tl->events.at[m - 1].kind == EVENT_OOM)
            keep[m] = 1;
        take(&x, &p, m, first);
    }
    mark(keep, &x);
    keep[moments - 1] = 1;
}

/* --- what changes between them --- */

struct sums {
    int64_t *bytes;
    int32_t *blocks;
    uint8_t *touched;
    ARRAY(uint32_t) kinds;
};

static bool add_change(struct sums *sums, const struct pass *p) {
    if (!sums->touched[p->kind]) {
        sums->touched[p->kind] = 1;
        if (!array_push(&sums->kinds, p->kind))
            return false;
    }
    sums->bytes[p->kind] += p->bytes;
    sums->blocks[p->kind] += p->bytes > 0 ? 1 : -1;
    return true;
}

/* Puts down what changed since the moment kept last. */
static bool keep_moment(struct page_track *page, struct sums *sums, const struct pass *p,
                        uint32_t moment) {
    if (!array_push(&page->kept, moment) || !array_push(&page->reserved, p->reserved) ||
        !array_push(&page->first, (uint32_t)page->changes.count))
        return false;
    for (size_t i = 0; i < sums->kinds.count; i++) {
        uint32_t kind = sums->kinds.at[i];
        struct page_change change = {kind, sums->blocks[kind], sums->bytes[kind]};
        if ((change.bytes != 0 || change.blocks != 0) && !array_push(&page->changes, change))
            return false;
        sums->bytes[kind] = 0;
        sums->blocks[kind] = 0;
        sums->touched[kind] = 0;
    }
    array_clear(&sums->kinds);
    return true;
}

static bool add_start(const struct page_track *page, struct sums *sums, struct pass *p) {
    const struct timeline *tl = p->tl;
    for (uint32_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->alloc_event != TIMELINE_NONE || b->device != p->device || b->pending_at_start)
            continue;
        p->kind = page->kinds.of[i];
        p->bytes = (int64_t)b->block_bytes;
        if (p->bytes != 0 && !add_change(sums, p))
            return false;
    }
    return true;
}

static bool gather(struct page_track *page, struct sums *sums, const uint8_t *keep,
                   uint32_t moments) {
    struct pass p;
    array_clear(&page->kept);
    array_clear(&page->first);
    array_clear(&page->reserved);
    array_clear(&page->changes);
    start_pass(&p, page);
    if (!add_start(page, sums, &p))
        return false;
    for (uint32_t m = 0; m < moments; m++) {
        if (m > 0)
            apply(&p, m - 1);
        if (m > 0 && p.bytes != 0 && !add_change(sums, &p))
            return false;
        if (keep[m] && !keep_moment(page, sums, &p, m))
            return false;
    }
    return array_push(&page->first, (uint32_t)page->changes.count);
}

static bool build(struct page_track *page, struct sums *sums, uint8_t *keep, const uint32_t *wanted,
                  size_t wanted_count) {
    uint32_t moments = page->track->lod.moments;
    page->bucket = 1;
    while (moments / page->bucket > PAGE_MOMENTS_MAX / (page->bucket > 1 ? 4 : 1))
        page->bucket *= 2;
    for (;; page->bucket *= 2) {
        memset(keep, 0, moments);
        for (size_t i = 0; i < wanted_count; i++)
            if (wanted[i] < moments)
                keep[wanted[i]] = 1;
        mark_buckets(page, moments, keep);
        if (!gather(page, sums, keep, moments))
            return false;
        if (page->changes.count <= PAGE_CHANGES_MAX || page->bucket >= moments)
            return true;
    }
}

bool page_track_build(struct page_track *page, struct track *track, const uint32_t *wanted,
                      size_t wanted_count, struct error *err) {
    memset(page, 0, sizeof *page);
    page->track = track;
    struct sums sums = {0};
    uint8_t *keep = NULL;
    bool ok = page_kinds_build(&page->kinds, track);
    size_t kinds = page->kinds.kinds.count + 1;
    if (ok) {
        sums.bytes = xcalloc(kinds, sizeof *sums.bytes);
        sums.blocks = xcalloc(kinds, sizeof *sums.blocks);
        sums.touched = xcalloc(kinds, 1);
        keep = xcalloc(track->lod.moments, 1);
    }
    ok = ok && sums.bytes && sums.blocks && sums.touched && keep &&
         build(page, &sums, keep, wanted, wanted_count);
    xfree(sums.bytes);
    xfree(sums.blocks);
    xfree(sums.touched);
    array_fini(&sums.kinds);
    xfree(keep);
    if (ok)
        return true;
    page_track_fini(page);
    return error_host_memory(err);
}

void page_track_fini(struct page_track *page) {
    page_kinds_fini(&page->kinds);
    array_fini(&page->kept);
    array_fini(&page->first);
    array_fini(&page->reserved);
    array_fini(&page->changes);
}
