/* pyramid.c: see pyramid.h. */
#include "pyramid.h"

static void merge(struct extremes *to, struct extremes from) {
    to->low = from.low < to->low ? from.low : to->low;
    to->high = from.high > to->high ? from.high : to->high;
}

/* A level that has whole groups of eight has their nodes above it. */
static bool add_node(struct pyramid *p, struct extremes node) {
    for (int level = 0; level < PYRAMID_LEVELS; level++) {
        if (!array_push(&p->levels[level].nodes, node))
            return false;
        size_t count = p->levels[level].nodes.count;
        if (count % PYRAMID_FANOUT != 0)
            return true;
        const struct extremes *group = p->levels[level].nodes.at + (count - PYRAMID_FANOUT);
        node = group[0];
        for (int i = 1; i < PYRAMID_FANOUT; i++)
            merge(&node, group[i]);
    }
    return true;
}

bool pyramid_add(struct pyramid *p, struct extremes value) {
    if (p->count % PYRAMID_BUCKET == 0)
        p->open = value;
    else
        merge(&p->open, value);
    p->count++;
    return p->count % PYRAMID_BUCKET != 0 || add_node(p, p->open);
}

void pyramid_fini(struct pyramid *p) {
    for (int i = 0; i < PYRAMID_LEVELS; i++)
        array_fini(&p->levels[i].nodes);
    memset(p, 0, sizeof *p);
}

/* The largest node that begins at bucket `index` and stays inside `end`; its end. */
static uint64_t take_node(const struct pyramid *p, size_t index, uint64_t end,
                          struct extremes *out) {
    uint64_t length = PYRAMID_BUCKET;
    int level = 0;
    while (level + 1 < PYRAMID_LEVELS && index % PYRAMID_FANOUT == 0 &&
           index / PYRAMID_FANOUT < p->levels[level + 1].nodes.count &&
           (index / PYRAMID_FANOUT + 1) * length * PYRAMID_FANOUT <= end) {
        index /= PYRAMID_FANOUT;
        length *= PYRAMID_FANOUT;
        level++;
    }
    *out = p->levels[level].nodes.at[index];
    return (index + 1) * length;
}

struct extremes pyramid_range(const struct pyramid *p, uint32_t first, uint32_t end,
                              pyramid_leaf *leaf, const void *row) {
    assert(first < end && end <= p->count);
    struct extremes all = leaf(row, first);
    for (uint64_t m = first; m < end;) {
        struct extremes piece;
        if (m % PYRAMID_BUCKET == 0 && m + PYRAMID_BUCKET <= end) {
            m = take_node(p, (size_t)(m / PYRAMID_BUCKET), end, &piece);
        } else {
            piece = leaf(row, (uint32_t)m);
            m++;
        }
        merge(&all, piece);
    }
    return all;
}
