/* pane_legend.c: the bands with their sums at the cursor, and the limits; with two timelines both
 * and the difference. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "label.h"
#include "pane.h"
#include "timeline.h"
#include "tip.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.legend;
}

struct legend {
    struct app *app;
    struct draw_list *list;
    struct lod_state a, b;       /* at the cursor */
    uint64_t a_before, b_before; /* of them from before the recording */
    int x, right, y, row;
    int band_y[LOD_GROUPS]; /* of their rows; 0: none */
};

static bool compares(const struct app *app) {
    return app->has_b && app->compare != COMPARE_OFF;
}

static void draw_swatch(const struct legend *l, int band) {
    struct app *app = l->app;
    int size = app_px(app, 11), x = l->x + app_px(app, 4), y = l->y + (l->row - size) / 2;
    struct band_style style = app_band_style(app, band);
    int32_t *edges = draw_bands(l->list, x, y, size, size, 1, &style, 0, 0);
    for (int i = 0; edges && i < size; i++) {
        edges[2 * i] = y + size;
        edges[2 * i + 1] = y;
    }
}

/* name, bytes, and what is told of them: the share, or the difference (`b` may not be known) */
static void draw_row(struct legend *l, const char *name, uint32_t color, uint64_t a, uint64_t b,
                     bool b_known, const char *last) {
    struct app *app = l->app;
    char text[LABEL_BYTES], shown[200];
    int share = app_px(app, compares(app) ? 104 : 58), y = l->y + (l->row - app_line(app)) / 2;
    int left = l->x + app_px(app, 22), figures = l->right - share;
    if (compares(app))
        last = b_known ? label_difference(a, b, text) : app_text(app, TEXT_UNKNOWN);
    if (last)
        app_draw_right(app, l->list, l->right, y, app_theme(app)->faint, last);
    char bytes[LABEL_BYTES];
    int width = app_draw_right(app, l->list, figures, y, color, label_bytes(a, bytes));
    font_shorten(app->font, name, figures - width - left - app_px(app, 8), app_size(app), false,
                 shown, sizeof shown);
    app_draw_text(app, l->list, left, y, color, shown);
    l->y += l->row;
}

/* "at the peak, by module"; dots while the bands are not yet those. */
static const char *heading_of(const struct app *app, enum text_id where, char out[160]) {
    bool by_category = app->bands_wanted == OWNER_BY_CATEGORY && !app_bands_are_building(app);
    snprintf(out, 160, "%.60s", app_text(app, where));
    if (!by_category)
        snprintf(out, 160, "%.40s%.20s%.40s%s", app_text(app, where), app_text(app, TEXT_BY),
                 app_text(app, owners_title(app->bands_wanted)),
                 app_bands_are_building(app) ? " ..." : "");
    return out;
}

static void draw_heading(struct legend *l) {
    struct app *app = l->app;
    char heading[160];
    const struct theme *theme = app_theme(app);
    char text[LABEL_BYTES];
    bool at_peak = app->cursor == app_peak(app);
    app_draw_text(app, l->list, l->x + app_px(app, 4), l->y, theme->faint,
                  heading_of(app, at_peak ? TEXT_AT_PEAK : TEXT_AT_CURSOR, heading));
    if (compares(app))
        app_draw_right(app, l->list, l->right, l->y, theme->faint, app_text(app, TEXT_DIFFERENCE));
    l->y += app_line(app) + app_px(app, 1);
    draw_text(l->list, l->x + app_px(app, 4), l->y, app_large(app), true, theme->ink,
              label_bytes(l->a.total, text));
    if (compares(app)) {
        label_difference(l->a.total, l->b.total, text);
        int size = app_px(app, 15);
        int width = font_width(app->font, text, strlen(text), size, true);
        draw_text(l->list, l->right - width, l->y + app_px(app, 6), size, true,
                  l->a.total == l->b.total ? theme->faint : theme->warn, text);
    }
    l->y += font_line(app->font, app_large(app));
    label_count(l->a.total, text);
    app_draw_text(app, l->list, l->x + app_px(app, 4), l->y, theme->faint, text);
    l->y += app_line(app) + app_px(app, 6);
}

/* Two frames have no room: the inner one, or where another band has the same the one that called it. */
static void cut_stack(struct app *app, int band, char name[256]) {
    static const char between[] = "  <  ";
    char other[256], *outer = strstr(name, between);
    if (app->bands.by != OWNER_BY_STACK || !outer)
        return;
    size_t inner = (size_t)(outer - name) + sizeof between - 1;
    for (int i = 1; i < app->bands.count; i++)
        if (i != band && strncmp(app_band_name(app, i, other), name, inner) == 0) {
            memmove(name, outer + 2, strlen(outer + 2) + 1);
            return;
        }
    *outer = '\0';
}

/* The topmost band first, as in the picture; bands that are never there are left out. */
static void draw_bands_rows(struct legend *l, int bottom) {
    struct app *app = l->app;
    bool b_known = app->has_b && owners_knows(app->b.tl, app->bands.by);
    for (int i = app->bands.count - 1; i >= 0 && l->y + l->row <= bottom; i--) {
        uint64_t a = l->a.group[i], b = l->b.group[i];
        uint64_t outside = i == CATEGORY_OUTSIDE ? app_context(app) : 0;
        if (a + (b_known ? b : 0) + outside == 0)
            continue;
        char share[LABEL_BYTES], buffer[256], name[256];
        if (app->isolated == i)
            draw_rect(l->list, l->x, l->y, l->right - l->x, l->row, app_theme(app)->raised);
        l->band_y[i] = l->y;
        draw_swatch(l, i);
        snprintf(name, sizeof name, "%.255s", app_band_name(app, i, buffer));
        cut_stack(app, i, name);
        draw_row(l, name, app_theme(app)->ink, a + outside,
                 compares(app) ? b + app->b.context_bytes * (outside > 0) : 0,
                 outside == 0 ? b_known : app->b.context_bytes > 0,
                 outside > 0 ? NULL : label_share(a, l->a.total, share));
    }
}

enum limit_key { KEY_OF_UNUSED, KEY_OF_RESERVED, KEY_OF_CAPACITY };

/* What stands for it in the picture: the hatching, the line, the dashes. */
static void draw_limit_key(const struct legend *l, enum limit_key key) {
    struct app *app = l->app;
    const struct theme *theme = app_theme(app);
    int size = app_px(app, 11), x = l->x + app_px(app, 4), y = l->y + l->row / 2;
    if (key == KEY_OF_UNUSED) {
        struct band_style style = {theme->plot, PATTERN_HATCH, theme->hatch};
        int32_t *edges = draw_bands(l->list, x, y - size / 2, size, size, 1, &style, 0, 0);
        for (int i = 0; edges && i < size; i++) {
            edges[2 * i] = y - size / 2 + size;
            edges[2 * i + 1] = y - size / 2;
        }
        draw_frame(l->list, x, y - size / 2, size, size, theme->line);
        return;
    }
    bool dashed = key == KEY_OF_CAPACITY;
    int32_t *steps = draw_steps(l->list, x, y, size, 1, app_px(app, dashed ? 1 : 2), dashed,
                                dashed ? theme->capacity : theme->reserved);
    for (int i = 0; steps && i < size; i++)
        steps[i] = y;
}

static void draw_before_key(const struct legend *l) {
    struct app *app = l->app;
    int size = app_px(app, 11), x = l->x + app_px(app, 4), y = l->y + (l->row - size) / 2;
    struct band_style style = theme_before();
    draw_rect(l->list, x, y, size, size, app_band(app, CATEGORY_UNKNOWN).color);
    int32_t *edges = draw_bands(l->list, x, y, size, size, 1, &style, 0, 0);
    for (int i = 0; edges && i < size; i++) {
        edges[2 * i] = y + size;
        edges[2 * i + 1] = y;
    }
}

static uint64_t before_at(const struct track *track, uint32_t moment) {
    uint64_t sum = 0;
    for (int g = 0; track->before.blocks.count > 0 && g < LOD_GROUPS; g++)
        sum += before_left(&track->before, g, moment);
    return sum;
}

static void draw_rule(struct legend *l) {
    l->y += app_px(l->app, 4);
    draw_rect(l->list, l->x + app_px(l->app, 4), l->y, l->right - l->x - app_px(l->app, 4), 1,
              app_theme(l->app)->line);
    l->y += app_px(l->app, 4);
}

static void draw_limits(struct legend *l, int bottom) {
    struct app *app = l->app;
    const struct theme *theme = app_theme(app);
    if (l->y + 3 * l->row > bottom)
        return;
    draw_rule(l);
    if (l->a_before + l->b_before > 0 && l->y + 4 * l->row <= bottom) {
        draw_before_key(l);
        draw_row(l, app_text(app, TEXT_BEFORE_START), theme->ink, l->a_before, l->b_before, true,
                 NULL);
    }
    if (app->a.reserved_known) {
        uint64_t unused = l->a.reserved > l->a.total ? l->a.reserved - l->a.total : 0;
        uint64_t other = l->b.reserved > l->b.total ? l->b.reserved - l->b.total : 0;
        if (app->a.allocated_known) {
            draw_limit_key(l, KEY_OF_UNUSED);
            draw_row(l, app_text(app, TEXT_FREE_IN_RESERVED), theme->ink, unused, other,
                     app->b.reserved_known && app->b.allocated_known, NULL);
        }
        draw_limit_key(l, KEY_OF_RESERVED);
        draw_row(l,
                 app_text(app, timeline_knows(app->a.tl, FIGURE_DEVICE_USE) ? TEXT_DEVICE_USE
                                                                            : TEXT_RESERVED),
                 theme->ink, l->a.reserved, l->b.reserved, app->b.reserved_known, NULL);
    }
    if (app->a.capacity_bytes == 0 || l->y + l->row > bottom)
        return;
    draw_limit_key(l, KEY_OF_CAPACITY);
    draw_row(l, app_text(app, TEXT_CAPACITY), theme->capacity, app->a.capacity_bytes,
             app->b.capacity_bytes, app->b.capacity_bytes > 0, NULL);
}

static void draw_overlay_key(struct legend *l, int bottom) {
    struct app *app = l->app;
    if (!app->has_b || app->compare != COMPARE_OVERLAY || l->y + l->row > bottom)
        return;
    char text[LABEL_BYTES];
    draw_rect(l->list, l->x + app_px(app, 2), l->y + l->row / 2 - 1, app_px(app, 15),
              app_px(app, 2), app_theme(app)->overlay);
    int y = l->y + (l->row - app_line(app)) / 2, left = l->x + app_px(app, 22);
    enum level level = app->strip.level;
    const char *figure = level_known(&app->b, level)
                             ? label_bytes(level_bytes(&app->b, level, &l->b), text)
                             : app_text(app, TEXT_NOT_IN_TRACE);
    int width = app_draw_right(app, l->list, l->right, y, app_theme(app)->ink, figure);
    char shown[200], both[300];
    snprintf(both, sizeof both, "%.60s: %.200s", app_text(app, level_text(level)),
             track_name(&app->b));
    if (level == LEVEL_ALLOCATED) /* what the heading is too */
        snprintf(both, sizeof both, "%.200s", track_name(&app->b));
    font_shorten(app->font, both, l->right - width - left - app_px(app, 8), app_size(app), false,
                 shown, sizeof shown);
    app_draw_text(app, l->list, left, y, app_theme(app)->ink, shown);
    l->y += l->row;
}

/* "aligned by requests, moved" and what the requests say. */
static void draw_alignment(struct legend *l, int bottom) {
    struct app *app = l->app;
    static const enum text_id modes[ALIGN_MODE_COUNT] = {
#define X(id, text) text,
        ALIGN_MODES(X)
#undef X
    };
    char text[200], shown[200];
    if (!compares(app) || l->y + l->row > bottom)
        return;
    const struct request_match *match = app_match(app);
    int length = snprintf(text, sizeof text, "%.60s %.40s", app_text(app, TEXT_ALIGNED),
                          app_text(app, modes[app->align.mode]));
    if (align_is_moved(&app->align))
        length += snprintf(text + length, sizeof text - (size_t)length, " (%+.0f, x%.3f)",
                           -app->align.shift / app->align.stretch, 1 / app->align.stretch);
    if (match && match->kind == ALIGNMENT_NONE_DIFFERS)
        snprintf(text + length, sizeof text - (size_t)length, "  \xc2\xb7  %.60s",
                 app_text(app, TEXT_EQUAL));
    int left = l->x + app_px(app, 4);
    font_shorten(app->font, text, l->right - left, app_size(app), false, shown, sizeof shown);
    app_draw_text(app, l->list, left, l->y + (l->row - app_line(app)) / 2, app_theme(app)->faint,
                  shown);
    l->y += l->row;
}

static struct legend draw_all(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.legend;
    struct legend l = {.app = app,
                       .list = list,
                       .x = r->x + app_px(app, 6),
                       .right = r->x + r->w - app_px(app, 14),
                       .y = r->y + app_px(app, 2),
                       .row = app_line(app) + app_px(app, 4)};
    lod_state_at(&app->a.lod, app->cursor, &l.a);
    l.a_before = before_at(&app->a, app->cursor);
    if (app->has_b) {
        lod_state_at(&app->b.lod, app_cursor_b(app), &l.b);
        l.b_before = before_at(&app->b, app_cursor_b(app));
    }
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_heading(&l);
    draw_overlay_key(&l, r->y + r->h);
    draw_alignment(&l, r->y + r->h);
    draw_bands_rows(&l, r->y + r->h);
    draw_limits(&l, r->y + r->h);
    draw_unclip(list);
    return l;
}

static void draw(struct app *app, struct draw_list *list) {
    draw_all(app, list);
}

/* The band whose row is at a height; -1: none. */
static int band_at(struct app *app, int y, struct legend *legend) {
    struct draw_list unseen = {0};
    draw_start(&unseen, app->width, app->height);
    *legend = draw_all(app, &unseen);
    draw_fini(&unseen);
    for (int i = 0; i < app->bands.count; i++)
        if (legend->band_y[i] > 0 && y >= legend->band_y[i] && y < legend->band_y[i] + legend->row)
            return i;
    return -1;
}

/* The whole name, and exact bytes. */
static bool tip(struct app *app, int x, int y, struct tip *out) {
    struct legend legend;
    char name[256], bytes[LABEL_BYTES];
    int band = band_at(app, y, &legend);
    (void)x;
    if (band < 0)
        return false;
    uint64_t outside = band == CATEGORY_OUTSIDE ? app_context(app) : 0;
    out->swatch = app_band_style(app, band).color;
    tip_add(out, "%.230s", app_band_name(app, band, name));
    tip_add(out, "%s", label_bytes_exact(legend.a.group[band] + outside, bytes));
    return true;
}

/* A click on a row: that band alone, or all; with Ctrl: a search for what it holds. On the heading: the
 * next grouping, with Shift the previous one. */
static bool input(struct app *app, const struct input *in) {
    struct legend legend;
    if (in->kind != INPUT_PRESS || in->button != BUTTON_LEFT)
        return false;
    int band = band_at(app, in->y, &legend);
    app->dirty = true;
    if (band >= 0 && (in->mods & MOD_CTRL))
        app_follow_band(app, band, TIMELINE_NONE);
    else if (band >= 0)
        app->isolated = app->isolated == band ? -1 : band;
    else if (in->y < app->layout.legend.y + app_px(app, 2) + app_line(app))
        app_next_bands(app, in->mods & MOD_SHIFT ? -1 : 1);
    return true;
}

const struct pane_ops pane_legend = {.name = "legend",
                                     .doc = "the bands with their sums at the cursor",
                                     .place = place,
                                     .draw = draw,
                                     .input = input,
                                     .tip = tip};
