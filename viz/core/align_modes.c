/* align_modes.c: the ways in which two timelines meet; see align.h. */
#include <string.h>

#include "align.h"
#include "error.h"
#include "request_match.h"
#include "timeline.h"
#include "track.h"
#include "xalloc.h"

struct meeting {
    struct align *out;
    const struct track *a, *b;
    const struct request_match *match;
};

static bool meet_by_phases(const struct meeting *m) {
    struct align *out = m->out;
    return align_add_anchor(out, 0, 0) && align_add_phases(out, m->a->tl, m->b->tl) &&
           align_add_anchor(out, align_work_done(&out->a), align_work_done(&out->b));
}

/* From a meeting point one to one, back to where the first of the two begins, on to where one ends. */
static bool go_back(struct align *out, uint32_t a, uint32_t b) {
    uint32_t before = a < b ? a : b;
    return align_add_anchor(out, a - before, b - before) && align_add_anchor(out, a, b);
}

static bool go_on(struct align *out, uint32_t a, uint32_t b) {
    uint32_t x = align_work_done(&out->a) - a, y = align_work_done(&out->b) - b;
    uint32_t after = x < y ? x : y;
    return align_add_anchor(out, a + after, b + after);
}

/* Nothing in common: by phases. */
static bool meet_by_requests(const struct meeting *m) {
    struct align *out = m->out;
    size_t count = m->match->pairs.count;
    for (size_t i = 0; i < count; i++) {
        const struct align_anchor *pair = &m->match->pairs.at[i];
        uint32_t a = out->a.at[pair->a], b = out->b.at[pair->b];
        if (!(i == 0 ? go_back(out, a, b) : align_add_anchor(out, a, b)) ||
            (i + 1 == count && !go_on(out, a, b)))
            return false;
    }
    return count > 0 || meet_by_phases(m);
}

static bool meet_by_peaks(const struct meeting *m) {
    struct align *out = m->out;
    uint32_t a = out->a.at[track_peak(m->a)], b = out->b.at[track_peak(m->b)];
    return go_back(out, a, b) && go_on(out, a, b);
}

#define TIME_PARTS 2147483648.0

/* The share of the run's time that has passed at each moment, always a little more: events of one
 * instant meet one by one. */
static void count_time(const struct track *track, struct align_work *work) {
    const struct timeline *tl = track->tl;
    if (!track->lod.time_known) {
        align_count_moments(work);
        return;
    }
    uint64_t start = tl->events.at[0].time_ns;
    double whole = (double)(tl->events.at[tl->events.count - 1].time_ns - start);
    work->at[0] = 0;
    for (uint32_t m = 1; m < work->moments; m++) {
        double passed = (double)(tl->events.at[m - 1].time_ns - start);
        uint32_t share = (uint32_t)(passed / whole * TIME_PARTS + 0.5), least = work->at[m - 1] + 1;
        work->at[m] = share > least ? share : least;
    }
}

static bool meet_by_time(const struct meeting *m) {
    struct align *out = m->out;
    count_time(m->a, &out->a);
    count_time(m->b, &out->b);
    return align_add_anchor(out, 0, 0) &&
           align_add_anchor(out, align_work_done(&out->a), align_work_done(&out->b));
}

static bool meet(const struct meeting *m, enum align_mode mode) {
    static bool (*const ways[ALIGN_MODE_COUNT])(const struct meeting *m) = {
        [ALIGN_BY_PHASES] = meet_by_phases,
        [ALIGN_BY_REQUESTS] = meet_by_requests,
        [ALIGN_BY_PEAKS] = meet_by_peaks,
        [ALIGN_BY_TIME] = meet_by_time,
    };
    struct align *out = m->out;
    if (!align_count_work(m->a->tl, &out->a) || !align_count_work(m->b->tl, &out->b))
        return false;
    if (align_work_done(&out->a) == 0 || align_work_done(&out->b) == 0) {
        align_count_moments(&out->a);
        align_count_moments(&out->b);
    }
    return ways[mode](m);
}

bool align_choose(struct align *align, enum align_mode mode, const struct track *a,
                  const struct track *b, const struct request_match *match, struct error *err) {
    struct align fresh = {.mode = mode, .stretch = align->stretch, .shift = align->shift};
    const struct meeting m = {&fresh, a, b, match};
    if (!meet(&m, mode)) {
        align_fini(&fresh);
        return error_host_memory(err);
    }
    align_fini(align);
    *align = fresh;
    return true;
}
