/* column.h: what one pixel column of a plot shows, exactly: no spike is lost at any zoom.
 *
 * Each moment belongs to one column; a column without one repeats the state before it. An edge
 * between two columns of 512 moments or more is rounded down to a bucket, so that whole buckets
 * suffice. */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lod.h"

struct ruler;
struct view;

struct column {
    uint64_t group[LOD_GROUPS]; /* at the first moment of the maximum; they sum to max */
    uint64_t max, min, reserved;
    uint32_t arg; /* that moment */
};

/* The first moments of `width` columns and, at [width], the end of the last. */
void column_edges(const struct ruler *ruler, const struct view *view, int width, uint32_t *edges);
/* One column from the moments first .. end - 1 (equal: the state before `first`). */
void column_read(const struct lod *lod, uint32_t first, uint32_t end, struct column *out);
void column_read_all(const struct lod *lod, const uint32_t *edges, int width, struct column *out);

#endif
