/* column.h: what one pixel column of a plot shows, exactly: no spike is lost at any zoom.
 *
 * Each moment belongs to one column; a column without one repeats the state before it. An edge
 * between two columns of 512 moments or more is rounded down to a bucket, so that whole buckets
 * suffice. Columns lie on a grid, which a pan keeps: what a column of it shows depends on the grid
 * and its number alone. */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lod.h"
#include "ruler.h"

struct view;

/* Column c covers the positions origin + scale * c on; the picture shows first .. first + width. */
struct column_grid {
    double origin, scale;
    int64_t first;
    int width;
    enum ruler_mode mode;
};

struct column {
    uint64_t group[LOD_GROUPS]; /* at the first moment of the maximum; they sum to max */
    uint64_t max, min, reserved;
    uint32_t arg; /* that moment */
};

/* The grid of a view: the one that is there, when only `first` has to change (true), else a new one.
 * The view moves by less than a column onto it; what is at its ends stays in it. */
bool column_grid_move(struct column_grid *grid, const struct ruler *ruler, const struct view *view,
                      int width);
/* What of the x axis a grid shows; leaves the bytes. */
void column_grid_view(const struct column_grid *grid, struct view *view);
/* The first moments of `count` columns, the picture's `from` and the next ones, and, at [count], the
 * end of the last. */
void column_edges(const struct ruler *ruler, const struct column_grid *grid, int from, int count,
                  uint32_t *edges);
/* One column from the moments first .. end - 1 (equal: the state before `first`). */
void column_read(const struct lod *lod, uint32_t first, uint32_t end, struct column *out);
void column_read_all(const struct lod *lod, const uint32_t *edges, int width, struct column *out);

#endif
