/* align.c: see align.h. */
#include "align.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "timeline.h"
#include "xalloc.h"

/* Anchors while they are gathered, and the table of the longest common subsequence of both lists of
 * phases. */
struct matching {
    const struct timeline *a, *b;
    const struct align *align;
    uint32_t a_phases, b_phases;
    uint16_t *length; /* (a_phases + 1) * (b_phases + 1): of the lists from here on */
    ARRAY(struct align_anchor) anchors;
};

enum { PHASES_MAX = 2000 }; /* of each: 8 MB; what comes later goes in proportion */

static bool same_phase(const struct matching *m, uint32_t i, uint32_t k) {
    return strcmp(timeline_text(m->a, m->a->phases.at[i].name),
                  timeline_text(m->b, m->b->phases.at[k].name)) == 0;
}

static uint16_t *length_at(const struct matching *m, uint32_t i, uint32_t k) {
    return &m->length[(size_t)i * (m->b_phases + 1) + k];
}

static void fill_lengths(const struct matching *m) {
    for (uint32_t i = m->a_phases; i-- > 0;)
        for (uint32_t k = m->b_phases; k-- > 0;) {
            uint16_t down = *length_at(m, i + 1, k), right = *length_at(m, i, k + 1);
            *length_at(m, i, k) = same_phase(m, i, k) ? (uint16_t)(*length_at(m, i + 1, k + 1) + 1)
                                  : down > right      ? down
                                                      : right;
        }
}

/* A phase that never ends, or an event out of bounds, gives no anchor. */
static bool gather(struct matching *m, uint32_t a_event, uint32_t b_event) {
    if (a_event >= m->a->events.count || b_event >= m->b->events.count)
        return true;
    struct align_anchor anchor = {m->align->a.at[a_event], m->align->b.at[b_event]};
    return array_push(&m->anchors, anchor);
}

static bool gather_all(struct matching *m) {
    uint32_t i = 0, k = 0;
    while (i < m->a_phases && k < m->b_phases) {
        if (same_phase(m, i, k)) {
            const struct timeline_phase *x = &m->a->phases.at[i++], *y = &m->b->phases.at[k++];
            if (!gather(m, x->begin_event, y->begin_event) ||
                !gather(m, x->end_event, y->end_event))
                return false;
        } else if (*length_at(m, i + 1, k) >= *length_at(m, i, k + 1)) {
            i++;
        } else {
            k++;
        }
    }
    return true;
}

static int by_a_then_b(const void *x, const void *y) {
    const struct align_anchor *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

bool align_add_anchor(struct align *align, uint32_t a, uint32_t b) {
    struct align_anchor anchor = {a, b};
    if (align->anchors.count > 0) {
        const struct align_anchor *last = array_last(&align->anchors);
        if (a <= last->a || b <= last->b)
            return true;
    }
    return array_push(&align->anchors, anchor);
}

static bool add_phases(struct align *align, struct matching *m) {
    m->a_phases = m->a->phases.count < PHASES_MAX ? (uint32_t)m->a->phases.count : PHASES_MAX;
    m->b_phases = m->b->phases.count < PHASES_MAX ? (uint32_t)m->b->phases.count : PHASES_MAX;
    if (m->a_phases == 0 || m->b_phases == 0)
        return true;
    m->length = xcalloc(((size_t)m->a_phases + 1) * ((size_t)m->b_phases + 1), sizeof *m->length);
    if (!m->length)
        return false;
    fill_lengths(m);
    if (!gather_all(m))
        return false;
    if (m->anchors.count > 0)
        qsort(m->anchors.at, m->anchors.count, sizeof *m->anchors.at, by_a_then_b);
    for (size_t i = 0; i < m->anchors.count; i++)
        if (!align_add_anchor(align, m->anchors.at[i].a, m->anchors.at[i].b))
            return false;
    return true;
}

bool align_add_phases(struct align *align, const struct timeline *a, const struct timeline *b) {
    struct matching m = {.a = a, .b = b, .align = align};
    bool added = add_phases(align, &m);
    xfree(m.length);
    array_fini(&m.anchors);
    return added;
}

bool align_count_work(const struct timeline *tl, struct align_work *work) {
    work->moments = (uint32_t)tl->events.count + 1;
    work->at = xcalloc(work->moments, sizeof *work->at);
    if (!work->at)
        return false;
    for (uint32_t m = 1; m < work->moments; m++) {
        uint8_t kind = tl->events.at[m - 1].kind;
        work->at[m] = work->at[m - 1] + (kind == EVENT_ALLOC || kind == EVENT_FREE_REQUESTED);
    }
    return true;
}

uint32_t align_work_done(const struct align_work *work) {
    return work->at[work->moments - 1];
}

void align_count_moments(struct align_work *work) {
    for (uint32_t m = 0; m < work->moments; m++)
        work->at[m] = m;
}

bool align_build(struct align *align, const struct timeline *a, const struct timeline *b,
                 struct error *err) {
    memset(align, 0, sizeof *align);
    align->stretch = 1;
    bool built = align_count_work(a, &align->a) && align_count_work(b, &align->b);
    if (built && (align_work_done(&align->a) == 0 || align_work_done(&align->b) == 0)) {
        align_count_moments(&align->a);
        align_count_moments(&align->b);
    }
    built = built && align_add_anchor(align, 0, 0) && align_add_phases(align, a, b) &&
            align_add_anchor(align, align_work_done(&align->a), align_work_done(&align->b));
    if (built)
        return true;
    align_fini(align);
    return error_host_memory(err);
}

void align_fini(struct align *align) {
    array_fini(&align->anchors);
    xfree(align->a.at);
    xfree(align->b.at);
    memset(align, 0, sizeof *align);
}

static uint32_t map_work(const struct align *align, uint32_t work) {
    size_t low = 0, high = align->anchors.count - 1;
    if (work >= align->anchors.at[high].a)
        return align->anchors.at[high].b;
    if (work <= align->anchors.at[low].a)
        return align->anchors.at[low].b;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (align->anchors.at[middle].a <= work)
            low = middle;
        else
            high = middle;
    }
    const struct align_anchor *left = &align->anchors.at[low], *right = left + 1;
    uint64_t da = right->a - left->a, db = right->b - left->b;
    return left->b + (uint32_t)(((uint64_t)(work - left->a) * db + da - 1) / da);
}

void align_nudge(struct align *align, double moments) {
    align->shift -= moments * align->stretch;
}

void align_stretch(struct align *align, uint32_t about, double factor) {
    double met = about * align->stretch + align->shift, stretch = align->stretch / factor;
    if (!(stretch > 1e-3 && stretch < 1e3))
        return;
    align->stretch = stretch;
    align->shift = met - about * stretch;
}

void align_reset(struct align *align) {
    align->stretch = 1;
    align->shift = 0;
}

static uint32_t moved(const struct align *align, uint32_t moment) {
    double to = moment * align->stretch + align->shift;
    if (!(to > 0))
        return 0;
    return to < align->a.moments ? (uint32_t)(to + 0.5) : align->a.moments;
}

uint32_t align_map(const struct align *align, uint32_t moment) {
    if (align_is_moved(align))
        moment = moved(align, moment);
    if (moment >= align->a.moments)
        return align->b.moments;
    uint32_t wanted = map_work(align, align->a.at[moment]), low = 0, high = align->b.moments - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (align->b.at[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t align_common_phases(const struct align *align) {
    return align->anchors.count > 2 ? (uint32_t)(align->anchors.count - 2) : 0;
}
