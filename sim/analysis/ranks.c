/* ranks.c: see ranks.h. */
#include "ranks.h"

#include <math.h>
#include <stdlib.h>

#include "peak.h"
#include "timeline.h"

#define ODD_DIFFERENCE 0.01

static void count_events(const struct timeline *tl, struct rank *rank) {
    for (size_t i = 0; i < tl->events.count; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->device != rank->device)
            continue;
        rank->figures[RANK_REQUESTS] += e->kind == EVENT_ALLOC;
        rank->figures[RANK_OOMS] += e->kind == EVENT_OOM;
    }
}

bool ranks_add(struct ranks *ranks, const struct timeline *tl, uint64_t number, uint32_t file) {
    struct rank rank = {.number = number, .file = file, .device = timeline_main_device(tl)};
    struct peaks peaks;
    bool has_history = (tl->has & TIMELINE_HAS_HISTORY) != 0;
    peak_find(tl, rank.device, &peaks);
    count_events(tl, &rank);
    rank.figures[RANK_ALLOCATED] = peaks.allocated.bytes;
    rank.figures[RANK_RESERVED] = peaks.reserved.bytes;
    rank.known[RANK_REQUESTS] = has_history && !(tl->has & TIMELINE_SUMS_BLOCKS);
    rank.known[RANK_ALLOCATED] = timeline_knows(tl, FIGURE_ALLOCATED);
    rank.known[RANK_RESERVED] =
        timeline_knows(tl, FIGURE_RESERVED) || timeline_knows(tl, FIGURE_DEVICE_USE);
    rank.known[RANK_OOMS] = has_history;
    return array_push(&ranks->list, rank);
}

void ranks_fini(struct ranks *ranks) {
    array_fini(&ranks->list);
}

static int by_number(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->file > y->file) - (x->file < y->file);
}

static int by_size(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The lower one of two in the middle. */
static void find_middle(struct ranks *ranks, enum rank_figure figure, uint64_t *sorted) {
    size_t count = 0;
    for (size_t i = 0; i < ranks->list.count; i++)
        if (ranks->list.at[i].known[figure])
            sorted[count++] = ranks->list.at[i].figures[figure];
    ranks->has_middle[figure] = count > 0;
    if (count == 0)
        return;
    qsort(sorted, count, sizeof *sorted, by_size);
    ranks->middle[figure] = sorted[(count - 1) / 2];
}

double rank_difference(const struct ranks *ranks, const struct rank *rank,
                       enum rank_figure figure) {
    uint64_t is = rank->figures[figure], middle = ranks->middle[figure];
    if (is == middle)
        return 0;
    if (middle == 0)
        return HUGE_VAL;
    return is > middle ? (double)(is - middle) / (double)middle
                       : -(double)(middle - is) / (double)middle;
}

static bool is_odd(const struct ranks *ranks, const struct rank *rank, enum rank_figure figure) {
    if (!rank->known[figure] || !ranks->has_middle[figure])
        return false;
    double most = figure == RANK_REQUESTS || figure == RANK_OOMS ? 0 : ODD_DIFFERENCE;
    return fabs(rank_difference(ranks, rank, figure)) > most;
}

bool ranks_compare(struct ranks *ranks) {
    if (ranks->list.count == 0)
        return true;
    uint64_t *sorted = xalloc(ranks->list.count * sizeof *sorted);
    if (!sorted)
        return false;
    qsort(ranks->list.at, ranks->list.count, sizeof *ranks->list.at, by_number);
    for (int f = 0; f < RANK_FIGURES; f++)
        find_middle(ranks, (enum rank_figure)f, sorted);
    for (size_t i = 0; i < ranks->list.count; i++)
        for (int f = 0; f < RANK_FIGURES; f++)
            ranks->list.at[i].odd[f] = is_odd(ranks, &ranks->list.at[i], (enum rank_figure)f);
    xfree(sorted);
    return true;
}

bool rank_is_odd(const struct rank *rank) {
    for (int f = 0; f < RANK_FIGURES; f++)
        if (rank->odd[f])
            return true;
    return false;
}
