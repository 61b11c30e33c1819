/* timeline_check.c: is a timeline what timeline.h promises? Called by tests, importers' tests and fuzz targets. */
#include "counters.h"
#include "error.h"
#include "timeline.h"

static bool check_event(const struct timeline *tl, uint32_t i, struct error *err) {
    const struct timeline_event *e = &tl->events.at[i];
    if (e->kind >= EVENT_KIND_COUNT)
        return error_set(err, ERROR_BAD_INPUT, "event %u: kind %u", i, e->kind);
    if (e->stream >= tl->streams.count)
        return error_set(err, ERROR_BAD_INPUT, "event %u: stream %u of %zu", i, e->stream,
                         tl->streams.count);
    size_t limit = SIZE_MAX;
    if (e->kind <= EVENT_FREE_COMPLETED || e->kind == EVENT_STREAM_USE)
        limit = tl->blocks.count;
    else if (e->kind <= EVENT_SEGMENT_UNMAP)
        limit = tl->segments.count;
    else if (e->kind == EVENT_OOM)
        limit = tl->ooms.count;
    else if (e->kind == EVENT_PHASE_BEGIN || e->kind == EVENT_PHASE_END)
        limit = tl->phases.count;
    if (e->ref >= limit)
        return error_set(err, ERROR_BAD_INPUT, "event %u: %s refers to %u of %zu", i,
                         event_kind_name((enum event_kind)e->kind), e->ref, limit);
    return true;
}

static bool check_link(const struct timeline *tl, uint32_t event, enum event_kind kind,
                       uint32_t ref, struct error *err) {
    if (event == TIMELINE_NONE)
        return true;
    if (event >= tl->events.count || tl->events.at[event].kind != kind ||
        tl->events.at[event].ref != ref)
        return error_set(err, ERROR_BAD_INPUT, "record %u: its %s is not event %u", ref,
                         event_kind_name(kind), event);
    return true;
}

static bool check_block(const struct timeline *tl, uint32_t i, struct error *err) {
    const struct timeline_block *b = &tl->blocks.at[i];
    if (b->category >= CATEGORY_COUNT || b->dtype >= DTYPE_COUNT)
        return error_set(err, ERROR_BAD_INPUT, "block %u: category %u, dtype %u", i, b->category,
                         b->dtype);
    if (b->stack >= tl->stacks.count)
        return error_set(err, ERROR_BAD_INPUT, "block %u: stack %u of %zu", i, b->stack,
                         tl->stacks.count);
    if (b->segment != TIMELINE_NONE && b->segment >= tl->segments.count)
        return error_set(err, ERROR_BAD_INPUT, "block %u: segment %u", i, b->segment);
    if (!check_link(tl, b->alloc_event, EVENT_ALLOC, i, err) ||
        !check_link(tl, b->free_event, EVENT_FREE_REQUESTED, i, err) ||
        !check_link(tl, b->complete_event, EVENT_FREE_COMPLETED, i, err))
        return false;
    if (b->alloc_event != TIMELINE_NONE && b->free_event != TIMELINE_NONE &&
        b->free_event < b->alloc_event)
        return error_set(err, ERROR_BAD_INPUT, "block %u: freed before it was allocated", i);
    if (b->complete_event != TIMELINE_NONE && b->free_event != TIMELINE_NONE &&
        b->complete_event < b->free_event)
        return error_set(err, ERROR_BAD_INPUT, "block %u: completed before it was freed", i);
    return true;
}

static bool check_sums(const struct timeline *tl, uint8_t device, struct error *err) {
    struct counters c;
    counters_start(tl, device, &c);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        counters_apply(tl, device, i, &c);
        if (c.active < c.allocated || c.active > UINT64_MAX / 2)
            return error_set(err, ERROR_BAD_INPUT, "event %u: allocated %llu, active %llu", i,
                             (unsigned long long)c.allocated, (unsigned long long)c.active);
        if ((tl->has & TIMELINE_HAS_SEGMENTS) && (tl->has & TIMELINE_HAS_BLOCK_BYTES) &&
            c.active > c.reserved)
            return error_set(err, ERROR_BAD_INPUT, "event %u: active %llu above reserved %llu", i,
                             (unsigned long long)c.active, (unsigned long long)c.reserved);
    }
    return true;
}

bool timeline_check(const struct timeline *tl, struct error *err) {
    for (uint32_t i = 0; i < tl->events.count; i++)
        if (!check_event(tl, i, err))
            return false;
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        if (!check_block(tl, i, err))
            return false;
    for (uint32_t i = 0; i < tl->stacks.count; i++)
        if (tl->stacks.at[i].first + (uint64_t)tl->stacks.at[i].count > tl->frames.count)
            return error_set(err, ERROR_BAD_INPUT, "stack %u: outside the frames", i);
    uint8_t devices = 1;
    for (uint32_t i = 0; i < tl->events.count; i++)
        if (tl->events.at[i].device >= devices)
            devices = (uint8_t)(tl->events.at[i].device + 1);
    for (uint8_t d = 0; d < devices; d++)
        if (!check_sums(tl, d, err))
            return false;
    return true;
}
