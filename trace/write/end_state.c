/* end_state.c: see end_state.h. */
#include "end_state.h"

#include "error.h"
#include "sort.h"
#include "timeline.h"

static struct spans *device_of(struct end_state *s, uint8_t device) {
    const struct spans none = {0};
    while (s->mapped.count <= device)
        if (!array_push(&s->mapped, none))
            return NULL;
    return &s->mapped.at[device];
}

static bool map(struct end_state *s, const struct timeline *tl, uint32_t segment, uint64_t address,
                uint64_t bytes) {
    const struct timeline_segment *at = &tl->segments.at[segment];
    struct spans *mapped = device_of(s, at->device);
    const struct span span = {
        .start = address, .end = address + bytes, .value = segment, .joins = at->expandable};
    return mapped &&
           (bytes == 0 || (spans_cut(mapped, span.start, span.end) && spans_add(mapped, span)));
}

static bool apply(struct end_state *s, const struct timeline *tl, const struct timeline_event *e) {
    if (e->kind == EVENT_SEGMENT_ALLOC || e->kind == EVENT_SEGMENT_MAP)
        return map(s, tl, e->ref, e->address, e->bytes);
    if (e->kind != EVENT_SEGMENT_FREE && e->kind != EVENT_SEGMENT_UNMAP)
        return true;
    struct spans *mapped = device_of(s, tl->segments.at[e->ref].device);
    return mapped && spans_cut(mapped, e->address, e->address + e->bytes);
}

static int by_place(const void *x, const void *y, const void *user) {
    const struct timeline *tl = user;
    uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    const struct timeline_block *a = &tl->blocks.at[i], *b = &tl->blocks.at[k];
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return i < k ? -1 : i > k;
}

static bool find(const struct timeline *tl, struct end_state *s) {
    for (uint32_t i = 0; i < tl->segments.count; i++) {
        const struct timeline_segment *at = &tl->segments.at[i];
        if (at->alloc_event == TIMELINE_NONE && !map(s, tl, i, at->address, at->bytes))
            return false;
    }
    for (size_t i = 0; i < tl->events.count; i++)
        if (!apply(s, tl, &tl->events.at[i]))
            return false;
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].complete_event == TIMELINE_NONE && tl->blocks.at[i].block_bytes > 0 &&
            !array_push(&s->live, i))
            return false;
    sort_items(s->live.at, s->live.count, sizeof *s->live.at, by_place, tl);
    return true;
}

bool end_state_find(const struct timeline *tl, struct end_state *out, struct error *err) {
    *out = (struct end_state){0};
    if (find(tl, out))
        return true;
    end_state_fini(out);
    return error_host_memory(err);
}

void end_state_fini(struct end_state *s) {
    for (size_t i = 0; i < s->mapped.count; i++)
        spans_fini(&s->mapped.at[i]);
    array_fini(&s->mapped);
    array_fini(&s->live);
}
