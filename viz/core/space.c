/* space.c: see space.h. */
#include "space.h"

#include "checked.h"
#include "timeline.h"

/* --- reserved ranges, change by change --- */

static bool reserve(const struct space *space, struct spans *spans, uint32_t segment,
                    uint64_t address, uint64_t bytes) {
    struct span span = {
        .start = address, .value = segment, .joins = space->tl->segments.at[segment].expandable};
    if (bytes == 0 || !checked_add(address, bytes, &span.end))
        return true;
    return spans_cut(spans, span.start, span.end) && spans_add(spans, span);
}

static bool give_back(struct spans *spans, uint64_t address, uint64_t bytes) {
    uint64_t end;
    return !checked_add(address, bytes, &end) || spans_cut(spans, address, end);
}

/* Plain segments are what their records say, mapped ranges what their events say. */
static bool apply(const struct space *space, struct spans *spans, uint32_t event) {
    const struct timeline_event *e = &space->tl->events.at[event];
    const struct timeline_segment *s = &space->tl->segments.at[e->ref];
    switch (e->kind) {
    case EVENT_SEGMENT_ALLOC:
        return reserve(space, spans, e->ref, s->address, s->bytes);
    case EVENT_SEGMENT_FREE:
        return give_back(spans, s->address, s->bytes);
    case EVENT_SEGMENT_MAP:
        return reserve(space, spans, e->ref, e->address, e->bytes);
    case EVENT_SEGMENT_UNMAP:
        return give_back(spans, e->address, e->bytes);
    default: /* not a change */
        return true;
    }
}

static bool is_change(const struct space *space, const struct timeline_event *e) {
    if (e->device != space->device || e->kind < EVENT_SEGMENT_ALLOC ||
        e->kind > EVENT_SEGMENT_UNMAP || e->ref >= space->tl->segments.count)
        return false;
    bool mapped = e->kind == EVENT_SEGMENT_MAP || e->kind == EVENT_SEGMENT_UNMAP;
    return mapped || !space->tl->segments.at[e->ref].expandable;
}

static bool add_start(const struct space *space, struct spans *spans) {
    for (uint32_t i = 0; i < space->tl->segments.count; i++) {
        const struct timeline_segment *s = &space->tl->segments.at[i];
        if (s->device == space->device && s->alloc_event == TIMELINE_NONE &&
            !reserve(space, spans, i, s->address, s->bytes))
            return false;
    }
    return true;
}

static bool add_keyframe(struct space *space, const struct spans *spans) {
    struct space_keyframe keyframe = {space->changes.count, space->spans.count, 0};
    struct spans_cursor cursor = {0};
    for (const struct span *s; (s = spans_next(spans, &cursor)) != NULL; keyframe.count++)
        if (!array_push(&space->spans, *s))
            return false;
    return array_push(&space->keyframes, keyframe);
}

/* `reserved` stands at the last change while the changes are looked for. */
static bool find_changes(struct space *space, uint32_t events) {
    const struct timeline *tl = space->tl;
    if (space->keyframes.count == 0 &&
        (!add_start(space, &space->reserved) || !add_keyframe(space, &space->reserved)))
        return false;
    for (; events > 0 && space->next < tl->events.count; events--) {
        uint32_t event = space->next++;
        if (!is_change(space, &tl->events.at[event]))
            continue;
        if (!apply(space, &space->reserved, event) || !array_push(&space->changes, event))
            return false;
        const struct space_keyframe *last = array_last(&space->keyframes);
        size_t step = last->count > SPACE_STEP ? last->count : SPACE_STEP;
        if (space->changes.count - last->change >= step && !add_keyframe(space, &space->reserved))
            return false;
    }
    return true;
}

void space_start(struct space *space, const struct timeline *tl, uint8_t device) {
    memset(space, 0, sizeof *space);
    space->tl = tl;
    space->device = device;
    space->known = placement_is_known(tl);
    space->done = !space->known;
    space->change = SIZE_MAX;
    if (space->known)
        live_start_active(&space->active, tl, device);
}

bool space_build(struct space *space, uint32_t events) {
    if (space->done || space->given_up)
        return !space->given_up;
    bool found = find_changes(space, events);
    if (found && live_more(&space->active, events)) {
        space->done = space->next == space->tl->events.count && space->active.done;
        space->change = space->done ? space->changes.count : SIZE_MAX;
        return true;
    }
    space_fini(space);
    space->given_up = true;
    return false;
}

void space_fini(struct space *space) {
    live_fini(&space->active);
    array_fini(&space->changes);
    array_fini(&space->keyframes);
    array_fini(&space->spans);
    placement_fini(&space->placement);
    spans_fini(&space->reserved);
    array_fini(&space->set.ids);
    array_fini(&space->placed);
    array_fini(&space->other);
    memset(space, 0, sizeof *space);
}

/* --- a moment --- */

/* How many changes have happened after `moment` events. */
static size_t changes_before(const struct space *space, uint32_t moment) {
    size_t low = 0, high = space->changes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (space->changes.at[middle] < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct space_keyframe *keyframe_of(const struct space *space, size_t change) {
    size_t low = 0, high = space->keyframes.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (space->keyframes.at[middle].change <= change)
            low = middle;
        else
            high = middle;
    }
    return &space->keyframes.at[low];
}

/* Steps on, or starts from a keyframe where that is nearer. */
static bool seek_reserved(struct space *space, size_t change) {
    const struct space_keyframe *k = keyframe_of(space, change);
    bool steps = space->change != SIZE_MAX && space->change <= change &&
                 change - space->change <= change - k->change + k->count;
    if (!steps) {
        spans_fini(&space->reserved);
        space->change = SIZE_MAX;
        for (uint32_t i = 0; i < k->count; i++)
            if (!spans_add(&space->reserved, space->spans.at[k->first + i]))
                return false;
        space->change = k->change;
    }
    while (space->change < change) {
        if (!apply(space, &space->reserved, space->changes.at[space->change])) {
            space->change = SIZE_MAX;
            return false;
        }
        space->change++;
    }
    return true;
}

static bool read_ranges(struct space *space, uint32_t moment) {
    size_t change = changes_before(space, moment);
    struct spans_cursor cursor = {0};
    if (space->valid && space->change == change)
        return true;
    if (!seek_reserved(space, change))
        return false;
    space->serial++;
    array_clear(&space->placement.ranges);
    for (const struct span *s; (s = spans_next(&space->reserved, &cursor)) != NULL;) {
        const struct timeline_segment *segment = &space->tl->segments.at[s->value];
        struct placement_range range = {.address = s->start,
                                        .bytes = s->end - s->start,
                                        .segment = s->value,
                                        .is_expandable = segment->expandable,
                                        .is_small = segment->small_pool};
        if (!array_push(&space->placement.ranges, range))
            return false;
    }
    return true;
}

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

/* One pass of a radix sort: stable, by the bits from `shift` on. */
static void sort_pass(struct space *space, uint64_t base, unsigned shift) {
    uint32_t at[DIGITS] = {0}, sum = 0;
    struct space_placed *from = space->placed.at, *to = space->other.at;
    size_t count = space->placed.count;
    for (size_t i = 0; i < count; i++)
        at[((from[i].address - base) >> shift) & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        uint32_t here = at[i];
        at[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[at[((from[i].address - base) >> shift) & (DIGITS - 1)]++] = from[i];
    memcpy(from, to, count * sizeof *from);
}

/* By address; blocks at one address stay in the order of their age. Only the bits in which they differ
 * are looked at: addresses are multiples of 512 mostly. */
static bool sort_placed(struct space *space) {
    uint64_t base = UINT64_MAX, bits = 0;
    for (size_t i = 0; i < space->placed.count; i++)
        base = space->placed.at[i].address < base ? space->placed.at[i].address : base;
    for (size_t i = 0; i < space->placed.count; i++)
        bits |= space->placed.at[i].address - base;
    if (bits == 0)
        return true;
    if (!array_reserve(&space->other, space->placed.count))
        return false;
    unsigned shift = 0;
    while ((bits >> shift & 1) == 0)
        shift++;
    for (; shift < 64 && bits >> shift != 0; shift += DIGIT)
        sort_pass(space, base, shift);
    return true;
}

static bool read_blocks(struct space *space, uint32_t moment) {
    if (!live_at(&space->active, moment, &space->set) ||
        !array_reserve(&space->placed, space->set.ids.count) ||
        !array_reserve(&space->placement.blocks, space->set.ids.count))
        return false;
    space->placed.count = space->set.ids.count;
    for (size_t i = 0; i < space->set.ids.count; i++) {
        uint32_t block = space->set.ids.at[i];
        space->placed.at[i] = (struct space_placed){space->tl->blocks.at[block].address, block};
    }
    if (!sort_placed(space))
        return false;
    space->placement.blocks.count = space->placed.count;
    for (size_t i = 0; i < space->placed.count; i++)
        space->placement.blocks.at[i] = space->placed.at[i].block;
    return placement_find_gaps(space->tl, &space->placement);
}

bool space_read(struct space *space, uint32_t moment) {
    if (!space->known || !space->done || (space->valid && space->moment == moment))
        return true;
    space->valid = read_ranges(space, moment) && read_blocks(space, moment);
    space->moment = moment;
    if (space->valid)
        return true;
    array_clear(&space->placement.ranges);
    array_clear(&space->placement.blocks);
    array_clear(&space->placement.gaps);
    return false;
}
