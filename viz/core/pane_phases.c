/* pane_phases.c: steps and phases as lanes. At least a pixel each; runs under 2 px merge into one
 * shaded mark. */
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "label.h"
#include "pane.h"
#include "timeline.h"
#include "tip.h"

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

/* The phase under a point; TIMELINE_NONE: none. Of those too small to be told apart the first. */
static uint32_t phase_at_point(struct app *app, int x, int y) {
    const struct rect *plot = &app->layout.plot;
    int index =
        app->layout.lane_height > 0 ? (y - app->layout.phases.y) / app->layout.lane_height : 0;
    if (index < 0 || index >= TRACK_LANES || x < plot->x || x >= plot->x + plot->w)
        return TIMELINE_NONE;
    struct lane lane = {app, NULL, app_ruler(app), {plot->x, 0, plot->w, 0}, index};
    for (size_t i = first_visible(&lane); i < app->a.lanes[index].count; i++) {
        uint32_t phase = app->a.lanes[index].at[i];
        int x0 = x_of(&lane, app->a.tl->phases.at[phase].begin_event + 1);
        int x1 = x_of(&lane, track_phase_end(&app->a, phase));
        if (x0 > x)
            break;
        if (x < (x1 > x0 ? x1 : x0 + 1))
            return phase;
    }
    return TIMELINE_NONE;
}

/* A double click chooses the phase as the range and shows it. */
static bool input(struct app *app, const struct input *in) {
    uint32_t phase = TIMELINE_NONE;
    if (in->kind == INPUT_PRESS && in->button == BUTTON_LEFT && in->clicks == 2)
        phase = phase_at_point(app, in->x, in->y);
    if (phase == TIMELINE_NONE)
        return false;
    uint32_t begin = app->a.tl->phases.at[phase].begin_event + 1;
    uint32_t end = track_phase_end(&app->a, phase), last = app->a.lod.moments - 1;
    selection_set_range(&app->selection, begin, end < last ? end : last);
    app_act(app, ACTION_FIT_SELECTION);
    return true;
}

static void add_bytes(struct app *app, enum text_id what, uint64_t bytes, struct tip *out) {
    char text[LABEL_BYTES];
    tip_add(out, "%.60s  %s", app_text(app, what), label_bytes_exact(bytes, text));
}

static bool tip(struct app *app, int x, int y, struct tip *out) {
    uint32_t phase = phase_at_point(app, x, y);
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    char own[I18N_NAME_BYTES], text[LABEL_BYTES];
    if (phase == TIMELINE_NONE)
        return false;
    const struct phase_sums *sums = phase_sums_of(app, phase);
    const char *name = timeline_text(app->a.tl, app->a.tl->phases.at[phase].name);
    tip_add(out, "%.200s", i18n_name(app->language, name, own));
    if (time.mode == RULER_TIME) {
        double ns = ruler_position(&time, sums->end) - ruler_position(&time, sums->begin);
        tip_add(out, "%s", label_time(ns > 0 ? (uint64_t)ns : 0, text));
    }
    add_bytes(app, TEXT_PEAK, sums->peak, out);
    add_bytes(app, TEXT_ALLOCATED, sums->allocated, out);
    add_bytes(app, TEXT_FREED, sums->freed, out);
    tip_add(out, "%.60s  %s", app_text(app, TEXT_NET),
            label_difference(sums->allocated, sums->freed, text));
    return true;
}

const struct pane_ops pane_phases = {.name = "phases",
                                     .doc = "steps, phases and modules over time",
                                     .place = place,
                                     .draw = draw,
                                     .input = input,
                                     .tip = tip};
