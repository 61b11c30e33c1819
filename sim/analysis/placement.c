/* placement.c: see placement.h. */
#include "placement.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "error.h"
#include "liveness.h"
#include "spans.h"
#include "timeline.h"

bool placement_is_known(const struct timeline *tl) {
    return timeline_knows(tl, FIGURE_PLACEMENT);
}

static struct placement_range make_range(const struct timeline *tl, uint32_t segment,
                                         uint64_t address, uint64_t bytes) {
    const struct timeline_segment *s = &tl->segments.at[segment];
    return (struct placement_range){.address = address,
                                    .bytes = bytes,
                                    .segment = segment,
                                    .is_expandable = s->expandable,
                                    .is_small = s->small_pool};
}

/* Bad data may map what is mapped: the newer mapping holds. */
static bool map_range(struct spans *mapped, uint32_t segment, uint64_t address, uint64_t bytes) {
    struct span span = {.start = address, .value = segment, .joins = true};
    if (bytes == 0 || !checked_add(address, bytes, &span.end))
        return true;
    return spans_cut(mapped, span.start, span.end) && spans_add(mapped, span);
}

static bool unmap_range(struct spans *mapped, uint64_t address, uint64_t bytes) {
    uint64_t end;
    return !checked_add(address, bytes, &end) || spans_cut(mapped, address, end);
}

static bool walk_mapped(const struct timeline *tl, uint8_t device, uint32_t event,
                        struct spans *mapped) {
    for (uint32_t i = 0; i < tl->segments.count; i++) {
        const struct timeline_segment *s = &tl->segments.at[i];
        if (s->device == device && s->expandable && s->alloc_event == TIMELINE_NONE &&
            !map_range(mapped, i, s->address, s->bytes))
            return false;
    }
    for (size_t i = 0; event != TIMELINE_NONE && i < tl->events.count && i <= event; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->device != device)
            continue;
        if (e->kind == EVENT_SEGMENT_MAP && !map_range(mapped, e->ref, e->address, e->bytes))
            return false;
        if (e->kind == EVENT_SEGMENT_UNMAP && !unmap_range(mapped, e->address, e->bytes))
            return false;
    }
    return true;
}

static bool add_mapped(const struct timeline *tl, uint8_t device, uint32_t event,
                       struct placement *out) {
    struct spans mapped = {0};
    struct spans_cursor cursor = {0};
    bool ok = walk_mapped(tl, device, event, &mapped);
    for (const struct span *span; ok && (span = spans_next(&mapped, &cursor)) != NULL;) {
        struct placement_range range =
            make_range(tl, span->value, span->start, span->end - span->start);
        ok = array_push(&out->ranges, range);
    }
    spans_fini(&mapped);
    return ok;
}

static bool add_plain(const struct timeline *tl, uint8_t device, uint32_t event,
                      struct placement *out) {
    for (uint32_t i = 0; i < tl->segments.count; i++) {
        const struct timeline_segment *s = &tl->segments.at[i];
        if (s->device != device || s->expandable || !segment_is_live(s, event))
            continue;
        struct placement_range range = make_range(tl, i, s->address, s->bytes);
        if (!array_push(&out->ranges, range))
            return false;
    }
    return true;
}

static int compare_ranges(const void *left, const void *right) {
    const struct placement_range *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->segment > b->segment) - (a->segment < b->segment);
}

struct placed {
    uint64_t address;
    uint32_t block;
};

static int compare_placed(const void *left, const void *right) {
    const struct placed *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static bool add_live_blocks(const struct timeline *tl, uint8_t device, uint32_t event,
                            struct placement *out) {
    ARRAY(struct placed) live = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        struct placed p = {b->address, i};
        if (b->device == device && block_is_live(b, event))
            ok = array_push(&live, p);
    }
    if (ok && live.count > 1)
        qsort(live.at, live.count, sizeof *live.at, compare_placed);
    for (size_t i = 0; ok && i < live.count; i++)
        ok = array_push(&out->blocks, live.at[i].block);
    array_fini(&live);
    return ok;
}

static bool add_gap(struct placement *out, uint32_t range, uint64_t from, uint64_t to) {
    struct placement_gap gap = {.address = from, .bytes = to - from, .range = range};
    return from >= to || array_push(&out->gaps, gap);
}

static bool add_gaps(const struct timeline *tl, struct placement *out) {
    size_t next = 0;
    for (uint32_t r = 0; r < out->ranges.count; r++) {
        uint64_t at = out->ranges.at[r].address, end = at + out->ranges.at[r].bytes;
        for (; next < out->blocks.count; next++) {
            const struct timeline_block *b = &tl->blocks.at[out->blocks.at[next]];
            if (b->address >= end)
                break;
            if (!add_gap(out, r, at, b->address))
                return false;
            uint64_t block_end = b->address + b->block_bytes;
            if (block_end > at)
                at = block_end;
        }
        if (!add_gap(out, r, at, end))
            return false;
    }
    return true;
}

bool placement_find_gaps(const struct timeline *tl, struct placement *placement) {
    array_clear(&placement->gaps);
    if (add_gaps(tl, placement))
        return true;
    array_clear(&placement->gaps);
    return false;
}

bool placement_find(const struct timeline *tl, uint8_t device, uint32_t event,
                    struct placement *out, struct error *err) {
    memset(out, 0, sizeof *out);
    bool ok = add_mapped(tl, device, event, out) && add_plain(tl, device, event, out);
    if (ok && out->ranges.count > 1)
        qsort(out->ranges.at, out->ranges.count, sizeof *out->ranges.at, compare_ranges);
    ok = ok && add_live_blocks(tl, device, event, out) && add_gaps(tl, out);
    if (ok)
        return true;
    placement_fini(out);
    return error_host_memory(err);
}

void placement_fini(struct placement *placement) {
    array_fini(&placement->ranges);
    array_fini(&placement->blocks);
    array_fini(&placement->gaps);
}
