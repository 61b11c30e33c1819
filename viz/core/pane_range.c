/* pane_range.c: what went on in the chosen range, or in the whole run: allocated, freed, kept, the
 * most that was held, and how often over. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "timeline.h"

enum column_id { NAME, ALLOCATED, FREED, LEAKED, MOST, CHURN, REQUESTS, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {TEXT_TAB_RANGE, 0, false},
    [ALLOCATED] = {TEXT_ALLOCATED_IN, 100, true},
    [FREED] = {TEXT_FREED_IN, 100, true},
    [LEAKED] = {TEXT_LEAKED, 116, true},
    [MOST] = {TEXT_MAX, 100, true},
    [CHURN] = {TEXT_CHURN, 76, true},
    [REQUESTS] = {TEXT_ALLOCATIONS, 84, true},
};

static const struct rect *place(const struct app *app) {
    return panes_tab_place(app, &pane_range);
}

void app_range_moments(const struct app *app, uint32_t *first, uint32_t *end) {
    bool chosen = selection_has_range(&app->selection);
    *first = chosen ? app->selection.first : 0;
    *end = chosen ? app->selection.end : app->a.lod.moments - 1;
}

static enum range_order order_of(int column) {
    static const enum range_order orders[COLUMNS] = {
        [ALLOCATED] = RANGE_BY_ALLOCATED, [FREED] = RANGE_BY_FREED,
        [LEAKED] = RANGE_BY_LEAKED,       [MOST] = RANGE_BY_MAX,
        [CHURN] = RANGE_BY_CHURN,         [REQUESTS] = RANGE_BY_COUNT};
    return column > 0 && column < COLUMNS ? orders[column] : RANGE_BY_ALLOCATED;
}

static void sort(struct app *app, int column, bool falling) {
    range_sums_sort(&app->range.sums, order_of(column), column == NAME || falling);
}

enum { AT_ONCE = 1 << 18 }; /* events that a frame has time for */

bool app_range_is_building(const struct app *app) {
    return app->range.valid && !app->range.sums.done;
}

void app_build_range(struct app *app, uint32_t events) {
    struct range_view *view = &app->range;
    const struct table_state *state = &app->tables[panes_tab_index(&pane_range)];
    if (view->sums.done)
        return;
    view->valid = range_sums_more(&view->sums, events);
    if (view->sums.done && state->sort_column > 0)
        sort(app, state->sort_column, state->falling);
    app->dirty = app->dirty || view->sums.done;
}

/* Copies, exports and queries want all of it. */
static bool finish(struct app *app) {
    const struct range_sums *s = &app->range.sums;
    bool waits = app->range.may_wait && app->layered && s->end - s->next > AT_ONCE;
    if (app->range.valid && !waits)
        app_build_range(app, UINT32_MAX);
    return app->range.valid;
}

/* While a range is drawn its sums wait: they walk all of its events. */
static bool read(struct app *app) {
    struct range_view *view = &app->range;
    struct groups_key key = {.grouping = app->grouping, .language = app->language};
    app_range_moments(app, &key.first, &key.last);
    bool waits = app->drag == DRAG_RANGE && view->valid && view->key.grouping == key.grouping &&
                 view->key.language == key.language;
    if (view->valid && (waits || memcmp(&view->key, &key, sizeof key) == 0))
        return finish(app);
    view->valid =
        range_sums_start(&view->sums, &app->a, key.first, key.last, app->grouping, app->language);
    view->key = key;
    return finish(app);
}

static size_t count(struct app *app) {
    return app->range.sums.done ? app->range.sums.rows.count : 0;
}

static const struct range_row *row_of(struct app *app, size_t row) {
    return row == TABLE_REST ? &app->range.rest : &app->range.sums.rows.at[row];
}

/* `group` of the rest is how many rows it has. What they held at most was not at one moment. */
static size_t rest(struct app *app, size_t first, size_t end) {
    const struct range_sums *s = &app->range.sums;
    struct range_row *sum = &app->range.rest;
    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < count(app); i++) {
        const struct range_row *row = &s->rows.at[i];
        if (i >= first && i < end)
            continue;
        sum->allocated += row->allocated;
        sum->freed += row->freed;
        sum->leaked += row->leaked;
        sum->allocations += row->allocations;
        for (int k = 0; k < CATEGORY_COUNT; k++)
            sum->by_category[k] += row->by_category[k];
        sum->group++;
    }
    return sum->group;
}

static const char *exact_cell(const struct range_row *r, int column, char out[TABLE_CELL]) {
    uint64_t value = column == ALLOCATED ? r->allocated
                     : column == FREED   ? r->freed
                     : column == LEAKED  ? r->leaked
                     : column == MOST    ? r->max
                                         : r->allocations;
    if (column == CHURN)
        snprintf(out, TABLE_CELL, "%.4f", range_sums_churn(r));
    else
        snprintf(out, TABLE_CELL, "%llu", (unsigned long long)value);
    return out;
}

static const char *cell(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]) {
    const struct range_row *r = row_of(app, row);
    if (column == NAME && row == TABLE_REST)
        return table_rest_name(app, r->group, out);
    if (column == NAME)
        return range_sums_name(&app->range.sums, r);
    if (exact)
        return exact_cell(r, column, out);
    switch (column) {
    case ALLOCATED:
        return label_bytes_or_dash(r->allocated, out);
    case FREED:
        return label_bytes_or_dash(r->freed, out);
    case LEAKED:
        return label_bytes_or_dash(r->leaked, out);
    case MOST:
        return label_bytes_or_dash(r->max, out);
    case CHURN:
        if (range_sums_churn(r) <= 0)
            return "-";
        snprintf(out, TABLE_CELL, "%.1f", range_sums_churn(r));
        return out;
    default:
        return label_count(r->allocations, out);
    }
}

/* "range: module, events 5,000 - 7,000: 1.25 GiB allocated" */
static const char *title(struct app *app, char out[TABLE_CELL]) {
    uint32_t first, end;
    char a[LABEL_BYTES], b[LABEL_BYTES], bytes[LABEL_BYTES];
    app_range_moments(app, &first, &end);
    int length = snprintf(out, TABLE_CELL, "%.40s, ", app_text(app, owners_title(app->grouping)));
    if (!selection_has_range(&app->selection))
        length += snprintf(out + length, TABLE_CELL - (size_t)length, "%.60s",
                           app_text(app, TEXT_WHOLE_RUN));
    else
        length += snprintf(out + length, TABLE_CELL - (size_t)length, "%.40s %s - %s",
                           app_text(app, TEXT_EVENT), label_count(first, a),
                           label_count(end > 0 ? end - 1 : 0, b));
    if (!app->range.sums.done) {
        snprintf(out + length, TABLE_CELL - (size_t)length, ": %.60s", app_text(app, TEXT_READING));
        return out;
    }
    snprintf(out + length, TABLE_CELL - (size_t)length, ": %.60s %s",
             app_text(app, TEXT_ALLOCATED_IN), label_bytes(app->range.sums.total.allocated, bytes));
    return out;
}

static uint32_t swatch(struct app *app, size_t row) {
    return app_band(app, range_sums_category(row_of(app, row))).color;
}

/* What was allocated, by category. */
static void bar(struct app *app, size_t row, uint64_t parts[TABLE_BAR], uint64_t *whole) {
    const struct range_row *r = row_of(app, row);
    for (size_t i = 0; i < app->range.sums.rows.count; i++)
        if (app->range.sums.rows.at[i].allocated > *whole)
            *whole = app->range.sums.rows.at[i].allocated;
    memcpy(parts, r->by_category, sizeof r->by_category);
}

static const struct table_ops table = {.columns = columns,
                                       .column_count = COLUMNS,
                                       .read = read,
                                       .count = count,
                                       .cell = cell,
                                       .title = title,
                                       .swatch = swatch,
                                       .bar = bar,
                                       .rest = rest,
                                       .sort = sort};

static void draw(struct app *app, struct draw_list *list) {
    app->range.may_wait = true;
    panes_draw_table(app, list, &pane_range);
    app->range.may_wait = false;
}

const struct pane_ops pane_range = {.name = "range",
                                    .doc = "what went on in the range, or in the whole run",
                                    .place = place,
                                    .draw = draw,
                                    .title = TEXT_TAB_RANGE,
                                    .table = &table};
