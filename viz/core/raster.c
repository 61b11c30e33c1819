/* raster.c: see raster.h. */
#include "raster.h"

#include "draw.h"
#include "raster_column.h"

enum { CLIPS = 16 };

static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

static void paint_rect(struct canvas *canvas, int x, int y, int w, int h, uint32_t color) {
    int x0 = clamp(x, canvas->x0, canvas->x1), x1 = clamp(x + w, x0, canvas->x1);
    int y0 = clamp(y, canvas->y0, canvas->y1), y1 = clamp(y + h, y0, canvas->y1);
    uint32_t alpha = color >> 24;
    for (int row = y0; row < y1; row++) {
        uint32_t *at = canvas->pixels + (size_t)row * canvas->pitch;
        if (alpha == 255)
            for (int i = x0; i < x1; i++)
                at[i] = color & 0xffffff;
        else
            for (int i = x0; i < x1; i++)
                at[i] = raster_blend(at[i], color, alpha);
    }
}

/* Bresenham; horizontal and vertical ones are rectangles. */
static void paint_line(struct canvas *canvas, const struct draw_command *c) {
    int dx = c->w < 0 ? -c->w : c->w, dy = c->h < 0 ? -c->h : c->h;
    if (dx == 0 || dy == 0) {
        paint_rect(canvas, c->w < 0 ? c->x + c->w : c->x, c->h < 0 ? c->y + c->h : c->y, dx + 1,
                   dy + 1, c->color);
        return;
    }
    int sx = c->w < 0 ? -1 : 1, sy = c->h < 0 ? -1 : 1, error = dx - dy;
    int x = c->x, y = c->y;
    for (int i = 0; i <= (dx > dy ? dx : dy); i++) {
        paint_rect(canvas, x, y, 1, 1, c->color);
        int doubled = 2 * error;
        if (doubled > -dy) {
            error -= dy;
            x += sx;
        }
        if (doubled < dx) {
            error += dx;
            y += sy;
        }
    }
}

/* The column at x of a command's bands or blocks. */
static struct raster_column column_of(const struct canvas *canvas, const struct draw_list *list,
                                      const struct draw_command *c, int x) {
    int low = clamp(c->y + c->h, canvas->y0, canvas->y1);
    return (struct raster_column){.at = canvas->pixels + x,
                                  .pitch = canvas->pitch,
                                  .y0 = clamp(c->y, canvas->y0, low),
                                  .y1 = low,
                                  .pattern_x = x - c->x + c->phase,
                                  .pattern_y = c->y,
                                  .styles = list->styles.at + c->size,
                                  .separator = c->separator};
}

static void paint_bands(struct canvas *canvas, const struct draw_list *list,
                        const struct draw_command *c) {
    int x0 = clamp(c->x, canvas->x0, canvas->x1), x1 = clamp(c->x + c->w, x0, canvas->x1);
    const int32_t *values = list->values.at + c->data;
    for (int x = x0; x < x1; x++) {
        struct raster_column column = column_of(canvas, list, c, x);
        raster_column_bands(&column, values + (size_t)(x - c->x) * ((size_t)c->count + 1),
                            c->count);
    }
}

static void paint_blocks(struct canvas *canvas, const struct draw_list *list,
                         const struct draw_command *c) {
    int x0 = clamp(c->x, canvas->x0, canvas->x1), x1 = clamp(c->x + c->w, x0, canvas->x1);
    for (int x = x0; x < x1; x++) {
        struct raster_column column = column_of(canvas, list, c, x);
        size_t count;
        const struct piece *pieces = draw_blocks_at(list, c, x - c->x, &count);
        for (size_t i = 0; i < count; i++)
            raster_column_piece(&column, &pieces[i]);
    }
}

static void paint_pixels(struct canvas *canvas, const struct draw_command *c) {
    int x0 = clamp(c->x, canvas->x0, canvas->x1), x1 = clamp(c->x + c->w, x0, canvas->x1);
    int y0 = clamp(c->y, canvas->y0, canvas->y1), y1 = clamp(c->y + c->h, y0, canvas->y1);
    for (int y = y0; y < y1 && x1 > x0; y++)
        memcpy(canvas->pixels + (size_t)y * canvas->pitch + x0,
               c->pixels + (size_t)(y - c->y) * c->pitch + (x0 - c->x),
               (size_t)(x1 - x0) * sizeof *canvas->pixels);
}

/* A step line: in each column from the level before to its own, so that jumps are joined. */
static void paint_steps(struct canvas *canvas, const struct draw_list *list,
                        const struct draw_command *c) {
    const int32_t *y = list->values.at + c->data;
    for (int i = 0; i < c->w; i++) {
        if (c->dashed && (c->x + i) % 8 >= 5)
            continue;
        int before = i > 0 ? y[i - 1] : y[i];
        int top = y[i] < before ? y[i] : before, bottom = y[i] < before ? before : y[i];
        paint_rect(canvas, c->x + i, top, 1, bottom - top + c->size, c->color);
    }
}

static void push_clip(struct canvas *canvas, const struct draw_command *c) {
    int x0 = clamp(c->x, canvas->x0, canvas->x1), y0 = clamp(c->y, canvas->y0, canvas->y1);
    canvas->x1 = clamp(c->x + c->w, x0, canvas->x1);
    canvas->y1 = clamp(c->y + c->h, y0, canvas->y1);
    canvas->x0 = x0;
    canvas->y0 = y0;
}

void raster_paint(struct canvas *canvas, const struct draw_list *list, struct font *font) {
    struct canvas clips[CLIPS];
    int depth = 0;
    canvas->x0 = canvas->y0 = 0;
    canvas->x1 = canvas->width;
    canvas->y1 = canvas->height;
    for (size_t i = 0; i < list->commands.count; i++) {
        const struct draw_command *c = &list->commands.at[i];
        switch (c->kind) {
        case DRAW_RECT:
            paint_rect(canvas, c->x, c->y, c->w, c->h, c->color);
            break;
        case DRAW_LINE:
            paint_line(canvas, c);
            break;
        case DRAW_TEXT:
            raster_text(canvas, list, c, font);
            break;
        case DRAW_CLIP:
            assert(depth < CLIPS);
            clips[depth++] = *canvas;
            push_clip(canvas, c);
            break;
        case DRAW_UNCLIP:
            assert(depth > 0);
            *canvas = clips[--depth];
            break;
        case DRAW_BANDS:
            paint_bands(canvas, list, c);
            break;
        case DRAW_BLOCKS:
            paint_blocks(canvas, list, c);
            break;
        case DRAW_PIXELS:
            paint_pixels(canvas, c);
            break;
        case DRAW_STEPS:
            paint_steps(canvas, list, c);
            break;
        }
    }
}
