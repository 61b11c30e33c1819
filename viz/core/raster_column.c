/* raster_column.c: see raster_column.h. */
#include "raster_column.h"

#include "piece.h"
#include "raster.h"
#include "theme.h"

enum { THICK = 3 }; /* rows from which a band has a separator: it takes one */

static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

/* Is the pattern's ink here? */
static int pattern_at(enum pattern pattern, int x, int y) {
    switch (pattern) {
    case PATTERN_NONE:
        return 0;
    case PATTERN_DIAGONALS:
        return ((x + y) & 7) < 2;
    case PATTERN_DOTS:
        return (x & 3) == 0 && (y & 3) == ((x & 4) ? 0 : 2);
    case PATTERN_HATCH:
        return ((x + y) & 7) == 0 || ((x - y) & 7) == 0;
    case PATTERN_BACKSLASHES:
        return ((x - y) & 7) < 2;
    }
    return 0;
}

static void paint_run(const struct raster_column *c, int y0, int y1, enum pattern pattern,
                      uint32_t color, uint32_t on) {
    uint32_t *at = c->at + (size_t)y0 * c->pitch;
    if (pattern != PATTERN_NONE && color >> 24 == 0) { /* what is below shows through */
        for (int y = y0; y < y1; y++, at += c->pitch)
            if (pattern_at(pattern, c->pattern_x, y - c->pattern_y))
                *at = raster_blend(*at, on, 110);
        return;
    }
    color &= 0xffffff;
    if (pattern == PATTERN_NONE) {
        for (int y = y0; y < y1; y++, at += c->pitch)
            *at = color;
        return;
    }
    uint32_t ink = raster_blend(color, on, 110);
    for (int y = y0; y < y1; y++, at += c->pitch)
        *at = pattern_at(pattern, c->pattern_x, y - c->pattern_y) ? ink : color;
}

static void separate(const struct raster_column *c, int y, uint32_t alpha) {
    uint32_t *at = c->at + (size_t)y * c->pitch;
    *at = raster_blend(*at, c->separator, alpha);
}

void raster_column_bands(const struct raster_column *c, const int32_t *edges, int count) {
    for (int i = 0; i < count; i++) {
        int bottom = clamp(edges[i], c->y0, c->y1), top = clamp(edges[i + 1], c->y0, bottom);
        if (top >= bottom)
            continue;
        paint_run(c, top, bottom, c->styles[i].pattern, c->styles[i].color, c->styles[i].on);
        if (c->separator && bottom - top >= THICK && top == edges[i + 1])
            separate(c, top, c->separator >> 24);
    }
}

/* The upper edge of a group is its own separator's, which is there already. */
void raster_column_piece(const struct raster_column *c, const struct piece *piece) {
    int bottom = clamp(piece->bottom, c->y0, c->y1), top = clamp(piece->top, c->y0, bottom);
    bool thick = c->separator && bottom - top >= THICK && top == piece->top;
    const struct band_style *style = &c->styles[piece->group];
    paint_run(c, thick && piece->ends ? top + 1 : top, bottom, style->pattern,
              theme_shade(style->color, piece->block), style->on);
    if (thick && !piece->ends)
        separate(c, top, (c->separator >> 24) / 2);
}
