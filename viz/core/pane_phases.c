/* pane_phases.c: steps and phases as lanes. At least a pixel each; runs under 2 px merge into one
 * shaded mark. */
#include <string.h>

#include "app_state.h"
#include "pane.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.phases;
}

struct lane {
    struct app *app;
    struct draw_list *list;
    struct ruler ruler;
    struct rect r;
    int index;
};

static int x_of(const struct lane *lane, uint32_t moment) {
    return lane->r.x + view_x(&lane->app->view, ruler_position(&lane->ruler, moment), lane->r.w);
}

/* The first phase of the lane that ends after the view's left edge: by bisection, as they do not
 * overlap. */
static size_t first_visible(const struct lane *lane) {
    const struct track *track = &lane->app->a;
    uint32_t from = ruler_lower(&lane->ruler, lane->app->view.x0);
    size_t low = 0, high = track->lanes[lane->index].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (track_phase_end(track, track->lanes[lane->index].at[middle]) < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void draw_name(const struct lane *lane, int x0, int x1, const char *name) {
    struct app *app = lane->app;
    char shown[160];
    int margin = app_px(app, 5), size = app_small(app);
    x0 = x0 < lane->r.x ? lane->r.x : x0;
    x1 = x1 > lane->r.x + lane->r.w ? lane->r.x + lane->r.w : x1;
    int room = x1 - x0 - 2 * margin;
    if (room < app_px(app, 12))
        return;
    int top = lane->r.y + (lane->r.h - font_line(app->font, size)) / 2;
    font_shorten(app->font, name, room, size, false, shown, sizeof shown);
    bool whole = strcmp(shown, name) == 0; /* a word with a hole says nothing, a path still does */
    if (whole || strlen(shown) > 14)
        draw_text(lane->list, x0 + margin, top, size, false, app_theme(app)->ink, shown);
}

static void draw_lane(const struct lane *lane) {
    const struct track *track = &lane->app->a;
    const struct theme *theme = app_theme(lane->app);
    size_t count = track->lanes[lane->index].count;
    int merged_from = 0, merged_to = 0; /* pixels of small phases not yet drawn */
    for (size_t i = first_visible(lane); i < count; i++) {
        uint32_t phase = track->lanes[lane->index].at[i];
        int x0 = x_of(lane, track->tl->phases.at[phase].begin_event + 1);
        int x1 = x_of(lane, track_phase_end(track, phase));
        if (x0 >= lane->r.x + lane->r.w)
            break;
        bool small = x1 - x0 < 2;
        if (merged_to > merged_from && (!small || x0 > merged_to + 1)) {
            draw_rect(lane->list, merged_from, lane->r.y, merged_to - merged_from, lane->r.h,
                      theme->faint);
            merged_to = merged_from = 0;
        }
        if (small) {
            merged_from = merged_to > merged_from ? merged_from : x0;
            merged_to = x0 + 1;
            continue;
        }
        draw_rect(lane->list, x0, lane->r.y, x1 - x0 - 1, lane->r.h, theme->phase[i % 2]);
        char own[I18N_NAME_BYTES];
        draw_name(lane, x0, x1,
                  i18n_name(lane->app->language,
                            timeline_text(track->tl, track->tl->phases.at[phase].name), own));
    }
    if (merged_to > merged_from)
        draw_rect(lane->list, merged_from, lane->r.y, merged_to - merged_from, lane->r.h,
                  theme->faint);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.phases;
    const struct rect *plot = &app->layout.plot;
    int height = app->layout.lane_height;
    draw_clip(list, plot->x, r->y, plot->w, r->h);
    for (int i = 0; i < TRACK_LANES; i++) {
        struct rect place_of_lane = {plot->x, r->y + i * height, plot->w, height - 1};
        struct lane lane = {app, list, app_ruler(app), place_of_lane, i};
        if (app->a.lanes[i].count > 0 && place_of_lane.y + height <= r->y + r->h + 2)
            draw_lane(&lane);
    }
    draw_unclip(list);
}

const struct pane_ops pane_phases = {
    .name = "phases", .doc = "steps, phases and modules over time", .place = place, .draw = draw};
