/* free_runs.c: see free_runs.h.
 *
 * Gaps are spans: those of one segment join, those of two do not. A heap has an entry for every gap; one
 * that has changed since is found out when it comes to the top, and all such are swept when they are
 * too many. */
#include "free_runs.h"

#include "checked.h"
#include "placement.h"
#include "timeline.h"

static bool is_above(const struct free_run *a, const struct free_run *b) {
    return a->bytes > b->bytes;
}

static bool push(struct free_runs *r, struct free_run run) {
    if (!array_push(&r->heap, run))
        return false;
    size_t at = r->heap.count - 1;
    for (; at > 0 && is_above(&run, &r->heap.at[(at - 1) / 2]); at = (at - 1) / 2)
        r->heap.at[at] = r->heap.at[(at - 1) / 2];
    r->heap.at[at] = run;
    return true;
}

static void pop(struct free_runs *r) {
    struct free_run last = array_pop(&r->heap);
    size_t at = 0, count = r->heap.count;
    if (count == 0)
        return;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_above(&r->heap.at[child + 1], &r->heap.at[child]))
            child++;
        if (!is_above(&r->heap.at[child], &last))
            break;
        r->heap.at[at] = r->heap.at[child];
        at = child;
    }
    r->heap.at[at] = last;
}

static bool sweep(struct free_runs *r) {
    struct spans_cursor cursor = {0};
    array_clear(&r->heap);
    for (const struct span *s; (s = spans_next(&r->gaps, &cursor)) != NULL;)
        if (!push(r, (struct free_run){s->end - s->start, s->start}))
            return false;
    r->gaps_then = r->heap.count;
    return true;
}

static uint64_t find_largest(struct free_runs *r) {
    while (r->heap.count > 0) {
        const struct free_run *top = &r->heap.at[0];
        const struct span *s = spans_find(&r->gaps, top->address);
        if (s && s->start == top->address && s->end - s->start == top->bytes)
            return top->bytes;
        pop(r);
    }
    return 0;
}

/* --- gaps --- */

static bool keep(struct free_runs *r, uint64_t address) {
    const struct span *s = spans_find(&r->gaps, address);
    return !s || push(r, (struct free_run){s->end - s->start, s->start});
}

static bool take(struct free_runs *r, uint64_t address, uint64_t bytes) {
    uint64_t end, at = address;
    if (bytes == 0 || !checked_add(address, bytes, &end))
        return true;
    for (const struct span *s; at < end && (s = spans_overlap(&r->gaps, at, end)) != NULL;) {
        uint64_t from = s->start > at ? s->start : at, to = s->end < end ? s->end : end;
        r->free_bytes -= to - from;
        at = to;
    }
    return spans_cut(&r->gaps, address, end) && (address == 0 || keep(r, address - 1)) &&
           keep(r, end);
}

static bool give(struct free_runs *r, uint32_t segment, uint64_t address, uint64_t bytes) {
    struct span span = {.start = address, .value = segment, .joins = true};
    if (bytes == 0 || !checked_add(address, bytes, &span.end))
        return true;
    if (!take(r, address, bytes) || !spans_add(&r->gaps, span)) /* the former: bad data */
        return false;
    r->free_bytes += bytes;
    return keep(r, address);
}

static bool is_plain(const struct free_runs *r, uint32_t segment) {
    return !r->tl->segments.at[segment].expandable;
}

static bool apply_segment(struct free_runs *r, const struct timeline_event *e) {
    if (e->ref >= r->tl->segments.count)
        return true;
    const struct timeline_segment *s = &r->tl->segments.at[e->ref];
    switch (e->kind) {
    case EVENT_SEGMENT_ALLOC:
        return !is_plain(r, e->ref) || give(r, e->ref, s->address, s->bytes);
    case EVENT_SEGMENT_FREE:
        return !is_plain(r, e->ref) || take(r, s->address, s->bytes);
    case EVENT_SEGMENT_MAP:
        return give(r, e->ref, e->address, e->bytes);
    default:
        return take(r, e->address, e->bytes);
    }
}

/* A block that comes back outside of its segment, or without one, was never taken from a gap. */
static bool give_block(struct free_runs *r, const struct timeline_block *b) {
    if (b->segment >= r->tl->segments.count)
        return true;
    const struct timeline_segment *s = &r->tl->segments.at[b->segment];
    bool inside = b->address >= s->address && b->address - s->address <= s->bytes &&
                  b->block_bytes <= s->bytes - (b->address - s->address);
    return (!inside && !s->expandable) || give(r, b->segment, b->address, b->block_bytes);
}

static bool apply(struct free_runs *r, const struct timeline_event *e) {
    if (e->device != r->device)
        return true;
    if (e->kind >= EVENT_SEGMENT_ALLOC && e->kind <= EVENT_SEGMENT_UNMAP)
        return apply_segment(r, e);
    if ((e->kind != EVENT_ALLOC && e->kind != EVENT_FREE_COMPLETED) ||
        e->ref >= r->tl->blocks.count)
        return true;
    const struct timeline_block *b = &r->tl->blocks.at[e->ref];
    return e->kind == EVENT_ALLOC ? take(r, b->address, b->block_bytes) : give_block(r, b);
}

static bool start_gaps(struct free_runs *r) {
    for (uint32_t i = 0; i < r->tl->segments.count; i++) {
        const struct timeline_segment *s = &r->tl->segments.at[i];
        if (s->alloc_event == TIMELINE_NONE && s->device == r->device &&
            !give(r, i, s->address, s->bytes))
            return false;
    }
    for (uint32_t i = 0; i < r->tl->blocks.count; i++) {
        const struct timeline_block *b = &r->tl->blocks.at[i];
        if (b->alloc_event == TIMELINE_NONE && b->device == r->device &&
            !take(r, b->address, b->block_bytes))
            return false;
    }
    return true;
}

/* --- moments --- */

static int64_t clamp(uint64_t bytes) {
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static struct extremes free_at(const void *row, uint32_t moment) {
    int64_t bytes = clamp(((const struct free_runs *)row)->free.at[moment]);
    return (struct extremes){bytes, bytes};
}

static struct extremes largest_at(const void *row, uint32_t moment) {
    int64_t bytes = clamp(((const struct free_runs *)row)->largest.at[moment]);
    return (struct extremes){bytes, bytes};
}

static struct extremes scattered_at(const void *row, uint32_t moment) {
    const struct free_runs *r = row;
    uint64_t all = r->free.at[moment], rest = all - r->largest.at[moment];
    for (; all > (UINT64_C(1) << 43); rest /= 2) /* the product below fits */
        all /= 2;
    int64_t millionths = all > 0 ? (int64_t)(rest * 1000000 / all) : 0;
    return (struct extremes){millionths, millionths};
}

static pyramid_leaf *const leaves[FREE_RUNS_KINDS] = {free_at, largest_at, scattered_at};

static bool add_moment(struct free_runs *r) {
    if (!array_push(&r->free, r->free_bytes) || !array_push(&r->largest, find_largest(r)))
        return false;
    for (int i = 0; i < FREE_RUNS_KINDS; i++)
        if (!pyramid_add(&r->pyramids[i], leaves[i](r, r->moments)))
            return false;
    r->moments++;
    return r->heap.count <= 4 * r->gaps_then + 4096 || sweep(r);
}

static bool give_up(struct free_runs *r) {
    free_runs_fini(r);
    r->given_up = true;
    return false;
}

bool free_runs_start(struct free_runs *r, const struct timeline *tl, uint8_t device) {
    memset(r, 0, sizeof *r);
    r->tl = tl;
    r->device = device;
    r->known = placement_is_known(tl);
    r->done = !r->known;
    if (r->done)
        return true;
    size_t moments = tl->events.count + 1; /* at once: growing would need twice as much */
    if (!array_resize(&r->free.at, &r->free.capacity, moments, sizeof *r->free.at) ||
        !array_resize(&r->largest.at, &r->largest.capacity, moments, sizeof *r->largest.at) ||
        !start_gaps(r) || !sweep(r) || !add_moment(r))
        return give_up(r);
    r->done = tl->events.count == 0;
    return true;
}

bool free_runs_build(struct free_runs *r, uint32_t events) {
    for (; !r->done && !r->given_up && events > 0; events--) {
        if (!apply(r, &r->tl->events.at[r->moments - 1]) || !add_moment(r))
            return give_up(r);
        if (r->moments > r->tl->events.count) {
            r->done = true;
            spans_fini(&r->gaps);
            array_fini(&r->heap);
        }
    }
    return !r->given_up;
}

void free_runs_fini(struct free_runs *r) {
    array_fini(&r->free);
    array_fini(&r->largest);
    array_fini(&r->heap);
    spans_fini(&r->gaps);
    for (int i = 0; i < FREE_RUNS_KINDS; i++)
        pyramid_fini(&r->pyramids[i]);
    memset(r, 0, sizeof *r);
}

struct extremes free_runs_range(const struct free_runs *r, enum free_runs_kind kind, uint32_t first,
                                uint32_t end) {
    return pyramid_range(&r->pyramids[kind], first, end, leaves[kind], r);
}
