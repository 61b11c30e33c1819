/* emit.c: see emit.h. */
#include "emit.h"

#include <stdio.h>
#include <string.h>

#include "counters.h"
#include "error.h"
#include "xalloc.h"

#define MOST_LIVE_BYTES (UINT64_C(1) << 60)

bool emit_init(struct emit *e, struct timeline *tl, struct error *err) {
    *e = (struct emit){.tl = tl, .err = err};
    e->devices = xcalloc(EMIT_DEVICES, sizeof *e->devices);
    for (size_t i = 0; e->devices && i < EMIT_DEVICES; i++)
        e->devices[i].reservation = TIMELINE_NONE;
    return e->devices || error_host_memory(err);
}

void emit_fini(struct emit *e) {
    for (size_t i = 0; e->devices && i < EMIT_DEVICES; i++) {
        array_fini(&e->devices[i].open_phases);
        for (size_t c = 0; c < CATEGORY_COUNT; c++)
            array_fini(&e->devices[i].made[c].list);
    }
    xfree(e->devices);
    e->devices = NULL;
}

void emit_warn_args(struct timeline *tl, const char *format, va_list args) {
    if (tl->warnings < UINT32_MAX)
        tl->warnings++;
    if (tl->first_warning != 0)
        return;
    char text[200];
    vsnprintf(text, sizeof text, format, args);
    tl->first_warning = timeline_string(tl, text);
}

void emit_warn(struct timeline *tl, const char *format, ...) {
    va_list args;
    va_start(args, format);
    emit_warn_args(tl, format, args);
    va_end(args);
}

struct timeline_block emit_block(uint8_t device, uint64_t address, uint64_t bytes) {
    return (struct timeline_block){.address = address,
                                   .requested_bytes = bytes,
                                   .block_bytes = bytes,
                                   .alloc_event = TIMELINE_NONE,
                                   .free_event = TIMELINE_NONE,
                                   .complete_event = TIMELINE_NONE,
                                   .segment = TIMELINE_NONE,
                                   .phase = TIMELINE_NONE,
                                   .category = CATEGORY_UNKNOWN,
                                   .device = device};
}

bool emit_event(struct emit *e, const struct timeline_event *event, uint32_t *index) {
    struct emit_device *d = &e->devices[event->device];
    struct timeline_event now = *event;
    if (now.time_ns < d->clock_ns) {
        emit_warn(e->tl, "an entry is %llu ns before the one before it and takes its time",
                  (unsigned long long)(d->clock_ns - now.time_ns));
        now.time_ns = d->clock_ns;
    }
    d->clock_ns = now.time_ns;
    *index = timeline_add_event(e->tl, &now);
    return *index != TIMELINE_NONE || error_host_memory(e->err);
}

/* --- blocks --- */

static bool add_block(struct emit *e, const struct timeline_block *block, uint32_t *ref) {
    struct emit_device *d = &e->devices[block->device];
    uint64_t bytes =
        block->block_bytes > block->requested_bytes ? block->block_bytes : block->requested_bytes;
    *ref = TIMELINE_NONE;
    if (bytes > EMIT_MOST_BYTES || d->live_bytes > MOST_LIVE_BYTES - bytes) {
        emit_warn(e->tl, "an allocation of %llu bytes is skipped", (unsigned long long)bytes);
        return true;
    }
    *ref = timeline_add_block(e->tl, block);
    d->live_bytes += bytes;
    return *ref != TIMELINE_NONE || error_host_memory(e->err);
}

bool emit_start_block(struct emit *e, const struct timeline_block *block, uint32_t *ref) {
    return add_block(e, block, ref);
}

static bool push_block(struct emit *e, uint64_t time_ns, enum event_kind kind, uint32_t ref,
                       uint32_t *index) {
    const struct timeline_block *b = &e->tl->blocks.at[ref];
    const struct timeline_event event = {
        .time_ns = time_ns,
        .bytes = e->tl->has & TIMELINE_HAS_REQUESTED ? b->requested_bytes : b->block_bytes,
        .address = b->address,
        .ref = ref,
        .stream = b->stream,
        .kind = (uint8_t)kind,
        .device = b->device};
    return emit_event(e, &event, index);
}

bool emit_alloc(struct emit *e, uint64_t time_ns, const struct timeline_block *block,
                uint32_t *ref) {
    struct emit_device *d = &e->devices[block->device];
    struct timeline_block made = *block;
    uint32_t index;
    if (d->open_phases.count > 0)
        made.phase = *array_last(&d->open_phases);
    if (!add_block(e, &made, ref))
        return false;
    if (*ref == TIMELINE_NONE)
        return true;
    if (!push_block(e, time_ns, EVENT_ALLOC, *ref, &index))
        return false;
    e->tl->blocks.at[*ref].alloc_event = index;
    return true;
}

bool emit_free(struct emit *e, uint64_t time_ns, uint32_t ref) {
    uint32_t asked, done;
    if (!push_block(e, time_ns, EVENT_FREE_REQUESTED, ref, &asked) ||
        !push_block(e, time_ns, EVENT_FREE_COMPLETED, ref, &done))
        return false;
    struct timeline_block *b = &e->tl->blocks.at[ref];
    b->free_event = asked;
    b->complete_event = done;
    uint64_t bytes = b->block_bytes > b->requested_bytes ? b->block_bytes : b->requested_bytes;
    e->devices[b->device].live_bytes -= bytes;
    return true;
}

/* --- totals --- */

static bool add_made(struct emit *e, uint64_t time_ns, uint8_t device, enum category category,
                     uint64_t bytes) {
    struct timeline_block block = emit_block(device, TIMELINE_NO_ADDRESS, bytes);
    uint32_t ref;
    block.category = (uint8_t)category;
    if (!emit_alloc(e, time_ns, &block, &ref))
        return false;
    if (ref == TIMELINE_NONE)
        return true;
    e->devices[device].totals[category] += bytes;
    return array_push(&e->devices[device].made[category].list, ref) || error_host_memory(e->err);
}

bool emit_total_start(struct emit *e, const struct timeline_block *block) {
    struct emit_device *d = &e->devices[block->device];
    uint32_t ref;
    if (!emit_start_block(e, block, &ref))
        return false;
    if (ref == TIMELINE_NONE)
        return true;
    d->totals[block->category] += block->block_bytes;
    return array_push(&d->made[block->category].list, ref) || error_host_memory(e->err);
}

bool emit_total(struct emit *e, uint64_t time_ns, uint8_t device, enum category category,
                uint64_t bytes) {
    struct emit_device *d = &e->devices[device];
    struct emit_refs *made = &d->made[category];
    while (d->totals[category] > bytes && made->list.count > 0) {
        uint32_t ref = array_pop(&made->list);
        if (!emit_free(e, time_ns, ref))
            return false;
        d->totals[category] -= e->tl->blocks.at[ref].block_bytes;
    }
    return d->totals[category] >= bytes ||
           add_made(e, time_ns, device, category, bytes - d->totals[category]);
}

/* --- reserved --- */

static bool start_reservation(struct emit *e, uint8_t device, uint64_t bytes) {
    struct emit_device *d = &e->devices[device];
    const struct timeline_segment made = {.address = TIMELINE_NO_ADDRESS,
                                          .bytes = bytes,
                                          .alloc_event = TIMELINE_NONE,
                                          .free_event = TIMELINE_NONE,
                                          .device = device,
                                          .expandable = true};
    d->reservation = timeline_add_segment(e->tl, &made);
    d->reserved_bytes = bytes;
    return d->reservation != TIMELINE_NONE || error_host_memory(e->err);
}

bool emit_reserved(struct emit *e, uint64_t time_ns, uint8_t device, uint64_t bytes) {
    struct emit_device *d = &e->devices[device];
    if (bytes > MOST_LIVE_BYTES) {
        emit_warn(e->tl, "%llu bytes reserved are skipped", (unsigned long long)bytes);
        return true;
    }
    if (d->reservation == TIMELINE_NONE)
        return start_reservation(e, device, bytes);
    if (bytes == d->reserved_bytes)
        return true;
    bool grows = bytes > d->reserved_bytes;
    uint32_t index;
    const struct timeline_event event = {.time_ns = time_ns,
                                         .bytes = grows ? bytes - d->reserved_bytes
                                                        : d->reserved_bytes - bytes,
                                         .address = TIMELINE_NO_ADDRESS,
                                         .ref = d->reservation,
                                         .kind = grows ? EVENT_SEGMENT_MAP : EVENT_SEGMENT_UNMAP,
                                         .device = device};
    d->reserved_bytes = bytes;
    return emit_event(e, &event, &index);
}

bool emit_start_segment(struct emit *e, const struct timeline_segment *segment, uint32_t *ref) {
    *ref = timeline_add_segment(e->tl, segment);
    return *ref != TIMELINE_NONE || error_host_memory(e->err);
}

static bool push_segment(struct emit *e, uint64_t time_ns, enum event_kind kind, uint32_t ref,
                         uint32_t *index) {
    const struct timeline_segment *s = &e->tl->segments.at[ref];
    const struct timeline_event event = {.time_ns = time_ns,
                                         .bytes = s->bytes,
                                         .address = s->address,
                                         .ref = ref,
                                         .stream = s->stream,
                                         .kind = (uint8_t)kind,
                                         .device = s->device};
    return emit_event(e, &event, index);
}

bool emit_segment(struct emit *e, uint64_t time_ns, const struct timeline_segment *segment,
                  uint32_t *ref) {
    uint32_t index;
    if (!emit_start_segment(e, segment, ref) ||
        !push_segment(e, time_ns, EVENT_SEGMENT_ALLOC, *ref, &index))
        return false;
    e->tl->segments.at[*ref].alloc_event = index;
    return true;
}

bool emit_segment_end(struct emit *e, uint64_t time_ns, uint32_t ref) {
    uint32_t index;
    if (!push_segment(e, time_ns, EVENT_SEGMENT_FREE, ref, &index))
        return false;
    e->tl->segments.at[ref].free_event = index;
    return true;
}

static bool has_room(const struct timeline *tl, struct counters *sums) {
    bool has_memory[EMIT_DEVICES] = {false};
    for (size_t i = 0; i < tl->blocks.count; i++)
        has_memory[tl->blocks.at[i].device] = true;
    for (unsigned i = 0; i < EMIT_DEVICES; i++)
        if (has_memory[i])
            counters_start(tl, (uint8_t)i, &sums[i]);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        struct counters *now = &sums[tl->events.at[i].device];
        counters_apply(tl, tl->events.at[i].device, i, now);
        if (now->active > now->reserved)
            return false;
    }
    return true;
}

bool emit_check_reserved(struct emit *e) {
    if (!(e->tl->has & TIMELINE_HAS_SEGMENTS) || !(e->tl->has & TIMELINE_HAS_BLOCK_BYTES))
        return true;
    struct counters *sums = xcalloc(EMIT_DEVICES, sizeof *sums);
    if (!sums)
        return error_host_memory(e->err);
    if (!has_room(e->tl, sums)) {
        emit_warn(e->tl, "a total of reserved memory below what is allocated: it is left out");
        e->tl->has &= ~(uint32_t)(TIMELINE_HAS_SEGMENTS | TIMELINE_SUMS_SEGMENTS);
    }
    xfree(sums);
    return true;
}

/* --- phases --- */

bool emit_phase_begin(struct emit *e, uint64_t time_ns, uint8_t device, uint32_t name,
                      uint32_t *phase) {
    struct emit_device *d = &e->devices[device];
    size_t depth = d->open_phases.count;
    *phase = TIMELINE_NONE;
    if (depth >= EMIT_OPEN_PHASES) {
        emit_warn(e->tl, "more than %d annotations are open at once", EMIT_OPEN_PHASES);
        return true;
    }
    const struct timeline_phase made = {.name = name,
                                        .begin_event = (uint32_t)e->tl->events.count,
                                        .end_event = TIMELINE_NONE,
                                        .parent = depth > 0 ? *array_last(&d->open_phases)
                                                            : TIMELINE_NONE,
                                        .depth = (uint16_t)depth,
                                        .device = device};
    *phase = timeline_add_phase(e->tl, &made);
    if (*phase == TIMELINE_NONE || !array_push(&d->open_phases, *phase))
        return error_host_memory(e->err);
    uint32_t index;
    const struct timeline_event event = {
        .time_ns = time_ns, .ref = *phase, .kind = EVENT_PHASE_BEGIN, .device = device};
    return emit_event(e, &event, &index);
}

bool emit_phase_end(struct emit *e, uint64_t time_ns, uint32_t phase) {
    struct timeline_phase *p = &e->tl->phases.at[phase];
    struct emit_device *d = &e->devices[p->device];
    size_t i = d->open_phases.count;
    while (i > 0 && d->open_phases.at[i - 1] != phase)
        i--;
    if (i == 0)
        return true;
    for (; i < d->open_phases.count; i++)
        d->open_phases.at[i - 1] = d->open_phases.at[i];
    d->open_phases.count--;
    const struct timeline_event event = {
        .time_ns = time_ns, .ref = phase, .kind = EVENT_PHASE_END, .device = p->device};
    return emit_event(e, &event, &p->end_event);
}
