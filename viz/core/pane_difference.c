/* pane_difference.c: what appeared, went and changed between the mark and the cursor, or between two
 * timelines at the cursor: deltas sum to the difference of the totals. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "timeline.h"

enum column_id { NAME, DELTA, NOW, THEN, ADDED, REMOVED, BLOCKS, KIND, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {TEXT_TAB_DIFFERENCE, 0, false},
    [DELTA] = {TEXT_DIFFERENCE, 108, true},
    [NOW] = {TEXT_NOW, 100, true},
    [THEN] = {TEXT_THEN, 100, true},
    [ADDED] = {TEXT_ADDED, 100, true},
    [REMOVED] = {TEXT_REMOVED, 100, true},
    [BLOCKS] = {TEXT_BLOCKS, 100, true},
    [KIND] = {TEXT_KIND, 84, false},
};

static const struct rect *place(const struct app *app) {
    return panes_tab_place(app, &pane_difference);
}

bool app_difference_sides(struct app *app, struct difference_side *then,
                          struct difference_side *now) {
    *now = (struct difference_side){&app->a, app->cursor};
    if (app->selection.mark != SELECTION_NONE)
        *then = (struct difference_side){&app->a, app->selection.mark};
    else if (app->has_b)
        *then = (struct difference_side){&app->b, app_cursor_b(app)};
    else
        return false;
    return true;
}

static enum difference_order order_of(int column) {
    static const enum difference_order orders[COLUMNS] = {
        [DELTA] = DIFFERENCE_BY_DELTA,     [NOW] = DIFFERENCE_BY_NOW,
        [THEN] = DIFFERENCE_BY_THEN,       [ADDED] = DIFFERENCE_BY_ADDED,
        [REMOVED] = DIFFERENCE_BY_REMOVED, [BLOCKS] = DIFFERENCE_BY_COUNT};
    return column > 0 && column < COLUMNS ? orders[column] : DIFFERENCE_BY_SIZE;
}

static void sort(struct app *app, int column, bool falling) {
    difference_sort(&app->difference.sums, order_of(column), column == NAME || falling);
}

static bool read(struct app *app) {
    struct difference_view *view = &app->difference;
    struct difference_side then, now;
    if (!app_difference_sides(app, &then, &now)) {
        array_clear(&view->sums.rows);
        view->valid = false;
        return true;
    }
    bool marked = then.track == now.track;
    const struct groups_key key = {then.moment, now.moment, marked, app->grouping, app->language};
    if (view->valid && memcmp(&view->key, &key, sizeof key) == 0)
        return true;
    view->valid = difference_read(&view->sums, &then, &now, app->grouping, app->language);
    view->key = key;
    const struct table_state *state = &app->tables[panes_tab_index(&pane_difference)];
    if (state->sort_column > 0)
        sort(app, state->sort_column, state->falling);
    return view->valid;
}

static size_t count(struct app *app) {
    return app->difference.sums.rows.count;
}

static const struct difference_row *row_of(struct app *app, size_t row) {
    return row == TABLE_REST ? &app->difference.rest : &app->difference.sums.rows.at[row];
}

/* `group` of the rest is how many rows it has. */
static size_t rest(struct app *app, size_t first, size_t end) {
    const struct difference *d = &app->difference.sums;
    struct difference_row *sum = &app->difference.rest;
    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < d->rows.count; i++) {
        const struct difference_row *row = &d->rows.at[i];
        if (i >= first && i < end)
            continue;
        sum->now += row->now;
        sum->then += row->then;
        sum->added += row->added;
        sum->removed += row->removed;
        sum->now_count += row->now_count;
        sum->then_count += row->then_count;
        for (int k = 0; k < CATEGORY_COUNT; k++)
            sum->by_category[k] += row->by_category[k];
        sum->group++;
    }
    return sum->group;
}

static enum text_id kind_text(const struct difference_row *row) {
    static const enum text_id texts[] = {[DIFFERENCE_SAME] = TEXT_SAME,
                                         [DIFFERENCE_CHANGED] = TEXT_CHANGED,
                                         [DIFFERENCE_APPEARED] = TEXT_ADDED,
                                         [DIFFERENCE_GONE] = TEXT_REMOVED};
    return texts[difference_kind(row)];
}

static const char *exact_cell(const struct difference_row *r, int column, char out[TABLE_CELL]) {
    uint64_t value = column == NOW       ? r->now
                     : column == THEN    ? r->then
                     : column == ADDED   ? r->added
                     : column == REMOVED ? r->removed
                                         : r->now_count;
    if (column == DELTA)
        snprintf(out, TABLE_CELL, "%s%llu", r->now < r->then ? "-" : "",
                 (unsigned long long)(r->now < r->then ? r->then - r->now : r->now - r->then));
    else
        snprintf(out, TABLE_CELL, "%llu", (unsigned long long)value);
    return out;
}

/* "12 (+3)" */
static const char *blocks_cell(const struct difference_row *r, char out[TABLE_CELL]) {
    char now[LABEL_BYTES], by[LABEL_BYTES];
    bool more = r->now_count > r->then_count;
    label_count(r->now_count, now);
    label_count(more ? r->now_count - r->then_count : r->then_count - r->now_count, by);
    if (r->now_count == r->then_count)
        snprintf(out, TABLE_CELL, "%s", now);
    else
        snprintf(out, TABLE_CELL, "%s (%s%s)", now, more ? "+" : "-", by);
    return out;
}

static const char *cell(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]) {
    const struct difference_row *r = row_of(app, row);
    if (column == NAME && row == TABLE_REST)
        return table_rest_name(app, r->group, out);
    if (column == NAME)
        return difference_name(&app->difference.sums, r);
    if (column == KIND)
        return app_text(app, kind_text(r));
    if (exact)
        return exact_cell(r, column, out);
    switch (column) {
    case DELTA:
        return r->now == r->then ? "-" : label_difference(r->now, r->then, out);
    case NOW:
        return label_bytes_or_dash(r->now, out);
    case THEN:
        return label_bytes_or_dash(r->then, out);
    case ADDED:
        return label_bytes_or_dash(r->added, out);
    case REMOVED:
        return label_bytes_or_dash(r->removed, out);
    default:
        return blocks_cell(r, out);
    }
}

/* "module, mark > cursor: +1.25 GiB" */
static const char *title(struct app *app, char out[TABLE_CELL]) {
    struct difference_side then, now;
    const struct difference_row *total = &app->difference.sums.total;
    char figure[LABEL_BYTES];
    if (!app_difference_sides(app, &then, &now))
        return app_text(app, TEXT_NOTHING_TO_COMPARE);
    bool marked = then.track == now.track;
    snprintf(out, TABLE_CELL, "%.40s, %.60s > %.60s: %s",
             app_text(app, owners_title(app->grouping)),
             marked ? app_text(app, TEXT_MARK) : track_name(then.track),
             marked ? app_text(app, TEXT_CURSOR) : track_name(now.track),
             label_difference(total->now, total->then, figure));
    return out;
}

static uint32_t swatch(struct app *app, size_t row) {
    return app_band(app, difference_category(row_of(app, row))).color;
}

static void balance(struct app *app, size_t row, uint64_t *size, bool *more, uint64_t *whole) {
    const struct difference_row *r = row_of(app, row);
    *more = r->now >= r->then;
    *size = *more ? r->now - r->then : r->then - r->now;
    *whole = app->difference.sums.largest;
}

static const struct table_ops table = {.columns = columns,
                                       .column_count = COLUMNS,
                                       .read = read,
                                       .count = count,
                                       .cell = cell,
                                       .title = title,
                                       .swatch = swatch,
                                       .balance = balance,
                                       .rest = rest,
                                       .sort = sort};

static void draw(struct app *app, struct draw_list *list) {
    panes_draw_table(app, list, &pane_difference);
}

const struct pane_ops pane_difference = {.name = "difference",
                                         .doc = "what changes from the mark to the cursor, or from "
                                                "the second file to the first",
                                         .place = place,
                                         .draw = draw,
                                         .title = TEXT_TAB_DIFFERENCE,
                                         .table = &table};
