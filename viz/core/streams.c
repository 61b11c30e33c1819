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
        array_fini(&streams->tiers[i].blocks);
        array_fini(&streams->tiers[i].keyframes);
        array_fini(&streams->tiers[i].live);
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
    set->ids.count = kept;
    struct streams_keyframe keyframe = {moment, (uint32_t)tier->blocks.count, (uint32_t)kept,
                                        tier->live.count};
    if (!array_reserve_tight(&tier->live, tier->live.count + kept) ||
        !array_push(&tier->keyframes, keyframe))
        return false;
    for (size_t i = 0; i < kept; i++)
        tier->live.at[tier->live.count++] = set->ids.at[i];
    return true;
}

/* An attempt that failed for want of memory is begun anew. */
static bool start(struct streams *streams) {
    const struct timeline *tl = streams->lod->tl;
    for (int k = 1; k < STREAMS_TIERS; k++) {
        struct streams_tier *tier = &streams->tiers[k];
        array_clear(&tier->set.ids);
        array_clear(&tier->keyframes);
        array_clear(&tier->live);
        for (uint32_t i = 0; i < tl->blocks.count; i++)
            if (tl->blocks.at[i].alloc_event == TIMELINE_NONE &&
                tl->blocks.at[i].device == streams->lod->device &&
                tl->blocks.at[i].block_bytes >= least[k] && live_is(streams->live, i, 0) &&
                !array_push(&tier->set.ids, i))
                return false;
        if (!add_keyframe(streams, tier, 0))
            return false;
    }
    return streams->started = true;
}

static bool is_alloc(const struct streams *streams, const struct timeline_event *e) {
    return e->kind == EVENT_ALLOC && e->device == streams->lod->device &&
           e->ref < streams->lod->tl->blocks.count;
}

static size_t since_keyframe(const struct streams_tier *tier) {
    return tier->blocks.count - array_last(&tier->keyframes)->position;
}

/* What fails leaves the tier as if the block had not been seen. */
static bool add_block(const struct streams *streams, struct streams_tier *tier, uint32_t event,
                      uint32_t block) {
    size_t since = since_keyframe(tier);
    if (since >= STREAMS_STEP && since >= tier->set.ids.count / 2 &&
        !add_keyframe(streams, tier, event))
        return false;
    if (!array_reserve_tight(&tier->blocks, tier->blocks.count + 1) ||
        !array_push(&tier->set.ids, block))
        return false;
    tier->blocks.at[tier->blocks.count++] =
        (struct streams_entry){block, event, streams->lod->tl->blocks.at[block].free_event};
    return true;
}

static bool has_block(const struct streams_tier *tier, uint32_t block) {
    return tier->blocks.count > 0 && array_last(&tier->blocks)->block == block;
}

bool streams_build(struct streams *streams, uint32_t events, struct error *err) {
    const struct timeline *tl = streams->lod->tl;
    size_t left = tl->events.count - streams->next;
    uint32_t end = streams->next + (events < left ? events : (uint32_t)left);
    if (!streams->started && !start(streams))
        return error_host_memory(err);
    for (; streams->next < end; streams->next++) {
        const struct timeline_event *e = &tl->events.at[streams->next];
        if (!is_alloc(streams, e))
            continue;
        uint64_t bytes = tl->blocks.at[e->ref].block_bytes;
        for (int k = 1; k < STREAMS_TIERS && bytes >= least[k]; k++)
            if (!has_block(&streams->tiers[k], e->ref) && /* the attempt before failed later */
                !add_block(streams, &streams->tiers[k], streams->next, e->ref))
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
}

void streams_cursor_fini(struct streams_cursor *cursor) {
    for (int g = 0; g < LOD_GROUPS; g++)
        array_fini(&cursor->groups[g].list);
}

void streams_cursor_forget(struct streams_cursor *cursor) {
    cursor->tier = -1;
}

static void clear(struct streams_cursor *cursor) {
    for (int g = 0; g < LOD_GROUPS; g++)
        array_clear(&cursor->groups[g].list);
}

static bool add(struct streams_cursor *cursor, uint32_t block) {
    const struct timeline_block *b = &cursor->streams->lod->tl->blocks.at[block];
    struct streams_block added = {b->block_bytes, block, b->free_event};
    return array_push(&cursor->groups[lod_group(cursor->streams->lod, block)].list, added);
}

static bool load(struct streams_cursor *cursor, const uint32_t *ids, size_t count) {
    clear(cursor);
    for (size_t i = 0; i < count; i++)
        if (!add(cursor, ids[i]))
            return false;
    return true;
}

/* Those in the lists are not pending: live_is has let them in. */
static void drop_freed(struct streams_cursor *cursor, uint32_t moment) {
    for (int g = 0; g < LOD_GROUPS; g++) {
        struct streams_block *at = cursor->groups[g].list.at;
        size_t count = cursor->groups[g].list.count, kept = 0;
        while (kept < count && at[kept].free_event >= moment)
            kept++;
        for (size_t i = kept; i < count; i++) {
            at[kept] = at[i];
            kept += at[i].free_event >= moment;
        }
        cursor->groups[g].list.count = kept;
    }
}

static bool seek_all(struct streams_cursor *cursor, uint32_t moment) {
    const struct streams *streams = cursor->streams;
    const struct live_keyframe *keyframe = live_keyframe(streams->live, moment);
    if (cursor->tier != 0 || cursor->moment > moment || cursor->moment < keyframe->moment) {
        if (!load(cursor, streams->live->ids.at + keyframe->first, keyframe->count))
            return false;
        cursor->moment = keyframe->moment;
    }
    drop_freed(cursor, moment);
    for (uint32_t event = cursor->moment; event < moment; event++) {
        const struct timeline_event *e = &streams->lod->tl->events.at[event];
        if (is_alloc(streams, e) && live_is(streams->live, e->ref, moment) && !add(cursor, e->ref))
            return false;
    }
    return true;
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

static bool seek_tier(struct streams_cursor *cursor, int k, uint32_t moment) {
    const struct streams *streams = cursor->streams;
    const struct streams_tier *tier = &streams->tiers[k];
    const struct streams_keyframe *keyframe = keyframe_before(tier, moment);
    if (cursor->tier != k || cursor->moment > moment || cursor->moment < keyframe->moment) {
        if (!load(cursor, tier->live.at + keyframe->first, keyframe->count))
            return false;
        cursor->position = keyframe->position;
    }
    drop_freed(cursor, moment);
    for (; cursor->position < tier->blocks.count; cursor->position++) {
        const struct streams_entry *entry = &tier->blocks.at[cursor->position];
        if (entry->alloc_event >= moment)
            break;
        if (entry->free_event >= moment && !add(cursor, entry->block))
            return false;
    }
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
