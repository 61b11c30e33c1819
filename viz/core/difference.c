/* difference.c: see difference.h. */
#include "difference.h"

#include <stdlib.h>
#include <string.h>

#include "sort.h"
#include "timeline.h"
#include "track.h"

enum { THEN, NOW };

/* Blocks of both states in one list: what sorts together cancels out. */
struct entry {
    uint64_t mark; /* the block, or of two timelines its size */
    uint32_t group, block;
    uint8_t side;
};

struct reading {
    struct difference *out;
    const struct difference_side *sides[2];
    bool is_one; /* timeline */
    ARRAY(struct entry) entries;
};

static bool row_of(struct difference *d, uint32_t group, struct difference_row **row) {
    while (d->rows.count <= group) {
        struct difference_row fresh = {.group = (uint32_t)d->rows.count};
        if (!array_push(&d->rows, fresh))
            return false;
    }
    *row = array_at(&d->rows, group);
    return true;
}

static void count(struct difference_row *row, const struct timeline_block *b, int side) {
    uint64_t *bytes = side == THEN ? &row->then : &row->now;
    uint32_t *blocks = side == THEN ? &row->then_count : &row->now_count;
    *bytes += b->block_bytes;
    ++*blocks;
    row->by_category[b->category < CATEGORY_COUNT ? b->category : CATEGORY_UNKNOWN] +=
        b->block_bytes;
}

static bool add_block(struct reading *r, int side, uint32_t block) {
    struct difference *d = r->out;
    const struct timeline_block *b = array_at(&r->sides[side]->track->tl->blocks, block);
    struct entry entry = {.block = block, .side = (uint8_t)side};
    struct difference_row *row;
    if (!block_groups_find(&d->groups, r->is_one ? 0 : side, block, &entry.group) ||
        !row_of(d, entry.group, &row))
        return false;
    entry.mark = r->is_one ? block : b->block_bytes;
    count(row, b, side);
    count(&d->total, b, side);
    return array_push(&r->entries, entry);
}

static bool add_side(struct reading *r, int side, struct live_set *set) {
    const struct difference_side *s = r->sides[side];
    if (!live_at(&s->track->live, s->moment, set))
        return false;
    for (size_t i = 0; i < set->ids.count; i++)
        if (!add_block(r, side, set->ids.at[i]))
            return false;
    return true;
}

static int by_mark(const void *x, const void *y) {
    const struct entry *a = x, *b = y;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->mark != b->mark)
        return a->mark < b->mark ? -1 : 1;
    return (int)a->side - (int)b->side;
}

/* Entries of one group and mark: what one side has more of is added or removed. */
static void settle(struct reading *r, const struct entry *first, size_t count) {
    struct difference *d = r->out;
    size_t sides[2] = {0, 0};
    for (size_t i = 0; i < count; i++)
        sides[first[i].side]++;
    const struct difference_side *s = r->sides[first->side];
    uint64_t bytes = s->track->tl->blocks.at[first->block].block_bytes;
    struct difference_row *row = array_at(&d->rows, first->group);
    uint64_t added = sides[NOW] > sides[THEN] ? (sides[NOW] - sides[THEN]) * bytes : 0;
    uint64_t removed = sides[THEN] > sides[NOW] ? (sides[THEN] - sides[NOW]) * bytes : 0;
    row->added += added;
    row->removed += removed;
    d->total.added += added;
    d->total.removed += removed;
}

static void settle_all(struct reading *r) {
    size_t count = r->entries.count;
    if (count > 1)
        qsort(r->entries.at, count, sizeof *r->entries.at, by_mark);
    for (size_t i = 0, end; i < count; i = end) {
        const struct entry *e = &r->entries.at[i];
        for (end = i + 1; end < count; end++)
            if (r->entries.at[end].group != e->group || r->entries.at[end].mark != e->mark)
                break;
        settle(r, e, end - i);
    }
}

static uint64_t size_of(const struct difference_row *row) {
    return row->now > row->then ? row->now - row->then : row->then - row->now;
}

bool difference_read(struct difference *d, const struct difference_side *then,
                     const struct difference_side *now, enum owner_grouping grouping,
                     enum language language) {
    struct reading r = {.out = d, .sides = {then, now}, .is_one = then->track == now->track};
    struct live_set set = {0};
    array_clear(&d->rows);
    memset(&d->total, 0, sizeof d->total);
    d->largest = 0;
    bool read = block_groups_start(&d->groups, grouping, language, &then->track->owners,
                                   &now->track->owners) &&
                add_side(&r, THEN, &set) && add_side(&r, NOW, &set);
    if (read)
        settle_all(&r);
    else
        array_clear(&d->rows);
    array_fini(&set.ids);
    array_fini(&r.entries);
    for (size_t i = 0; i < d->rows.count; i++)
        if (size_of(&d->rows.at[i]) > d->largest)
            d->largest = size_of(&d->rows.at[i]);
    difference_sort(d, DIFFERENCE_BY_SIZE, true);
    return read;
}

void difference_fini(struct difference *d) {
    block_groups_fini(&d->groups);
    array_fini(&d->rows);
}

enum difference_kind difference_kind(const struct difference_row *row) {
    if (row->then_count == 0 && row->now_count > 0)
        return DIFFERENCE_APPEARED;
    if (row->now_count == 0 && row->then_count > 0)
        return DIFFERENCE_GONE;
    return row->added + row->removed > 0 ? DIFFERENCE_CHANGED : DIFFERENCE_SAME;
}

const char *difference_name(const struct difference *d, const struct difference_row *row) {
    return block_groups_name(&d->groups, row->group);
}

enum category difference_category(const struct difference_row *row) {
    enum category best = CATEGORY_UNKNOWN;
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        if (row->by_category[i] > row->by_category[best])
            best = (enum category)i;
    return best;
}

/* Rising with what is sorted by; deltas by their sign. */
static int compare(const struct difference_row *x, const struct difference_row *y,
                   enum difference_order order) {
    uint64_t a = 0, b = 0;
    switch (order) {
    case DIFFERENCE_BY_SIZE:
        a = size_of(x), b = size_of(y);
        break;
    case DIFFERENCE_BY_DELTA: /* those below zero come first, the largest of them at the front */
        if ((x->now < x->then) != (y->now < y->then))
            return x->now < x->then ? -1 : 1;
        a = x->now < x->then ? size_of(y) : size_of(x);
        b = x->now < x->then ? size_of(x) : size_of(y);
        break;
    case DIFFERENCE_BY_NOW:
        a = x->now, b = y->now;
        break;
    case DIFFERENCE_BY_THEN:
        a = x->then, b = y->then;
        break;
    case DIFFERENCE_BY_ADDED:
        a = x->added, b = y->added;
        break;
    case DIFFERENCE_BY_REMOVED:
        a = x->removed, b = y->removed;
        break;
    case DIFFERENCE_BY_COUNT:
        a = x->now_count, b = y->now_count;
        break;
    }
    return (a > b) - (a < b);
}

struct order {
    enum difference_order by;
    bool falling;
};

/* Equal ones: the larger first. */
static int comes_first(const void *x, const void *y, const void *user) {
    const struct difference_row *a = x, *b = y;
    const struct order *order = user;
    int c = compare(a, b, order->by);
    if (c != 0)
        return order->falling ? -c : c;
    uint64_t p = a->now + a->then, q = b->now + b->then;
    if (p != q)
        return p > q ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

void difference_sort(struct difference *d, enum difference_order by, bool falling) {
    const struct order order = {by, falling};
    sort_items(d->rows.at, d->rows.count, sizeof *d->rows.at, comes_first, &order);
}
