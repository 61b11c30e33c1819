/* pools.c: see pools.h. */
#include "pools.h"

#include <string.h>

#include "error.h"
#include "liveness.h"
#include "pieces.h"
#include "placement.h"
#include "timeline.h"

static const char *const keys[POOL_METRIC_COUNT] = {
#define X(id, key) key,
    POOL_METRICS(X)
#undef X
};

const char *pool_metric_key(enum pool_metric metric) {
    return keys[metric];
}

static void raise(struct pool_stat *s, uint64_t amount) {
    s->current += amount;
    s->allocated += amount;
    if (s->current > s->peak)
        s->peak = s->current;
}

static void lower(struct pool_stat *s, uint64_t amount) {
    s->current -= amount;
    s->freed += amount;
}

static void raise_pool(struct pools *out, enum pool_metric metric, bool is_small, uint64_t amount) {
    raise(&out->stat[metric][POOL_ALL], amount);
    raise(&out->stat[metric][is_small ? POOL_SMALL : POOL_LARGE], amount);
}

static void lower_pool(struct pools *out, enum pool_metric metric, bool is_small, uint64_t amount) {
    lower(&out->stat[metric][POOL_ALL], amount);
    lower(&out->stat[metric][is_small ? POOL_SMALL : POOL_LARGE], amount);
}

/* A signed change counts as one increase or one decrease, as the allocator books it. */
static void change_pool(struct pools *out, enum pool_metric metric, bool is_small, int64_t amount) {
    if (amount > 0)
        raise_pool(out, metric, is_small, (uint64_t)amount);
    else if (amount < 0)
        lower_pool(out, metric, is_small, (uint64_t)-amount);
}

static void change_split(struct pools *out, bool is_small, struct piece_change change) {
    change_pool(out, POOL_INACTIVE_SPLIT_BYTES, is_small, change.bytes);
    change_pool(out, POOL_INACTIVE_SPLIT, is_small, change.blocks);
}

struct walk {
    const struct timeline *tl;
    uint64_t max_split_bytes;
    bool has_pieces;
    struct pieces pieces;
    struct pools *out;
};

static bool is_oversize(const struct walk *w, uint64_t bytes) {
    return w->max_split_bytes != UINT64_MAX && bytes >= w->max_split_bytes;
}

static void count_alloc(struct walk *w, const struct timeline_block *b, bool is_pending) {
    if (!is_pending) {
        raise_pool(w->out, POOL_ALLOCATION, b->small_pool, 1);
        raise_pool(w->out, POOL_ALLOCATED_BYTES, b->small_pool, b->block_bytes);
    }
    raise_pool(w->out, POOL_ACTIVE, b->small_pool, 1);
    raise_pool(w->out, POOL_ACTIVE_BYTES, b->small_pool, b->block_bytes);
    raise_pool(w->out, POOL_REQUESTED_BYTES, b->small_pool, b->requested_bytes);
    if (is_oversize(w, b->block_bytes))
        raise(&w->out->oversize_allocations, 1);
}

static void count_free_requested(struct walk *w, const struct timeline_block *b) {
    lower_pool(w->out, POOL_ALLOCATION, b->small_pool, 1);
    lower_pool(w->out, POOL_ALLOCATED_BYTES, b->small_pool, b->block_bytes);
    if (is_oversize(w, b->block_bytes))
        lower(&w->out->oversize_allocations, 1);
}

static void count_free_completed(struct walk *w, const struct timeline_block *b) {
    lower_pool(w->out, POOL_ACTIVE, b->small_pool, 1);
    lower_pool(w->out, POOL_ACTIVE_BYTES, b->small_pool, b->block_bytes);
    lower_pool(w->out, POOL_REQUESTED_BYTES, b->small_pool, b->requested_bytes);
}

static void count_segment(struct walk *w, const struct timeline_segment *s, uint64_t bytes) {
    raise_pool(w->out, POOL_RESERVED_BYTES, s->small_pool, bytes);
    if (s->expandable)
        return;
    raise_pool(w->out, POOL_SEGMENT, s->small_pool, 1);
    if (is_oversize(w, bytes))
        raise(&w->out->oversize_segments, 1);
}

static void uncount_segment(struct walk *w, const struct timeline_segment *s, uint64_t bytes) {
    lower_pool(w->out, POOL_RESERVED_BYTES, s->small_pool, bytes);
    if (s->expandable)
        return;
    lower_pool(w->out, POOL_SEGMENT, s->small_pool, 1);
    if (is_oversize(w, bytes))
        lower(&w->out->oversize_segments, 1);
}

static bool visit_block(struct walk *w, const struct timeline_event *e) {
    const struct timeline_block *b = &w->tl->blocks.at[e->ref];
    struct piece_change change = {0, 0};
    if (e->kind == EVENT_ALLOC) {
        if (w->has_pieces && !pieces_take(&w->pieces, e->ref, &change))
            return false;
        count_alloc(w, b, false);
    } else if (e->kind == EVENT_FREE_REQUESTED) {
        count_free_requested(w, b);
    } else {
        if (w->has_pieces && !pieces_return(&w->pieces, e->ref, &change))
            return false;
        count_free_completed(w, b);
    }
    change_split(w->out, b->small_pool, change);
    return true;
}

static bool visit_segment(struct walk *w, const struct timeline_event *e) {
    const struct timeline_segment *s = &w->tl->segments.at[e->ref];
    bool is_alloc = e->kind == EVENT_SEGMENT_ALLOC;
    if (is_alloc || e->kind == EVENT_SEGMENT_MAP)
        count_segment(w, s, e->bytes);
    else
        uncount_segment(w, s, e->bytes);
    if (!w->has_pieces)
        return true;
    if (is_alloc)
        return pieces_add_segment(&w->pieces, e->ref);
    return e->kind != EVENT_SEGMENT_FREE || pieces_remove_segment(&w->pieces, e->ref);
}

static bool visit(struct walk *w, const struct timeline_event *e) {
    if (e->kind <= EVENT_FREE_COMPLETED)
        return visit_block(w, e);
    if (e->kind <= EVENT_SEGMENT_UNMAP)
        return visit_segment(w, e);
    w->out->ooms += e->kind == EVENT_OOM;
    return true;
}

static void count_start(struct walk *w, uint8_t device, const struct placement *placement) {
    const struct timeline *tl = w->tl;
    for (size_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->alloc_event == TIMELINE_NONE && b->device == device)
            count_alloc(w, b, block_is_pending(b, TIMELINE_NONE));
    }
    for (size_t i = 0; i < tl->segments.count; i++) {
        const struct timeline_segment *s = &tl->segments.at[i];
        if (s->alloc_event == TIMELINE_NONE && s->device == device)
            count_segment(w, s, s->bytes);
    }
    for (size_t i = 0; w->has_pieces && i < placement->gaps.count; i++) {
        const struct placement_gap *g = &placement->gaps.at[i];
        const struct placement_range *r = &placement->ranges.at[g->range];
        struct piece_change change = {(int64_t)g->bytes, 1};
        if (!r->is_expandable && g->bytes < r->bytes)
            change_split(w->out, r->is_small, change);
    }
}

static bool walk_events(struct walk *w, uint8_t device, uint32_t end) {
    for (uint32_t i = 0; i < w->tl->events.count && i < end; i++)
        if (w->tl->events.at[i].device == device && !visit(w, &w->tl->events.at[i]))
            return false;
    return true;
}

bool pools_find(const struct timeline *tl, uint8_t device, uint32_t end, uint64_t max_split_bytes,
                struct pools *out, struct error *err) {
    memset(out, 0, sizeof *out);
    struct walk w = {.tl = tl, .max_split_bytes = max_split_bytes, .out = out};
    w.has_pieces = placement_is_known(tl);
    struct placement placement = {0};
    if (w.has_pieces && !placement_find(tl, device, TIMELINE_NONE, &placement, err))
        return false;
    bool ok = !w.has_pieces || pieces_init(&w.pieces, tl, &placement);
    if (ok) {
        count_start(&w, device, &placement);
        ok = walk_events(&w, device, end);
    }
    out->has_inactive_split = w.has_pieces && !w.pieces.is_broken;
    pieces_fini(&w.pieces);
    placement_fini(&placement);
    return ok || error_host_memory(err);
}
