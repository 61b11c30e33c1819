/* pane_strip.c: the track below the timeline, column by column of the plot; see strip.h. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "plates.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.strip;
}

struct track_frame {
    struct app *app;
    struct draw_list *list;
    struct rect r;
    uint32_t moments; /* that are there */
};

/* The moments of a column, at least the one that lasts in it. False: not there yet. */
static bool moments_of(const struct track_frame *f, int x, uint32_t *first, uint32_t *end) {
    const uint32_t *edges = f->app->plot.edges.at;
    *first = edges[x];
    *end = edges[x + 1];
    if (*first >= *end) { /* the state before it lasts */
        *first = *first > 0 ? *first - 1 : 0;
        *end = *first + 1;
    }
    if (*first >= f->moments)
        return false;
    *end = *end < f->moments ? *end : f->moments;
    return true;
}

static bool is_over(const struct track_frame *f) {
    return !f->app->picture && rect_has(&f->r, f->app->pointer_x, f->app->pointer_y);
}

/* At the pointer, else at the cursor. False: not there yet. */
static bool moments_asked(const struct track_frame *f, uint32_t *first, uint32_t *end) {
    if (is_over(f))
        return moments_of(f, f->app->pointer_x - f->r.x, first, end);
    *first = f->app->cursor;
    *end = *first + 1;
    return *first < f->moments;
}

static void draw_caption(const struct track_frame *f, enum text_id title, const char *text) {
    struct app *app = f->app;
    char shown[400];
    const char *name = app_text(app, title);
    int x = f->r.x, y = app->layout.strip.y + app_px(app, 2), size = app_small(app);
    draw_text(f->list, x, y, size, true, app_theme(app)->ink, name);
    x += font_width(app->font, name, strlen(name), size, true) + app_px(app, 12);
    font_shorten(app->font, text, f->r.x + f->r.w - x, size, false, shown, sizeof shown);
    draw_text(f->list, x, y, size, false, app_theme(app)->faint, shown);
}

/* A figure of the scale, in the gutter. */
static void draw_label(const struct track_frame *f, int y, uint32_t color, const char *text) {
    struct app *app = f->app;
    int size = app_small(app), line = font_line(app->font, size);
    int width = font_width(app->font, text, strlen(text), size, false);
    y = y - line / 2;
    y = y < f->r.y ? f->r.y : y > f->r.y + f->r.h - line ? f->r.y + f->r.h - line : y;
    if (f->r.x - app->layout.strip.x > width)
        draw_text(f->list, f->r.x - width - app_px(app, 8), y, size, false, color, text);
}

/* "+129 MiB", for the gutter. */
static const char *label_signed(int64_t bytes, char out[LABEL_BYTES]) {
    char size[LABEL_BYTES];
    uint64_t distance = bytes < 0 ? (uint64_t)0 - (uint64_t)bytes : (uint64_t)bytes;
    snprintf(out, LABEL_BYTES, "%s%.40s",
             bytes < 0   ? "-"
             : bytes > 0 ? "+"
                         : "",
             label_bytes_short(distance, size));
    return out;
}

/* "+1.00 MiB (1,048,576)" */
static const char *label_gap(int64_t bytes, char out[LABEL_BYTES]) {
    char size[LABEL_BYTES];
    uint64_t distance = bytes < 0 ? (uint64_t)0 - (uint64_t)bytes : (uint64_t)bytes;
    snprintf(out, LABEL_BYTES, "%s%.60s",
             bytes < 0   ? "-"
             : bytes > 0 ? "+"
                         : "",
             label_bytes_exact(distance, size));
    return out;
}

/* --- fragmentation --- */

static int height_of(const struct track_frame *f, int64_t value, int64_t most) {
    return most > 0 ? (int)((double)value / (double)most * (f->r.h - 1) + 0.5) : 0;
}

/* One run is solid, what is scattered is hatched above it; what comes and goes inside a column is
 * lighter. */
static void draw_free(const struct track_frame *f, int64_t most) {
    const struct theme *theme = app_theme(f->app);
    const struct rect *r = &f->r;
    const struct free_runs *runs = &f->app->strip.runs;
    const struct band_style styles[] = {{theme->hatch, PATTERN_NONE, 0},
                                        {theme->line, PATTERN_NONE, 0},
                                        {theme->plot, PATTERN_HATCH, theme->hatch}};
    int32_t *edges = draw_bands(f->list, r->x, r->y, r->w, r->h, 3, styles, 0, 0);
    for (int x = 0; edges && x < r->w; x++) {
        uint32_t first, end;
        int h[3] = {0, 0, 0}, bottom = r->y + r->h;
        if (moments_of(f, x, &first, &end)) {
            struct extremes run = free_runs_range(runs, FREE_RUNS_LARGEST, first, end);
            struct extremes all = free_runs_range(runs, FREE_RUNS_FREE, first, end);
            h[0] = height_of(f, run.low, most);
            h[1] = height_of(f, run.high, most);
            h[2] = height_of(f, all.high, most);
        }
        *edges++ = bottom;
        for (int i = 0; i < 3; i++)
            *edges++ = bottom - h[i];
    }
    int32_t *steps = draw_steps(f->list, r->x, r->y, r->w, r->h, 1, false, theme->hatch);
    for (int x = 0; steps && x < r->w; x++) {
        uint32_t first, end;
        steps[x] = r->y + r->h;
        if (moments_of(f, x, &first, &end))
            steps[x] -= height_of(f, free_runs_range(runs, FREE_RUNS_FREE, first, end).high, most);
    }
}

static void draw_scattered(const struct track_frame *f, bool high) {
    const struct theme *theme = app_theme(f->app);
    const struct rect *r = &f->r;
    uint32_t color = high ? theme->more : (theme->more & 0xffffff) | 0x70000000;
    int32_t *steps = draw_steps(f->list, r->x, r->y, r->w, r->h, app_px(f->app, 1), false, color);
    for (int x = 0; steps && x < r->w; x++) {
        uint32_t first, end;
        steps[x] = r->y + r->h;
        if (!moments_of(f, x, &first, &end))
            continue;
        struct extremes part =
            free_runs_range(&f->app->strip.runs, FREE_RUNS_SCATTERED, first, end);
        steps[x] = r->y + r->h - 1 - height_of(f, high ? part.high : part.low, 1000000);
    }
}

static const char *spread(int64_t low, int64_t high, char out[2 * LABEL_BYTES]) {
    char a[LABEL_BYTES], b[LABEL_BYTES];
    label_bytes((uint64_t)low, a);
    label_bytes((uint64_t)high, b);
    snprintf(out, 2 * LABEL_BYTES, low == high ? "%s" : "%s .. %s", a, b);
    return out;
}

static void caption_fragmentation(const struct track_frame *f) {
    struct app *app = f->app;
    const struct free_runs *runs = &app->strip.runs;
    char text[500] = "", a[2 * LABEL_BYTES], b[2 * LABEL_BYTES];
    uint32_t first, end;
    if (moments_asked(f, &first, &end)) {
        struct extremes all = free_runs_range(runs, FREE_RUNS_FREE, first, end);
        struct extremes run = free_runs_range(runs, FREE_RUNS_LARGEST, first, end);
        struct extremes part = free_runs_range(runs, FREE_RUNS_SCATTERED, first, end);
        snprintf(text, sizeof text, "%.40s %.120s   %.40s %.120s   %.40s %.1f %%",
                 app_text(app, TEXT_FREE), spread(all.low, all.high, a),
                 app_text(app, TEXT_LARGEST_FREE), spread(run.low, run.high, b),
                 app_text(app, TEXT_SCATTERED), (double)part.high / 10000);
    }
    draw_caption(f, TEXT_FRAGMENTATION, text);
}

static void draw_fragmentation(struct track_frame *f) {
    struct app *app = f->app;
    const struct free_runs *runs = &app->strip.runs;
    if (!runs->known) {
        draw_caption(f, TEXT_FRAGMENTATION,
                     app_text(app, runs->given_up ? TEXT_NO_HOST_MEMORY : TEXT_NO_ADDRESSES));
        return;
    }
    f->moments = runs->moments;
    if (f->moments == 0)
        return;
    /* of all: the scale stays while the view moves */
    int64_t most = free_runs_range(runs, FREE_RUNS_FREE, 0, f->moments).high;
    char text[LABEL_BYTES];
    draw_free(f, most);
    draw_scattered(f, false);
    draw_scattered(f, true);
    draw_label(f, f->r.y, app_theme(app)->faint, label_bytes_short((uint64_t)most, text));
    caption_fragmentation(f);
}

/* --- difference --- */

static int64_t above(int64_t gap) {
    return gap > 0 ? gap : 0;
}

static int64_t below(int64_t gap) {
    return gap < 0 ? gap : 0;
}

/* Where no difference is: as high as what is below needs. */
static int zero_of(const struct track_frame *f, const struct extremes *all) {
    double whole = (double)above(all->high) - (double)below(all->low);
    double part = whole > 0 ? (double)above(all->high) / whole : 0.5;
    return f->r.y + 1 + (int)(part * (f->r.h - 3) + 0.5);
}

static int y_of(const struct track_frame *f, int64_t gap, const struct extremes *all) {
    double whole = (double)above(all->high) - (double)below(all->low);
    double y = whole > 0 ? (double)gap / whole * (f->r.h - 3) : 0;
    int pixels = (int)(y < 0 ? y - 0.5 : y + 0.5);
    if (pixels == 0 && gap != 0) /* the least difference is seen */
        pixels = gap < 0 ? -1 : 1;
    return zero_of(f, all) - pixels;
}

/* What the whole column has is solid, what it has for a while is lighter. */
static void draw_gap(const struct track_frame *f, const struct extremes *all) {
    const struct theme *theme = app_theme(f->app);
    const struct rect *r = &f->r;
    const struct band_style styles[] = {{theme->less, PATTERN_DIAGONALS, theme->plot},
                                        {theme->less, PATTERN_NONE, 0},
                                        {theme->more, PATTERN_NONE, 0},
                                        {theme->more, PATTERN_DIAGONALS, theme->plot}};
    int32_t *edges = draw_bands(f->list, r->x, r->y, r->w, r->h, 4, styles, 0, 0);
    for (int x = 0; edges && x < r->w; x++) {
        uint32_t first, end;
        struct extremes gap = {0, 0};
        if (moments_of(f, x, &first, &end))
            gap = level_gap_range(&f->app->strip.gap, first, end);
        *edges++ = y_of(f, below(gap.low), all);
        *edges++ = y_of(f, below(gap.high), all);
        *edges++ = zero_of(f, all);
        *edges++ = y_of(f, above(gap.low), all);
        *edges++ = y_of(f, above(gap.high), all);
    }
}

static void caption_difference(const struct track_frame *f) {
    struct app *app = f->app;
    char text[300], low[LABEL_BYTES], high[LABEL_BYTES];
    uint32_t first, end;
    int length = snprintf(text, sizeof text, "%.60s", app_text(app, level_text(app->strip.level)));
    size_t room = sizeof text - (size_t)length;
    if (!app->strip.gap.known) {
        snprintf(text + length, room, ": %.100s",
                 app_text(app, app->strip.gap.given_up ? TEXT_NO_HOST_MEMORY : TEXT_NOT_IN_TRACE));
    } else if (moments_asked(f, &first, &end)) {
        struct extremes gap = level_gap_range(&app->strip.gap, first, end);
        label_gap(gap.low, low);
        label_gap(gap.high, high);
        if (gap.low == gap.high)
            snprintf(text + length, room, "   %s", low);
        else
            snprintf(text + length, room, "   %s .. %s", low, high);
    }
    draw_caption(f, TEXT_DIFFERENCE, text);
}

static void draw_difference(struct track_frame *f) {
    struct app *app = f->app;
    const struct level_gap *gap = &app->strip.gap;
    char text[LABEL_BYTES];
    f->moments = gap->moments;
    if (gap->known && f->moments > 0) {
        struct extremes all = level_gap_range(gap, 0, f->moments);
        int zero = zero_of(f, &all);
        draw_gap(f, &all);
        draw_rect(f->list, f->r.x, zero, f->r.w, 1, app_theme(app)->faint);
        if (all.high > 0)
            draw_label(f, f->r.y, app_theme(app)->faint, label_signed(all.high, text));
        if (all.low < 0)
            draw_label(f, f->r.y + f->r.h, app_theme(app)->faint, label_signed(all.low, text));
    }
    caption_difference(f);
}

/* --- both --- */

static void draw_progress(const struct track_frame *f) {
    struct app *app = f->app;
    if (!strip_is_building(app))
        return;
    char text[100];
    snprintf(text, sizeof text, "%.60s %u %%", app_text(app, TEXT_BUILDING),
             (unsigned)((uint64_t)f->moments * 100 / app->a.lod.moments));
    struct plates plates = {.bounds = &f->r};
    plates_draw(app, f->list, &plates, f->r.x + f->r.w, f->r.y + f->r.h, app_theme(app)->faint,
                false, text);
}

static void draw(struct app *app, struct draw_list *list) {
    struct track_frame f = {.app = app, .list = list, .r = *place(app)};
    f.r.x = app->layout.plot.x;
    f.r.w = app->layout.plot.w;
    int caption = font_line(app->font, app_small(app)) + app_px(app, 4);
    f.r.y += caption;
    f.r.h -= caption + app_px(app, 3);
    if (f.r.h < 3 || !app_read_plot(app, &app->plot, &app->view, f.r.w) || !strip_start(app) ||
        (!app->layered && strip_is_building(app) && !strip_build(app, UINT32_MAX))) {
        list->failed = list->failed || f.r.h >= 3;
        return;
    }
    draw_rect(list, f.r.x, f.r.y, f.r.w, f.r.h, app_theme(app)->plot);
    draw_clip(list, place(app)->x, place(app)->y, place(app)->w, place(app)->h);
    if (app->strip.kind == STRIP_FRAGMENTATION)
        draw_fragmentation(&f);
    else
        draw_difference(&f);
    draw_progress(&f);
    int x = app_cursor_x(app);
    if (!app->picture && x >= f.r.x && x < f.r.x + f.r.w)
        draw_rect(list, x, f.r.y, app_px(app, 1), f.r.h, app_theme(app)->accent);
    draw_unclip(list);
}

const struct pane_ops pane_strip = {.name = "strip",
                                    .doc = "fragmentation or the difference over time",
                                    .place = place,
                                    .draw = draw};
