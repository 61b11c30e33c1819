/* panes.c: the tables of panes; see pane.h. */
#include "pane.h"

#include "app_state.h"

const struct pane_ops *const panes[] = {
    &pane_title,     &pane_overview,   &pane_rows,      &pane_phases,     &pane_timeline,
    &pane_strip,     &pane_divergence, &pane_selection, &pane_details,    &pane_legend,
    &pane_map,       &pane_tabs,       &pane_owners,    &pane_difference, &pane_range,
    &pane_lifetimes, &pane_icicle,     &pane_events,    &pane_parameters, &pane_status,
    &pane_prompt,    &pane_help,       &pane_tooltip,   &pane_notice,     NULL};

const struct pane_ops *const panes_tabs[] = {
    &pane_owners, &pane_difference, &pane_range,      &pane_lifetimes,
    &pane_icicle, &pane_events,     &pane_parameters, NULL};

static_assert(sizeof panes_tabs / sizeof panes_tabs[0] <= PANES_TABS + 1,
              "app->tables has too few");

int panes_tab_index(const struct pane_ops *tab) {
    for (int i = 0; panes_tabs[i]; i++)
        if (panes_tabs[i] == tab)
            return i;
    return -1;
}

bool panes_tab_is_offered(const struct app *app, int tab) {
    return panes_tabs[tab] != &pane_parameters || app->parameters.rows.count > 0 ||
           (app->tab == tab && app->shown[SPLIT_TABS]);
}

const struct rect *panes_tab_place(const struct app *app, const struct pane_ops *tab) {
    static const struct rect closed = {0, 0, 0, 0};
    return panes_tabs[app->tab] == tab ? &app->layout.tab : &closed;
}

const struct pane_ops *panes_at(const struct app *app, int x, int y) {
    const struct pane_ops *found = NULL;
    for (size_t i = 0; panes[i]; i++)
        if (!panes[i]->above && rect_has(panes[i]->place(app), x, y))
            found = panes[i];
    return found;
}

void panes_draw_table(struct app *app, struct draw_list *list, const struct pane_ops *tab) {
    const struct rect *r = tab->place(app);
    draw_rect(list, r->x, r->y, r->w, r->h, app_theme(app)->panel);
    table_draw(app, list, r, tab->table, &app->tables[panes_tab_index(tab)]);
}
