/* pane_tooltip.c: what is under the pointer, at once, above all panes; flips at the window's edges and
 * takes no input. What is told is the pane's (pane_ops.tip). */
#include <string.h>

#include "app_state.h"
#include "pane.h"
#include "tip.h"

static const struct pane_ops *told(const struct app *app) {
    bool dragged = app->drag != DRAG_NONE && app->drag != DRAG_SCRUB;
    if (app->picture || app->help || dragged)
        return NULL;
    const struct pane_ops *pane = panes_at(app, app->pointer_x, app->pointer_y);
    return pane && pane->tip ? pane : NULL;
}

static const struct rect *place(const struct app *app) {
    static const struct rect nowhere = {0, 0, 0, 0};
    const struct pane_ops *pane = told(app);
    return pane ? pane->place(app) : &nowhere;
}

static int width_of(struct app *app, const char *text, bool bold) {
    return font_width(app->font, text, strlen(text), app_small(app), bold);
}

/* Beside the pointer, on the side where there is room; in small windows as far inside as can be. */
static int beside(int at, int gap, int size, int end) {
    int place = at + gap + size <= end ? at + gap : at - gap - size;
    place = place + size > end ? end - size : place;
    return place < 0 ? 0 : place;
}

static void draw_lines(struct app *app, struct draw_list *list, struct tip *tip) {
    const struct theme *theme = app_theme(app);
    int pad = app_px(app, 7), line = font_line(app->font, app_small(app)), w = 0;
    int swatch = tip->swatch ? app_px(app, 15) : 0, most = app->width - 2 * pad - swatch;
    most = most > app_px(app, 460) ? app_px(app, 460) : most;
    for (int i = 0; i < tip->count; i++) {
        char shown[TIP_BYTES];
        font_shorten(app->font, tip->lines[i], most, app_small(app), i == 0, shown, sizeof shown);
        memcpy(tip->lines[i], shown, sizeof shown);
        int width = width_of(app, tip->lines[i], i == 0) + (i == 0 ? swatch : 0);
        w = width > w ? width : w;
    }
    w += 2 * pad;
    int h = tip->count * line + 2 * pad;
    int x = beside(app->pointer_x, app_px(app, 14), w, app->width);
    int y = app->pointer_y - h - pad;
    y = y < 0 ? beside(app->pointer_y, app_px(app, 14), h, app->height) : y;
    draw_rect(list, x, y, w, h, theme->raised);
    draw_frame(list, x, y, w, h, theme->faint);
    if (tip->swatch)
        draw_rect(list, x + pad, y + pad + (line - app_px(app, 10)) / 2, app_px(app, 10),
                  app_px(app, 10), tip->swatch);
    for (int i = 0; i < tip->count; i++)
        draw_text(list, x + pad + (i == 0 ? swatch : 0), y + pad + i * line, app_small(app), i == 0,
                  theme->ink, tip->lines[i]);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct pane_ops *pane = told(app);
    struct tip tip = {.count = 0};
    if (pane && pane->tip(app, app->pointer_x, app->pointer_y, &tip) && tip.count > 0)
        draw_lines(app, list, &tip);
}

const struct pane_ops pane_tooltip = {.name = "tooltip",
                                      .doc = "what is under the pointer",
                                      .place = place,
                                      .draw = draw,
                                      .above = true};
