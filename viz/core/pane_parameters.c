/* pane_parameters.c: the declared parameters of the scenario: a changed value asks for another run,
 * whose curve stands before that of the first. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "pane.h"

enum column_id { NAME, VALUE, USUAL, RANGE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {TEXT_TAB_PARAMETERS, 0, false},
    [VALUE] = {TEXT_VALUE, 170, false},
    [USUAL] = {TEXT_USUAL, 130, false},
    [RANGE] = {TEXT_POSSIBLE, 260, false},
};

static const struct rect *place(const struct app *app) {
    return panes_tab_place(app, &pane_parameters);
}

static struct table_state *state_of(struct app *app) {
    return &app->tables[panes_tab_index(&pane_parameters)];
}

static bool read(struct app *app) {
    (void)app;
    return true;
}

static size_t count(struct app *app) {
    return app->parameters.rows.count;
}

static bool is_chosen(struct app *app, size_t row) {
    const struct table_state *state = state_of(app);
    return state->has_selected && state->selected == row;
}

/* "< 4 >" where a step is possible. */
static const char *value_cell(struct app *app, size_t row, char out[TABLE_CELL]) {
    const struct parameter *p = &app->parameters.rows.at[row];
    char next[PARAMETER_VALUE];
    bool less = parameter_next(p, PARAMETER_STEP, false, next);
    bool more = parameter_next(p, PARAMETER_STEP, true, next);
    snprintf(out, TABLE_CELL, "%s%.200s%s", less ? "<  " : "", p->value, more ? "  >" : "   ");
    return out;
}

static const char *cell(struct app *app, size_t row, int column, bool exact, char out[TABLE_CELL]) {
    const struct parameter *p = &app->parameters.rows.at[row];
    switch (column) {
    case NAME:
        snprintf(out, TABLE_CELL, "%.60s%s%.200s", p->name, exact || !*p->help ? "" : ":  ",
                 exact ? "" : p->help);
        return out;
    case VALUE:
        return exact || !is_chosen(app, row) ? p->value : value_cell(app, row, out);
    case USUAL:
        return !exact && parameter_is_usual(p) ? "-" : p->usual;
    default:
        parameter_range(p, out);
        return out;
    }
}

static const char *title(struct app *app, char out[TABLE_CELL]) {
    if (count(app) == 0)
        return app_text(app, TEXT_NO_PARAMETERS);
    if (app->parameter_error[0]) {
        snprintf(out, TABLE_CELL, "%.300s", app->parameter_error);
        return out;
    }
    return app_text(app, TEXT_PARAMETERS_HINT);
}

static bool marked(struct app *app, size_t row) {
    return !parameter_is_usual(&app->parameters.rows.at[row]);
}

static const struct table_ops table = {.columns = columns,
                                       .column_count = COLUMNS,
                                       .read = read,
                                       .count = count,
                                       .cell = cell,
                                       .title = title,
                                       .marked = marked};

static void draw(struct app *app, struct draw_list *list) {
    panes_draw_table(app, list, &pane_parameters);
}

static bool change(struct app *app, size_t row, enum parameter_step step, bool up) {
    char next[PARAMETER_VALUE];
    if (parameter_next(&app->parameters.rows.at[row], step, up, next) &&
        parameters_change(&app->parameters, row, next)) {
        app->parameter_error[0] = '\0';
        app->request = APP_RUN_AGAIN;
    }
    app->dirty = true;
    return true;
}

bool app_step_parameter(struct app *app, enum parameter_step step, bool up) {
    const struct table_state *state = state_of(app);
    bool open = app->shown[SPLIT_TABS] && panes_tabs[app->tab] == &pane_parameters;
    if (!open || !state->has_selected || state->selected >= count(app))
        return false;
    return change(app, state->selected, step, up);
}

void app_undo_parameter(struct app *app) {
    size_t row;
    if (!parameters_undo(&app->parameters, &row))
        return;
    app->parameter_error[0] = '\0';
    app->request = APP_RUN_AGAIN;
    app->dirty = true;
}

/* A click on the value: its left half less, its right half more. */
static bool input(struct app *app, const struct input *in) {
    struct rect value;
    size_t row = table_row_at(app, in->x, in->y, place(app), &table, state_of(app));
    if (in->kind != INPUT_PRESS || in->button != BUTTON_LEFT || row == TABLE_NO_ROW ||
        !table_cell_place(app, place(app), &table, VALUE, &value) || in->x < value.x ||
        in->x >= value.x + value.w || !is_chosen(app, row))
        return false;
    return change(app, row, PARAMETER_STEP, in->x >= value.x + value.w / 2);
}

const struct pane_ops pane_parameters = {.name = "parameters",
                                         .doc = "the scenario's parameters: what if they were "
                                                "others",
                                         .place = place,
                                         .draw = draw,
                                         .input = input,
                                         .title = TEXT_TAB_PARAMETERS,
                                         .table = &table};
