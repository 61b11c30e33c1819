/* plot_cache.h: the columns of one plot, read anew only where the view has moved. Columns lie on a
 * grid of whole pixels that a pan keeps: what was read (or painted, plot_layer.h) only shifts.
 *
 * Ownership: owns its arrays. Zero bytes are an empty cache. */
#ifndef PLOT_CACHE_H
#define PLOT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "column.h"
#include "ruler.h"
#include "view.h"

struct align;

struct plot_source {
    struct ruler ruler;
    const struct lod *second; /* NULL: none */
    const struct align *align;
};

struct plot_cache {
    struct column_grid grid;       /* width 0: nothing is there */
    uint32_t serial;               /* another grid, not only another part of it: another number */
    ARRAY(uint32_t) edges, mapped; /* of the first, of the second timeline */
    ARRAY(struct column) first, second;
};

void plot_cache_fini(struct plot_cache *cache);
/* Reads the columns of `view`, moved by less than a pixel onto the grid: its x0, x1 are what
 * `cache->grid` tells. False: host memory; the cache is then empty. */
bool plot_cache_read(struct plot_cache *cache, const struct plot_source *source,
                     const struct view *view, int width);
/* The next reading starts from nothing. */
void plot_cache_drop(struct plot_cache *cache);

#endif
