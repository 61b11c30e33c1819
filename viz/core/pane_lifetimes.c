/* pane_lifetimes.c: the blocks that are there at the cursor, or in the range, a bar each from
 * allocation to free, on the timeline's axis.
 *
 *   |   size | title                                  | lifetime   start |   a click sorts
 *   | 16 MiB |        [====== owner  op ==]           |  1.2 ms   0.3 ms |
 *
 * Left of the plot its byte labels end: the sizes stand there; right of it, where the legend is, the
 * figures. Only the rows that are seen are drawn. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "label.h"
#include "pane.h"
#include "timeline.h"

enum column_id { NAME, SIZE, LENGTH, START, CATEGORY, BLOCK, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {TEXT_TAB_LIFETIMES, 0, false},  [SIZE] = {TEXT_BYTES, 100, true},
    [LENGTH] = {TEXT_LIFETIME, 100, true},    [START] = {TEXT_START, 100, true},
    [CATEGORY] = {TEXT_CATEGORY, 100, false}, [BLOCK] = {TEXT_BLOCKS, 100, false},
};

static const struct rect *place(const struct app *app) {
    return panes_tab_place(app, &pane_lifetimes);
}

static struct table_state *state_of(struct app *app) {
    return &app->tables[panes_tab_index(&pane_lifetimes)];
}

static void sort(struct app *app, int column, bool falling) {
    static const enum block_lives_order orders[COLUMNS] = {
        [LENGTH] = LIVES_BY_LENGTH, [START] = LIVES_BY_START};
    struct ruler ruler = app_ruler(app);
    block_lives_sort(&app->lifetimes.list, &ruler, orders[column], column == NAME || falling);
}

static bool read(struct app *app) {
    struct lifetimes_view *view = &app->lifetimes;
    struct app_lifetimes_key key = {app->cursor, app->cursor, app_ruler(app).mode};
    if (selection_has_range(&app->selection)) {
        key.first = app->selection.first;
        key.last = app->selection.end;
    }
    bool waits = app->drag == DRAG_RANGE && view->valid;
    if (view->valid && (waits || memcmp(&view->key, &key, sizeof key) == 0))
        return true;
    view->valid = block_lives_read(&view->list, &app->a, key.first, key.last);
    view->key = key;
    const struct table_state *state = state_of(app);
    sort(app, state->sort_column, state->falling);
    return view->valid;
}

static size_t count(struct app *app) {
    return app->lifetimes.list.rows.count;
}

static const struct block_life *row_of(const struct app *app, size_t row) {
    return &app->lifetimes.list.rows.at[row];
}

static const struct timeline_block *block_of(const struct app *app, size_t row) {
    return &app->a.tl->blocks.at[row_of(app, row)->block];
}

static enum category category_of(const struct app *app, size_t row) {
    uint8_t category = block_of(app, row)->category;
    return category < CATEGORY_COUNT ? (enum category)category : CATEGORY_UNKNOWN;
}

static struct band_style style_of(const struct app *app, size_t row) {
    return app_band_style(app, app_block_band(app, row_of(app, row)->block));
}

/* "model.layers.3.mlp.up_proj  aten::mm" */
static const char *name_of(const struct app *app, size_t row, char out[TABLE_CELL]) {
    const struct timeline *tl = app->a.tl;
    const struct timeline_block *b = block_of(app, row);
    const char *owner = timeline_text(tl, b->owner), *name = timeline_text(tl, b->name);
    const char *op = timeline_text(tl, b->op);
    snprintf(out, TABLE_CELL, "%.140s%s%.60s%s%.80s", owner, *owner && *name ? "." : "", name,
             (*owner || *name) && *op ? "  " : "", op);
    return *out ? out : app_text(app, TEXT_UNKNOWN);
}

/* A length on the axis: time, or events. */
static const char *length_text(const struct app *app, double length, bool exact, char *out) {
    uint64_t value = length > 0 ? (uint64_t)length : 0;
    if (exact)
        snprintf(out, LABEL_BYTES, "%llu", (unsigned long long)value);
    else if (app_ruler(app).mode == RULER_TIME)
        label_time(value, out);
    else
        label_count(value, out);
    return out;
}

static const char *length_of(const struct app *app, size_t row, bool exact, char *out) {
    const struct ruler ruler = app_ruler(app);
    const struct block_life *r = row_of(app, row);
    if (r->end == app->a.lod.moments && !exact)
        return app_text(app, TEXT_NEVER_FREED);
    return length_text(app, block_lives_length(&ruler, r), exact, out);
}

static const char *start_of(const struct app *app, size_t row, bool exact, char *out) {
    const struct ruler ruler = app_ruler(app);
    const struct block_life *r = row_of(app, row);
    if (block_of(app, row)->alloc_event == TIMELINE_NONE && !exact)
        return app_text(app, TEXT_BEFORE_START);
    return length_text(app, ruler_position(&ruler, r->first), exact, out);
}

static const char *cell(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]) {
    switch (column) {
    case NAME:
        return name_of(app, row, out);
    case SIZE:
        if (!exact)
            return label_bytes(row_of(app, row)->bytes, out);
        snprintf(out, TABLE_CELL, "%llu", (unsigned long long)row_of(app, row)->bytes);
        return out;
    case LENGTH:
        return length_of(app, row, exact, out);
    case START:
        return start_of(app, row, exact, out);
    case CATEGORY:
        return i18n_category(app->language, category_of(app, row));
    default:
        snprintf(out, TABLE_CELL, "%u", row_of(app, row)->block);
        return out;
    }
}

static void choose(struct app *app, size_t row) {
    app_pin(app, row_of(app, row)->block, false);
}

static const struct table_ops table = {.columns = columns,
                                       .column_count = COLUMNS,
                                       .read = read,
                                       .count = count,
                                       .cell = cell,
                                       .choose = choose,
                                       .sort = sort};

/* Where the head of a column is; no width: there is no room for it. */
static struct rect head_of(struct app *app, int column) {
    const struct rect *r = place(app), *plot = &app->layout.plot;
    struct rect head = {0, r->y, 0, app_line(app) + app_px(app, 4)};
    int side = r->x + r->w - app_px(app, 14) - plot->x - plot->w, each = app_px(app, 110);
    if (column == SIZE) {
        head.x = r->x;
        head.w = plot->x - r->x - app_px(app, 6);
    } else if (side >= 2 * each) {
        head.x = r->x + r->w - app_px(app, 14) - (column == LENGTH ? 2 : 1) * each;
        head.w = each;
    }
    return head;
}

static const int sorting[] = {SIZE, LENGTH, START};
enum { SORTING = sizeof sorting / sizeof sorting[0] };

static void draw_heads(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app), *plot = &app->layout.plot;
    const struct theme *theme = app_theme(app);
    const struct table_state *state = state_of(app);
    char title[TABLE_CELL], shown[TABLE_CELL], a[LABEL_BYTES], b[LABEL_BYTES];
    int own = state->sort_column == NAME ? SIZE : state->sort_column;
    for (int i = 0; i < SORTING; i++) {
        struct rect head = head_of(app, sorting[i]);
        bool sorted = own == sorting[i], falls = state->sort_column == NAME || state->falling;
        snprintf(shown, sizeof shown, "%.80s%s", app_text(app, columns[sorting[i]].title),
                 !sorted ? ""
                 : falls ? " v"
                         : " ^");
        if (head.w > 0)
            app_draw_right(app, list, head.x + head.w, head.y + app_px(app, 2),
                           sorted ? theme->ink : theme->faint, shown);
    }
    snprintf(title, sizeof title, "%.80s: %s (%s)",
             app_text(app, selection_has_range(&app->selection) ? TEXT_BLOCKS_IN_RANGE
                                                                : TEXT_BLOCKS_AT_CURSOR),
             label_count(app->lifetimes.list.rows.count, a),
             label_bytes(app->lifetimes.list.bytes, b));
    font_shorten(app->font, title, plot->w, app_size(app), true, shown, sizeof shown);
    draw_text(list, plot->x, r->y + app_px(app, 2), app_size(app), true, theme->ink, shown);
    draw_rect(list, r->x + app_px(app, 14), r->y + state->head - 1, r->w - app_px(app, 28), 1,
              theme->line);
}

static int x_of(const struct app *app, uint32_t moment) {
    struct ruler ruler = app_ruler(app);
    const struct rect *plot = &app->layout.plot;
    return plot->x + view_x(&app->view, ruler_position(&ruler, moment), plot->w);
}

static int within(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

/* The name in its bar; where that is too short beside it, on the side with more room. */
static void draw_name(struct app *app, struct draw_list *list, size_t row, const struct rect *bar) {
    const struct rect *plot = &app->layout.plot;
    char name[TABLE_CELL], shown[TABLE_CELL];
    const char *text = name_of(app, row, name);
    int pad = app_px(app, 5), width = app_text_width(app, text);
    int left = within(bar->x, plot->x, plot->x + plot->w);
    int end = within(bar->x + bar->w, plot->x, plot->x + plot->w);
    int before = left - plot->x, after = plot->x + plot->w - end, room = end - left - 2 * pad;
    uint32_t color = style_of(app, row).on;
    int y = bar->y + (bar->h - app_line(app)) / 2;
    bool inside = width <= room || room >= before || (room >= app_px(app, 120) && room >= after);
    if (!inside || (width > room && after >= width)) {
        color = app_theme(app)->faint;
        room = (after >= before || after >= width ? after : before) - 2 * pad;
        left = after >= before || after >= width ? end
                                                 : left - (width < room ? width : room) - 2 * pad;
    }
    if (room < app_px(app, 20))
        return;
    font_shorten(app->font, text, room, app_size(app), false, shown, sizeof shown);
    app_draw_text(app, list, left + pad, y, color, shown);
}

/* Beside the plot there is little room: "250 MiB" where "250.00 MiB" is too long. */
static void draw_size(struct app *app, struct draw_list *list, size_t row, int right, int middle) {
    char text[LABEL_BYTES];
    int size = app_small(app), room = right - place(app)->x - app_px(app, 4);
    label_bytes(row_of(app, row)->bytes, text);
    char *point = strchr(text, '.'), *unit = strchr(text, ' ');
    if (point && unit && font_width(app->font, text, strlen(text), size, false) > room)
        memmove(point, unit, strlen(unit) + 1);
    int width = font_width(app->font, text, strlen(text), size, false);
    draw_text(list, right - width, middle - font_line(app->font, size) / 2, size, false,
              app_theme(app)->ink, text);
}

static void draw_row(struct app *app, struct draw_list *list, size_t row, int y, int height) {
    const struct rect *r = place(app), *plot = &app->layout.plot;
    const struct table_state *state = state_of(app);
    const struct block_life *life = row_of(app, row);
    const struct theme *theme = app_theme(app);
    bool selected = state->has_selected && state->selected == row;
    bool pinned = app->selection.pin == life->block;
    bool hovered = app->pointer_y >= y && app->pointer_y < y + height &&
                   rect_has(r, app->pointer_x, app->pointer_y);
    if (selected || pinned || hovered)
        draw_rect(list, r->x, y, r->w, height, theme->raised);
    if (selected)
        draw_rect(list, r->x, y, app_px(app, 2), height, theme->accent);
    int text_y = y + (height - app_line(app)) / 2;
    char text[TABLE_CELL];
    struct rect head = head_of(app, SIZE);
    draw_size(app, list, row, head.x + head.w, y + height / 2);
    for (int i = 1; i < SORTING; i++) {
        head = head_of(app, sorting[i]);
        if (head.w > 0)
            app_draw_right(app, list, head.x + head.w, text_y, theme->faint,
                           cell(app, row, sorting[i], false, text));
    }
    int from = x_of(app, life->first), to = x_of(app, life->end);
    to = life->end == app->a.lod.moments ? plot->x + plot->w : to;
    int gap = app_px(app, 2);
    struct rect bar = {from, y + gap, to - from > 2 ? to - from : 2, height - 2 * gap};
    draw_clip(list, plot->x, y, plot->w, height);
    draw_rect(list, bar.x, bar.y, bar.w, bar.h, style_of(app, row).color);
    if (pinned)
        draw_frame(list, bar.x, bar.y, bar.w, bar.h, theme->ink);
    draw_name(app, list, row, &bar);
    draw_unclip(list);
}

/* Over the bars, as over the bands. */
static void draw_cursor(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app), *plot = &app->layout.plot;
    int x = x_of(app, app->cursor), top = r->y + state_of(app)->head;
    if (x >= plot->x && x < plot->x + plot->w)
        draw_rect(list, x, top, app_px(app, 1), r->y + r->h - top, app_theme(app)->accent);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app);
    struct table_state *state = state_of(app);
    draw_rect(list, r->x, r->y, r->w, r->h, app_theme(app)->panel);
    if (!read(app)) {
        list->failed = true;
        return;
    }
    state->row = state->head = app_line(app) + app_px(app, 4);
    int fit = (r->h - state->head) / state->row;
    state->shown = fit > 0 ? fit : 0;
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_heads(app, list);
    size_t first = table_first(state, count(app));
    for (size_t i = 0; i < (size_t)state->shown && first + i < count(app); i++)
        draw_row(app, list, first + i, r->y + state->head + (int)i * state->row, state->row);
    draw_cursor(app, list);
    draw_unclip(list);
}

/* The heads are elsewhere than a table's; the rows are not. */
static bool input(struct app *app, const struct input *in) {
    if (in->kind != INPUT_PRESS || in->button != BUTTON_LEFT)
        return false;
    for (int i = 0; i < SORTING; i++) {
        struct rect head = head_of(app, sorting[i]);
        if (rect_has(&head, in->x, in->y))
            table_sort_by(app, &table, state_of(app), sorting[i]);
    }
    return in->y < place(app)->y + state_of(app)->head;
}

const struct pane_ops pane_lifetimes = {.name = "lifetimes",
                                        .doc = "the blocks at the cursor or in the range, with "
                                               "their lives",
                                        .place = place,
                                        .draw = draw,
                                        .input = input,
                                        .title = TEXT_TAB_LIFETIMES,
                                        .table = &table};
