/* raster.h: paints a draw list into 32-bit pixels (0x00RRGGBB), in integers only: the same
 * everywhere. */
#ifndef RASTER_H
#define RASTER_H

#include <stddef.h>
#include <stdint.h>

struct draw_command;
struct draw_list;
struct font;

struct canvas {
    uint32_t *pixels;
    int width, height;
    size_t pitch;       /* pixels a row */
    int x0, y0, x1, y1; /* clip: x0 <= x < x1 */
};

/* Paints everything; the list's first command should cover the whole, nothing is cleared before. */
void raster_paint(struct canvas *canvas, const struct draw_list *list, struct font *font);

/* raster_text.c */
void raster_text(struct canvas *canvas, const struct draw_list *list, const struct draw_command *c,
                 struct font *font);

/* `over` with `alpha` of 255 on `under`. */
static inline uint32_t raster_blend(uint32_t under, uint32_t over, uint32_t alpha) {
    uint32_t a = alpha + (alpha >> 7); /* 0 .. 256 */
    uint32_t rb = ((over & 0xff00ff) * a + (under & 0xff00ff) * (256 - a)) >> 8 & 0xff00ff;
    uint32_t g = ((over & 0x00ff00) * a + (under & 0x00ff00) * (256 - a)) >> 8 & 0x00ff00;
    return rb | g;
}

#endif
