/* pane.h: one file a pane. Each draws itself into its rectangle of app->layout; one of no size is
 * not asked. */
#ifndef PANE_H
#define PANE_H

struct app;
struct draw_list;
struct rect;

struct pane_ops {
    const char *name, *doc;
    const struct rect *(*place)(const struct app *app);    /* where it is */
    void (*draw)(struct app *app, struct draw_list *list); /* failures are remembered in the list */
};

extern const struct pane_ops pane_title, pane_overview, pane_phases, pane_timeline, pane_legend,
    pane_owners, pane_status, pane_help;

#endif
