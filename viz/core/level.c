/* level.c: see level.h. */
#include "level.h"

#include "align.h"
#include "timeline.h"
#include "track.h"

enum text_id level_text(enum level level) {
    static const enum text_id texts[LEVEL_COUNT] = {TEXT_ALLOCATED, TEXT_RESERVED, TEXT_DEVICE};
    return texts[level];
}

bool level_known(const struct track *track, enum level level) {
    switch (level) {
    case LEVEL_ALLOCATED:
        return timeline_knows(track->tl, FIGURE_ALLOCATED);
    case LEVEL_RESERVED:
        return timeline_knows(track->tl, FIGURE_RESERVED);
    case LEVEL_DEVICE:
        return timeline_knows(track->tl, FIGURE_DEVICE_USE) ||
               (timeline_knows(track->tl, FIGURE_RESERVED) &&
                (track->tl->has & TIMELINE_HAS_DEVICE) != 0);
    case LEVEL_COUNT:
        break;
    }
    return false;
}

uint64_t level_bytes(const struct track *track, enum level level, const struct lod_state *state) {
    if (level == LEVEL_ALLOCATED)
        return state->total;
    bool adds = level == LEVEL_DEVICE && !timeline_knows(track->tl, FIGURE_DEVICE_USE);
    return state->reserved + (adds ? track->context_bytes : 0);
}

static uint32_t last_of(const struct track *track) {
    return track->lod.moments - 1;
}

/* Moments of the second that the first's `moment` meets; from its end on its last one. */
static uint32_t meets(const struct level_gap *g, uint32_t moment) {
    uint32_t m = align_map(g->align, moment);
    return m < last_of(g->b) ? m : last_of(g->b);
}

static void step_b(struct level_gap *g, uint32_t moment) {
    if (moment < g->at_b) { /* an alignment never falls: only where runs begin at one moment */
        lod_state_at(&g->b->lod, moment, &g->state_b);
        g->at_b = moment;
    }
    for (; g->at_b < moment; g->at_b++)
        lod_apply(&g->b->lod, g->at_b, &g->state_b);
}

static struct extremes gap_at(const void *row, uint32_t moment) {
    const struct level_gap *g = row;
    return (struct extremes){g->low.at[moment], g->high.at[moment]};
}

/* state_a stands at the moment that is added. */
static bool add_moment(struct level_gap *g, struct extremes gap) {
    if (!array_push(&g->low, gap.low) || !array_push(&g->high, gap.high) ||
        !pyramid_add(&g->pyramid, gap))
        return false;
    if (g->moments++ < last_of(g->a))
        lod_apply(&g->a->lod, g->moments - 1, &g->state_a);
    return true;
}

static int64_t gap_now(const struct level_gap *g) {
    return (int64_t)(level_bytes(g->a, g->level, &g->state_a) -
                     level_bytes(g->b, g->level, &g->state_b));
}

/* The moments of the first that meet one moment of the second, and those of the second up to the next
 * that is met: `count_a` from here on, `count_b` from `first_b` on. */
static bool add_run(struct level_gap *g, uint32_t count_a, uint32_t first_b, uint32_t count_b) {
    uint64_t steps = count_a > count_b ? count_a : count_b;
    for (uint32_t i = 0; i < count_a; i++) {
        /* the steps whose share of the first is i */
        uint64_t from = ((uint64_t)i * steps + count_a - 1) / count_a;
        uint64_t end = ((uint64_t)(i + 1) * steps + count_a - 1) / count_a;
        struct extremes gap = {0, 0};
        for (uint64_t s = from; s < end; s++) {
            step_b(g, first_b + (uint32_t)(s * count_b / steps));
            int64_t here = gap_now(g);
            gap.low = s == from || here < gap.low ? here : gap.low;
            gap.high = s == from || here > gap.high ? here : gap.high;
        }
        if (!add_moment(g, gap))
            return false;
    }
    return true;
}

static bool give_up(struct level_gap *g) {
    level_gap_fini(g);
    g->given_up = true;
    return false;
}

bool level_gap_start(struct level_gap *g, const struct track *a, const struct track *b,
                     const struct align *align, enum level level) {
    memset(g, 0, sizeof *g);
    g->a = a;
    g->b = b;
    g->align = align;
    g->level = level;
    g->known = level_known(a, level) && level_known(b, level);
    g->done = !g->known;
    size_t moments = a->lod.moments; /* at once: growing would need twice as much */
    if (g->known && (!array_resize(&g->low.at, &g->low.capacity, moments, sizeof *g->low.at) ||
                     !array_resize(&g->high.at, &g->high.capacity, moments, sizeof *g->high.at)))
        return give_up(g);
    lod_state_at(&a->lod, 0, &g->state_a);
    lod_state_at(&b->lod, 0, &g->state_b);
    return true;
}

bool level_gap_build(struct level_gap *g, uint32_t moments) {
    uint32_t all = g->known ? g->a->lod.moments : 0;
    uint64_t stop = (uint64_t)g->moments + moments;
    while (!g->done && !g->given_up && g->moments < stop) {
        uint32_t first = g->moments, end = first + 1, b = meets(g, first), next = b;
        while (end < all && (next = meets(g, end)) == b)
            end++;
        if (end == all)
            next = g->b->lod.moments;
        if (!add_run(g, end - first, b, next > b ? next - b : 1))
            return give_up(g);
        g->done = g->moments == all;
    }
    return !g->given_up;
}

void level_gap_fini(struct level_gap *g) {
    array_fini(&g->low);
    array_fini(&g->high);
    pyramid_fini(&g->pyramid);
    memset(g, 0, sizeof *g);
}

struct extremes level_gap_range(const struct level_gap *g, uint32_t first, uint32_t end) {
    return pyramid_range(&g->pyramid, first, end, gap_at, g);
}
