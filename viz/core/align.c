/* align.c: see align.h. */
#include "align.h"

#include <string.h>

#include "error.h"
#include "timeline.h"

static bool same_phase(const struct timeline *a, const struct timeline_phase *x,
                       const struct timeline *b, const struct timeline_phase *y) {
    return x->depth == y->depth &&
           strcmp(timeline_text(a, x->name), timeline_text(b, y->name)) == 0;
}

/* An anchor must rise in both; one that does not is left out, so that the map stays monotone. */
static bool add_anchor(struct align *align, uint32_t a, uint32_t b) {
    struct align_anchor anchor = {a, b};
    if (align->anchors.count > 0) {
        const struct align_anchor *last = array_last(&align->anchors);
        if (a <= last->a || b <= last->b)
            return true;
    }
    return array_push(&align->anchors, anchor);
}

static uint32_t next_phase(const struct timeline *a, const struct timeline_phase *wanted,
                           const struct timeline *b, uint32_t from) {
    for (uint32_t i = from; i < b->phases.count; i++)
        if (same_phase(a, wanted, b, &b->phases.at[i]))
            return i;
    return TIMELINE_NONE;
}

/* Phases of both are in order of their beginning, so each search goes on where the last one
 * matched: a phase that only one side has costs nothing but its own anchor. Outermost phases only
 * begin and end where the run does. */
static bool add_phases(struct align *align, const struct timeline *a, const struct timeline *b,
                       uint32_t a_end, uint32_t b_end) {
    uint32_t from = 0;
    uint64_t budget = 4096; /* failed searches walk the rest of b */
    for (uint32_t i = 0; i < a->phases.count && budget > 0; i++) {
        uint32_t found = next_phase(a, &a->phases.at[i], b, from);
        if (found == TIMELINE_NONE) {
            budget--;
            continue;
        }
        from = found + 1;
        uint32_t x = a->phases.at[i].begin_event, y = b->phases.at[found].begin_event;
        if (x < a_end && y < b_end && x > 0 && y > 0 && !add_anchor(align, x, y))
            return false;
    }
    return true;
}

bool align_build(struct align *align, const struct timeline *a, const struct timeline *b,
                 struct error *err) {
    memset(align, 0, sizeof *align);
    uint32_t a_end = (uint32_t)a->events.count + 1, b_end = (uint32_t)b->events.count + 1;
    if (add_anchor(align, 0, 0) && add_phases(align, a, b, a_end, b_end) &&
        add_anchor(align, a_end, b_end))
        return true;
    align_fini(align);
    return error_host_memory(err);
}

void align_fini(struct align *align) {
    array_fini(&align->anchors);
}

uint32_t align_map(const struct align *align, uint32_t moment) {
    size_t low = 0, high = align->anchors.count - 1;
    if (moment >= align->anchors.at[high].a)
        return align->anchors.at[high].b;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (align->anchors.at[middle].a <= moment)
            low = middle;
        else
            high = middle;
    }
    const struct align_anchor *left = &align->anchors.at[low], *right = left + 1;
    uint64_t da = right->a - left->a, db = right->b - left->b;
    return left->b + (uint32_t)(((uint64_t)(moment - left->a) * db + da - 1) / da);
}

uint32_t align_common_phases(const struct align *align) {
    return align->anchors.count > 2 ? (uint32_t)(align->anchors.count - 2) : 0;
}
