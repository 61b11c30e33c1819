/* timeline_check.c: is a timeline what timeline.h promises? Called by tests, importers' tests and fuzz targets. */
#include <inttypes.h>

#include "checked.h"
#include "counters.h"
#include "error.h"
#include "spans.h"
#include "timeline.h"

static bool check_string(const struct timeline *tl, const char *what, uint32_t i, uint32_t string,
                         struct error *err) {
    return string < strtab_count(&tl->strings) ||
           error_set(err, ERROR_BAD_INPUT, "%s %u: string %u of %zu", what, i, string,
                     strtab_count(&tl->strings));
}

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
    if (b->phase != TIMELINE_NONE && b->phase >= tl->phases.count)
        return error_set(err, ERROR_BAD_INPUT, "block %u: phase %u", i, b->phase);
    if (b->stream >= tl->streams.count)
        return error_set(err, ERROR_BAD_INPUT, "block %u: stream %u", i, b->stream);
    if (!check_string(tl, "block", i, b->owner, err) || !check_string(tl, "block", i, b->op, err) ||
        !check_string(tl, "block", i, b->name, err))
        return false;
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

/* An event of a segment or phase may be missing, not another's. */
static bool check_event_of(const struct timeline *tl, const char *what, uint32_t i, uint32_t event,
                           uint32_t kinds, struct error *err) {
    if (event == TIMELINE_NONE)
        return true;
    return (event < tl->events.count && (kinds >> tl->events.at[event].kind & 1) &&
            tl->events.at[event].ref == i) ||
           error_set(err, ERROR_BAD_INPUT, "%s %u: event %u is not its own", what, i, event);
}

static bool check_segment(const struct timeline *tl, uint32_t i, struct error *err) {
    const struct timeline_segment *s = &tl->segments.at[i];
    if (s->stack >= tl->stacks.count || s->stream >= tl->streams.count)
        return error_set(err, ERROR_BAD_INPUT, "segment %u: stack %u, stream %u", i, s->stack,
                         s->stream);
    return check_event_of(tl, "segment", i, s->alloc_event,
                          1u << EVENT_SEGMENT_ALLOC | 1u << EVENT_SEGMENT_MAP, err) &&
           check_event_of(tl, "segment", i, s->free_event,
                          1u << EVENT_SEGMENT_FREE | 1u << EVENT_SEGMENT_UNMAP, err);
}

static bool check_phase(const struct timeline *tl, uint32_t i, struct error *err) {
    const struct timeline_phase *p = &tl->phases.at[i];
    if (p->parent != TIMELINE_NONE && p->parent >= tl->phases.count)
        return error_set(err, ERROR_BAD_INPUT, "phase %u: parent %u of %zu", i, p->parent,
                         tl->phases.count);
    return check_string(tl, "phase", i, p->name, err) &&
           check_event_of(tl, "phase", i, p->begin_event, 1u << EVENT_PHASE_BEGIN, err) &&
           check_event_of(tl, "phase", i, p->end_event, 1u << EVENT_PHASE_END, err);
}

static bool check_oom(const struct timeline *tl, uint32_t i, struct error *err) {
    const struct timeline_oom *o = &tl->ooms.at[i];
    return check_string(tl, "oom", i, o->op, err) && check_string(tl, "oom", i, o->owner, err) &&
           check_string(tl, "oom", i, o->message, err) &&
           check_event_of(tl, "oom", i, o->event, 1u << EVENT_OOM, err);
}

/* The records that events do not name: all but events and blocks. */
static bool check_records(const struct timeline *tl, struct error *err) {
    for (uint32_t i = 0; i < tl->segments.count; i++)
        if (!check_segment(tl, i, err))
            return false;
    for (uint32_t i = 0; i < tl->phases.count; i++)
        if (!check_phase(tl, i, err))
            return false;
    for (uint32_t i = 0; i < tl->ooms.count; i++)
        if (!check_oom(tl, i, err))
            return false;
    for (uint32_t i = 0; i < tl->frames.count; i++)
        if (!check_string(tl, "frame", i, tl->frames.at[i].function, err) ||
            !check_string(tl, "frame", i, tl->frames.at[i].file, err))
            return false;
    for (uint32_t i = 0; i < tl->stacks.count; i++)
        if (tl->stacks.at[i].first + (uint64_t)tl->stacks.at[i].count > tl->frames.count)
            return error_set(err, ERROR_BAD_INPUT, "stack %u: outside the frames", i);
    return true;
}

/* --- addresses --- */

enum { DEVICES = UINT8_MAX + 1 };

/* Each device has addresses of its own. */
static bool take_addresses(const struct timeline *tl, struct spans live[DEVICES], uint32_t i,
                           struct error *err) {
    const struct timeline_block *b = &tl->blocks.at[i];
    struct span span = {.start = b->address, .value = i};
    if (b->block_bytes == 0 || b->address == TIMELINE_NO_ADDRESS)
        return true;
    if (!checked_add(b->address, b->block_bytes, &span.end))
        return error_set(err, ERROR_BAD_INPUT,
                         "block %u: %" PRIu64 " bytes at 0x%" PRIx64 " leave the addresses", i,
                         b->block_bytes, b->address);
    const struct span *other = spans_overlap(&live[b->device], span.start, span.end);
    if (other)
        return error_set(err, ERROR_BAD_INPUT,
                         "block %u at 0x%" PRIx64 " overlaps block %u at 0x%" PRIx64
                         ", which is live",
                         i, span.start, other->value, tl->blocks.at[other->value].address);
    return spans_add(&live[b->device], span) || error_host_memory(err);
}

static bool walk_addresses(const struct timeline *tl, struct spans live[DEVICES],
                           struct error *err) {
    for (uint32_t i = 0; i < tl->blocks.count; i++)
        if (tl->blocks.at[i].alloc_event == TIMELINE_NONE && !take_addresses(tl, live, i, err))
            return false;
    for (size_t i = 0; i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->kind == EVENT_ALLOC && !take_addresses(tl, live, e->ref, err))
            return error_wrap(err, "event %zu", i);
        if (e->kind != EVENT_FREE_COMPLETED)
            continue;
        const struct timeline_block *b = &tl->blocks.at[e->ref];
        if (b->address != TIMELINE_NO_ADDRESS &&
            !spans_cut(&live[b->device], b->address, b->address + b->block_bytes))
            return error_host_memory(err);
    }
    return true;
}

static bool check_addresses(const struct timeline *tl, struct error *err) {
    const uint32_t need = TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES;
    if ((tl->has & need) != need)
        return true;
    struct spans live[DEVICES] = {0};
    bool ok = walk_addresses(tl, live, err);
    for (size_t d = 0; d < DEVICES; d++)
        spans_fini(&live[d]);
    return ok;
}

/* --- clocks --- */

static bool check_clocks(const struct timeline *tl, struct error *err) {
    uint64_t now[DEVICES] = {0};
    for (size_t i = 0; (tl->has & TIMELINE_HAS_TIME) && i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->time_ns < now[e->device])
            return error_set(err, ERROR_BAD_INPUT,
                             "event %zu: at %" PRIu64 " ns, before the one before it at %" PRIu64
                             " ns",
                             i, e->time_ns, now[e->device]);
        now[e->device] = e->time_ns;
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
    if (!check_records(tl, err))
        return false;
    bool present[UINT8_MAX + 1] = {true};
    for (uint32_t i = 0; i < tl->events.count; i++)
        present[tl->events.at[i].device] = true;
    for (unsigned d = 0; d <= UINT8_MAX; d++)
        if (present[d] && !check_sums(tl, (uint8_t)d, err))
            return false;
    return check_clocks(tl, err) && check_addresses(tl, err);
}
