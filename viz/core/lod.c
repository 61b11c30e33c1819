/* lod.c: see lod.h. */
#include "lod.h"

#include <assert.h>
#include <string.h>

#include "error.h"
#include "timeline.h"
#include "xalloc.h"

unsigned lod_group(const struct lod *lod, uint32_t block) {
    if (lod->group_of)
        return lod->group_of[block] < LOD_GROUPS ? lod->group_of[block] : LOD_GROUPS - 1;
    unsigned category = lod->tl->blocks.at[block].category;
    return category < CATEGORY_COUNT ? category : CATEGORY_UNKNOWN;
}

static_assert((int)CATEGORY_COUNT <= (int)LOD_GROUPS, "a band for each category");

static void add_block(const struct lod *lod, uint32_t block, bool plus, struct lod_state *s) {
    if (block >= lod->tl->blocks.count || (lod->group_of && lod->group_of[block] == LOD_NO_GROUP))
        return;
    uint64_t bytes = lod->tl->blocks.at[block].block_bytes;
    uint64_t delta = plus ? bytes : 0 - bytes;
    s->group[lod_group(lod, block)] += delta;
    s->total += delta;
}

void lod_apply(const struct lod *lod, uint32_t event, struct lod_state *s) {
    const struct timeline_event *e = &lod->tl->events.at[event];
    if (e->device != lod->device)
        return;
    switch (e->kind) {
    case EVENT_ALLOC:
        add_block(lod, e->ref, true, s);
        break;
    case EVENT_FREE_REQUESTED:
        add_block(lod, e->ref, false, s);
        break;
    case EVENT_SEGMENT_ALLOC:
    case EVENT_SEGMENT_MAP:
        s->reserved += e->bytes;
        break;
    case EVENT_SEGMENT_FREE:
    case EVENT_SEGMENT_UNMAP:
        s->reserved -= e->bytes;
        break;
    default: /* no change of memory; a number from outside, not an enum: hence the default */
        break;
    }
}

/* What was there before the first event, of the blocks first .. end - 1: the same rule as
 * counters_start. */
static void add_start(const struct lod *lod, size_t first, size_t end, struct lod_state *s) {
    const struct timeline *tl = lod->tl;
    for (size_t i = first; i < end; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->alloc_event == TIMELINE_NONE && b->device == lod->device && !b->pending_at_start)
            add_block(lod, (uint32_t)i, true, s);
    }
}

static void start_state(const struct lod *lod, struct lod_state *s) {
    const struct timeline *tl = lod->tl;
    memset(s, 0, sizeof *s);
    add_start(lod, 0, tl->blocks.count, s);
    for (uint32_t i = 0; i < tl->segments.count; i++) {
        const struct timeline_segment *g = &tl->segments.at[i];
        if (g->alloc_event == TIMELINE_NONE && g->device == lod->device)
            s->reserved += g->bytes;
    }
}

static void node_merge(struct lod_node *to, const struct lod_node *from) {
    if (from->max > to->max) {
        to->max = from->max;
        to->arg = from->arg;
    }
    if (from->min < to->min)
        to->min = from->min;
    if (from->reserved_max > to->reserved_max)
        to->reserved_max = from->reserved_max;
}

static void node_start(struct lod_node *node, const struct lod_state *s, uint32_t moment) {
    *node = (struct lod_node){s->total, s->total, s->reserved, moment};
}

static void node_add(struct lod_node *node, const struct lod_state *s, uint32_t moment) {
    struct lod_node one;
    node_start(&one, s, moment);
    node_merge(node, &one);
}

static void build_buckets(struct lod *lod) {
    struct lod_state s;
    start_state(lod, &s);
    for (uint32_t m = 0; m < lod->moments; m++) {
        struct lod_bucket *bucket = &lod->buckets[m / LOD_BUCKET];
        struct lod_node *node = &lod->nodes[0][m / LOD_BUCKET];
        if (m > 0)
            lod_apply(lod, m - 1, &s);
        if (m % LOD_BUCKET == 0) {
            memcpy(bucket->first, s.group, sizeof s.group);
            memcpy(bucket->at_max, s.group, sizeof s.group);
            bucket->reserved = s.reserved;
            node_start(node, &s, m);
            continue;
        }
        if (s.total > node->max)
            memcpy(bucket->at_max, s.group, sizeof s.group);
        node_add(node, &s, m);
    }
}

static void build_level(struct lod *lod, size_t level) {
    for (size_t i = 0; i < lod->node_count[level]; i++) {
        size_t first = i * LOD_FANOUT, end = first + LOD_FANOUT;
        if (end > lod->node_count[level - 1])
            end = lod->node_count[level - 1];
        lod->nodes[level][i] = lod->nodes[level - 1][first];
        for (size_t k = first + 1; k < end; k++)
            node_merge(&lod->nodes[level][i], &lod->nodes[level - 1][k]);
    }
}

static bool take_memory(struct lod *lod) {
    size_t count = ((size_t)lod->moments + LOD_BUCKET - 1) / LOD_BUCKET;
    lod->buckets = xcalloc(count, sizeof *lod->buckets);
    if (!lod->buckets)
        return false;
    for (;; count = (count + LOD_FANOUT - 1) / LOD_FANOUT) {
        assert(lod->levels < LOD_LEVELS);
        lod->nodes[lod->levels] = xcalloc(count, sizeof *lod->nodes[0]);
        if (!lod->nodes[lod->levels])
            return false;
        lod->node_count[lod->levels++] = count;
        if (count == 1)
            return true;
    }
}

static bool is_time_known(const struct timeline *tl) {
    if (!(tl->has & TIMELINE_HAS_TIME) || tl->events.count == 0)
        return false;
    for (size_t i = 1; i < tl->events.count; i++)
        if (tl->events.at[i].time_ns < tl->events.at[i - 1].time_ns)
            return false;
    return array_last(&tl->events)->time_ns > tl->events.at[0].time_ns;
}

bool lod_build(struct lod *lod, const struct timeline *tl, uint8_t device, const uint8_t *group_of,
               struct error *err) {
    memset(lod, 0, sizeof *lod);
    lod->tl = tl;
    lod->device = device;
    lod->group_of = group_of;
    if (tl->events.count >= TIMELINE_NONE)
        return error_set(err, ERROR_LIMIT, "%zu events, at most 2^32 - 2", tl->events.count);
    lod->moments = (uint32_t)tl->events.count + 1;
    if (!take_memory(lod)) {
        lod_fini(lod);
        return error_host_memory(err);
    }
    build_buckets(lod);
    for (size_t level = 1; level < lod->levels; level++)
        build_level(lod, level);
    lod->peak = lod->nodes[lod->levels - 1][0];
    lod->time_known = is_time_known(tl);
    return true;
}

void lod_fini(struct lod *lod) {
    xfree(lod->buckets);
    for (size_t i = 0; i < lod->levels; i++)
        xfree(lod->nodes[i]);
    memset(lod, 0, sizeof *lod);
}

bool lod_regroup_start(struct lod_regroup *r, const struct lod *lod, const uint8_t *group_of) {
    memset(r, 0, sizeof *r);
    r->to = *lod;
    r->to.group_of = group_of;
    r->to.buckets = xcalloc(lod->node_count[0], sizeof *r->to.buckets);
    r->state.reserved = lod->buckets[0].reserved;
    return r->to.buckets != NULL;
}

/* The maximum of a bucket is where it was. */
static void regroup_moment(struct lod_regroup *r) {
    uint32_t m = r->moment++;
    struct lod_bucket *bucket = &r->to.buckets[m / LOD_BUCKET];
    if (m > 0)
        lod_apply(&r->to, m - 1, &r->state);
    if (m % LOD_BUCKET == 0) {
        memcpy(bucket->first, r->state.group, sizeof r->state.group);
        bucket->reserved = r->state.reserved;
    }
    if (m == r->to.nodes[0][m / LOD_BUCKET].arg)
        memcpy(bucket->at_max, r->state.group, sizeof r->state.group);
}

void lod_regroup_more(struct lod_regroup *r, uint32_t count) {
    size_t blocks = r->to.tl->blocks.count, left = blocks - r->block;
    if (left > 0) {
        size_t end = r->block + (count < left ? count : left);
        add_start(&r->to, r->block, end, &r->state);
        r->block = (uint32_t)end;
        return;
    }
    for (; count > 0 && r->moment < r->to.moments; count--)
        regroup_moment(r);
    r->done = r->moment == r->to.moments;
}

void lod_regroup_take(struct lod_regroup *r, struct lod *lod) {
    assert(r->done && r->to.nodes[0] == lod->nodes[0]);
    xfree(lod->buckets);
    lod->buckets = r->to.buckets;
    lod->group_of = r->to.group_of;
    r->to.buckets = NULL;
}

void lod_regroup_fini(struct lod_regroup *r) {
    xfree(r->to.buckets);
    r->to.buckets = NULL;
}

void lod_state_at(const struct lod *lod, uint32_t moment, struct lod_state *s) {
    uint32_t m = moment < lod->moments ? moment : lod->moments - 1;
    uint32_t first = m / LOD_BUCKET * LOD_BUCKET;
    const struct lod_bucket *bucket = &lod->buckets[m / LOD_BUCKET];
    memcpy(s->group, bucket->first, sizeof s->group);
    s->reserved = bucket->reserved;
    s->total = 0;
    for (int g = 0; g < LOD_GROUPS; g++)
        s->total += s->group[g];
    for (uint32_t event = first; event < m; event++)
        lod_apply(lod, event, s);
}

/* first .. end - 1 inside one bucket, event by event. */
static void replay(const struct lod *lod, uint32_t first, uint32_t end, struct lod_node *out) {
    struct lod_state s;
    lod_state_at(lod, first, &s);
    node_start(out, &s, first);
    for (uint32_t m = first + 1; m < end; m++) {
        lod_apply(lod, m - 1, &s);
        node_add(out, &s, m);
    }
}

/* The moment after the last one of node `index` of `level`. */
static uint64_t node_end(const struct lod *lod, size_t level, size_t index) {
    uint64_t end = ((uint64_t)index + 1) * LOD_BUCKET << (3 * level); /* 8 = 2^3 */
    return end < lod->moments ? end : lod->moments;
}

static_assert(LOD_FANOUT == 8, "node_end shifts by 3 a level");

/* The largest node that begins at bucket `index` and stays inside `end`. */
static uint64_t take_node(const struct lod *lod, size_t index, uint64_t end, struct lod_node *out) {
    size_t level = 0;
    while (level + 1 < lod->levels && index % LOD_FANOUT == 0 &&
           node_end(lod, level + 1, index / LOD_FANOUT) <= end) {
        index /= LOD_FANOUT;
        level++;
    }
    *out = lod->nodes[level][index];
    return node_end(lod, level, index);
}

void lod_range(const struct lod *lod, uint32_t first, uint32_t end, struct lod_node *out) {
    assert(first < end && end <= lod->moments);
    uint64_t m = first;
    bool started = false;
    while (m < end) {
        struct lod_node piece;
        size_t index = (size_t)(m / LOD_BUCKET);
        uint64_t bucket_end = node_end(lod, 0, index);
        if (m % LOD_BUCKET == 0 && bucket_end <= end) {
            m = take_node(lod, index, end, &piece);
        } else {
            uint32_t stop = bucket_end < end ? (uint32_t)bucket_end : end;
            replay(lod, (uint32_t)m, stop, &piece);
            m = stop;
        }
        if (started)
            node_merge(out, &piece);
        else
            *out = piece;
        started = true;
    }
}

void lod_groups_at_max(const struct lod *lod, const struct lod_node *node,
                       uint64_t group[LOD_GROUPS]) {
    size_t index = node->arg / LOD_BUCKET;
    if (lod->nodes[0][index].arg == node->arg) {
        memcpy(group, lod->buckets[index].at_max, sizeof lod->buckets[index].at_max);
        return;
    }
    struct lod_state s;
    lod_state_at(lod, node->arg, &s);
    memcpy(group, s.group, sizeof s.group);
}
