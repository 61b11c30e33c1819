/* pane_overview.c: the whole trace in small, what of it is shown, and its peaks. */
#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "plot.h"
#include "plot_matches.h"
#include "tip.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.overview;
}

static void draw_brush(struct app *app, struct draw_list *list, const struct rect *r,
                       const struct view *whole) {
    const struct theme *theme = app_theme(app);
    int x0 = r->x + view_x(whole, app->view.x0, r->w),
        x1 = r->x + view_x(whole, app->view.x1, r->w);
    x1 = x1 > x0 + 2 ? x1 : x0 + 2;
    draw_rect(list, r->x, r->y, x0 - r->x, r->h, theme->shade);
    draw_rect(list, x1, r->y, r->x + r->w - x1, r->h, theme->shade);
    draw_frame(list, x0, r->y, x1 - x0, r->h, theme->faint);
}

static void draw_peaks(struct app *app, struct draw_list *list, const struct rect *r,
                       const struct view *whole) {
    struct ruler ruler = app_ruler(app);
    size_t count = app->a.peaks.count < 5 ? app->a.peaks.count : 5;
    int size = app_px(app, 3);
    for (size_t i = count; i-- > 0;) {
        int x = r->x + view_x(whole, ruler_position(&ruler, app->a.peaks.at[i].moment), r->w);
        for (int row = 0; row < size; row++)
            draw_rect(list, x - (size - row), r->y + row, 2 * (size - row) + 1, 1,
                      i == 0 ? app_theme(app)->warn : app_theme(app)->faint);
    }
}

static void draw(struct app *app, struct draw_list *list) {
    const struct theme *theme = app_theme(app);
    struct rect r = app->layout.overview;
    r.x = app->layout.plot.x;
    r.w = app->layout.plot.w;
    r.h -= app_px(app, 6);
    struct view_limits limits;
    struct view whole;
    app_limits(app, &limits);
    limits.top = (double)track_top(&app->a, false) * 1.1 + 1;
    view_fit_x(&whole, &limits);
    view_fit_y(&whole, &limits);
    draw_rect(list, r.x, r.y, r.w, r.h, theme->plot);
    if (!app_read_plot(app, &app->overview, &whole, r.w)) {
        list->failed = true;
        return;
    }
    struct plot_frame frame = {
        .rect = &r, .view = &whole, .track = &app->a, .columns = app->overview.first.at};
    draw_clip(list, r.x, r.y, r.w, r.h);
    plot_bands(app, list, &frame);
    plot_matches(app, list, &frame);
    if (!app->picture)
        draw_brush(app, list, &r, &whole);
    draw_peaks(app, list, &r, &whole);
    struct ruler ruler = app_ruler(app);
    int x = r.x + view_x(&whole, ruler_position(&ruler, app->cursor), r.w);
    draw_rect(list, x, r.y, app_px(app, 1), r.h, theme->accent);
    draw_unclip(list);
}

static bool tip(struct app *app, int x, int y, struct tip *out) {
    const struct rect *plot = &app->layout.plot;
    struct ruler ruler = app_ruler(app);
    char text[LABEL_BYTES];
    (void)y;
    if (x < plot->x || (size_t)(x - plot->x) >= (size_t)app->overview.grid.width)
        return false;
    const struct column *column = &app->overview.first.at[x - plot->x];
    tip_add(out, "%.100s  %s", app_text(app, TEXT_ALLOCATED), label_bytes_exact(column->max, text));
    if (ruler.mode == RULER_TIME)
        tip_add(out, "%s", label_time((uint64_t)ruler_position(&ruler, column->arg), text));
    else if (column->arg > 0)
        tip_add(out, "%.60s %s", app_text(app, TEXT_EVENT), label_count(column->arg - 1, text));
    return true;
}

const struct pane_ops pane_overview = {.name = "overview",
                                       .doc = "the whole trace, the visible part, peaks",
                                       .place = place,
                                       .draw = draw,
                                       .tip = tip};
