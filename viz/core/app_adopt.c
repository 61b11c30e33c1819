/* app_adopt.c: a newly read run takes the place of another in the same window. */
#include <string.h>

#include "app_state.h"
#include "timeline.h"

static void adopt_looks(struct app *app, const struct app *from) {
    app->theme_id = from->theme_id;
    app->language = from->language;
    app->scale_percent = from->scale_percent;
    app->width = from->width;
    app->height = from->height;
    app->compare = app->has_b ? from->compare : app->compare;
    app->speed = from->speed;
    app->strip.level = from->strip.level;
    app->strip.kind = app->has_b ? from->strip.kind : STRIP_FRAGMENTATION;
    app->map.zoom = from->map.zoom;
    app->pointer_x = from->pointer_x;
    app->pointer_y = from->pointer_y;
    app->tab = from->tab;
    memcpy(app->shown, from->shown, sizeof app->shown);
    memcpy(app->share, from->share, sizeof app->share);
}

static bool was_whole(const struct app *from) {
    struct view_limits limits;
    app_limits(from, &limits);
    return view_is_whole_x(&from->view, &limits);
}

/* Of the same files: the part that was seen, unless that was all; the moment, unless it was the last:
 * a run that grows is followed. */
/* Of the same files: by the same grouping, the same band alone, which may be another one from the bottom. */
static void adopt_bands(struct app *app, struct app *from) {
    char word[256];
    app_choose_bands(app, from->bands_wanted);
    if (from->isolated >= 0 && !app_bands_are_building(app))
        app->isolated = app_find_band(app, app_band_word(from, from->isolated, word));
}

static void adopt_place(struct app *app, struct app *from) {
    struct view_limits limits;
    app->mode = from->mode;
    app->grouping = from->grouping;
    adopt_bands(app, from);
    app_limits(app, &limits);
    view_fit_x(&app->view, &limits);
    view_fit_y(&app->view, &limits);
    if (!was_whole(from))
        view_show_x(&app->view, &limits, from->view.x0, from->view.x1);
    if (from->cursor + 1 < from->a.lod.moments && from->cursor < app->a.lod.moments)
        app->cursor = from->cursor;
}

void app_adopt(struct app *app, struct app *from, bool same_files) {
    adopt_looks(app, from);
    if (from->layered)
        app_use_layers(app, from->clock_ns);
    app_relayout(app);
    if (same_files && from->a.lod.moments > 1)
        adopt_place(app, from);
    find_adopt(app, from);
    app->dirty = true;
}

void app_set_notice(struct app *app, const struct app_notice *notice) {
    struct app_notice *n = &app->notice;
    if (n->kind == notice->kind && n->done == notice->done && n->total == notice->total &&
        strcmp(n->text, notice->text) == 0)
        return;
    *n = *notice;
    app->dirty = true;
}
