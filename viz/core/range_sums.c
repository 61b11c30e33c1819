/* range_sums.c: see range_sums.h. */
#include "range_sums.h"

#include <string.h>

#include "sort.h"
#include "timeline.h"
#include "track.h"

struct reading {
    struct range_sums *out;
    struct track *track;
    uint32_t first, end;
};

/* The row of a block; NULL: host memory. */
static struct range_row *row_of(struct range_sums *s, uint32_t block) {
    uint32_t group;
    if (!block_groups_find(&s->groups, 0, block, &group))
        return NULL;
    while (s->rows.count <= group) {
        struct range_row fresh = {.group = (uint32_t)s->rows.count};
        if (!array_push(&s->rows, fresh))
            return NULL;
    }
    return array_at(&s->rows, group);
}

static enum category category_of(const struct timeline_block *b) {
    return b->category < CATEGORY_COUNT ? (enum category)b->category : CATEGORY_UNKNOWN;
}

static void hold(struct range_row *row, const struct timeline_block *b) {
    if (row->max == 0)
        row->first = category_of(b);
    row->live += b->block_bytes;
    if (row->live > row->max)
        row->max = row->live;
}

static void allocate(const struct reading *r, struct range_row *row, uint32_t block) {
    const struct timeline_block *b = &r->track->tl->blocks.at[block];
    row->allocations++;
    row->allocated += b->block_bytes;
    row->by_category[category_of(b)] += b->block_bytes;
    hold(row, b);
    if (live_is(&r->track->live, block, r->end)) {
        row->leaks++;
        row->leaked += b->block_bytes;
    }
}

static void release(struct range_row *row, const struct timeline_block *b) {
    row->frees++;
    row->freed += b->block_bytes;
    row->live -= b->block_bytes;
}

static bool read_start(const struct reading *r) {
    struct live_set set = {0};
    struct range_row *row = NULL;
    bool read = live_at(&r->track->live, r->first, &set);
    for (size_t i = 0; read && i < set.ids.count; i++) {
        const struct timeline_block *b = &r->track->tl->blocks.at[set.ids.at[i]];
        row = row_of(r->out, set.ids.at[i]);
        read = row != NULL;
        if (read) {
            hold(row, b);
            hold(&r->out->total, b);
        }
    }
    array_fini(&set.ids);
    return read;
}

/* A second free of a block, which no source that keeps its promises has, counts for nothing. */
static bool read_event(const struct reading *r, uint32_t index) {
    const struct timeline *tl = r->track->tl;
    const struct timeline_event *e = &tl->events.at[index];
    bool is_free = e->kind == EVENT_FREE_REQUESTED;
    if ((!is_free && e->kind != EVENT_ALLOC) || e->device != r->track->device ||
        e->ref >= tl->blocks.count)
        return true;
    const struct timeline_block *b = &tl->blocks.at[e->ref];
    if ((is_free ? b->free_event : b->alloc_event) != index)
        return true;
    struct range_row *row = row_of(r->out, e->ref);
    if (!row)
        return false;
    if (is_free) {
        release(row, b);
        release(&r->out->total, b);
    } else {
        allocate(r, row, e->ref);
        allocate(r, &r->out->total, e->ref);
    }
    return true;
}

static bool give_up(struct range_sums *s) {
    array_clear(&s->rows);
    memset(&s->total, 0, sizeof s->total);
    s->done = true;
    return false;
}

bool range_sums_start(struct range_sums *s, struct track *track, uint32_t first, uint32_t end,
                      enum owner_grouping grouping, enum language language) {
    const struct reading r = {s, track, first, end};
    array_clear(&s->rows);
    memset(&s->total, 0, sizeof s->total);
    s->track = track;
    s->next = first;
    s->end = end;
    s->done = false;
    return (block_groups_start(&s->groups, grouping, language, &track->owners, NULL) &&
            read_start(&r)) ||
           give_up(s);
}

bool range_sums_more(struct range_sums *s, uint32_t events) {
    const struct reading r = {s, s->track, s->next, s->end};
    if (s->done)
        return true;
    uint32_t end = s->end - s->next > events ? s->next + events : s->end;
    for (; s->next < end; s->next++)
        if (!read_event(&r, s->next))
            return give_up(s);
    if (s->next < s->end)
        return true;
    s->done = true;
    range_sums_sort(s, RANGE_BY_ALLOCATED, true);
    return true;
}

bool range_sums_read(struct range_sums *s, struct track *track, uint32_t first, uint32_t end,
                     enum owner_grouping grouping, enum language language) {
    return range_sums_start(s, track, first, end, grouping, language) &&
           range_sums_more(s, UINT32_MAX);
}

void range_sums_fini(struct range_sums *s) {
    block_groups_fini(&s->groups);
    array_fini(&s->rows);
}

const char *range_sums_name(const struct range_sums *s, const struct range_row *row) {
    return block_groups_name(&s->groups, row->group);
}

enum category range_sums_category(const struct range_row *row) {
    enum category best = row->first;
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        if (row->by_category[i] > row->by_category[best])
            best = (enum category)i;
    return best;
}

double range_sums_churn(const struct range_row *row) {
    return row->max ? (double)row->allocated / (double)row->max : 0;
}

struct order {
    enum range_order by;
    bool falling;
};

static double value_of(const struct range_row *row, enum range_order by) {
    switch (by) {
    case RANGE_BY_ALLOCATED:
        return (double)row->allocated;
    case RANGE_BY_FREED:
        return (double)row->freed;
    case RANGE_BY_LEAKED:
        return (double)row->leaked;
    case RANGE_BY_MAX:
        return (double)row->max;
    case RANGE_BY_CHURN:
        return range_sums_churn(row);
    case RANGE_BY_COUNT:
        return row->allocations;
    }
    return 0;
}

/* Equal ones: who held more first. */
static int comes_first(const void *x, const void *y, const void *user) {
    const struct range_row *a = x, *b = y;
    const struct order *order = user;
    double p = value_of(a, order->by), q = value_of(b, order->by);
    if (p < q || p > q)
        return (p < q) == order->falling ? 1 : -1;
    if (a->max != b->max)
        return a->max > b->max ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

void range_sums_sort(struct range_sums *s, enum range_order by, bool falling) {
    const struct order order = {by, falling};
    sort_items(s->rows.at, s->rows.count, sizeof *s->rows.at, comes_first, &order);
}
