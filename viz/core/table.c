/* table.c: see table.h. */
#include "table.h"

#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "csv_field.h"
#include "input.h"
#include "label.h"
#include "text.h"

struct painter {
    struct app *app;
    struct draw_list *list;
    const struct table_ops *ops;
    const struct table_state *state;
    int x, right, y, row;
    int names, bar_x, bar; /* widths of names and bars; where bars begin */
    int figures;           /* columns with room; the first is the name */
};

static int figures_width(const struct painter *p) {
    int width = 0;
    for (int i = 1; i < p->figures; i++)
        width += app_px(p->app, p->ops->columns[i].width);
    return width;
}

static void draw_cell(const struct painter *p, int column, int y, uint32_t color,
                      const char *text) {
    char shown[TABLE_CELL];
    int right = p->right, room = app_px(p->app, p->ops->columns[column].width - 6);
    if (column >= p->figures)
        return;
    if (app_text_width(p->app, text) > room) {
        font_shorten(p->app->font, text, room, app_size(p->app), false, shown, sizeof shown);
        text = shown;
    }
    for (int i = p->figures - 1; i > column; i--)
        right -= app_px(p->app, p->ops->columns[i].width);
    app_draw_right(p->app, p->list, right, y, color, text);
}

/* Names get what the figures leave; bars the right part of it where it is wide. */
static void divide(struct painter *p) {
    struct app *app = p->app;
    p->figures = p->ops->column_count;
    while (p->figures > 2 && figures_width(p) > (p->right - p->x) * 2 / 3)
        p->figures--;
    p->names = p->right - figures_width(p) - p->x - app_px(app, 20);
    int bar = p->names - app_px(app, 360);
    if ((!p->ops->bar && !p->ops->balance) || bar < app_px(app, 80))
        return;
    p->bar = bar > app_px(app, 560) ? app_px(app, 560) : bar;
    p->names -= p->bar + app_px(app, 12);
    p->bar_x = p->right - figures_width(p) - p->bar;
}

static void draw_head(struct painter *p) {
    struct app *app = p->app;
    const struct theme *theme = app_theme(app);
    const struct table_column *columns = p->ops->columns;
    char buffer[TABLE_CELL], shown[TABLE_CELL];
    const char *title =
        p->ops->title ? p->ops->title(app, buffer) : app_text(app, columns[0].title);
    int y = p->y + (p->row - app_line(app)) / 2;
    font_shorten(app->font, title, p->names + app_px(app, 18), app_size(app), true, shown,
                 sizeof shown);
    draw_text(p->list, p->x + app_px(app, 2), y, app_size(app), true, theme->ink, shown);
    for (int i = 1; i < p->figures; i++) {
        bool sorted = columns[i].sorts && p->state->sort_column == i;
        snprintf(shown, sizeof shown, "%s%s", app_text(app, columns[i].title),
                 !sorted             ? ""
                 : p->state->falling ? " v"
                                     : " ^");
        draw_cell(p, i, y, sorted ? theme->ink : theme->faint, shown);
    }
    p->y += p->row;
    draw_rect(p->list, p->x, p->y - 1, p->right - p->x, 1, theme->line);
}

/* The parts side by side, as long as their sum's share of the whole; a single one has the row's colour. */
static void draw_bar(const struct painter *p, size_t row) {
    uint64_t parts[TABLE_BAR] = {0}, whole = 0;
    if (p->bar <= 0)
        return;
    p->ops->bar(p->app, row, parts, &whole);
    int height = app_px(p->app, 9), top = p->y + (p->row - height) / 2;
    double sum = 0;
    int from = 0, some = 0;
    for (int i = 0; i < TABLE_BAR; i++)
        some += parts[i] > 0;
    uint32_t only = some == 1 && p->ops->swatch ? p->ops->swatch(p->app, row) : 0;
    for (int i = 0; i < TABLE_BAR && whole > 0; i++) {
        if (parts[i] == 0)
            continue;
        sum += (double)parts[i];
        int to = (int)(sum / (double)whole * p->bar + 0.5);
        to = to > p->bar ? p->bar : to > from ? to : from + 1;
        draw_rect(p->list, p->bar_x + from, top, to - from, height,
                  only ? only : app_band(p->app, (enum category)i).color);
        from = to;
    }
}

/* From the middle: to the right what there is more of, to the left what there is less of. */
static void draw_balance(const struct painter *p, size_t row) {
    uint64_t size = 0, whole = 0;
    bool more = false;
    if (p->bar <= 0)
        return;
    p->ops->balance(p->app, row, &size, &more, &whole);
    const struct theme *theme = app_theme(p->app);
    int height = app_px(p->app, 9), top = p->y + (p->row - height) / 2, half = p->bar / 2;
    int length = whole > 0 ? (int)((double)size / (double)whole * half + 0.5) : 0;
    length = length > half ? half : length > 0 || size == 0 ? length : 1;
    int middle = p->bar_x + half;
    draw_rect(p->list, more ? middle : middle - length, top, length, height,
              more ? theme->more : theme->less);
    draw_rect(p->list, middle, p->y, 1, p->row, theme->line);
}

static void draw_swatch(const struct painter *p, size_t row, int x) {
    uint32_t color = p->ops->swatch ? p->ops->swatch(p->app, row) : 0;
    int size = app_px(p->app, 11);
    if (color != 0)
        draw_rect(p->list, x, p->y + (p->row - size) / 2, size, size, color);
}

static void draw_row(struct painter *p, size_t row) {
    struct app *app = p->app;
    const struct theme *theme = app_theme(app);
    char buffer[TABLE_CELL], shown[TABLE_CELL];
    bool real = row != TABLE_REST;
    int in = real && p->ops->indent ? app_px(app, 14) * p->ops->indent(app, row) : 0;
    int y = p->y + (p->row - app_line(app)) / 2, x = p->x + app_px(app, 2) + in;
    bool selected = real && p->state->has_selected && p->state->selected == row;
    if (selected || (real && p->ops->marked && p->ops->marked(app, row)))
        draw_rect(p->list, p->x, p->y, p->right - p->x, p->row, theme->raised);
    if (selected)
        draw_rect(p->list, p->x - app_px(app, 4), p->y, app_px(app, 2), p->row, theme->accent);
    if (real)
        draw_swatch(p, row, x);
    if (p->ops->bar)
        draw_bar(p, row);
    else if (p->ops->balance)
        draw_balance(p, row);
    uint32_t ink = real && p->ops->dim && p->ops->dim(app, row) ? theme->faint : theme->ink;
    font_shorten(app->font, p->ops->cell(app, row, 0, false, buffer), p->names - in, app_size(app),
                 false, shown, sizeof shown);
    app_draw_text(app, p->list, x + app_px(app, 18), y, ink, shown);
    for (int i = 1; i < p->figures; i++) {
        const char *text = p->ops->cell(app, row, i, false, buffer);
        draw_cell(p, i, y, strcmp(text, "-") == 0 ? theme->faint : ink, text);
    }
    p->y += p->row;
}

/* The first row of `shown` that keeps the last page full. */
static size_t first_row(size_t scroll, size_t count, size_t shown) {
    size_t most = count > shown ? count - shown : 0;
    return scroll > most ? most : scroll;
}

static void draw_rows(struct painter *p, int bottom, struct table_state *state) {
    int fit = (bottom - p->y) / p->row;
    size_t count = p->ops->count(p->app), shown = fit > 0 ? (size_t)fit : 0;
    bool rest = count > shown && p->ops->rest && shown > 0;
    if (rest)
        shown--; /* a row for the others */
    state->shown = (int)shown;
    size_t first = first_row(state->scroll, count, shown);
    for (size_t i = first; i < count && i < first + shown; i++)
        draw_row(p, i);
    if (rest && p->ops->rest(p->app, first, first + shown) > 0)
        draw_row(p, TABLE_REST);
}

const char *table_rest_name(struct app *app, size_t rows, char out[TABLE_CELL]) {
    char figure[LABEL_BYTES];
    snprintf(out, TABLE_CELL, "%.80s (%s)", app_text(app, TEXT_OTHERS), label_count(rows, figure));
    return out;
}

void table_draw(struct app *app, struct draw_list *list, const struct rect *place,
                const struct table_ops *ops, struct table_state *state) {
    struct painter p = {.app = app,
                        .list = list,
                        .ops = ops,
                        .state = state,
                        .x = place->x + app_px(app, 14),
                        .right = place->x + place->w - app_px(app, 14),
                        .y = place->y + app_px(app, 6),
                        .row = app_line(app) + app_px(app, 3)};
    state->head = p.y + p.row - place->y;
    state->row = p.row;
    divide(&p);
    draw_clip(list, place->x, place->y, place->w, place->h);
    bool read = ops->read(app);
    draw_head(&p);
    if (read)
        draw_rows(&p, place->y + place->h - app_px(app, 4), state);
    else
        app_draw_text(app, list, p.x, p.y, app_theme(app)->warn, app_text(app, TEXT_WORKING));
    draw_unclip(list);
}

/* The row at `y`; TABLE_NO_ROW: the head, the rest, below. */
static size_t row_at(struct app *app, int y, const struct rect *place, const struct table_ops *ops,
                     const struct table_state *state) {
    int below = y - place->y - state->head;
    if (below < 0 || state->row <= 0 || below / state->row >= state->shown)
        return TABLE_NO_ROW;
    size_t count = ops->count(app);
    size_t row =
        first_row(state->scroll, count, (size_t)state->shown) + (size_t)(below / state->row);
    return row < count ? row : TABLE_NO_ROW;
}

static struct painter geometry_of(struct app *app, const struct rect *place,
                                  const struct table_ops *ops) {
    struct painter p = {.app = app,
                        .ops = ops,
                        .x = place->x + app_px(app, 14),
                        .right = place->x + place->w - app_px(app, 14)};
    divide(&p);
    return p;
}

bool table_cell_place(struct app *app, const struct rect *place, const struct table_ops *ops,
                      int column, struct rect *out) {
    struct painter p = geometry_of(app, place, ops);
    int right = p.right;
    for (int i = p.figures - 1; i > column; i--)
        right -= app_px(app, ops->columns[i].width);
    int width = app_px(app, ops->columns[column].width);
    *out = (struct rect){right - width, place->y, width, place->h};
    return column > 0 && column < p.figures;
}

static int column_at(struct app *app, int x, const struct rect *place,
                     const struct table_ops *ops) {
    struct painter p = geometry_of(app, place, ops);
    int right = p.right;
    for (int i = p.figures - 1; i > 0; i--) {
        right -= app_px(app, ops->columns[i].width);
        if (x >= right)
            return i;
    }
    return 0;
}

size_t table_first(const struct table_state *state, size_t count) {
    return first_row(state->scroll, count, (size_t)(state->shown > 0 ? state->shown : 0));
}

size_t table_row_at(struct app *app, int x, int y, const struct rect *place,
                    const struct table_ops *ops, const struct table_state *state) {
    return rect_has(place, x, y) && ops->read(app) ? row_at(app, y, place, ops, state)
                                                   : TABLE_NO_ROW;
}

/* A figure falls at first, and rises when asked again; the name column: the pane's own order. */
void table_sort_by(struct app *app, const struct table_ops *ops, struct table_state *state,
                   int column) {
    if (!ops->sort || (column > 0 && !ops->columns[column].sorts))
        return;
    state->falling = column > 0 && (state->sort_column != column || !state->falling);
    state->sort_column = column;
    state->scroll = 0;
    state->has_selected = false;
    ops->sort(app, column, state->falling);
}

bool table_input(struct app *app, const struct input *in, const struct rect *place,
                 const struct table_ops *ops, struct table_state *state) {
    if (in->kind == INPUT_WHEEL) {
        size_t count = ops->count(app), shown = (size_t)state->shown;
        size_t first = first_row(state->scroll, count, shown);
        size_t by = in->wheel < -1 ? 3 : in->wheel > 1 ? 3 : 1;
        state->scroll =
            in->wheel > 0 ? (first > by ? first - by : 0) : first_row(first + by, count, shown);
        app->dirty = true;
        return true;
    }
    if (!ops->read(app))
        return true;
    size_t row = row_at(app, in->y, place, ops, state);
    if (in->kind == INPUT_MOTION) {
        if (ops->hover)
            ops->hover(app, row);
        return ops->hover != NULL;
    }
    if (in->kind != INPUT_PRESS || in->button != BUTTON_LEFT)
        return false;
    app->dirty = true;
    if (in->y < place->y + state->head) {
        table_sort_by(app, ops, state, column_at(app, in->x, place, ops));
    } else if (row != TABLE_NO_ROW) {
        state->selected = row;
        state->has_selected = true;
        table_choose(app, ops, state);
    }
    return true;
}

void table_move(struct app *app, const struct table_ops *ops, struct table_state *state, int by) {
    if (!ops->read(app))
        return;
    size_t count = ops->count(app), shown = state->shown > 0 ? (size_t)state->shown : 1;
    if (count == 0)
        return;
    size_t at = state->has_selected && state->selected < count
                    ? state->selected
                    : first_row(state->scroll, count, shown);
    if (state->has_selected) {
        size_t size = by < 0 ? (size_t)-by : (size_t)by;
        at = by < 0 ? (at > size ? at - size : 0) : size < count - at ? at + size : count - 1;
    }
    state->selected = at;
    state->has_selected = true;
    size_t first = first_row(state->scroll, count, shown);
    if (state->shown > 0) /* else nothing was drawn yet */
        state->scroll = at < first ? at : at >= first + shown ? at - shown + 1 : first;
    app->dirty = true;
}

void table_sort_next(struct app *app, const struct table_ops *ops, struct table_state *state) {
    int column = state->sort_column + 1;
    while (column < ops->column_count && !ops->columns[column].sorts)
        column++;
    if (!ops->read(app))
        return;
    state->sort_column = -1; /* a new one: falls */
    table_sort_by(app, ops, state, column < ops->column_count ? column : 0);
}

void table_sort_reverse(struct app *app, const struct table_ops *ops, struct table_state *state) {
    if (state->sort_column > 0 && ops->read(app))
        table_sort_by(app, ops, state, state->sort_column);
}

void table_choose(struct app *app, const struct table_ops *ops, struct table_state *state) {
    if (ops->choose && state->has_selected && ops->read(app) && state->selected < ops->count(app))
        ops->choose(app, state->selected);
}

static void write_cell(struct text *out, const char *cell, bool csv) {
    if (csv) {
        csv_field(out, cell);
        return;
    }
    for (const char *c = cell; *c; c++) /* a tab would be another column */
        text_format(out, "%c", *c == '\t' || *c == '\n' ? ' ' : *c);
}

static void write_table(struct app *app, const struct table_ops *ops, bool csv, struct text *out) {
    char buffer[TABLE_CELL];
    if (!ops->read(app))
        return;
    for (size_t row = TABLE_NO_ROW; row == TABLE_NO_ROW || row < ops->count(app); row++) {
        for (int i = 0; i < ops->column_count; i++) {
            const char *cell = row != TABLE_NO_ROW    ? ops->cell(app, row, i, true, buffer)
                               : i == 0 && ops->title ? ops->title(app, buffer)
                                                      : app_text(app, ops->columns[i].title);
            if (i > 0)
                text_add(out, csv ? "," : "\t");
            write_cell(out, cell, csv);
        }
        text_add(out, csv ? "\r\n" : "\n");
    }
}

void table_copy(struct app *app, const struct table_ops *ops, struct text *out) {
    write_table(app, ops, false, out);
}

void table_csv(struct app *app, const struct table_ops *ops, struct text *out) {
    write_table(app, ops, true, out);
}
