/* pane.h: one file a pane. Each draws itself into its rectangle of app->layout; one of no size is
 * not asked.
 *
 * A tab is a pane that shares the place below the timeline with others: a row of panes_tabs as well,
 * with a title. A pane with a table need not have input of its own. */
#ifndef PANE_H
#define PANE_H

#include <stdbool.h>
#include <stddef.h>

#include "i18n.h"

struct app;
struct draw_list;
struct input;
struct rect;
struct table_ops;
struct tip;

struct pane_ops {
    const char *name, *doc;
    const struct rect *(*place)(const struct app *app);    /* where it is */
    void (*draw)(struct app *app, struct draw_list *list); /* failures are remembered in the list */
    /* A press, motion or wheel inside its place. True: taken. Optional. */
    bool (*input)(struct app *app, const struct input *in);
    /* Tells what is at a point of its place (tip.h). False: nothing. Optional. */
    bool (*tip)(struct app *app, int x, int y, struct tip *tip);
    bool above;                    /* drawn over others: the pointer goes through it */
    enum text_id title;            /* tabs */
    const struct table_ops *table; /* what is copied and exported, and takes row keys. Optional. */
};

extern const struct pane_ops pane_title, pane_overview, pane_phases, pane_timeline, pane_selection,
    pane_map, pane_strip, pane_legend, pane_details, pane_tabs, pane_owners, pane_difference,
    pane_range, pane_lifetimes, pane_icicle, pane_divergence, pane_parameters, pane_rows,
    pane_status, pane_prompt, pane_help, pane_notice, pane_events, pane_tooltip;

/* In drawing order: what comes later lies above. Ended by NULL. */
extern const struct pane_ops *const panes[];
/* The tabs in their order; app->tab indexes it. Ended by NULL; at most PANES_TABS. */
enum { PANES_TABS = 8 };
extern const struct pane_ops *const panes_tabs[];

/* The place of a tab: that of the tabs while it is the open one, else no size. */
const struct rect *panes_tab_place(const struct app *app, const struct pane_ops *tab);
/* The whole of a tab that is a table. */
void panes_draw_table(struct app *app, struct draw_list *list, const struct pane_ops *tab);
int panes_tab_index(const struct pane_ops *tab); /* -1: not a tab */
/* Has it something to show? Its key opens it all the same, and it says why not. */
bool panes_tab_is_offered(const struct app *app, int tab);
/* The topmost pane at a point; NULL: none. */
const struct pane_ops *panes_at(const struct app *app, int x, int y);

#endif
