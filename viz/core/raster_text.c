/* raster_text.c: glyph coverage onto a canvas. */
#include "draw.h"
#include "font.h"
#include "raster.h"
#include "utf8.h"

static void paint_glyph(struct canvas *canvas, const struct glyph *glyph, int left, int top,
                        uint32_t color) {
    int x0 = left < canvas->x0 ? canvas->x0 : left;
    int x1 = left + glyph->width > canvas->x1 ? canvas->x1 : left + glyph->width;
    int y0 = top < canvas->y0 ? canvas->y0 : top;
    int y1 = top + glyph->height > canvas->y1 ? canvas->y1 : top + glyph->height;
    uint32_t alpha = color >> 24;
    for (int y = y0; y < y1; y++) {
        const uint8_t *from = glyph->coverage + (size_t)(y - top) * (size_t)glyph->width;
        uint32_t *row = canvas->pixels + (size_t)y * canvas->pitch;
        for (int x = x0; x < x1; x++) {
            uint32_t coverage = from[x - left];
            if (coverage != 0)
                row[x] = raster_blend(row[x], color, coverage * alpha / 255);
        }
    }
}

void raster_text(struct canvas *canvas, const struct draw_list *list, const struct draw_command *c,
                 struct font *font) {
    const char *at = list->chars.at + c->data, *end = at + c->length;
    int pen = c->x;
    while (at < end && pen < canvas->x1) {
        const struct glyph *glyph = font_glyph(font, utf8_next(&at, end), c->size, c->bold);
        if (glyph->coverage)
            paint_glyph(canvas, glyph, pen + glyph->left, c->y + glyph->top, c->color);
        pen += glyph->advance;
    }
}
