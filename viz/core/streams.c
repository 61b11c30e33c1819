/* streams.c: see streams.h. */
#include "streams.h"

#include "error.h"
#include "timeline.h"

/* Thresholds for pictures of some hundred rows: a factor of 16 apart, so that of what a tier holds
 * most is seen. */
static const uint64_t least[STREAMS_TIERS] = {0, UINT64_C(64) << 10, UINT64_C(1) << 20,
                                              UINT64_C(16) << 20, UINT64_C(256) << 20};

void streams_init(struct streams *streams, const struct lod *lod, const struct live *live) {
    memset(streams, 0, sizeof *streams);
    streams->lod = lod;
    streams->live = live;
}

void streams_fini(struct streams *streams) {
    for (int i = 0; i < STREAMS_TIERS; i++) {
        array_fini(&streams->tiers[i].events);
        array_fini(&streams->tiers[i].keyframes);
        array_fini(&streams->tiers[i].ids);
        array_fini(&streams->tiers[i].set.ids);
    }
}

static bool add_keyframe(const struct streams *streams, struct streams_tier *tier,
                         uint32_t moment) {
    struct live_set *set = &tier->set;
    size_t kept = 0;
    for (size_t i = 0; i < set->ids.count; i++)
        if (live_is(streams->live, set->ids.at[i], moment))
            set->ids.at[kept++] = set->ids.at[i];
    struct streams_keyframe keyframe = {moment, (uint32_t)tier->events.count, (uint32_t)kept,
                                        tier->ids.count};
    if (!array_reserve_tight(&tier->ids, tier->ids.count + kept) ||
        !array_push(&tier->keyframes, keyframe))
        return false;
    set->ids.count = kept;
    for (size_t i = 0; i < kept; i++)
        tier->ids.at[tier->ids.count++] = set->ids.at[i];
    tier->added = 0;
    return true;
}

static bool start(struct streams *streams) {
    const struct timeline *tl = streams->lod->tl;
    for (int k = 1; k < STREAMS_TIERS; k++) {
        struct streams_tier *tier = &streams->tiers[k];
        array_clear(&tier->set.ids); /* of an attempt without memory */
        for (uint32_t i = 0; i < tl->blocks.count; i++)
            if (tl->blocks.at[i].alloc_event == TIMELINE_NONE &&
                tl->blocks.at[i].device == streams->lod->device &&
                tl->blocks.at[i].block_bytes >= least[k] && live_is(streams->live, i, 0) &&
                !array_push(&tier->set.ids, i))
                return false;
        array_clear(&tier->keyframes);
        array_clear(&tier->ids);
        if (!add_keyframe(streams, tier, 0))
            return false;
    }
    return true;
}

static bool is_of_memory(const struct streams *streams, const struct timeline_event *e) {
    return (e->kind == EVENT_ALLOC || e->kind == EVENT_FREE_REQUESTED) &&
           e->device == streams->lod->device && e->ref < streams->lod->tl->blocks.count;
}

/* The room for all first: what fails leaves the tier as it was. */
static bool add_event(const struct streams *streams, struct streams_tier *tier, uint32_t event) {
    const struct timeline_event *e = &streams->lod->tl->events.at[event];
    if (tier->added >= STREAMS_STEP && tier->added >= tier->set.ids.count / 2 &&
        !add_keyframe(streams, tier, event))
        return false;
    if (!array_reserve_tight(&tier->events, tier->events.count + 1) ||
        (e->kind == EVENT_ALLOC && !array_push(&tier->set.ids, e->ref)))
        return false;
    tier->events.at[tier->events.count++] = event;
    tier->added++;
    return true;
}

static bool has_event(const struct streams_tier *tier, uint32_t event) {
    return tier->events.count > 0 && *array_last(&tier->events) == event;
}

bool streams_build(struct streams *streams, uint32_t events, struct error *err) {
    const struct timeline *tl = streams->lod->tl;
    size_t left = tl->events.count - streams->next;
    uint32_t end = streams->next + (events < left ? events : (uint32_t)left);
    if (streams->next == 0 && streams->tiers[1].events.count == 0 && !start(streams))
        return error_host_memory(err);
    for (; streams->next < end; streams->next++) {
        const struct timeline_event *e = &tl->events.at[streams->next];
        if (!is_of_memory(streams, e))
            continue;
        uint64_t bytes = tl->blocks.at[e->ref].block_bytes;
        for (int k = 1; k < STREAMS_TIERS && bytes >= least[k]; k++)
            if (!has_event(&streams->tiers[k], streams->next) &&
                !add_event(streams, &streams->tiers[k], streams->next))
                return error_host_memory(err);
    }
    streams->done = streams->next == tl->events.count;
    for (int k = 1; k < STREAMS_TIERS && streams->done; k++)
        array_fini(&streams->tiers[k].set.ids);
    return true;
}

int streams_tier_of(const struct streams *streams, double bytes) {
    int tier = 0;
    while (streams->done && tier + 1 < STREAMS_TIERS && (double)least[tier + 1] <= bytes)
        tier++;
    return tier;
}

void streams_cursor_init(struct streams_cursor *cursor, const struct streams *streams) {
    memset(cursor, 0, sizeof *cursor);
    cursor->streams = streams;
    cursor->tier = -1;
    live_list_init(&cursor->list, streams->lod);
}

void streams_cursor_fini(struct streams_cursor *cursor) {
    live_list_fini(&cursor->list);
}

static const struct streams_keyframe *keyframe_before(const struct streams_tier *tier,
                                                      uint32_t moment) {
    size_t low = 0, high = tier->keyframes.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (tier->keyframes.at[middle].moment <= moment)
            low = middle;
        else
            high = middle;
    }
    return &tier->keyframes.at[low];
}

static bool load(struct streams_cursor *cursor, const uint32_t *ids, size_t count) {
    live_list_clear(&cursor->list);
    for (size_t i = 0; i < count; i++)
        if (!live_list_add(&cursor->list, ids[i]))
            return false;
    return true;
}

static bool apply(struct streams_cursor *cursor, uint32_t event) {
    const struct timeline_event *e = &cursor->streams->lod->tl->events.at[event];
    if (e->kind == EVENT_ALLOC)
        return live_list_add(&cursor->list, e->ref);
    live_list_remove(&cursor->list, e->ref);
    return true;
}

static bool seek_all(struct streams_cursor *cursor, uint32_t moment) {
    const struct streams *streams = cursor->streams;
    const struct live_keyframe *keyframe = live_keyframe(streams->live, moment);
    if (cursor->tier != 0 || cursor->moment > moment || cursor->moment < keyframe->moment) {
        if (!load(cursor, streams->live->ids.at + keyframe->first, keyframe->count))
            return false;
        cursor->moment = keyframe->moment;
    }
    for (uint32_t event = cursor->moment; event < moment; event++)
        if (is_of_memory(streams, &streams->lod->tl->events.at[event]) && !apply(cursor, event))
            return false;
    return true;
}

static bool seek_tier(struct streams_cursor *cursor, int k, uint32_t moment) {
    const struct streams_tier *tier = &cursor->streams->tiers[k];
    const struct streams_keyframe *keyframe = keyframe_before(tier, moment);
    if (cursor->tier != k || cursor->moment > moment || cursor->moment < keyframe->moment) {
        if (!load(cursor, tier->ids.at + keyframe->first, keyframe->count))
            return false;
        cursor->position = keyframe->position;
    }
    while (cursor->position < tier->events.count && tier->events.at[cursor->position] < moment)
        if (!apply(cursor, tier->events.at[cursor->position++]))
            return false;
    return true;
}

bool streams_seek(struct streams_cursor *cursor, int tier, uint32_t moment) {
    uint32_t last = cursor->streams->lod->moments - 1;
    uint32_t to = moment < last ? moment : last;
    bool found = tier == 0 ? seek_all(cursor, to) : seek_tier(cursor, tier, to);
    cursor->tier = found ? tier : -1;
    cursor->moment = to;
    return found;
}
