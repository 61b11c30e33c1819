/* pane_owners.c: who holds the memory at the cursor, the largest first, what has no room as one
 * row: rows sum to the total. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.owners;
}

/* Columns from the right, each as wide as its figures: logical units. */
enum column_id { COLUMN_KEPT, COLUMN_LARGEST, COLUMN_BLOCKS, COLUMN_SHARE, COLUMN_BYTES, COLUMNS };

static const struct {
    enum text_id title;
    int width;
} columns[COLUMNS] = {
    [COLUMN_KEPT] = {TEXT_KEPT, 100},    [COLUMN_LARGEST] = {TEXT_LARGEST, 100},
    [COLUMN_BLOCKS] = {TEXT_BLOCKS, 76}, [COLUMN_SHARE] = {TEXT_SHARE, 76},
    [COLUMN_BYTES] = {TEXT_BYTES, 100},
};

struct table {
    struct app *app;
    struct draw_list *list;
    int x, right, y, row;
    int names, bar_x, bar; /* widths of names and bars; where bars begin */
    unsigned skipped;      /* columns without room: the rightmost go first */
};

static void draw_cell(const struct table *t, unsigned column, int y, uint32_t color,
                      const char *text) {
    int right = t->right;
    if (column < t->skipped)
        return;
    for (unsigned i = t->skipped; i < column; i++)
        right -= app_px(t->app, columns[i].width);
    app_draw_right(t->app, t->list, right, y, color, text);
}

static int figures_width(const struct table *t) {
    int width = 0;
    for (unsigned i = t->skipped; i < COLUMNS; i++)
        width += app_px(t->app, columns[i].width);
    return width;
}

/* Between the names and the figures: the row's categories side by side, as long as its share of the
 * largest row. */
static void draw_bar(const struct table *t, const struct owner_row *row) {
    struct app *app = t->app;
    const struct owners *owners = &app->a.owners;
    uint64_t largest = owners->rows.count > 0 ? owners->rows.at[0].bytes : 0;
    int height = app_px(app, 9), top = t->y + (t->row - height) / 2;
    double sum = 0;
    int from = 0;
    if (t->bar <= 0 || largest == 0)
        return;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        if (row->by_category[i] == 0)
            continue;
        sum += (double)row->by_category[i];
        int to = (int)(sum / (double)largest * t->bar + 0.5);
        to = to > t->bar ? t->bar : to > from ? to : from + 1;
        draw_rect(t->list, t->bar_x + from, top, to - from, height,
                  theme_band((enum category)i).color);
        from = to;
    }
}

static void draw_figures(const struct table *t, const struct owner_row *row, uint64_t total) {
    char text[LABEL_BYTES];
    int y = t->y + (t->row - app_line(t->app)) / 2;
    uint32_t ink = app_theme(t->app)->ink, faint = app_theme(t->app)->faint;
    draw_cell(t, COLUMN_BYTES, y, ink, label_bytes(row->bytes, text));
    draw_cell(t, COLUMN_SHARE, y, ink, label_share(row->bytes, total, text));
    draw_cell(t, COLUMN_BLOCKS, y, ink, label_count(row->count, text));
    draw_cell(t, COLUMN_LARGEST, y, ink, label_bytes(row->largest, text));
    draw_cell(t, COLUMN_KEPT, y, row->kept_bytes ? ink : faint,
              row->kept_bytes ? label_share(row->kept_bytes, row->bytes, text) : "-");
}

static void draw_row(struct table *t, const struct owner_row *row, const char *name, int swatch) {
    struct app *app = t->app;
    char shown[300];
    int left = t->x + app_px(app, 20), y = t->y + (t->row - app_line(app)) / 2;
    if (swatch < CATEGORY_COUNT) {
        int size = app_px(app, 11), top = t->y + (t->row - size) / 2;
        draw_rect(t->list, t->x + app_px(app, 2), top, size, size,
                  theme_band((enum category)swatch).color);
    }
    draw_bar(t, row);
    font_shorten(app->font, name, t->names, app_size(app), false, shown, sizeof shown);
    app_draw_text(app, t->list, left, y, app_theme(app)->ink, shown);
    draw_figures(t, row, app->a.owners.total_bytes);
    t->y += t->row;
}

/* Names get what the figures leave; bars the right part of it where it is wide. */
static void divide(struct table *t) {
    struct app *app = t->app;
    while (t->skipped < COLUMNS - 1 && figures_width(t) > (t->right - t->x) * 2 / 3)
        t->skipped++;
    t->names = t->right - figures_width(t) - t->x - app_px(app, 20);
    int bar = t->names - app_px(app, 360);
    if (bar < app_px(app, 80))
        return;
    t->bar = bar > app_px(app, 560) ? app_px(app, 560) : bar;
    t->names -= t->bar + app_px(app, 12);
    t->bar_x = t->right - figures_width(t) - t->bar;
}

static void draw_head(struct table *t) {
    struct app *app = t->app;
    const struct theme *theme = app_theme(app);
    char title[200];
    snprintf(title, sizeof title, "%.60s: %.60s", app_text(app, TEXT_OWNERS),
             app_text(app, owners_title(app->grouping)));
    int y = t->y + (t->row - app_line(app)) / 2;
    draw_text(t->list, t->x + app_px(app, 2), y, app_size(app), true, theme->ink, title);
    for (unsigned i = 0; i < COLUMNS; i++)
        draw_cell(t, i, y, theme->faint, app_text(app, columns[i].title));
    t->y += t->row;
    draw_rect(t->list, t->x, t->y - 1, t->right - t->x, 1, theme->line);
}

/* The rows before and after those that are shown, as one. */
static void draw_others(struct table *t, size_t first, size_t shown) {
    const struct owners *owners = &t->app->a.owners;
    struct owner_row rest = {0};
    size_t count = 0;
    for (size_t i = 0; i < owners->rows.count; i++) {
        const struct owner_row *row = &owners->rows.at[i];
        if (i >= first && i < first + shown)
            continue;
        rest.bytes += row->bytes;
        rest.kept_bytes += row->kept_bytes;
        rest.count += row->count;
        for (int k = 0; k < CATEGORY_COUNT; k++)
            rest.by_category[k] += row->by_category[k];
        rest.largest = row->largest > rest.largest ? row->largest : rest.largest;
        count++;
    }
    if (count == 0)
        return;
    char name[160], figure[LABEL_BYTES];
    snprintf(name, sizeof name, "%.80s (%s)", app_text(t->app, TEXT_OTHERS),
             label_count(count, figure));
    draw_row(t, &rest, name, CATEGORY_COUNT);
}

static void draw_rows(struct table *t, int bottom) {
    struct app *app = t->app;
    const struct owners *owners = &app->a.owners;
    int fit = (bottom - t->y) / t->row;
    size_t count = owners->rows.count;
    size_t shown = fit > 0 ? (size_t)fit : 0;
    if (count > shown)
        shown = shown > 0 ? shown - 1 : 0; /* a row for the others */
    app->owner_rows = (int)shown;
    size_t first = app->owner_scroll;
    first = count > shown && first > count - shown ? count - shown : count <= shown ? 0 : first;
    for (size_t i = first; i < count && i < first + shown; i++) {
        char buffer[256];
        const struct owner_row *row = &owners->rows.at[i];
        draw_row(t, row, owners_name(owners, row, app->language, buffer),
                 (int)owners_category(row));
    }
    if (fit > 0)
        draw_others(t, first, shown);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.owners;
    draw_rect(list, r->x, r->y, r->w, r->h, app_theme(app)->panel);
    draw_rect(list, r->x, r->y, r->w, 1, app_theme(app)->line);
    struct table t = {.app = app,
                      .list = list,
                      .x = r->x + app_px(app, 14),
                      .right = r->x + r->w - app_px(app, 14),
                      .y = r->y + app_px(app, 6),
                      .row = app_line(app) + app_px(app, 3)};
    divide(&t);
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_head(&t);
    if (app_read_owners(app))
        draw_rows(&t, r->y + r->h - app_px(app, 4));
    else
        app_draw_text(app, list, t.x, t.y, app_theme(app)->warn, app_text(app, TEXT_WORKING));
    draw_unclip(list);
}

const struct pane_ops pane_owners = {"owners", "who holds the memory at the cursor", place, draw};
