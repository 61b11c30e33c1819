/* raster_column.h: bands and blocks of one pixel column. */
#ifndef RASTER_COLUMN_H
#define RASTER_COLUMN_H

#include <stddef.h>
#include <stdint.h>

struct band_style;
struct piece;

/* Rows y0 .. y1 - 1 may be painted; `at` is the pixel of row 0 of the canvas, `pitch` further each.
 * Patterns are fixed to (pattern_x, pattern_y). */
struct raster_column {
    uint32_t *at;
    size_t pitch;
    int y0, y1;
    int pattern_x, pattern_y;
    const struct band_style *styles;
    uint32_t separator; /* 0: none */
};

/* Style i from edge i up to edge i + 1. */
void raster_column_bands(const struct raster_column *column, const int32_t *edges, int count);
/* In the style of its group, a shade for each block. */
void raster_column_piece(const struct raster_column *column, const struct piece *piece);

#endif
