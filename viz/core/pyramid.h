/* pyramid.h: the extremes of any range of a long row of numbers, without looking at all of them.
 *
 *   the row   |0 ........ 63|64 ....... 127| ...      its owner keeps the numbers
 *   level 0   |  low, high  |  low, high   | ...      level 1: one for 8 of level 0 ...
 *
 * Grows at its end, so that it can be asked while it is built. Zero bytes are empty. */
#ifndef PYRAMID_H
#define PYRAMID_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

enum { PYRAMID_BUCKET = 64, PYRAMID_FANOUT = 8, PYRAMID_LEVELS = 10 };

struct extremes {
    int64_t low, high;
};

struct pyramid {
    uint32_t count;
    struct extremes open; /* of what is behind the last whole bucket */
    struct {
        ARRAY(struct extremes) nodes;
    } levels[PYRAMID_LEVELS];
};

/* The number (or what a moment has of them) at an index of the row. */
typedef struct extremes pyramid_leaf(const void *row, uint32_t index);

bool pyramid_add(struct pyramid *pyramid, struct extremes value); /* false: host memory */
void pyramid_fini(struct pyramid *pyramid);
/* Over first .. end - 1, not empty, within what is there. */
struct extremes pyramid_range(const struct pyramid *pyramid, uint32_t first, uint32_t end,
                              pyramid_leaf *leaf, const void *row);

#endif
