/* live.c: see live.h. */
#include "live.h"

#include "error.h"
#include "timeline.h"

/* Events at or beyond `moment` are in the future. */
bool live_is(const struct live *live, uint32_t block, uint32_t moment) {
    const struct timeline_block *b = &live->tl->blocks.at[block];
    if (live->active)
        return b->complete_event == TIMELINE_NONE || b->complete_event >= moment;
    return b->free_event == TIMELINE_NONE ? !b->pending_at_start : b->free_event >= moment;
}

static bool add_start(const struct live *live, struct live_set *set) {
    const struct timeline *tl = live->tl;
    for (uint32_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->alloc_event == TIMELINE_NONE && b->device == live->device && live_is(live, i, 0) &&
            !array_push(&set->ids, i))
            return false;
    }
    return true;
}

/* The allocations of the events first .. end - 1. */
static bool add_allocated(const struct live *live, uint32_t first, uint32_t end, uint32_t moment,
                          struct live_set *set) {
    for (uint32_t i = first; i < end; i++) {
        const struct timeline_event *e = &live->tl->events.at[i];
        if (e->kind == EVENT_ALLOC && e->device == live->device &&
            e->ref < live->tl->blocks.count && live_is(live, e->ref, moment) &&
            !array_push(&set->ids, e->ref))
            return false;
    }
    return true;
}

static void drop_freed(const struct live *live, uint32_t moment, struct live_set *set) {
    size_t kept = 0;
    for (size_t i = 0; i < set->ids.count; i++)
        if (live_is(live, set->ids.at[i], moment))
            set->ids.at[kept++] = set->ids.at[i];
    set->ids.count = kept;
}

static bool add_keyframe(struct live *live, uint32_t moment, const struct live_set *set) {
    struct live_keyframe keyframe = {moment, (uint32_t)set->ids.count, live->ids.count};
    if (!array_push(&live->keyframes, keyframe) ||
        !array_reserve(&live->ids, live->ids.count + set->ids.count))
        return false;
    for (size_t i = 0; i < set->ids.count; i++)
        live->ids.at[live->ids.count++] = set->ids.at[i];
    return true;
}

static void start(struct live *live, const struct timeline *tl, uint8_t device, bool active) {
    memset(live, 0, sizeof *live);
    live->tl = tl;
    live->device = device;
    live->active = active;
}

static bool add_next(struct live *live, uint32_t moment) {
    size_t step = live->set.ids.count > LIVE_STEP ? live->set.ids.count : LIVE_STEP;
    live->done = live->tl->events.count - moment <= step;
    if (live->done) {
        array_fini(&live->set.ids);
        return true;
    }
    uint32_t next = moment + (uint32_t)step;
    drop_freed(live, next, &live->set);
    return add_allocated(live, moment, next, next, &live->set) &&
           add_keyframe(live, next, &live->set);
}

bool live_more(struct live *live, uint32_t events) {
    if (live->keyframes.count == 0 &&
        (!add_start(live, &live->set) || !add_keyframe(live, 0, &live->set)))
        return false;
    uint64_t stop = (uint64_t)array_last(&live->keyframes)->moment + events;
    while (!live->done && array_last(&live->keyframes)->moment < stop)
        if (!add_next(live, array_last(&live->keyframes)->moment))
            return false;
    return true;
}

bool live_build(struct live *live, const struct timeline *tl, uint8_t device, struct error *err) {
    start(live, tl, device, false);
    if (live_more(live, UINT32_MAX))
        return true;
    live_fini(live);
    return error_host_memory(err);
}

void live_start_active(struct live *live, const struct timeline *tl, uint8_t device) {
    start(live, tl, device, true);
}

void live_fini(struct live *live) {
    array_fini(&live->keyframes);
    array_fini(&live->ids);
    array_fini(&live->set.ids);
}

const struct live_keyframe *live_keyframe(const struct live *live, uint32_t moment) {
    size_t low = 0, high = live->keyframes.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (live->keyframes.at[middle].moment <= moment)
            low = middle;
        else
            high = middle;
    }
    return &live->keyframes.at[low];
}

bool live_at(const struct live *live, uint32_t moment, struct live_set *set) {
    const struct live_keyframe *keyframe = live_keyframe(live, moment);
    array_clear(&set->ids);
    if (!array_reserve(&set->ids, (size_t)keyframe->count))
        return false;
    for (uint32_t i = 0; i < keyframe->count; i++) {
        uint32_t block = live->ids.at[keyframe->first + i];
        if (live_is(live, block, moment))
            set->ids.at[set->ids.count++] = block;
    }
    if (add_allocated(live, keyframe->moment, moment, moment, set))
        return true;
    array_clear(&set->ids);
    return false;
}
