/* pane_map.c: the address map at the cursor. The wheel scrolls, with Ctrl it zooms; a click pins. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "label.h"
#include "map_view.h"
#include "pane.h"
#include "timeline.h"
#include "tip.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.map;
}

/* "address map   1 px = 16.00 MiB (small: 46.55 KiB)" */
static void draw_title(struct app *app, struct draw_list *list, const struct map_places *places) {
    const struct rect *r = &app->layout.map;
    const struct map_look *look = &app->map.map.look;
    int y = r->y + app_px(app, 3), x = places->rows.x;
    const char *title = app_text(app, TEXT_MAP);
    draw_text(list, x, y, app_size(app), true, app_theme(app)->ink, title);
    x += app_px(app, 18) + font_width(app->font, title, strlen(title), app_size(app), true);
    char text[200], shown[200], large[LABEL_BYTES], small[LABEL_BYTES];
    const struct space *space = &app->map.space;
    if (space->given_up)
        snprintf(text, sizeof text, "%.120s", app_text(app, TEXT_NO_HOST_MEMORY));
    else if (!space->done)
        snprintf(text, sizeof text, "%.60s %u %%", app_text(app, TEXT_BUILDING),
                 (unsigned)((uint64_t)space->next * 100 / app->a.lod.moments));
    else if (!space->known)
        snprintf(text, sizeof text, "%.120s", app_text(app, TEXT_NO_ADDRESSES));
    else
        snprintf(text, sizeof text, "%.40s %s (%.40s: %s)", app_text(app, TEXT_PIXEL_IS),
                 label_bytes((uint64_t)look->large, large), app_text(app, TEXT_SMALL_POOL),
                 label_bytes((uint64_t)look->small, small));
    int right = places->rows.x + places->rows.w;
    font_shorten(app->font, text, right - x, app_small(app), false, shown, sizeof shown);
    draw_text(list, x, y + (app_line(app) - font_line(app->font, app_small(app))) / 2,
              app_small(app), false, app_theme(app)->faint, shown);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app);
    struct map_places places = map_view_places(app);
    if (!map_view_read(app, &places)) {
        list->failed = true;
        return;
    }
    draw_rect(list, r->x, r->y, r->w, r->h, app_theme(app)->panel);
    draw_rect(list, r->x, r->y, r->w, 1, app_theme(app)->line);
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_title(app, list, &places);
    map_rows_draw(app, list, &places);
    draw_unclip(list);
    struct map_hit hit;
    bool over = !app->picture && app->pointer_x >= 0 &&
                map_view_at(app, &places, app->pointer_x, app->pointer_y, &hit);
    bool ready = app->map.space.known && app->map.space.done;
    if (ready && !map_view_read_facts(app))
        list->failed = true;
    if (ready)
        map_facts_draw(app, list, &places, over ? &hit : NULL);
}

/* The place under the pointer stays under it. */
static void zoom(struct app *app, const struct map_places *places, const struct input *in) {
    struct map_view *v = &app->map;
    struct map_hit hit = {0};
    int row = (in->y - places->rows.y) / places->pitch;
    uint32_t item = map_view_at(app, places, in->x, in->y, &hit)
                        ? (uint32_t)(hit.item - v->map.items.at)
                        : UINT32_MAX;
    double zoom = v->zoom > 0 ? v->zoom : 1;
    zoom *= in->wheel > 0 ? 1.25 : 1 / 1.25;
    v->zoom = zoom < 1 ? 1 : zoom > 4096 ? 4096 : zoom;
    if (item == UINT32_MAX || !map_view_read(app, places))
        return;
    const struct map_item *kept = &v->map.items.at[item];
    double inside = hit.range == TIMELINE_NONE || kept->span == 0
                        ? 0
                        : (double)(v->map.ranges.at[hit.range].at + hit.address -
                                   v->space.placement.ranges.at[hit.range].address) /
                              (double)kept->span;
    int line = kept->line + (kept->x + (int)(inside * kept->width)) / v->map.look.width;
    v->scroll = line - row;
    map_view_read(app, places);
}

void map_zoom(struct app *app, int steps) {
    if (app->layout.map.h <= 0)
        return;
    struct map_places places = map_view_places(app);
    struct input in = {.kind = INPUT_WHEEL,
                       .x = places.rows.x + places.rows.w / 2,
                       .y = places.rows.y + places.shown / 2 * places.pitch,
                       .wheel = steps};
    zoom(app, &places, &in);
    app->dirty = true;
}

void map_scroll(struct app *app, int rows) {
    if (app->layout.map.h <= 0)
        return;
    struct map_places places = map_view_places(app);
    app->map.scroll += rows;
    map_view_read(app, &places); /* keeps it inside */
    app->dirty = true;
}

static bool input(struct app *app, const struct input *in) {
    struct map_places places = map_view_places(app);
    struct map_hit hit;
    app->dirty = true;
    if (in->kind == INPUT_WHEEL && (in->mods & MOD_CTRL)) {
        zoom(app, &places, in);
    } else if (in->kind == INPUT_WHEEL) {
        map_scroll(app, in->wheel > 0 ? -1 : in->wheel < 0 ? 1 : 0);
    } else if (in->kind == INPUT_PRESS && in->button == BUTTON_LEFT &&
               map_view_at(app, &places, in->x, in->y, &hit)) {
        bool again = hit.block == app->selection.pin;
        app_pin(app, again ? SELECTION_NONE : hit.block, false);
    }
    return true;
}

static bool tip(struct app *app, int x, int y, struct tip *out) {
    struct map_places places = map_view_places(app);
    struct map_hit hit;
    if (!map_view_at(app, &places, x, y, &hit) || hit.block >= app->a.tl->blocks.count)
        return false;
    tip_block(app, hit.block, out);
    return true;
}

const struct pane_ops pane_map = {.name = "map",
                                  .doc = "segments and blocks by address at the cursor",
                                  .place = place,
                                  .draw = draw,
                                  .input = input,
                                  .tip = tip};
