/* snapshot_emit.c: see snapshot_build.h. The second pass: all devices' entries and the annotations
 * in one order.
 *
 * Within a device and among the annotations the file's order holds; between them the times decide,
 * an annotation standing before the first entry that is not earlier. Where records were lost the
 * missing frees are put in, so that every block keeps the order alloc, free requested, free
 * completed. */
#include <string.h>

#include "error.h"
#include "snapshot_build.h"

/* A device's clock does not go back: the file's order is the allocator's. */
static bool push_late(struct build *b, const struct timeline_event *event, uint32_t *index) {
    struct timeline_event now = *event;
    now.time_ns = b->clock_ns[event->device];
    build_warn(b, "an entry is %llu ns before the one before it and takes its time",
               (unsigned long long)(now.time_ns - event->time_ns));
    *index = timeline_add_event(b->tl, &now);
    return *index != TIMELINE_NONE || build_no_memory(b);
}

bool build_push(struct build *b, const struct timeline_event *event, uint32_t *index) {
    if (event->time_ns < b->clock_ns[event->device] && !b->time_unknown)
        return push_late(b, event, index);
    b->clock_ns[event->device] = event->time_ns;
    *index = timeline_add_event(b->tl, event);
    return *index != TIMELINE_NONE || build_no_memory(b);
}

static bool push_other(struct build *b, struct timeline_event *event) {
    uint32_t index;
    event->kind = EVENT_OTHER;
    event->ref = TIMELINE_NONE;
    return build_push(b, event, &index);
}

static bool push_free(struct build *b, const struct timeline_event *like, enum event_kind kind,
                      uint32_t ref) {
    struct timeline_block *block = &b->tl->blocks.at[ref];
    struct timeline_event event = *like;
    event.kind = (uint8_t)kind;
    event.ref = ref;
    event.bytes = block->requested_bytes;
    event.address = block->address;
    return build_push(b, &event,
                      kind == EVENT_FREE_REQUESTED ? &block->free_event : &block->complete_event);
}

static bool emit_free_requested(struct build *b, struct timeline_event *event, uint32_t ref) {
    const struct timeline_block *block = &b->tl->blocks.at[ref];
    if (block->free_event != TIMELINE_NONE || block->complete_event != TIMELINE_NONE ||
        block->pending_at_start) {
        build_warn(b, "the block at 0x%llx is freed twice", (unsigned long long)block->address);
        return push_other(b, event);
    }
    return push_free(b, event, EVENT_FREE_REQUESTED, ref);
}

/* A completion whose request is missing does the work of both. */
static bool emit_free_completed(struct build *b, struct build_device *d,
                                struct timeline_event *event, uint32_t ref) {
    const struct timeline_block *block = &b->tl->blocks.at[ref];
    if (block->complete_event != TIMELINE_NONE) {
        build_warn(b, "the block at 0x%llx is completed twice", (unsigned long long)block->address);
        return push_other(b, event);
    }
    if (block->free_event == TIMELINE_NONE && !block->pending_at_start &&
        !push_free(b, event, EVENT_FREE_REQUESTED, ref))
        return false;
    addrmap_remove(&d->live, block->address, ref);
    return push_free(b, event, EVENT_FREE_COMPLETED, ref);
}

static bool emit_alloc(struct build *b, struct build_device *d, struct timeline_event *event,
                       uint32_t ref) {
    uint32_t lost;
    while (!place_block(b, d, ref, &lost)) {
        if (lost == TIMELINE_NONE)
            return false;
        uint64_t address = b->tl->blocks.at[lost].address;
        if (address == event->address)
            build_warn(b, "the block at 0x%llx is allocated again without a free",
                       (unsigned long long)address);
        else
            build_warn(b, "a block is allocated at 0x%llx over that at 0x%llx: its free is missing",
                       (unsigned long long)event->address, (unsigned long long)address);
        if (!emit_free_completed(b, d, event, lost))
            return false;
    }
    struct timeline_block *block = &b->tl->blocks.at[ref];
    if (d->open_phases.count > 0)
        block->phase = *array_last(&d->open_phases);
    event->kind = EVENT_ALLOC;
    event->ref = ref;
    event->bytes = block->requested_bytes;
    return build_push(b, event, &block->alloc_event);
}

static bool emit_segment_alloc(struct build *b, struct build_device *d,
                               struct timeline_event *event, uint32_t ref) {
    struct timeline_segment *segment = &b->tl->segments.at[ref];
    const struct build_range range = {.start = segment->address,
                                      .end = segment->address + segment->bytes,
                                      .segment = ref,
                                      .small_pool = segment->small_pool};
    event->kind = EVENT_SEGMENT_ALLOC;
    event->ref = ref;
    return ranges_add(b, &d->ranges, &range) && build_push(b, event, &segment->alloc_event);
}

static bool emit_segment_free(struct build *b, struct build_device *d, struct timeline_event *event,
                              uint32_t ref) {
    struct timeline_segment *segment = &b->tl->segments.at[ref];
    uint32_t range;
    (void)addrmap_take(&d->ranges, segment->address, &range);
    event->kind = EVENT_SEGMENT_FREE;
    event->ref = ref;
    event->bytes = segment->bytes;
    return build_push(b, event, &segment->free_event);
}

/* The segment that a newly mapped piece belongs to: that of the reservation's piece before or
 * behind it, else new. */
static bool find_reservation(struct build *b, struct build_device *d,
                             const struct snapshot_entry *e, bool *is_new,
                             struct build_range *piece) {
    const struct build_range *near =
        e->address > 0 ? ranges_find(b, &d->ranges, e->address - 1) : NULL;
    if (!near || !near->expandable || near->stream != e->stream)
        near = ranges_find(b, &d->ranges, e->address + e->size);
    if (near && near->expandable && near->stream == e->stream) {
        piece->segment = near->segment;
        piece->small_pool = near->small_pool;
        *is_new = false;
        return true;
    }
    const struct build_range *end = ranges_find(b, &d->finals, e->address);
    struct timeline_segment made = {.address = e->address,
                                    .bytes = e->size,
                                    .alloc_event = TIMELINE_NONE,
                                    .free_event = TIMELINE_NONE,
                                    .device = (uint8_t)d->ordinal,
                                    .expandable = true};
    made.small_pool = end ? end->small_pool : e->size % CACHING_LARGE_SEGMENT_BYTES != 0;
    piece->small_pool = made.small_pool;
    snapshot_pool_id(b->s, e->pool_tuple, made.pool_id);
    if (!build_stream(b, e->stream, &made.stream) || !build_stack(b, e->frames_list, &made.stack))
        return false;
    piece->segment = timeline_add_segment(b->tl, &made);
    *is_new = true;
    return piece->segment != TIMELINE_NONE || build_no_memory(b);
}

/* A segment that began in the window spans all that was ever mapped of it. */
static void widen(struct timeline_segment *segment, uint64_t start, uint64_t end) {
    uint64_t old_end = segment->address + segment->bytes;
    if (segment->alloc_event == TIMELINE_NONE)
        return;
    if (start < segment->address)
        segment->address = start;
    segment->bytes = (end > old_end ? end : old_end) - segment->address;
}

static bool emit_map(struct build *b, struct build_device *d, struct timeline_event *event,
                     const struct snapshot_entry *e) {
    bool is_new;
    uint32_t overlapped, index;
    struct build_range piece = {
        .start = e->address, .end = e->address + e->size, .stream = e->stream, .expandable = true};
    if (!ranges_cut(b, &d->ranges, piece.start, piece.end, &overlapped) ||
        !find_reservation(b, d, e, &is_new, &piece) || !ranges_add(b, &d->ranges, &piece))
        return false;
    event->kind = EVENT_SEGMENT_MAP;
    event->ref = piece.segment;
    if (!build_push(b, event, &index))
        return false;
    struct timeline_segment *segment = &b->tl->segments.at[piece.segment];
    if (is_new)
        segment->alloc_event = index;
    widen(segment, piece.start, piece.end);
    return true;
}

static bool emit_unmap(struct build *b, struct build_device *d, struct timeline_event *event,
                       const struct snapshot_entry *e) {
    uint32_t index;
    if (!ranges_cut(b, &d->ranges, e->address, e->address + e->size, &event->ref))
        return false;
    if (event->ref == TIMELINE_NONE) {
        build_warn(b, "memory at 0x%llx is unmapped that was not mapped",
                   (unsigned long long)e->address);
        return push_other(b, event);
    }
    event->kind = EVENT_SEGMENT_UNMAP;
    return build_push(b, event, &index);
}

/* allocated and reserved are filled in once all sizes are known. */
static bool emit_oom(struct build *b, struct timeline_event *event,
                     const struct snapshot_entry *e) {
    uint64_t rounded = e->size <= MAX_RECORD_BYTES ? e->size : MAX_RECORD_BYTES;
    struct timeline_oom oom = {.event = (uint32_t)b->tl->events.count,
                               .rounded_bytes = rounded,
                               .segment_bytes =
                                   caching_sizes_segment(b->rules.large_segment_bytes, rounded),
                               .device_free_bytes = e->has & HAS_DEVICE_FREE ? e->address : 0};
    uint32_t index;
    if (!array_push(&b->tl->ooms, oom))
        return build_no_memory(b);
    event->kind = EVENT_OOM;
    event->ref = (uint32_t)(b->tl->ooms.count - 1);
    event->address = 0;
    return build_push(b, event, &index);
}

static bool emit_plain(struct build *b, struct timeline_event *event, enum event_kind kind) {
    uint32_t index;
    event->kind = (uint8_t)kind;
    event->ref = TIMELINE_NONE;
    return build_push(b, event, &index);
}

/* An entry whose action is known by name but that speaks of nothing: its numbers were missing or
 * absurd. */
static bool is_damaged(const struct snapshot_entry *e, uint32_t ref) {
    switch (e->action) {
    case KEY_ALLOC:
    case KEY_FREE_REQUESTED:
    case KEY_FREE_COMPLETED:
    case KEY_FREE:
    case KEY_SEGMENT_ALLOC:
    case KEY_SEGMENT_FREE:
        return ref == TIMELINE_NONE;
    case KEY_SEGMENT_MAP:
    case KEY_SEGMENT_UNMAP:
        return !build_usable(e);
    }
    return false;
}

static bool emit_action(struct build *b, struct build_device *d, struct timeline_event *event,
                        const struct snapshot_entry *e, uint32_t ref) {
    switch (e->action) {
    case KEY_ALLOC:
        return emit_alloc(b, d, event, ref);
    case KEY_FREE_REQUESTED:
        return emit_free_requested(b, event, ref);
    case KEY_FREE_COMPLETED:
    case KEY_FREE:
        return emit_free_completed(b, d, event, ref);
    case KEY_SEGMENT_ALLOC:
        return emit_segment_alloc(b, d, event, ref);
    case KEY_SEGMENT_FREE:
        return emit_segment_free(b, d, event, ref);
    case KEY_SEGMENT_MAP:
        return emit_map(b, d, event, e);
    case KEY_SEGMENT_UNMAP:
        return emit_unmap(b, d, event, e);
    case KEY_OOM:
        return emit_oom(b, event, e);
    case KEY_SNAPSHOT:
        return emit_plain(b, event, EVENT_SNAPSHOT);
    case KEY_ANNOTATE:
        return emit_plain(b, event, EVENT_OTHER);
    }
    build_warn(b, "unknown action '%.40s'", strtab_text(&b->s->pickle.strings, e->action));
    return push_other(b, event);
}

static bool emit_entry(struct build *b, struct build_device *d) {
    const struct build_event at = d->events.at[d->next++];
    const struct snapshot_entry *e = &b->s->entries.at[at.entry];
    b->time_unknown = b->time_unknown || !(e->has & HAS_TIME);
    struct timeline_event event = {.time_ns =
                                       e->time_us <= UINT64_MAX / 1000 ? e->time_us * 1000 : 0,
                                   .bytes = e->size,
                                   .address = e->address,
                                   .device = (uint8_t)d->ordinal};
    if (!build_stream(b, e->stream, &event.stream))
        return false;
    if (e->action == KEY_SEGMENT_FREE || e->action == KEY_SEGMENT_MAP ||
        e->action == KEY_SEGMENT_UNMAP || e->action == KEY_SEGMENT_ALLOC)
        d->near_range = NO_HANDLE;
    if (!is_damaged(e, at.ref))
        return emit_action(b, d, &event, e, at.ref);
    build_warn(b, "an entry '%.40s' without usable address and size",
               strtab_text(&b->s->pickle.strings, e->action));
    return push_other(b, &event);
}

/* The device whose next entry is the earliest; the lowest ordinal among equals. NULL: all are done.
 */
static struct build_device *next_device(struct build *b) {
    struct build_device *found = NULL;
    for (size_t i = 0; i < b->devices.count; i++) {
        struct build_device *d = &b->devices.at[i];
        if (d->next >= d->events.count)
            continue;
        d->time_us = b->s->entries.at[d->events.at[d->next].entry].time_us;
        if (!found || d->time_us < found->time_us)
            found = d;
    }
    return found;
}

/* All annotations that stand before an entry of that time. */
static bool emit_annotations(struct build *b, struct snapshot_walk *walk, uint32_t *pending,
                             uint64_t time_us) {
    while (*pending != NO_HANDLE) {
        uint32_t record = snapshot_record(b->s, *pending, ROLE_ANNOTATION);
        if (record != NO_HANDLE) {
            const struct snapshot_annotation *a = &b->s->annotations.at[record];
            if (a->time_us > time_us)
                return true;
            if (!build_phase(b, a))
                return false;
        }
        if (!snapshot_walk_next(b->s, walk, pending))
            *pending = NO_HANDLE;
    }
    return true;
}

static bool prepare(struct build *b) {
    size_t blocks = b->tl->blocks.count;
    if (!array_reserve(&b->guessed, blocks + 1))
        return build_no_memory(b);
    memset(b->guessed.at, 0, blocks + 1);
    b->guessed.count = blocks + 1;
    for (size_t i = 0; i < b->devices.count; i++)
        if (!place_start_blocks(b, &b->devices.at[i]))
            return false;
    return true;
}

bool build_emit(struct build *b) {
    struct snapshot_walk walk;
    uint32_t pending = NO_HANDLE;
    if (!prepare(b))
        return false;
    snapshot_walk_begin(b->s, b->s->annotations_list, &walk);
    if (!snapshot_walk_next(b->s, &walk, &pending))
        pending = NO_HANDLE;
    for (struct build_device *d = next_device(b); d; d = next_device(b)) {
        uint32_t ordinal = d->ordinal;
        if (pending != NO_HANDLE && !emit_annotations(b, &walk, &pending, d->time_us))
            return false;
        if (!build_device(b, ordinal, &d) ||
            !emit_entry(b, d)) /* an annotation may have added a device */
            return false;
    }
    return emit_annotations(b, &walk, &pending, UINT64_MAX);
}
