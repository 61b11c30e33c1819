/* map_rows.c: the rows of the address map. First the share of each style in every pixel, so that what
 * is smaller than a pixel counts too; over it the blocks that are larger, in their outlines. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "liveness.h"
#include "map_view.h"
#include "timeline.h"

/* After those of the bands. */
enum { STYLE_DIM, STYLE_PENDING, STYLE_FREE, STYLES };

struct sheet {
    struct app *app;
    struct draw_list *list;
    const struct map_places *places;
    const struct map *map;
    const struct space *space;
    const struct placement *placement;
    int first, end; /* rows shown */
    struct band_style styles[LOD_GROUPS + STYLES];
    int bands, count; /* of the styles: of the bands, in all */
};

static bool is_pinned(const struct app *app, uint32_t block) {
    return app->selection.pin == block;
}

/* Not among what a search has found. */
static bool is_dim(const struct app *app, uint32_t block) {
    return app_dims(app) && !app_is_lit(app, block);
}

static struct band_style band_style(const struct app *app, int band) {
    struct band_style style = app_band_style(app, band);
    if (app->isolated >= 0 && app->isolated != band) { /* out of focus, as in the plot */
        style.pattern = PATTERN_NONE;
        style.color = app_theme(app)->line;
    }
    return style;
}

static void find_styles(struct sheet *s) {
    const struct theme *theme = app_theme(s->app);
    struct band_style *others = s->styles + s->bands;
    for (int i = 0; i < s->bands; i++)
        s->styles[i] = band_style(s->app, i);
    others[STYLE_DIM] = (struct band_style){theme->line, PATTERN_NONE, theme->faint};
    others[STYLE_PENDING] = (struct band_style){theme->plot, PATTERN_DIAGONALS, theme->ink};
    others[STYLE_FREE] = (struct band_style){theme->plot, PATTERN_HATCH, theme->hatch};
}

/* --- shares of pixels --- */

static void cover(struct sheet *s, uint64_t from, uint64_t to, int style) {
    uint64_t width = (uint64_t)s->map->look.width;
    uint64_t low = (uint64_t)s->first * width * MAP_FINE,
             high = (uint64_t)s->end * width * MAP_FINE;
    from = from > low ? from : low;
    to = to < high ? to : high;
    uint16_t *cells = s->app->map.cover.at;
    while (from < to) {
        uint64_t end = (from / MAP_FINE + 1) * MAP_FINE;
        end = end < to ? end : to;
        cells[((from - low) / MAP_FINE) * (uint64_t)s->count + (uint64_t)style] +=
            (uint16_t)(end - from);
        from = end;
    }
}

static int style_of(const struct sheet *s, uint32_t block) {
    if (block_is_pending(&s->space->tl->blocks.at[block], s->space->moment - 1))
        return s->bands + STYLE_PENDING;
    return app_block_band(s->app, block);
}

static const struct timeline_block *block_at(const struct sheet *s, uint32_t index) {
    return &s->space->tl->blocks.at[s->placement->blocks.at[index]];
}

static void cover_range(struct sheet *s, uint32_t index) {
    const struct map_range *range = &s->map->ranges.at[index];
    const struct map_item *item = &s->map->items.at[range->item];
    uint64_t start = s->placement->ranges.at[index].address;
    for (uint32_t i = range->first_block; i < range->end_block; i++) {
        const struct timeline_block *b = block_at(s, i);
        uint32_t block = s->placement->blocks.at[i];
        uint64_t at = range->at + (b->address - start);
        cover(s, map_place(s->map, item, at), map_place(s->map, item, at + b->block_bytes),
              is_dim(s->app, block) ? s->bands + STYLE_DIM : style_of(s, block));
    }
    for (uint32_t i = range->first_gap; i < range->end_gap; i++) {
        const struct placement_gap *gap = &s->placement->gaps.at[i];
        uint64_t at = range->at + (gap->address - start);
        cover(s, map_place(s->map, item, at), map_place(s->map, item, at + gap->bytes),
              s->bands + STYLE_FREE);
    }
}

static int row_y(const struct sheet *s, int row) {
    return s->places->rows.y + (row - s->first) * s->places->pitch;
}

static void draw_covered(struct sheet *s, int row) {
    const struct rect *r = &s->places->rows;
    int y = row_y(s, row), h = s->places->bar;
    const uint16_t *cells =
        s->app->map.cover.at + (size_t)(row - s->first) * (size_t)r->w * (size_t)s->count;
    int32_t *edges = draw_bands(s->list, r->x, y, r->w, h, s->count, s->styles, 0, 0);
    for (int x = 0; edges && x < r->w; x++) {
        int sum = 0;
        *edges++ = y + h;
        for (int k = 0; k < s->count; k++) {
            sum += *cells++;
            *edges++ = y + h - (sum < MAP_FINE ? sum * h / MAP_FINE : h);
        }
    }
}

/* --- what is larger --- */

/* The pixels from .. to of the item, row by row: [*x, *x + *w) of row *row; false: no more. */
struct stretch {
    int64_t from, to; /* pixels from the map's start */
};

static struct stretch stretch_of(uint64_t from, uint64_t to) {
    return (struct stretch){(int64_t)((from + MAP_FINE / 2) / MAP_FINE),
                            (int64_t)((to + MAP_FINE / 2) / MAP_FINE)};
}

static bool next_piece(const struct sheet *s, struct stretch *stretch, struct rect *out) {
    int64_t width = s->map->look.width, low = s->first * width, high = s->end * width;
    stretch->from = stretch->from > low ? stretch->from : low;
    if (stretch->from >= stretch->to || stretch->from >= high)
        return false;
    int64_t row = stretch->from / width, end = (row + 1) * width;
    end = end < stretch->to ? end : stretch->to;
    *out = (struct rect){s->places->rows.x + (int)(stretch->from % width), row_y(s, (int)row),
                         (int)(end - stretch->from), s->places->bar};
    stretch->from = end;
    return true;
}

static void fill(struct sheet *s, const struct rect *r, const struct band_style *style) {
    if (style->pattern == PATTERN_NONE) {
        draw_rect(s->list, r->x, r->y, r->w, r->h, style->color);
        return;
    }
    int32_t *edges = draw_bands(s->list, r->x, r->y, r->w, r->h, 1, style, 0, 0);
    for (int i = 0; edges && i < r->w; i++) {
        *edges++ = r->y + r->h;
        *edges++ = r->y;
    }
}

static const char *name_of(const struct sheet *s, const struct timeline_block *b) {
    const struct timeline *tl = s->space->tl;
    return timeline_text(tl, b->name ? b->name : b->owner ? b->owner : b->op);
}

static void draw_name(struct sheet *s, const struct rect *r, const struct timeline_block *b,
                      uint32_t color) {
    struct app *app = s->app;
    char shown[120];
    int pad = app_px(app, 4), size = app_small(app);
    const char *name = name_of(s, b);
    if (!*name || r->w < app_px(app, 44) || font_line(app->font, size) > r->h + app_px(app, 3))
        return;
    font_shorten(app->font, name, r->w - 2 * pad, size, false, shown, sizeof shown);
    if (strlen(shown) >= 4 || strcmp(shown, name) == 0)
        draw_text(s->list, r->x + pad, r->y + (r->h - font_line(app->font, size)) / 2, size, false,
                  color, shown);
}

/* Rounding loss: the tail that nobody asked for. */
static void draw_tail(struct sheet *s, const struct map_item *item, uint64_t at,
                      const struct timeline_block *b) {
    struct rect piece;
    if (b->requested_bytes >= b->block_bytes || !(s->space->tl->has & TIMELINE_HAS_REQUESTED))
        return;
    struct stretch tail = stretch_of(map_place(s->map, item, at + b->requested_bytes),
                                     map_place(s->map, item, at + b->block_bytes));
    while (next_piece(s, &tail, &piece))
        draw_rect(s->list, piece.x, piece.y, piece.w, piece.h, 0x78000000);
}

static void draw_block(struct sheet *s, const struct map_item *item, uint64_t at, uint32_t index) {
    const struct timeline_block *b = block_at(s, index);
    struct stretch stretch =
        stretch_of(map_place(s->map, item, at), map_place(s->map, item, at + b->block_bytes));
    struct stretch again = stretch;
    struct rect piece;
    bool pinned = is_pinned(s->app, s->placement->blocks.at[index]);
    if (stretch.to - stretch.from < 3 && !pinned)
        return;
    uint32_t block = s->placement->blocks.at[index];
    bool pending = style_of(s, block) == s->bands + STYLE_PENDING;
    struct band_style look = band_style(s->app, app_block_band(s->app, block));
    if (pending) /* its own colour, hollow */
        look = (struct band_style){app_theme(s->app)->plot, PATTERN_DIAGONALS, look.color};
    bool first = true;
    struct band_style veil = theme_before();
    bool dim = is_dim(s->app, block);
    look.color = theme_shade(look.color, block); /* as in the plot */
    look = dim ? theme_dim(app_theme(s->app), look) : look;
    while (next_piece(s, &stretch, &piece)) {
        fill(s, &piece, &look);
        if (b->alloc_event == TIMELINE_NONE && !dim)
            fill(s, &piece, &veil);
        if (pending)
            draw_frame(s->list, piece.x, piece.y, piece.w, piece.h, look.on);
        else if (first)
            draw_rect(s->list, piece.x, piece.y, 1, piece.h,
                      (app_theme(s->app)->separator & 0xffffff) | 0xa0000000);
        if (first)
            draw_name(s, &piece, b, pending ? app_theme(s->app)->ink : look.on);
        first = false;
    }
    draw_tail(s, item, at, b);
    while (pinned && next_piece(s, &again, &piece)) {
        int thick = app_px(s->app, 2);
        for (int i = 0; i < thick; i++)
            draw_frame(s->list, piece.x - 1 - i, piece.y - 1 - i,
                       (piece.w > 0 ? piece.w : 1) + 2 + 2 * i, piece.h + 2 + 2 * i,
                       app_theme(s->app)->accent);
    }
}

static void draw_outline(struct sheet *s, const struct map_item *item, uint64_t from, uint64_t to,
                         uint32_t color, int out) {
    struct stretch stretch = stretch_of(map_place(s->map, item, from), map_place(s->map, item, to));
    struct rect r;
    while (next_piece(s, &stretch, &r))
        draw_frame(s->list, r.x - out, r.y - out, r.w + 2 * out, r.h + 2 * out, color);
}

static void draw_item(struct sheet *s, const struct map_item *item) {
    const struct theme *theme = app_theme(s->app);
    uint64_t end = 0;
    draw_outline(s, item, 0, item->span, theme->line, 1);
    for (uint32_t i = item->first; i < item->end; i++) {
        uint32_t index = s->map->order.at[i];
        const struct map_range *range = &s->map->ranges.at[index];
        const struct placement_range *r = &s->placement->ranges.at[index];
        if (i > item->first && range->at > end) /* a hole */
            draw_outline(s, item, end, range->at, theme->hatch, 0);
        end = range->at + r->bytes;
        for (uint32_t k = range->first_block; k < range->end_block; k++)
            draw_block(s, item, range->at + (block_at(s, k)->address - r->address), k);
    }
}

/* Rows of the item that are shown? */
static bool is_shown(const struct sheet *s, const struct map_item *item) {
    int last = item->line + (item->x + item->width - 1) / s->map->look.width;
    return item->line < s->end && last >= s->first;
}

/* Beside its first row, or the topmost where that is scrolled away. */
static void draw_section(struct sheet *s, size_t index) {
    struct app *app = s->app;
    const struct map_section *section = &s->map->sections.at[index];
    int end =
        index + 1 < s->map->sections.count ? s->map->sections.at[index + 1].line : s->map->lines;
    int row = section->line > s->first ? section->line : s->first;
    if (row >= s->end || end <= s->first)
        return;
    const struct timeline_segment *g =
        &s->space->tl->segments.at[s->map->items.at[section->first].segment];
    bool is_private = g->pool_id[0] != 0 || g->pool_id[1] != 0;
    char text[100], shown[100];
    int length = snprintf(text, sizeof text, "%.40s",
                          app_text(app, is_private      ? TEXT_PRIVATE_POOL
                                        : g->small_pool ? TEXT_SMALL_POOL
                                                        : TEXT_LARGE_POOL));
    if (g->stream != 0)
        snprintf(text + length, sizeof text - (size_t)length, " %u", g->stream);
    int right = s->places->rows.x - app_px(app, 8), left = app->layout.map.x + app_px(app, 4);
    font_shorten(app->font, text, right - left, app_small(app), false, shown, sizeof shown);
    int width = font_width(app->font, shown, strlen(shown), app_small(app), false);
    draw_text(s->list, right - width,
              row_y(s, row) + (s->places->bar - font_line(app->font, app_small(app))) / 2,
              app_small(app), false, app_theme(app)->faint, shown);
}

static void draw_scroll(struct sheet *s) {
    const struct rect *r = &s->places->rows;
    int rows = s->map->lines, x = r->x + r->w + app_px(s->app, 4), w = app_px(s->app, 3);
    if (rows <= s->places->shown)
        return;
    int h = s->places->shown * s->places->pitch;
    int size = h * s->places->shown / rows, least = app_px(s->app, 10);
    size = size > least ? size : least;
    int at = (int)((int64_t)(h - size) * s->first / (rows - s->places->shown));
    draw_rect(s->list, x, r->y, w, h, app_theme(s->app)->raised);
    draw_rect(s->list, x, r->y + at, w, size, app_theme(s->app)->faint);
}

void map_rows_draw(struct app *app, struct draw_list *list, const struct map_places *places) {
    struct map_view *v = &app->map;
    struct sheet s = {.app = app,
                      .list = list,
                      .places = places,
                      .map = &v->map,
                      .space = &v->space,
                      .placement = &v->space.placement,
                      .first = v->scroll,
                      .bands = app->bands.count,
                      .count = app->bands.count + STYLES};
    s.end = s.first + places->shown < v->map.lines ? s.first + places->shown : v->map.lines;
    size_t cells =
        s.end > s.first ? (size_t)(s.end - s.first) * (size_t)places->rows.w * (size_t)s.count : 0;
    if (cells == 0)
        return;
    if (!array_reserve(&v->cover, cells)) {
        list->failed = true;
        return;
    }
    memset(v->cover.at, 0, cells * sizeof *v->cover.at);
    find_styles(&s);
    for (size_t i = 0; i < v->map.items.count; i++)
        for (uint32_t k = v->map.items.at[i].first;
             is_shown(&s, &v->map.items.at[i]) && k < v->map.items.at[i].end; k++)
            cover_range(&s, v->map.order.at[k]);
    for (int row = s.first; row < s.end; row++)
        draw_covered(&s, row);
    for (size_t i = 0; i < v->map.items.count; i++)
        if (is_shown(&s, &v->map.items.at[i]))
            draw_item(&s, &v->map.items.at[i]);
    for (size_t i = 0; i < v->map.sections.count; i++)
        draw_section(&s, i);
    draw_scroll(&s);
}
