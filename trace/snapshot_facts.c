/* snapshot_facts.c: the figures of facts.h, and what needs all sizes: the state at an
 * out-of-memory, and whether the sums hold. */
#include "counters.h"
#include "error.h"
#include "snapshot_build.h"

static bool add_count(struct build *b, struct trace_counts *counts, uint32_t text, uint64_t count) {
    return trace_counts_add(counts, strtab_text(&b->s->pickle.strings, text), count) ||
           build_no_memory(b);
}

static void see_stack(struct build *b, uint32_t list) {
    uint64_t depth = list == NO_HANDLE ? 0 : snapshot_list_count(b->s, list);
    if (depth > b->facts->stack_depth_max)
        b->facts->stack_depth_max = depth;
}

static void see_time(struct trace_facts *f, const struct snapshot_entry *e) {
    if (!(e->has & HAS_TIME))
        return;
    if (!(f->has & TRACE_FACTS_TIME) || e->time_us < f->time_us_first)
        f->time_us_first = e->time_us;
    if (!(f->has & TRACE_FACTS_TIME) || e->time_us > f->time_us_last)
        f->time_us_last = e->time_us;
    f->has |= TRACE_FACTS_TIME;
}

/* Actions are counted by their text's id first: there are few, entries are many. */
static bool count_actions(struct build *b, struct build_device *d, uint64_t known[KEY_COUNT]) {
    for (size_t i = 0; i < d->events.count; i++) {
        const struct snapshot_entry *e = &b->s->entries.at[d->events.at[i].entry];
        see_stack(b, e->frames_list);
        see_time(b->facts, e);
        if (e->action < KEY_COUNT)
            known[e->action]++;
        else if (!add_count(b, &d->facts.actions, e->action, 1))
            return false;
        if (e->action != KEY_ALLOC || !build_usable(e))
            continue;
        d->facts.alloc_bytes_total += e->size;
        if (e->size > d->facts.alloc_bytes_largest)
            d->facts.alloc_bytes_largest = e->size;
    }
    return true;
}

bool build_entry_facts(struct build *b, struct build_device *d) {
    uint64_t known[KEY_COUNT] = {0};
    d->facts.device = d->ordinal;
    d->facts.events = d->events.count;
    if (!count_actions(b, d, known))
        return false;
    for (uint32_t key = 1; key < KEY_COUNT; key++)
        if (known[key] > 0 && !add_count(b, &d->facts.actions, key, known[key]))
            return false;
    trace_counts_sort(&d->facts.actions);
    return true;
}

static bool pickle_facts(struct build *b) {
    struct trace_facts *f = b->facts;
    const struct pickle *p = &b->s->pickle;
    f->kind = "snapshot";
    f->has |= TRACE_FACTS_PICKLE | TRACE_FACTS_STATE;
    f->protocol = p->protocol;
    for (unsigned op = 0; op < 256; op++)
        if (p->seen[op] && !trace_counts_add(&f->opcodes, pickle_opcode_name((uint8_t)op), 1))
            return build_no_memory(b);
    trace_counts_sort(&f->opcodes);
    for (size_t i = 0; i < b->s->top_keys.count; i++)
        if (!add_count(b, &f->top_keys, b->s->top_keys.at[i], 1))
            return false;
    return true;
}

static bool block_facts(struct build *b, uint32_t blocks_list) {
    struct snapshot_walk walk;
    uint32_t handle;
    struct trace_facts *f = b->facts;
    snapshot_walk_begin(b->s, blocks_list, &walk);
    while (snapshot_walk_next(b->s, &walk, &handle)) {
        uint32_t record = snapshot_record(b->s, handle, ROLE_BLOCK);
        if (record == NO_HANDLE)
            continue;
        const struct snapshot_block *r = &b->s->blocks.at[record];
        f->blocks++;
        if (!add_count(b, &f->blocks_by_state, r->state, 1))
            return false;
        see_stack(b, r->frames_list);
        if (r->state == KEY_INACTIVE && r->size > f->largest_free_block)
            f->largest_free_block = r->size;
        if (r->state != KEY_INACTIVE) {
            f->active += r->size;
            f->allocated += r->state == KEY_ACTIVE_ALLOCATED ? r->size : 0;
        }
    }
    return true;
}

static bool segment_facts(struct build *b, const struct snapshot_segment *r,
                          struct addrmap *streams) {
    struct trace_facts *f = b->facts;
    f->segments++;
    f->reserved += r->total;
    f->expandable += r->expandable;
    if (r->has & HAS_REQUESTED) {
        f->has |= TRACE_FACTS_REQUESTED;
        f->requested += r->requested;
    }
    see_stack(b, r->frames_list);
    if (!addrmap_put(streams, r->stream, 0))
        return build_no_memory(b);
    return add_count(b, &f->segments_by_type, r->type, 1) && block_facts(b, r->blocks_list);
}

static bool state_facts(struct build *b) {
    struct snapshot_walk walk;
    struct addrmap streams = {0};
    uint32_t handle;
    bool ok = true;
    snapshot_walk_begin(b->s, b->s->segments_list, &walk);
    while (ok && snapshot_walk_next(b->s, &walk, &handle)) {
        uint32_t record = snapshot_record(b->s, handle, ROLE_SEGMENT);
        if (record != NO_HANDLE)
            ok = segment_facts(b, &b->s->segments.at[record], &streams);
    }
    b->facts->streams = streams.count;
    addrmap_fini(&streams);
    for (size_t i = 0; i < b->s->histories.count; i++)
        see_stack(b, b->s->histories.at[i].frames_list);
    return ok;
}

/* So that the counters below cannot wrap, whatever the file says. */
static bool check_sums(struct build *b) {
    uint64_t blocks = 0, segments = 0;
    for (size_t i = 0; i < b->tl->blocks.count && blocks <= MAX_SUM_BYTES; i++)
        if (b->tl->blocks.at[i].alloc_event == TIMELINE_NONE)
            blocks += b->tl->blocks.at[i].block_bytes;
    for (size_t i = 0; i < b->tl->segments.count && segments <= MAX_SUM_BYTES; i++)
        if (b->tl->segments.at[i].alloc_event == TIMELINE_NONE)
            segments += b->tl->segments.at[i].bytes;
    if (blocks <= MAX_SUM_BYTES && segments <= MAX_SUM_BYTES)
        return true;
    return error_set(b->err, ERROR_BAD_INPUT, "the sizes add up to more than 2^60 bytes: damaged");
}

static void see_peaks(struct trace_device_facts *f, const struct counters *c) {
    if (c->active > f->peak_active)
        f->peak_active = c->active;
    if (c->reserved > f->peak_reserved)
        f->peak_reserved = c->reserved;
    if (c->allocated > f->peak_allocated)
        f->peak_allocated = c->allocated;
    if (c->requested > f->peak_requested)
        f->peak_requested = c->requested;
}

static void lose_segments(struct build *b, uint32_t event) {
    if (b->tl->has & TIMELINE_HAS_SEGMENTS)
        build_warn(b, "more is active than reserved at event %u: segments are missing", event);
    b->tl->has &= ~(uint32_t)TIMELINE_HAS_SEGMENTS;
}

static bool walk_counters(struct build *b, struct build_device *d) {
    struct timeline *tl = b->tl;
    uint8_t device = (uint8_t)d->ordinal;
    struct counters c;
    counters_start(tl, device, &c);
    d->facts.start_active = c.active;
    d->facts.start_blocks = c.blocks;
    d->facts.start_reserved = c.reserved;
    see_peaks(&d->facts, &c);
    if (c.active > c.reserved)
        lose_segments(b, 0);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->device != device)
            continue;
        counters_apply(tl, device, i, &c);
        if (c.active > MAX_SUM_BYTES)
            return error_set(b->err, ERROR_BAD_INPUT,
                             "the blocks at event %u add up to more than 2^60 bytes: damaged", i);
        if (c.active > c.reserved || c.reserved > 2 * MAX_SUM_BYTES)
            lose_segments(b, i);
        see_peaks(&d->facts, &c);
        if (e->kind == EVENT_OOM) {
            tl->ooms.at[e->ref].allocated_bytes = c.allocated;
            tl->ooms.at[e->ref].reserved_bytes = c.reserved;
        } else if (e->kind == EVENT_SNAPSHOT && e->bytes != c.active) {
            build_warn(b, "a snapshot entry says %llu active bytes where %llu are",
                       (unsigned long long)e->bytes, (unsigned long long)c.active);
        }
    }
    d->facts.end_active = c.active;
    d->facts.end_reserved = c.reserved;
    return true;
}

static bool device_facts(struct build *b, struct build_device *d) {
    if (!walk_counters(b, d))
        return false;
    if (d->facts.events == 0)
        return true;
    if (!array_push(&b->facts->devices, d->facts))
        return build_no_memory(b);
    d->facts.actions = (struct trace_counts){0}; /* handed over */
    return true;
}

/* What PyTorch's allocator of pinned memory had (2.15, record_pinned_host_memory=True). Its lists are
 * always there, empty unless it was recorded. */
static void host_facts(struct build *b) {
    struct trace_facts *f = b->facts;
    struct snapshot_walk walk;
    uint32_t handle;
    if (b->s->host_traces_list != NO_HANDLE)
        f->host_events = snapshot_list_count(b->s, b->s->host_traces_list);
    snapshot_walk_begin(b->s, b->s->host_segments_list, &walk);
    while (snapshot_walk_next(b->s, &walk, &handle)) {
        uint32_t record = snapshot_record(b->s, handle, ROLE_SEGMENT);
        if (record == NO_HANDLE || b->s->segments.at[record].total > MAX_RECORD_BYTES)
            continue;
        f->host_segments++;
        f->host_reserved += b->s->segments.at[record].total;
    }
    if (f->host_events + f->host_segments > 0)
        f->has |= TRACE_FACTS_HOST;
}

bool build_facts(struct build *b) {
    struct trace_facts *f = b->facts;
    host_facts(b);
    if (b->s->annotations_list != NO_HANDLE) {
        f->has |= TRACE_FACTS_ANNOTATIONS;
        f->external_annotations = snapshot_list_count(b->s, b->s->annotations_list);
    }
    if (!pickle_facts(b) || !state_facts(b) || !check_sums(b))
        return false;
    for (size_t i = 0; i < b->devices.count; i++)
        if (!device_facts(b, &b->devices.at[i]))
            return false;
    return true;
}
