/* profiler_build.c: see profiler.h. Labels and memory events are merged by time. What a device had
 * before its first event is one block of the start, as far as totals tell; blocks that are freed and
 * were never allocated are blocks of the start of their own. */
#include <string.h>

#include "checked.h"
#include "emit.h"
#include "error.h"
#include "live_by_size.h"
#include "merge.h"
#include "profiler.h"
#include "spans.h"
#include "timeline.h"

enum { PHASED_DEVICES = 16 }; /* labels name no device: they stand on each, up to so many */

struct device {
    struct spans live;           /* blocks by address */
    struct live_by_size by_size; /* for frees without an address */
    uint64_t start_bytes;        /* of blocks of the start */
    uint64_t first_bytes, total;
    bool is_seen, has_first, is_consistent;
};

struct build {
    struct profiler *p;
    struct timeline *tl;
    struct error *err;
    struct emit emit;
    struct device *devices;
    ARRAY(uint8_t) phased;
    struct merge merge;
    ARRAY(uint32_t) strings; /* name -> string of the timeline + 1; 0: not yet */
    bool some_address, some_without, all_reserved, some_relative;
};

static bool no_memory(struct build *b) {
    return error_host_memory(b->err);
}

static bool string_of(struct build *b, uint32_t name, uint32_t *string) {
    if (b->strings.at[name] == 0) {
        uint32_t id;
        if (!strtab_add(&b->tl->strings, strtab_text(&b->p->names, name),
                        strtab_length(&b->p->names, name), &id))
            return no_memory(b);
        b->strings.at[name] = id + 1;
    }
    *string = b->strings.at[name] - 1;
    return true;
}

/* Those without an ordinal (-1) are the first of their kind. */
static bool device_of(const struct profiler_memory *m, uint8_t *device) {
    if (!profiler_is_device(m) || m->device > UINT8_MAX)
        return false;
    *device = m->device < 0 ? 0 : (uint8_t)m->device;
    return true;
}

/* --- what there is --- */

/* As it is where the sum would not fit. */
static uint64_t absolute(const struct build *b, uint64_t time_ns) {
    uint64_t sum;
    return checked_add(time_ns, b->p->base_time_ns, &sum) ? sum : time_ns;
}

static bool mark_memory(struct build *b) {
    uint32_t foreign = 0;
    for (size_t i = 0; i < b->p->memory.count; i++) {
        const struct profiler_memory *m = &b->p->memory.at[i];
        uint8_t device;
        if (!device_of(m, &device)) {
            foreign += profiler_is_device(m);
            continue;
        }
        struct device *d = &b->devices[device];
        if (!d->is_seen && b->phased.count < PHASED_DEVICES && !array_push(&b->phased, device))
            return no_memory(b);
        d->is_seen = true;
        b->all_reserved = b->all_reserved && (m->has & PROFILER_RESERVED);
        b->some_address |= (m->has & PROFILER_ADDRESS) != 0;
        b->some_without |= !m->is_oom && !(m->has & PROFILER_ADDRESS);
        if (!merge_event(&b->merge, absolute(b, m->time_ns), (uint32_t)i))
            return no_memory(b);
    }
    if (foreign > 0)
        emit_warn(b->tl, "%u events of a device with an ordinal above 255", foreign);
    return true;
}

static bool mark_phases(struct build *b) {
    for (size_t i = 0; i < b->p->spans.count; i++) {
        const struct profiler_span *s = &b->p->spans.at[i];
        uint32_t name;
        if (!s->is_annotation)
            continue;
        if (!string_of(b, s->name, &name))
            return false;
        if (!merge_label(&b->merge, absolute(b, s->begin_ns), absolute(b, s->end_ns), name))
            return no_memory(b);
    }
    return true;
}

/* --- blocks --- */

/* Blocks that lie where one is allocated have lost their free. */
static bool end_overlapped(struct build *b, struct device *d, uint64_t time_ns, uint64_t start,
                           uint64_t end) {
    for (;;) {
        const struct span *over = spans_overlap(&d->live, start, end);
        if (!over)
            return true;
        const struct span old = *over;
        emit_warn(b->tl, "a block is allocated at 0x%llx over that at 0x%llx: its free is missing",
                  (unsigned long long)start, (unsigned long long)old.start);
        if (!spans_cut(&d->live, old.start, old.end))
            return no_memory(b);
        if (!emit_free(&b->emit, time_ns, old.value))
            return false;
    }
}

static bool take_block(struct build *b, uint8_t device, const struct profiler_memory *m,
                       uint64_t time_ns) {
    struct device *d = &b->devices[device];
    uint64_t bytes = (uint64_t)m->bytes;
    bool placed = (m->has & PROFILER_ADDRESS) && m->address < UINT64_MAX - EMIT_MOST_BYTES;
    struct timeline_block block =
        emit_block(device, placed ? m->address : TIMELINE_NO_ADDRESS, bytes);
    struct span span = {.start = m->address, .end = m->address + bytes};
    if (bytes > EMIT_MOST_BYTES)
        placed = false;
    if (placed && bytes > 0 && !end_overlapped(b, d, time_ns, span.start, span.end))
        return false;
    if (!string_of(b, m->op, &block.op) || !emit_alloc(&b->emit, time_ns, &block, &span.value))
        return false;
    if (span.value == TIMELINE_NONE || bytes == 0)
        return true;
    if (placed)
        return spans_add(&d->live, span) || no_memory(b);
    return live_by_size_push(&d->by_size, bytes, span.value) || no_memory(b);
}

/* One older than the profile; where it lay may have been another's since. */
static bool free_older(struct build *b, uint8_t device, uint64_t time_ns, uint64_t bytes) {
    const struct timeline_block block = emit_block(device, TIMELINE_NO_ADDRESS, bytes);
    uint32_t ref;
    if (!emit_start_block(&b->emit, &block, &ref))
        return false;
    if (ref == TIMELINE_NONE)
        return true;
    b->devices[device].start_bytes += bytes;
    return emit_free(&b->emit, time_ns, ref);
}

static bool give_block(struct build *b, uint8_t device, const struct profiler_memory *m,
                       uint64_t time_ns) {
    struct device *d = &b->devices[device];
    uint64_t bytes = 0 - (uint64_t)m->bytes;
    uint32_t ref;
    if (!(m->has & PROFILER_ADDRESS))
        return live_by_size_pop(&d->by_size, bytes, &ref) ? emit_free(&b->emit, time_ns, ref)
                                                          : free_older(b, device, time_ns, bytes);
    const struct span *span = spans_find(&d->live, m->address);
    if (!span || span->start != m->address)
        return free_older(b, device, time_ns, bytes);
    const struct span found = *span;
    if (found.end - found.start != bytes)
        emit_warn(b->tl, "the block at 0x%llx is freed with another size",
                  (unsigned long long)m->address);
    if (!spans_cut(&d->live, found.start, found.end))
        return no_memory(b);
    return emit_free(&b->emit, time_ns, found.value);
}

static bool add_oom(struct build *b, uint8_t device, const struct profiler_memory *m,
                    uint64_t time_ns) {
    uint64_t bytes = m->bytes < 0 ? 0 - (uint64_t)m->bytes : (uint64_t)m->bytes;
    const struct timeline_oom oom = {.event = (uint32_t)b->tl->events.count,
                                     .requested_bytes = bytes,
                                     .rounded_bytes = bytes,
                                     .allocated_bytes = m->allocated,
                                     .reserved_bytes = m->reserved};
    if (!array_push(&b->tl->ooms, oom))
        return no_memory(b);
    uint32_t index;
    const struct timeline_event event = {.time_ns = time_ns,
                                         .bytes = bytes,
                                         .ref = (uint32_t)(b->tl->ooms.count - 1),
                                         .kind = EVENT_OOM,
                                         .device = device};
    return emit_event(&b->emit, &event, &index);
}

/* What lived before the first event, and whether the totals agree with the sizes from there on. */
static void see_totals(struct build *b, struct device *d, const struct profiler_memory *m) {
    uint64_t delta = (uint64_t)m->bytes;
    if (m->is_oom)
        return;
    if (!(m->has & PROFILER_ALLOCATED)) {
        b->some_relative = true;
        return;
    }
    if (!d->has_first)
        d->first_bytes = m->allocated - delta;
    else if (m->allocated != d->total + delta)
        emit_warn(b->tl, "a total of %llu bytes where the sizes before it give %llu",
                  (unsigned long long)m->allocated, (unsigned long long)(d->total + delta));
    d->has_first = true;
    d->total = m->allocated;
}

static bool emit_memory(void *user, uint32_t ref, uint64_t time_ns) {
    struct build *b = user;
    const struct profiler_memory *m = &b->p->memory.at[ref];
    uint8_t device;
    if (!device_of(m, &device))
        return true;
    if (m->is_oom)
        return add_oom(b, device, m, time_ns);
    see_totals(b, &b->devices[device], m);
    /* so that what is allocated never stands above what is reserved */
    if (m->bytes >= 0)
        return (!b->all_reserved || emit_reserved(&b->emit, time_ns, device, m->reserved)) &&
               take_block(b, device, m, time_ns);
    return (b->emit.devices[device].reservation != TIMELINE_NONE || !b->all_reserved ||
            emit_reserved(&b->emit, time_ns, device, m->reserved)) &&
           give_block(b, device, m, time_ns) &&
           (!b->all_reserved || emit_reserved(&b->emit, time_ns, device, m->reserved));
}

/* --- the whole --- */

static bool add_older(struct build *b) {
    for (unsigned i = 0; i < EMIT_DEVICES; i++) {
        const struct device *d = &b->devices[i];
        if (!d->has_first || d->first_bytes <= d->start_bytes || d->first_bytes > INT64_MAX)
            continue;
        struct timeline_block block =
            emit_block((uint8_t)i, TIMELINE_NO_ADDRESS, d->first_bytes - d->start_bytes);
        uint32_t ref;
        block.name = timeline_string(b->tl, "all that lived before the profile");
        if (!emit_start_block(&b->emit, &block, &ref))
            return false;
    }
    return true;
}

static bool prepare(struct build *b) {
    struct profiler *p = b->p;
    size_t names = strtab_count(&p->names);
    if (!array_reserve(&b->strings, names))
        return no_memory(b);
    memset(b->strings.at, 0, names * sizeof *b->strings.at);
    return mark_memory(b) && mark_phases(b);
}

static uint32_t presence(const struct build *b) {
    uint32_t has = TIMELINE_HAS_TIME | TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_PHASE |
                   TIMELINE_HAS_HISTORY | TIMELINE_NO_COMPLETIONS;
    if (b->some_address && !b->some_without)
        has |= TIMELINE_HAS_ADDRESS;
    if (b->some_without)
        has |= TIMELINE_FREES_BY_SIZE;
    if (b->all_reserved && b->phased.count > 0)
        has |= TIMELINE_HAS_SEGMENTS | TIMELINE_SUMS_SEGMENTS;
    return has;
}

bool profiler_build(struct profiler *p, struct timeline *tl, struct error *err) {
    struct build b = {.p = p, .tl = tl, .err = err, .all_reserved = true};
    b.devices = xcalloc(EMIT_DEVICES, sizeof *b.devices);
    bool ok = emit_init(&b.emit, tl, err) && (b.devices || error_host_memory(err)) && prepare(&b);
    if (ok)
        tl->has = presence(&b);
    const struct merge_sink sink = {.emit = &b.emit,
                                    .devices = b.phased.at,
                                    .device_count = b.phased.count,
                                    .event = emit_memory,
                                    .user = &b};
    ok = ok && merge_run(&b.merge, &sink) && add_older(&b);
    if (ok && b.some_relative)
        tl->has |= TIMELINE_RELATIVE;
    ok = ok && emit_check_reserved(&b.emit);
    for (unsigned i = 0; b.devices && i < EMIT_DEVICES; i++) {
        spans_fini(&b.devices[i].live);
        live_by_size_fini(&b.devices[i].by_size);
    }
    xfree(b.devices);
    emit_fini(&b.emit);
    array_fini(&b.phased);
    merge_fini(&b.merge);
    array_fini(&b.strings);
    return ok;
}
