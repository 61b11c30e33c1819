/* app_work.c: what builds and refines itself while time passes: the bands of blocks of what is
 * looked at, then the indexes that make them cheap. One thread, slices short enough for a frame. */
#include "app_state.h"
#include "error.h"
#include "plot.h"

enum {
    SLICE_NS = 6000000,
    STILL_MS = 40,  /* a view that zooms shows groups until it rests so long */
    EVENTS = 16384, /* looked at between two looks at the clock */
};

struct slice {
    struct app *app;
    uint64_t end_ns;
};

static bool has_time(const struct slice *s) {
    return !s->app->clock_ns || s->app->clock_ns() < s->end_ns;
}

static int layer_count(const struct app *app) {
    return app->has_b && app->compare == COMPARE_BELOW ? 2 : 1;
}

/* After a pan most columns are there: the new ones need not wait. */
static bool is_wanted(const struct app *app, const struct plot_layer *layer) {
    bool moving = layer->still_ms < STILL_MS && layer->missing > layer->width / 2;
    return layer->missing > 0 && layer->width > 0 && (!moving || !app->clock_ns);
}

static void refine(const struct slice *s, int index) {
    struct app *app = s->app;
    struct plot_layer *layer = &app->layers[index];
    struct rect r = {0, 0, layer->width, layer->height};
    struct plot_frame frame = app_plot_frame(app, &r, index == 1);
    if (!is_wanted(app, layer) || !plot_layer_is_current(app, layer, &frame))
        return; /* the next frame makes it so */
    bool inside = rect_has(&app->layout.plot, app->pointer_x, app->pointer_y);
    int around = inside ? app->pointer_x - app->layout.plot.x : layer->width / 2;
    while (layer->missing > 0 && has_time(s)) {
        app->dirty = true;
        if (!plot_layer_refine(app, layer, &frame, around))
            return; /* the next frame says so */
    }
}

static bool is_building(const struct streams *streams) {
    return !streams->done && !streams->given_up;
}

static void build(const struct slice *s, struct streams *streams) {
    struct error ignored = {0}; /* without them all blocks are walked: slower, the same picture */
    while (is_building(streams) && has_time(s))
        streams->given_up = !streams_build(streams, EVENTS, &ignored);
}

static bool marks_are_building(const struct app *app) {
    return !app->marks.done && !app->marks.given_up;
}

void app_work(struct app *app, uint32_t ms) {
    if (!app->layered)
        return;
    struct slice s = {app, app->clock_ns ? app->clock_ns() + SLICE_NS : 0};
    while (app_bands_are_building(app) && has_time(&s)) /* before a picture that is soon another */
        app_build_bands(app, EVENTS);
    for (int i = 0; i < layer_count(app); i++) {
        app->layers[i].still_ms += ms < 1000 ? ms : 1000;
        refine(&s, i);
    }
    build(&s, &app->a.streams);
    if (app->has_b)
        build(&s, &app->b.streams);
    while (marks_are_building(app) && has_time(&s)) {
        marks_build(&app->marks, EVENTS);
        app->dirty = app->marks.done;
    }
    while (map_view_is_building(app) && has_time(&s)) {
        map_view_build(app, EVENTS);
        app->dirty = true;
    }
    while (app_range_is_building(app) && has_time(&s))
        app_build_range(app, EVENTS / 4);
    while (strip_is_building(app) && has_time(&s)) {
        strip_build(app, EVENTS / 4);
        app->dirty = true;
    }
}

void app_build(struct app *app) {
    const struct slice s = {app, 0}; /* without a clock there is always time */
    if (app->clock_ns)
        return;
    build(&s, &app->a.streams);
    if (app->has_b)
        build(&s, &app->b.streams);
    if (marks_are_building(app))
        marks_build(&app->marks, UINT32_MAX);
}

bool app_prepare(struct app *app) {
    struct draw_list unseen = {0};
    struct error ignored = {0}; /* the frame that is seen says so */
    if (!app->layered || app->layers[0].width == 0) {
        app_frame(app, &unseen, &ignored);
        draw_fini(&unseen);
        app->dirty = true;
        return !app->layered || app->layers[0].width == 0;
    }
    app_work(app, STILL_MS);
    bool missing = app_bands_are_building(app);
    for (int i = 0; i < layer_count(app); i++)
        missing = missing || app->layers[i].missing > 0;
    return !missing;
}

void app_use_layers(struct app *app, uint64_t (*clock_ns)(void)) {
    app->layered = true;
    app->clock_ns = clock_ns;
    app->dirty = true;
}

bool app_is_busy(const struct app *app) {
    if (app->find.stale)
        return true;
    if (!app->layered)
        return false;
    bool busy = app_bands_are_building(app) || app_range_is_building(app) ||
                strip_is_building(app) || map_view_is_building(app) || marks_are_building(app) ||
                is_building(&app->a.streams) || (app->has_b && is_building(&app->b.streams));
    for (int i = 0; i < layer_count(app); i++)
        busy = busy || app->layers[i].missing > 0;
    return busy;
}
