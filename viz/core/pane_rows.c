/* pane_rows.c: with more than two files, each as a small row on the axes of the first: what is
 * allocated, its peak. A click makes one the second, with Shift the first. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "error.h"
#include "file.h"
#include "input.h"
#include "label.h"
#include "pane.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.rows;
}

static size_t count(const struct app *app) {
    return app->rows ? app->rows->rows.count : 0;
}

static struct rect row_rect(const struct app *app, size_t row) {
    const struct rect *r = place(app);
    int top = r->y + (int)row * r->h / (int)count(app);
    int bottom = r->y + (int)(row + 1) * r->h / (int)count(app);
    return (struct rect){app->layout.plot.x, top, app->layout.plot.w,
                         bottom - top - app_px(app, 2)};
}

/* One scale for all: the rows compare. */
static int height_of(const struct app *app, const struct rect *r, uint64_t bytes) {
    double top = app->rows->top > 0 ? (double)app->rows->top : 1;
    return (int)((double)bytes / top * (r->h - app_px(app, 2)) + 0.5);
}

static void draw_curve(struct app *app, struct draw_list *list, size_t row, const struct rect *r,
                       uint32_t fill, uint32_t line) {
    const uint32_t *edges = app->plot.edges.at;
    struct band_style style = {fill, PATTERN_NONE, line};
    int32_t *bands = draw_bands(list, r->x, r->y, r->w, r->h, 1, &style, 0, 0);
    if (!bands)
        return;
    for (int i = 0; i < r->w; i++) {
        uint64_t max = track_rows_max(app->rows, row, edges[i], edges[i + 1]);
        bands[2 * (size_t)i] = r->y + r->h;
        bands[2 * (size_t)i + 1] = r->y + r->h - height_of(app, r, max);
    }
}

static void draw_peak(struct app *app, struct draw_list *list, size_t row, const struct rect *r) {
    struct ruler ruler = app_ruler(app);
    double position = ruler_position(&ruler, track_rows_peak(app->rows, row));
    int x = view_x(&app->view, position, r->w), size = app_px(app, 3);
    int y = r->y + r->h - height_of(app, r, app->rows->rows.at[row].lod.peak.max);
    for (int i = 0; i < size && x >= 0 && x < r->w; i++)
        draw_rect(list, r->x + x - (size - 1 - i), y - size + i, 2 * (size - i) - 1, 1,
                  app_theme(app)->warn);
}

/* "1  rank0.pickle" at the left, its peak at the right, each on a ground of its own. */
static void draw_words(struct app *app, struct draw_list *list, size_t row, const struct rect *r) {
    const struct theme *theme = app_theme(app);
    const struct track_row *t = &app->rows->rows.at[row];
    char text[200], shown[200], figure[LABEL_BYTES];
    bool first = row == app->rows->first, second = row == app->rows->second;
    int size = app_small(app), pad = app_px(app, 4), line = font_line(app->font, size);
    snprintf(text, sizeof text, "%s%.160s",
             first    ? "1  "
             : second ? "2  "
                      : "",
             file_base(timeline_text(t->tl, t->tl->title)));
    font_shorten(app->font, text, r->w / 2, size, first || second, shown, sizeof shown);
    int w = font_width(app->font, shown, strlen(shown), size, first || second);
    draw_rect(list, r->x, r->y, w + 2 * pad, line, (theme->plot & 0xffffff) | 0xc0000000);
    draw_text(list, r->x + pad, r->y, size, first || second,
              first || second ? theme->ink : theme->faint, shown);
    snprintf(text, sizeof text, "%.60s %s", app_text(app, TEXT_PEAK),
             label_bytes(t->lod.peak.max, figure));
    w = font_width(app->font, text, strlen(text), size, false);
    draw_rect(list, r->x + r->w - w - 2 * pad, r->y, w + 2 * pad, line,
              (theme->plot & 0xffffff) | 0xc0000000);
    draw_text(list, r->x + r->w - w - pad, r->y, size, false, theme->ink, text);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct theme *theme = app_theme(app);
    if (!app_read_plot(app, &app->plot, &app->view, app->layout.plot.w)) {
        list->failed = true;
        return;
    }
    for (size_t i = 0; i < count(app); i++) {
        struct rect r = row_rect(app, i);
        bool chosen = i == app->rows->first || i == app->rows->second;
        draw_rect(list, r.x, r.y, r.w, r.h, theme->plot);
        draw_clip(list, r.x, r.y, r.w, r.h);
        draw_curve(app, list, i, &r, chosen ? theme->less : theme->phase[1], theme->ink);
        draw_peak(app, list, i, &r);
        if (r.h >= font_line(app->font, app_small(app)))
            draw_words(app, list, i, &r);
        draw_unclip(list);
        if (chosen)
            draw_rect(list, r.x - app_px(app, 4), r.y, app_px(app, 2), r.h, theme->accent);
    }
    int x = app_cursor_x(app);
    if (x >= app->layout.plot.x && x < app->layout.plot.x + app->layout.plot.w && !app->picture)
        draw_rect(list, x, place(app)->y, app_px(app, 1), place(app)->h, theme->accent);
}

static bool input(struct app *app, const struct input *in) {
    if (in->kind != INPUT_PRESS || in->button != BUTTON_LEFT)
        return false;
    for (size_t i = 0; i < count(app); i++) {
        struct rect r = row_rect(app, i);
        if (in->y < r.y || in->y >= r.y + r.h)
            continue;
        if (in->mods & MOD_SHIFT)
            app_choose_rows(app, i, app->rows->second);
        else if (i != app->rows->first)
            app_choose_rows(app, app->rows->first, i);
    }
    return true;
}

const struct pane_ops pane_rows = {
    .name = "rows",
    .doc = "each of more than two files, small, on the first one's axes",
    .place = place,
    .draw = draw,
    .input = input};
