/* map_view.c: see map_view.h. */
#include "map_view.h"

#include "app_state.h"
#include "error.h"
#include "timeline.h"

void map_view_fini(struct map_view *view) {
    array_fini(&view->pinning.pins); /* the placement is the space's */
    room_fini(&view->room);
    space_fini(&view->space);
    map_fini(&view->map);
    array_fini(&view->cover);
}

struct map_places map_view_places(struct app *app) {
    const struct rect *r = &app->layout.map;
    int line = app_line(app), pad = app_px(app, 6), gutter = app->layout.plot.x;
    struct map_places p = {.bar = line + app_px(app, 1)};
    p.pitch = p.bar + app_px(app, 5);
    int facts = app_px(app, 336);
    if (r->w < app_px(app, 760))
        facts = 0;
    p.rows = (struct rect){r->x + gutter, r->y + line + pad, r->w - gutter - app_px(app, 14),
                           r->h - line - pad - app_px(app, 2)};
    if (facts > 0) {
        p.rows.w -= facts + app_px(app, 10);
        p.facts = (struct rect){p.rows.x + p.rows.w + app_px(app, 14), r->y, facts, r->h};
    }
    p.rows.w = p.rows.w > 1 ? p.rows.w : 1;
    p.rows.h = p.rows.h > 0 ? p.rows.h : 0;
    p.shown = p.rows.h / p.pitch > 0 ? p.rows.h / p.pitch : 1;
    return p;
}

/* The whole timeline's highest reserved fits, so that the scale stays while the cursor moves. A segment
 * of 2 MiB in the small pool is as wide as a word. */
static struct map_look look_of(const struct app *app, const struct map_places *p) {
    int lines = p->shown > 2 ? p->shown - 2 : 1;
    double most = (double)app->a.lod.peak.reserved_max, room = (double)lines * p->rows.w * 0.9;
    double zoom = app->map.zoom > 0 ? app->map.zoom : 1, unit = 64 << 10;
    double large = unit * (double)((uint64_t)(most / room / unit) + 1);
    return (struct map_look){.width = p->rows.w,
                             .gap = app_px(app, 3),
                             .least = app_px(app, 3),
                             .large = large / zoom,
                             .small = (double)(2 << 20) / app_px(app, 44) / zoom};
}

bool map_view_read(struct app *app, const struct map_places *places) {
    struct map_view *v = &app->map;
    if (!v->built)
        space_start(&v->space, app->a.tl, app->a.device);
    v->built = true;
    if (!app->layered && !space_build(&v->space, UINT32_MAX)) /* else app_work does */
        return false;
    if (!space_read(&v->space, app->cursor) || !map_read(&v->map, &v->space))
        return false;
    struct map_look look = look_of(app, places);
    map_arrange(&v->map, &v->space, &look);
    int most = v->map.lines - places->shown;
    v->scroll = v->scroll > most ? most : v->scroll;
    v->scroll = v->scroll > 0 ? v->scroll : 0;
    return true;
}

bool map_view_is_building(const struct app *app) {
    const struct map_view *v = &app->map;
    return app->layout.map.h > 0 && v->built && !v->space.done && !v->space.given_up;
}

bool map_view_build(struct app *app, uint32_t events) {
    return space_build(&app->map.space, events);
}

static bool is_expandable(const struct placement *p) {
    for (size_t i = 0; i < p->ranges.count; i++)
        if (p->ranges.at[i].is_expandable)
            return true;
    return false;
}

/* What one request of the default stream could get; options that a trace does not tell are the
 * usual ones. */
bool map_view_read_facts(struct app *app) {
    struct map_view *v = &app->map;
    struct error ignored = {0};
    if (!v->space.known || !v->space.valid)
        return true;
    if (v->facts_valid && v->facts_moment == v->space.moment)
        return true;
    v->facts_moment = v->space.moment;
    v->pinning.placement = v->space.placement;
    struct room_options options = {.sizes = caching_sizes_default()};
    options.sizes.expandable = is_expandable(&v->space.placement);
    uint64_t reserved = 0, taken;
    for (size_t i = 0; i < v->space.placement.ranges.count; i++)
        reserved += v->space.placement.ranges.at[i].bytes;
    taken = reserved + app->a.context_bytes;
    options.has_device_free = app->a.capacity_bytes > 0;
    options.device_free_bytes = app->a.capacity_bytes > taken ? app->a.capacity_bytes - taken : 0;
    room_fini(&v->room);
    v->facts_valid = pinning_look(app->a.tl, options.sizes.large_segment_bytes, &v->pinning) &&
                     room_find(app->a.tl, &v->pinning, 0, &options, &v->room, &ignored);
    return v->facts_valid;
}

bool map_view_at(struct app *app, const struct map_places *places, int x, int y,
                 struct map_hit *hit) {
    const struct rect *r = &places->rows;
    if (!rect_has(r, x, y) || (y - r->y) % places->pitch >= places->bar ||
        (y - r->y) / places->pitch >= places->shown || !map_view_read(app, places))
        return false;
    return map_at(&app->map.map, &app->map.space, app->map.scroll + (y - r->y) / places->pitch,
                  x - r->x, hit);
}
