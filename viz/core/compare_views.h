/* compare_views.h: what the tabs that compare keep between frames: read anew only when what they
 * were read of has changed. */
#ifndef COMPARE_VIEWS_H
#define COMPARE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "block_lives.h"
#include "difference.h"
#include "icicle.h"
#include "range_sums.h"

struct app;

/* What a table of groups was read of. */
struct groups_key {
    uint32_t first, last, other; /* moments */
    enum owner_grouping grouping;
    enum language language;
};

struct difference_view {
    struct difference sums;
    struct difference_row rest; /* the rows that have no room */
    bool valid;
    struct groups_key key;
};

struct range_view {
    struct range_sums sums;
    bool
        /* a picture of a window, which another follows: a long range is summed up in slices */
        may_wait;
    struct range_row rest;
    bool valid;
    struct groups_key key;
};

struct app_lifetimes_key {
    uint32_t first, last; /* moments */
    uint32_t mode;        /* of the axis: lengths are measured on it */
};

struct lifetimes_view {
    struct block_lives list;
    bool valid;
    struct app_lifetimes_key key;
};

struct icicle_key {
    uint32_t now, then; /* moments */
    uint32_t of_b;      /* `then` is of the second timeline */
    uint32_t kind;      /* enum icicle_kind */
};

struct icicle_view {
    struct icicle tree;
    bool valid, compares;
    struct icicle_key key;
    ARRAY(uint32_t) path; /* names from the root to the node that fills the width */
};

/* The two states that are compared: the mark and the cursor; without a mark the second timeline and
 * the first. False: neither is there. */
bool app_difference_sides(struct app *app, struct difference_side *then,
                          struct difference_side *now);
/* The sums of the range, while they are summed up in slices (app_work.c). */
bool app_range_is_building(const struct app *app);
void app_build_range(struct app *app, uint32_t events);
/* The moments of the range, or of the whole run. */
void app_range_moments(const struct app *app, uint32_t *first, uint32_t *end);
/* Out of the innermost node of the icicle, where that is the open tab. False: it is not. */
bool app_icicle_up(struct app *app);

#endif
