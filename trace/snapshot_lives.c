/* snapshot_lives.c: see snapshot_build.h. The first pass over a device: which block or segment an
 * entry speaks of, and what was there before the first entry. */
#include <string.h>

#include "error.h"
#include "snapshot_build.h"

static bool add_block(struct build *b, struct build_device *d, uint64_t address, uint64_t requested,
                      uint32_t *index) {
    const struct timeline_block block = {.address = address,
                                         .requested_bytes = requested,
                                         .alloc_event = TIMELINE_NONE,
                                         .free_event = TIMELINE_NONE,
                                         .complete_event = TIMELINE_NONE,
                                         .segment = TIMELINE_NONE,
                                         .phase = TIMELINE_NONE,
                                         .category = CATEGORY_UNKNOWN,
                                         .dtype = DTYPE_NONE,
                                         .device = (uint8_t)d->ordinal};
    *index = timeline_add_block(b->tl, &block);
    return *index != TIMELINE_NONE || build_no_memory(b);
}

static bool add_segment(struct build *b, struct build_device *d, uint64_t address, uint64_t bytes,
                        uint32_t *index) {
    const struct timeline_segment segment = {.address = address,
                                             .bytes = bytes,
                                             .alloc_event = TIMELINE_NONE,
                                             .free_event = TIMELINE_NONE,
                                             .device = (uint8_t)d->ordinal,
                                             .small_pool = bytes == CACHING_SMALL_SEGMENT_BYTES};
    *index = timeline_add_segment(b->tl, &segment);
    return *index != TIMELINE_NONE || build_no_memory(b);
}

static bool add_start_block(struct build *b, struct build_device *d, uint64_t address,
                            uint64_t requested, uint32_t *index) {
    if (!add_block(b, d, address, requested, index))
        return false;
    return array_push(&d->start_blocks, *index) || build_no_memory(b);
}

static bool describe_block(struct build *b, const struct snapshot_entry *e, uint32_t index) {
    struct timeline_block *block = &b->tl->blocks.at[index];
    return build_stream(b, e->stream, &block->stream) &&
           build_stack(b, e->frames_list, &block->stack);
}

static bool live_alloc(struct build *b, struct build_device *d, const struct snapshot_entry *e,
                       uint32_t *ref) {
    if (!add_block(b, d, e->address, e->size, ref) || !describe_block(b, e, *ref))
        return false;
    return addrmap_put(&d->live, e->address, *ref) || build_no_memory(b);
}

static bool live_free_requested(struct build *b, struct build_device *d,
                                const struct snapshot_entry *e, uint32_t *ref) {
    if (addrmap_find(&d->live, e->address, ref))
        return true;
    if (!add_start_block(b, d, e->address, e->size, ref) ||
        !build_stream(b, e->stream, &b->tl->blocks.at[*ref].stream))
        return false;
    return addrmap_put(&d->live, e->address, *ref) || build_no_memory(b);
}

/* A completion alone means that the request lies before the window. */
static bool live_free_completed(struct build *b, struct build_device *d,
                                const struct snapshot_entry *e, bool pending, uint32_t *ref) {
    if (addrmap_take(&d->live, e->address, ref))
        return true;
    if (!add_start_block(b, d, e->address, e->size, ref))
        return false;
    b->tl->blocks.at[*ref].pending_at_start = pending;
    return build_stream(b, e->stream, &b->tl->blocks.at[*ref].stream);
}

static bool describe_segment(struct build *b, const struct snapshot_entry *e, uint32_t index) {
    struct timeline_segment *segment = &b->tl->segments.at[index];
    snapshot_pool_id(b->s, e->pool_tuple, segment->pool_id);
    return build_stream(b, e->stream, &segment->stream);
}

static bool live_segment_alloc(struct build *b, struct build_device *d,
                               const struct snapshot_entry *e, uint32_t *ref) {
    if (!add_segment(b, d, e->address, e->size, ref) || !describe_segment(b, e, *ref) ||
        !build_stack(b, e->frames_list, &b->tl->segments.at[*ref].stack))
        return false;
    if (addrmap_find(&d->segments, e->address, &(uint32_t){0}))
        build_warn(b, "a segment is allocated twice at 0x%llx", (unsigned long long)e->address);
    return addrmap_put(&d->segments, e->address, *ref) || build_no_memory(b);
}

static bool add_plain_range(struct build *b, struct build_device *d, uint32_t segment) {
    const struct timeline_segment *s = &b->tl->segments.at[segment];
    const struct build_range range = {.start = s->address,
                                      .end = s->address + s->bytes,
                                      .segment = segment,
                                      .small_pool = s->small_pool};
    return ranges_add(b, &d->ranges, &range);
}

static bool live_segment_free(struct build *b, struct build_device *d,
                              const struct snapshot_entry *e, uint32_t *ref) {
    if (addrmap_take(&d->segments, e->address, ref))
        return true;
    return add_segment(b, d, e->address, e->size, ref) && describe_segment(b, e, *ref) &&
           add_plain_range(b, d, *ref);
}

static bool resolve(struct build *b, struct build_device *d, const struct snapshot_entry *e,
                    uint32_t *ref) {
    if (!build_usable(e))
        return true;
    switch (e->action) {
    case KEY_ALLOC:
        return live_alloc(b, d, e, ref);
    case KEY_FREE_REQUESTED:
        return live_free_requested(b, d, e, ref);
    case KEY_FREE_COMPLETED:
        return live_free_completed(b, d, e, true, ref);
    case KEY_FREE:
        return live_free_completed(b, d, e, false, ref);
    case KEY_SEGMENT_ALLOC:
        return live_segment_alloc(b, d, e, ref);
    case KEY_SEGMENT_FREE:
        return live_segment_free(b, d, e, ref);
    case KEY_SEGMENT_MAP:
    case KEY_SEGMENT_UNMAP:
        d->has_maps = true;
        return true;
    }
    return true;
}

bool build_lives(struct build *b, struct build_device *d, uint32_t trace_list) {
    struct snapshot_walk walk;
    uint32_t handle;
    if (!array_reserve(&d->events, snapshot_list_count(b->s, trace_list)))
        return build_no_memory(b);
    snapshot_walk_begin(b->s, trace_list, &walk);
    while (snapshot_walk_next(b->s, &walk, &handle)) {
        struct build_event event = {.entry = snapshot_record(b->s, handle, ROLE_ENTRY),
                                    .ref = TIMELINE_NONE};
        if (event.entry == NO_HANDLE) {
            build_warn(b, "a trace entry without action");
            continue;
        }
        if (!resolve(b, d, &b->s->entries.at[event.entry], &event.ref))
            return false;
        if (!array_push(&d->events, event))
            return build_no_memory(b);
    }
    return true;
}

/* What is known of a block at the end, wherever its version keeps it. */
struct final_block {
    uint64_t address, size, requested;
    uint32_t frames_list;
    bool requested_known, pending;
};

static const struct snapshot_history *newest_history(struct build *b, uint32_t list) {
    struct snapshot_walk walk;
    uint32_t handle;
    snapshot_walk_begin(b->s, list, &walk);
    if (!snapshot_walk_next(b->s, &walk, &handle))
        return NULL;
    uint32_t record = snapshot_record(b->s, handle, ROLE_HISTORY);
    return record == NO_HANDLE ? NULL : &b->s->histories.at[record];
}

static void read_final_block(struct build *b, const struct snapshot_block *r,
                             struct final_block *f) {
    f->size = r->size;
    f->requested = r->requested;
    f->requested_known = (r->has & HAS_REQUESTED) != 0;
    f->frames_list = r->frames_list;
    f->pending = r->state != KEY_ACTIVE_ALLOCATED;
    const struct snapshot_history *h =
        r->history_list == NO_HANDLE ? NULL : newest_history(b, r->history_list);
    if (!h)
        return;
    if (!f->requested_known && (h->has & HAS_SIZE)) {
        f->requested = h->real_size;
        f->requested_known = true;
    }
    if (f->frames_list == NO_HANDLE)
        f->frames_list = h->frames_list;
}

static bool place_final_block(struct build *b, struct build_device *d, const struct final_block *f,
                              uint16_t stream) {
    uint32_t index;
    bool seen = addrmap_find(&d->live, f->address, &index);
    if (!seen) {
        if (!add_start_block(b, d, f->address, f->requested, &index))
            return false;
        b->tl->blocks.at[index].pending_at_start = f->pending;
        b->tl->blocks.at[index].stream = stream;
        if (!addrmap_put(&d->live, f->address, index))
            return build_no_memory(b);
    }
    struct timeline_block *block = &b->tl->blocks.at[index];
    block->block_bytes = f->size;
    if (f->requested_known)
        block->requested_bytes = f->requested;
    else if (!seen) {
        block->requested_bytes = f->size;
        b->requested_unknown = true;
    }
    uint32_t stack;
    if (block->stack != 0)
        return true;
    if (!build_stack(b, f->frames_list, &stack))
        return false;
    block->stack = stack;
    return true;
}

/* Inactive blocks are the gaps between the live ones: nothing to keep. */
static bool place_final_blocks(struct build *b, struct build_device *d,
                               const struct snapshot_segment *segment, uint16_t stream) {
    struct snapshot_walk walk;
    uint32_t handle;
    uint64_t at = segment->address, end = segment->address + segment->total;
    snapshot_walk_begin(b->s, segment->blocks_list, &walk);
    while (snapshot_walk_next(b->s, &walk, &handle)) {
        uint32_t record = snapshot_record(b->s, handle, ROLE_BLOCK);
        if (record == NO_HANDLE)
            continue;
        const struct snapshot_block *r = &b->s->blocks.at[record];
        struct final_block f = {.address = r->has & HAS_ADDRESS ? r->address : at};
        if (f.address < at || f.address > end || r->size > end - f.address) {
            build_warn(b, "a block at 0x%llx lies outside its segment",
                       (unsigned long long)f.address);
            continue;
        }
        at = f.address + r->size;
        if (r->state == KEY_INACTIVE || r->size == 0)
            continue;
        read_final_block(b, r, &f);
        if (f.requested > MAX_RECORD_BYTES) {
            build_warn(b, "a block of %llu requested bytes", (unsigned long long)f.requested);
            f.requested = f.size;
        }
        if (!place_final_block(b, d, &f, stream))
            return false;
    }
    return true;
}

static bool place_plain(struct build *b, struct build_device *d, const struct snapshot_segment *r,
                        uint16_t stream) {
    uint32_t index;
    bool seen = addrmap_find(&d->segments, r->address, &index) &&
                b->tl->segments.at[index].bytes == r->total;
    if (!seen && !add_segment(b, d, r->address, r->total, &index))
        return false;
    struct timeline_segment *segment = &b->tl->segments.at[index];
    segment->small_pool = r->type == KEY_SMALL;
    segment->stream = stream;
    snapshot_pool_id(b->s, r->pool_tuple, segment->pool_id);
    uint32_t stack = segment->stack;
    if (stack == 0 && !build_stack(b, r->frames_list, &stack))
        return false;
    segment->stack = stack;
    return seen || add_plain_range(b, d, index);
}

/* The pieces of a reservation at the end; build_start takes away what was mapped in the window. */
static bool place_expandable(struct build *b, struct build_device *d,
                             const struct snapshot_segment *r) {
    struct build_range range = {.start = r->address,
                                .end = r->address + r->total,
                                .segment = TIMELINE_NONE,
                                .stream = r->stream,
                                .small_pool = r->type == KEY_SMALL,
                                .expandable = true};
    snapshot_pool_id(b->s, r->pool_tuple, range.pool_id);
    return build_stack(b, r->frames_list, &range.stack) && ranges_add(b, &d->finals, &range) &&
           ranges_add(b, &d->ranges, &range);
}

bool build_final_segment(struct build *b, struct build_device *d,
                         const struct snapshot_segment *r) {
    uint16_t stream;
    if (!(r->has & HAS_ADDRESS) || !(r->has & HAS_SIZE) || r->total > MAX_RECORD_BYTES ||
        r->address > MAX_ADDRESS) {
        build_warn(b, "a segment without a usable address and size");
        return true;
    }
    if (!build_stream(b, r->stream, &stream))
        return false;
    if (!(r->expandable ? place_expandable(b, d, r) : place_plain(b, d, r, stream)))
        return false;
    return place_final_blocks(b, d, r, stream);
}

/* Walks the maps of the window backwards: what is left of the final pieces was there at the start.
 */
static bool undo_maps(struct build *b, struct build_device *d) {
    for (size_t i = d->events.count; i-- > 0;) {
        const struct snapshot_entry *e = &b->s->entries.at[d->events.at[i].entry];
        if (!build_usable(e) || e->size == 0)
            continue;
        uint32_t first;
        if (e->action == KEY_SEGMENT_MAP &&
            !ranges_cut(b, &d->ranges, e->address, e->address + e->size, &first))
            return false;
        if (e->action == KEY_SEGMENT_UNMAP) {
            struct build_range range = {.start = e->address,
                                        .end = e->address + e->size,
                                        .segment = TIMELINE_NONE,
                                        .stream = e->stream,
                                        .small_pool = e->size % CACHING_LARGE_SEGMENT_BYTES != 0,
                                        .expandable = true};
            snapshot_pool_id(b->s, e->pool_tuple, range.pool_id);
            if (!ranges_add(b, &d->ranges, &range))
                return false;
        }
    }
    return true;
}

static bool add_start_reservations(struct build *b, struct build_device *d) {
    struct addrmap_at at;
    for (bool more = addrmap_first(&d->ranges, &at); more; more = addrmap_next(&d->ranges, &at)) {
        struct build_range *range = &b->ranges.at[addrmap_value(&d->ranges, at)];
        if (!range->expandable)
            continue;
        if (!add_segment(b, d, range->start, range->end - range->start, &range->segment))
            return false;
        struct timeline_segment *segment = &b->tl->segments.at[range->segment];
        segment->expandable = true;
        segment->small_pool = range->small_pool;
        segment->stack = range->stack;
        memcpy(segment->pool_id, range->pool_id, sizeof segment->pool_id);
        if (!build_stream(b, range->stream, &segment->stream))
            return false;
    }
    return true;
}

static void warn_of_unmatched(struct build *b, struct build_device *d) {
    struct addrmap_at at;
    for (bool more = addrmap_first(&d->live, &at); more; more = addrmap_next(&d->live, &at)) {
        const struct timeline_block *block = &b->tl->blocks.at[addrmap_value(&d->live, at)];
        if (block->block_bytes == 0)
            build_warn(b, "the block at 0x%llx lives on in the trace but not in the segments",
                       (unsigned long long)block->address);
    }
}

bool build_start(struct build *b, struct build_device *d) {
    warn_of_unmatched(b, d);
    addrmap_fini(&d->live);
    addrmap_fini(&d->segments);
    return (!d->has_maps || undo_maps(b, d)) && add_start_reservations(b, d);
}
