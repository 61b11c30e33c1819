/* timeline_facts.c: see timeline_facts.h. */
#include "timeline_facts.h"

#include "counters.h"
#include "error.h"
#include "timeline.h"

enum { DEVICES = UINT8_MAX + 1 };

static void see(uint64_t *peak, uint64_t value) {
    if (value > *peak)
        *peak = value;
}

static void see_peaks(struct trace_device_facts *f, const struct counters *c) {
    see(&f->peak_active, c->active);
    see(&f->peak_reserved, c->reserved);
    see(&f->peak_allocated, c->allocated);
    see(&f->peak_requested, c->requested);
}

static bool add_actions(struct trace_device_facts *f, const uint64_t counts[EVENT_KIND_COUNT]) {
    for (unsigned k = 0; k < EVENT_KIND_COUNT; k++)
        if (counts[k] > 0 &&
            !trace_counts_add(&f->actions, event_kind_name((enum event_kind)k), counts[k]))
            return false;
    trace_counts_sort(&f->actions);
    return true;
}

static bool walk(const struct timeline *tl, uint8_t device, struct trace_device_facts *f) {
    uint64_t counts[EVENT_KIND_COUNT] = {0};
    struct counters c;
    counters_start(tl, device, &c);
    f->device = device;
    f->start_active = c.active;
    f->start_blocks = c.blocks;
    f->start_reserved = c.reserved;
    see_peaks(f, &c);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->device != device)
            continue;
        counters_apply(tl, device, i, &c);
        see_peaks(f, &c);
        f->events++;
        counts[e->kind]++;
        if (e->kind == EVENT_ALLOC) {
            f->alloc_bytes_total += e->bytes;
            see(&f->alloc_bytes_largest, e->bytes);
        }
    }
    f->end_active = c.active;
    f->end_reserved = c.reserved;
    return add_actions(f, counts);
}

static void see_stacks(const struct timeline *tl, struct trace_facts *facts) {
    for (size_t i = 0; i < tl->stacks.count; i++)
        see(&facts->stack_depth_max, tl->stacks.at[i].count);
}

static void see_times(const struct timeline *tl, struct trace_facts *facts) {
    if (!(tl->has & TIMELINE_HAS_TIME) || tl->events.count == 0)
        return;
    facts->has |= TRACE_FACTS_TIME;
    facts->time_us_first = UINT64_MAX;
    for (size_t i = 0; i < tl->events.count; i++) {
        uint64_t us = tl->events.at[i].time_ns / 1000;
        see(&facts->time_us_last, us);
        if (us < facts->time_us_first)
            facts->time_us_first = us;
    }
}

bool timeline_facts(const struct timeline *tl, const char *kind, struct trace_facts *facts,
                    struct error *err) {
    bool present[DEVICES] = {false};
    facts->kind = kind;
    see_stacks(tl, facts);
    see_times(tl, facts);
    for (size_t i = 0; i < tl->events.count; i++)
        present[tl->events.at[i].device] = true;
    for (unsigned d = 0; d < DEVICES; d++) {
        struct trace_device_facts f = {0};
        if (!present[d])
            continue;
        if (walk(tl, (uint8_t)d, &f) && array_push(&facts->devices, f))
            continue;
        for (size_t i = 0; i < f.actions.list.count; i++)
            xfree(f.actions.list.at[i].name);
        array_fini(&f.actions.list);
        return error_host_memory(err);
    }
    return true;
}
