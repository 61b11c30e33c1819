/* difference.h: what two states of memory differ in, group by group: of one timeline at two moments,
 * or of two timelines.
 *
 * The rows' deltas sum to the difference of the totals. `added` and `removed` are the bytes of the
 * blocks that only one of the states has; of two timelines, whose blocks are not the same, they are
 * those of the sizes that only one state has in that group.
 *
 * Ownership: borrows the tracks. Zero bytes are empty. */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "block_groups.h"
#include "category.h"

struct track;

struct difference_side {
    struct track *track;
    uint32_t moment;
};

struct difference_row {
    uint32_t group;
    uint32_t then_count, now_count;
    uint64_t then, now;                   /* bytes */
    uint64_t added, removed;              /* added - removed = now - then */
    uint64_t by_category[CATEGORY_COUNT]; /* now and then together: the row's colour */
};

enum difference_kind {
    DIFFERENCE_SAME,
    DIFFERENCE_CHANGED,
    DIFFERENCE_APPEARED, /* nothing of it then */
    DIFFERENCE_GONE      /* nothing of it now */
};

struct difference {
    struct block_groups groups;
    ARRAY(struct difference_row) rows;
    struct difference_row total; /* its group means nothing */
    uint64_t largest;            /* the largest delta, without its sign */
};

/* By the size of the delta, the largest first. False: host memory; no rows then. */
bool difference_read(struct difference *difference, const struct difference_side *then,
                     const struct difference_side *now, enum owner_grouping grouping,
                     enum language language);
void difference_fini(struct difference *difference);

enum difference_kind difference_kind(const struct difference_row *row);
const char *difference_name(const struct difference *difference, const struct difference_row *row);
enum category difference_category(const struct difference_row *row);

enum difference_order {
    DIFFERENCE_BY_SIZE, /* of the delta, whatever its sign */
    DIFFERENCE_BY_DELTA,
    DIFFERENCE_BY_NOW,
    DIFFERENCE_BY_THEN,
    DIFFERENCE_BY_ADDED,
    DIFFERENCE_BY_REMOVED,
    DIFFERENCE_BY_COUNT /* of blocks now */
};
void difference_sort(struct difference *difference, enum difference_order order, bool falling);

#endif
