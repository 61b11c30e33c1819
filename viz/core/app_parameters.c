/* app_parameters.c: the scenario's parameters in the application: told by its host, changed by a
 * person, carried over to the run that was asked for. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"

bool app_set_parameters(struct app *app, const struct parameter *rows, size_t count) {
    return parameters_set(&app->parameters, rows, count);
}

const struct parameters *app_parameters(const struct app *app) {
    return &app->parameters;
}

void app_run_failed(struct app *app, const char *text) {
    size_t row;
    parameters_undo(&app->parameters, &row);
    snprintf(app->parameter_error, sizeof app->parameter_error, "%s", text);
    app->dirty = true;
}

void app_carry_parameters(struct app *app, struct app *from) {
    int tab = panes_tab_index(&pane_parameters);
    parameters_fini(&app->parameters);
    app->parameters = from->parameters;
    memset(&from->parameters, 0, sizeof from->parameters);
    app->tables[tab] = from->tables[tab];
    app->compare = from->has_b ? from->compare : COMPARE_OVERLAY;
    if (from->cursor == track_peak(&from->a))
        app_go_to(app, track_peak(&app->a));
    app->dirty = true;
}
