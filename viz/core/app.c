/* app.c: see app.h. State, caches and the frame; app_input.c and app_action.c change it. */
#include <string.h>

#include "app_state.h"
#include "error.h"
#include "pane.h"
#include "plot.h"
#include "text.h"
#include "timeline.h"
#include "xalloc.h"

static bool build_tracks(struct app *app, const struct timeline *first,
                         const struct timeline *second, struct error *err) {
    if (!track_build(&app->a, first, timeline_main_device(first), err))
        return false;
    streams_cursor_init(&app->blocks_a, &app->a.streams);
    marks_start(&app->marks, &app->a);
    if (!second)
        return true;
    if (!track_build(&app->b, second, timeline_main_device(second), err) ||
        !align_build(&app->align, first, second, err))
        return false;
    streams_cursor_init(&app->blocks_b, &app->b.streams);
    app->has_b = true;
    return true;
}

static void start_state(struct app *app, const struct app_options *options) {
    app->theme_id = options->theme;
    if (options->palette)
        app->palette = *options->palette;
    else
        palette_start(&app->palette);
    app->language = options->language;
    app->scale_percent = options->scale_percent > 0 ? options->scale_percent : 100;
    app->width = options->width > 0 ? options->width : 1280;
    app->height = options->height > 0 ? options->height : 800;
    app->picture = options->picture;
    app->compare = options->below ? COMPARE_BELOW : COMPARE_OVERLAY;
    /* two sources need not share a clock: compare event by event */
    app->mode = app->has_b ? RULER_EVENTS : RULER_TIME;
    app->isolated = -1;
    app_bands_start(app);
    selection_start(&app->selection);
    layout_usual(app->shown, app->share);
    app->pointer_x = app->pointer_y = -1;
    app->grouping = owners_default(app->a.tl);
    app->speed = 1;
    app->dirty = true;
    app->cursor = options->picture ? track_peak(&app->a) : app->a.lod.moments - 1;
    app_relayout(app);
    struct view_limits limits;
    app_limits(app, &limits);
    view_fit_x(&app->view, &limits);
    view_fit_y(&app->view, &limits);
}

struct app *app_create(const struct app_options *options, const struct timeline *first,
                       const struct timeline *second, struct error *err) {
    struct app *app = xcalloc(1, sizeof *app);
    if (!app) {
        error_host_memory(err);
        return NULL;
    }
    if (options->embedded_font) {
        app->font = font_create_embedded();
        if (!app->font)
            error_host_memory(err);
    } else {
        app->font = font_create(options->font, err);
    }
    if (!app->font || !build_tracks(app, first, second, err)) {
        app_destroy(app);
        return NULL;
    }
    find_init(app);
    start_state(app, options);
    return app;
}

void app_destroy(struct app *app) {
    if (!app)
        return;
    app_bands_fini(app);
    plot_cache_fini(&app->plot);
    plot_cache_fini(&app->overview);
    streams_cursor_fini(&app->blocks_a);
    streams_cursor_fini(&app->blocks_b);
    plot_layer_fini(&app->layers[0]);
    plot_layer_fini(&app->layers[1]);
    array_fini(&app->pieces.list);
    array_fini(&app->live.ids);
    difference_fini(&app->difference.sums);
    range_sums_fini(&app->range.sums);
    block_lives_fini(&app->lifetimes.list);
    icicle_fini(&app->icicle.tree);
    array_fini(&app->icicle.path);
    map_view_fini(&app->map);
    strip_fini(&app->strip);
    find_fini(app);
    event_list_fini(&app->events);
    owner_tree_fini(&app->owner_tree);
    hover_fini(app);
    marks_fini(&app->marks);
    parameters_fini(&app->parameters);
    if (app->rows)
        track_rows_fini(app->rows);
    xfree(app->rows);
    align_fini(&app->align);
    request_match_fini(&app->match);
    track_fini(&app->a);
    track_fini(&app->b);
    font_destroy(app->font);
    xfree(app);
}

struct font *app_font(struct app *app) {
    return app->font;
}

int app_px(const struct app *app, int units) {
    return layout_px(app->scale_percent, units);
}

int app_size(const struct app *app) {
    return app_px(app, 13);
}

int app_small(const struct app *app) {
    return app_px(app, 12);
}

int app_large(const struct app *app) {
    return app_px(app, 22);
}

int app_line(struct app *app) {
    return font_line(app->font, app_size(app));
}

struct ruler app_ruler(const struct app *app) {
    return ruler_of(&app->a.lod, app->mode);
}

struct band_style app_band(const struct app *app, enum category category) {
    return app->palette.bands[category];
}

const struct theme *app_theme(const struct app *app) {
    return theme_get(app->theme_id);
}

const char *app_text(const struct app *app, enum text_id id) {
    return i18n_text(app->language, id);
}

uint64_t app_context(const struct app *app) {
    return app->a.context_bytes;
}

/* The height of the whole picture: up to the capacity where the peak is more than a third of it,
 * else the data would lie flat at the bottom of an empty picture. */
void app_limits(const struct app *app, struct view_limits *limits) {
    struct ruler ruler = app_ruler(app);
    ruler_limits(&ruler, limits);
    uint64_t top = track_top(&app->a, false);
    if (app->has_b && app->compare != COMPARE_OFF) {
        uint64_t other = track_top(&app->b, false);
        top = other > top ? other : top;
    }
    uint64_t capacity = app->a.capacity_bytes;
    if (capacity > top && top >= capacity / 3)
        top = capacity;
    limits->top = top > 0 ? (double)top * 1.07 : 1024;
}

void app_layout_wish(struct app *app, struct layout_wish *wish) {
    *wish = (struct layout_wish){.width = app->width,
                                 .height = app->height,
                                 .line = app_line(app),
                                 .scale_percent = app->scale_percent,
                                 .rows = app->rows ? (int)app->rows->rows.count : 0,
                                 .details = app->selection.pin != SELECTION_NONE,
                                 .prompt = find_shown(app) != FIND_NONE,
                                 .shown = app->shown,
                                 .share = app->share};
    for (int i = 0; i < TRACK_LANES; i++)
        if (app->a.lanes[i].count > 0)
            wish->lanes = i + 1;
}

void app_relayout(struct app *app) {
    struct layout_wish wish;
    app_layout_wish(app, &wish);
    layout_compute(&wish, &app->layout);
}

static void keep_lit(const struct app *app, struct live_set *set) {
    size_t kept = 0;
    for (size_t i = 0; i < set->ids.count; i++)
        if (search_has(&app->find.search, set->ids.at[i], app->cursor))
            set->ids.at[kept++] = set->ids.at[i];
    set->ids.count = kept;
}

bool app_read_owners(struct app *app) {
    if (app->owners_valid && app->owners_moment == app->cursor &&
        app->owners_grouping == app->grouping)
        return true;
    app->owners_valid = live_at(&app->a.live, app->cursor, &app->live);
    if (app->find.only && app->find.search.active)
        keep_lit(app, &app->live);
    app->owners_valid = app->owners_valid && owners_read(&app->a.owners, app->grouping, &app->live);
    const struct table_state *table = &app->tables[panes_tab_index(&pane_owners)];
    if (app->owners_valid && table->sort_column > 0)
        owners_sort(&app->a.owners, owners_order(table->sort_column), table->falling);
    app->owners_valid =
        app->owners_valid && owner_tree_read(&app->owner_tree, &app->a.owners, &app->live,
                                             owners_order(table->sort_column),
                                             table->sort_column <= 0 || table->falling);
    app->owners_moment = app->cursor;
    app->owners_grouping = app->grouping;
    return app->owners_valid;
}

bool app_read_plot(struct app *app, struct plot_cache *cache, const struct view *view, int width) {
    struct plot_source source = {app_ruler(app), app->has_b ? &app->b.lod : NULL, &app->align};
    return plot_cache_read(cache, &source, view, width);
}

bool app_settle_view(struct app *app) {
    if (!app_read_plot(app, &app->plot, &app->view, app->layout.plot.w))
        return false;
    column_grid_view(&app->plot.grid, &app->view);
    return true;
}

struct rect app_plot_rect(const struct app *app) {
    struct rect r = app->layout.plot;
    if (app->has_b && app->compare == COMPARE_BELOW)
        r.h = (r.h - app_px(app, 6)) / 2;
    return r;
}

struct plot_frame app_plot_frame(struct app *app, const struct rect *rect, bool second) {
    return (struct plot_frame){.rect = rect,
                               .view = &app->view,
                               .track = second ? &app->b : &app->a,
                               .columns = second ? app->plot.second.at : app->plot.first.at,
                               .blocks = second ? &app->blocks_b : &app->blocks_a,
                               .phase = (int)(app->plot.grid.first & 7)};
}

uint32_t app_cursor_b(const struct app *app) {
    uint32_t moment = align_map(&app->align, app->cursor);
    return moment < app->b.lod.moments ? moment : app->b.lod.moments - 1;
}

int app_cursor_x(const struct app *app) {
    struct ruler ruler = app_ruler(app);
    const struct rect *plot = &app->layout.plot;
    return plot->x + view_x(&app->view, ruler_position(&ruler, app->cursor), plot->w);
}

bool app_frame(struct app *app, struct draw_list *list, struct error *err) {
    draw_start(list, app->width, app->height);
    draw_rect(list, 0, 0, app->width, app->height, app_theme(app)->ground);
    if (!app->layered) /* else app_work does */
        list->failed = !app_settle_bands(app);
    list->failed = !app_settle_view(app) || list->failed;
    if (!app->layered && !app->marks.done && !app->marks.given_up) /* else app_work does */
        list->failed = !marks_build(&app->marks, UINT32_MAX) || list->failed;
    for (size_t i = 0; panes[i]; i++) {
        const struct rect *place = panes[i]->place(app);
        if (place->w > 0 && place->h > 0)
            panes[i]->draw(app, list);
    }
    app->dirty = false;
    return !list->failed || error_host_memory(err);
}

int app_text_width(struct app *app, const char *text) {
    return font_width(app->font, text, strlen(text), app_size(app), false);
}

int app_draw_text(struct app *app, struct draw_list *list, int x, int y, uint32_t color,
                  const char *text) {
    draw_text(list, x, y, app_size(app), false, color, text);
    return app_text_width(app, text);
}

int app_draw_right(struct app *app, struct draw_list *list, int right, int y, uint32_t color,
                   const char *text) {
    int width = app_text_width(app, text);
    draw_text(list, right - width, y, app_size(app), false, color, text);
    return width;
}

bool app_is_dirty(const struct app *app) {
    return app->dirty;
}

bool app_is_playing(const struct app *app) {
    return app->playing;
}

bool app_is_dragged(const struct app *app) {
    return app->drag != DRAG_NONE;
}

bool app_wants_quit(const struct app *app) {
    return app->quit;
}

enum app_request app_take_request(struct app *app) {
    enum app_request request = app->request;
    app->request = APP_NOTHING;
    return request;
}
