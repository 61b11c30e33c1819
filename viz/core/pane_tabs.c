/* pane_tabs.c: the heads of the tabs: what is below the timeline. */
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "pane.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.tab_bar;
}

/* Of tab `index`, in the bar. */
static struct rect head_of(struct app *app, int index) {
    const struct rect *bar = &app->layout.tab_bar;
    struct rect r = {bar->x + app_px(app, 6), bar->y, 0, bar->h};
    for (int i = 0; panes_tabs[i]; i++) {
        const char *title = app_text(app, panes_tabs[i]->title);
        if (!panes_tab_is_offered(app, i))
            continue;
        r.w = app_text_width(app, title) + app_px(app, 20);
        if (i == index)
            break;
        r.x += r.w + app_px(app, 2);
    }
    return r;
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *bar = &app->layout.tab_bar;
    const struct theme *theme = app_theme(app);
    draw_rect(list, bar->x, bar->y, bar->w, bar->h, theme->ground);
    draw_clip(list, bar->x, bar->y, bar->w, bar->h);
    for (int i = 0; panes_tabs[i]; i++) {
        struct rect r = head_of(app, i);
        bool open = i == app->tab;
        if (!panes_tab_is_offered(app, i))
            continue;
        if (open) {
            draw_rect(list, r.x, r.y, r.w, r.h, theme->panel);
            draw_rect(list, r.x, r.y, r.w, app_px(app, 2), theme->accent);
        }
        app_draw_text(app, list, r.x + app_px(app, 10), r.y + (r.h - app_line(app)) / 2,
                      open ? theme->ink : theme->faint, app_text(app, panes_tabs[i]->title));
    }
    draw_unclip(list);
}

static bool input(struct app *app, const struct input *in) {
    if (in->kind != INPUT_PRESS || in->button != BUTTON_LEFT)
        return false;
    for (int i = 0; panes_tabs[i]; i++) {
        struct rect r = head_of(app, i);
        if (panes_tab_is_offered(app, i) && rect_has(&r, in->x, in->y))
            app_open_tab(app, i);
    }
    return true;
}

void app_open_tab(struct app *app, int tab) {
    int count = 0;
    while (panes_tabs[count])
        count++;
    app->tab = ((tab % count) + count) % count;
    app->shown[SPLIT_TABS] = true;
    app->dirty = true;
    app_relayout(app);
}

void app_next_tab(struct app *app, int by) {
    do
        app_open_tab(app, app->tab + by);
    while (panes_tabs[app->tab] == &pane_parameters && app->parameters.rows.count == 0);
}

const struct pane_ops pane_tabs = {.name = "tabs",
                                   .doc = "what is below the timeline",
                                   .place = place,
                                   .draw = draw,
                                   .input = input};
