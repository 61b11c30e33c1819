/* plates.c: see plates.h. */
#include "plates.h"

#include <string.h>

#include "app_state.h"

static bool overlaps(const struct rect *a, const struct rect *b) {
    return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h;
}

static bool is_inside(const struct rect *r, const struct rect *bounds) {
    return r->x >= bounds->x && r->y >= bounds->y && r->x + r->w <= bounds->x + bounds->w &&
           r->y + r->h <= bounds->y + bounds->h;
}

static bool is_clear(const struct plates *plates, const struct rect *r) {
    for (int i = 0; i < plates->count; i++)
        if (overlaps(r, &plates->kept[i]))
            return false;
    return true;
}

static int clamp(int value, int low, int high) {
    return value > high ? (high > low ? high : low) : value < low ? low : value;
}

/* At most `far` pixels up or down of the height it is wanted at. */
static bool find_room_near(const struct plates *plates, int far, struct rect *r) {
    const struct rect wanted = *r;
    const int columns[] = {wanted.x, wanted.x - wanted.w, wanted.x + wanted.w,
                           wanted.x - 2 * wanted.w, wanted.x + 2 * wanted.w};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        for (int away = 0; away <= 2 * far; away++) {
            r->x = columns[c];
            r->y = wanted.y + (away % 2 ? -(away + 1) / 2 : away / 2);
            if (is_inside(r, plates->bounds) && is_clear(plates, r))
                return true;
        }
    *r = wanted;
    return false;
}

/* Beside the wanted place before far above or below it. */
static bool find_room(const struct plates *plates, struct rect *r) {
    return is_clear(plates, r) || find_room_near(plates, r->h * 3 / 2, r) ||
           find_room_near(plates, plates->bounds->h, r);
}

void plates_keep(struct plates *plates, struct rect rect) {
    if (plates->count < PLATES_MAX)
        plates->kept[plates->count++] = rect;
}

void plates_draw(struct app *app, struct draw_list *list, struct plates *plates, int x, int y,
                 uint32_t color, bool bold, const char *text) {
    const struct rect *b = plates->bounds;
    int size = app_small(app), pad = app_px(app, 4);
    struct rect r = {.w = font_width(app->font, text, strlen(text), size, bold) + 2 * pad,
                     .h = font_line(app->font, size) + 2};
    r.x = clamp(x, b->x, b->x + b->w - r.w);
    r.y = clamp(y, b->y, b->y + b->h - r.h);
    if (plates->count == PLATES_MAX || !find_room(plates, &r))
        return;
    plates_keep(plates, r);
    draw_rect(list, r.x, r.y, r.w, r.h, (app_theme(app)->plot & 0xffffff) | 0xd8000000);
    draw_text(list, r.x + pad, r.y + 1, size, bold, color, text);
}
