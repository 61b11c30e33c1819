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

/* Of the same files: by the same grouping, the same band alone, which may be another one from the bottom. */
static void adopt_bands(struct app *app, struct app *from) {
    char word[256];
    if (app->bands_wanted != from->bands_wanted)
        app_choose_bands(app, from->bands_wanted);
    if (from->isolated >= 0 && !app_bands_are_building(app))
        app->isolated = app_find_band(app, app_band_word(from, from->isolated, word));
}

/* The part that was seen, unless that was all; the moment, unless it was the last: a run that grows is
 * followed. */
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

/* A capture's record that comes late moves those behind it. */
static bool is_same_block(const struct timeline *a, const struct timeline *b, uint32_t block) {
    if (block >= a->blocks.count || block >= b->blocks.count)
        return false;
    const struct timeline_block *x = &a->blocks.at[block], *y = &b->blocks.at[block];
    return x->alloc_event == y->alloc_event && x->address == y->address &&
           x->requested_bytes == y->requested_bytes;
}

static void adopt_open_rows(struct app *app, const struct app *from) {
    struct owner_tree *tree = &app->owner_tree;
    array_clear(&tree->open);
    array_clear(&app->icicle.path);
    memcpy(tree->by, from->owner_tree.by, sizeof tree->by);
    tree->levels = from->owner_tree.levels;
    for (size_t i = 0; i < from->owner_tree.open.count; i++)
        if (!array_push(&tree->open, from->owner_tree.open.at[i]))
            return; /* closed again */
    for (size_t i = 0; i < from->icicle.path.count; i++)
        if (!array_push(&app->icicle.path, from->icicle.path.at[i]))
            return;
}

/* The bytes in view too, unless these were all. */
static void adopt_bytes(struct app *app, const struct app *from) {
    struct view_limits before, now;
    app_limits(from, &before);
    app_limits(app, &now);
    bool was_fit = from->view.y0 <= 0 && from->view.y1 >= before.top;
    if (was_fit || from->view.y1 > now.top)
        return;
    app->view.y0 = from->view.y0;
    app->view.y1 = from->view.y1;
}

static void adopt_chosen(struct app *app, const struct app *from) {
    const struct selection *s = &from->selection;
    adopt_bytes(app, from);
    if (s->pin != SELECTION_NONE && is_same_block(app->a.tl, from->a.tl, s->pin))
        app->selection.pin = s->pin;
    app->selection.mark = s->mark;
    app->selection.first = s->first;
    app->selection.end = s->end;
    memcpy(app->tables, from->tables, sizeof app->tables);
    app->playing = from->playing;
    app->play_position = from->play_position;
    app->help = from->help;
    adopt_open_rows(app, from);
    if (app->has_b && app->align.mode != from->align.mode)
        app_choose_align(app, from->align.mode);
}

void app_adopt(struct app *app, struct app *from, enum app_adoption kind) {
    adopt_looks(app, from);
    if (from->layered)
        app_use_layers(app, from->clock_ns);
    app_relayout(app);
    if (kind != ADOPT_OTHER_FILES && from->a.lod.moments > 1)
        adopt_place(app, from);
    if (kind == ADOPT_GROWN_FILES)
        adopt_chosen(app, from);
    app_relayout(app);
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
