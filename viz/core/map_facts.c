/* map_facts.c: what stands beside the address map: sums of the moment, or the segment and the block
 * under the pointer and what keeps that segment. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "map_view.h"
#include "timeline.h"

struct facts {
    struct app *app;
    struct draw_list *list;
    int x, right, y, bottom, keys;
};

static void add(struct facts *f, enum text_id key, const char *value) {
    struct app *app = f->app;
    char shown[300];
    if (f->y + app_line(app) > f->bottom)
        return;
    font_shorten(app->font, app_text(app, key), f->keys - app_px(app, 6), app_size(app), false,
                 shown, sizeof shown);
    app_draw_text(app, f->list, f->x, f->y, app_theme(app)->faint, shown);
    font_shorten(app->font, value, f->right - f->x - f->keys, app_size(app), false, shown,
                 sizeof shown);
    app_draw_text(app, f->list, f->x + f->keys, f->y, app_theme(app)->ink, shown);
    f->y += app_line(app);
}

static void add_bytes(struct facts *f, enum text_id key, uint64_t bytes) {
    char text[LABEL_BYTES];
    add(f, key, label_bytes_exact(bytes, text));
}

static void add_head(struct facts *f, const char *text, int category) {
    struct app *app = f->app;
    char shown[300];
    int x = f->x, size = app_px(app, 11);
    if (category >= 0) {
        draw_rect(f->list, x, f->y + (app_line(app) - size) / 2, size, size,
                  app_band(app, (enum category)category).color);
        x += app_px(app, 18);
    }
    font_shorten(app->font, text, f->right - x, app_size(app), true, shown, sizeof shown);
    draw_text(f->list, x, f->y, app_size(app), true, app_theme(app)->ink, shown);
    f->y += app_line(app) + app_px(app, 2);
}

/* --- of all --- */

static void add_room(struct facts *f) {
    struct app *app = f->app;
    const struct map_view *v = &app->map;
    char text[200], bytes[LABEL_BYTES];
    if (!v->facts_valid)
        return;
    uint64_t most = v->room.cached_bytes > v->room.cached_small_bytes ? v->room.cached_bytes
                                                                      : v->room.cached_small_bytes;
    bool fresh = v->room.has_new && v->room.new_bytes > most;
    snprintf(text, sizeof text, "%s, %.80s", label_bytes(fresh ? v->room.new_bytes : most, bytes),
             app_text(app, fresh             ? TEXT_FROM_DRIVER
                           : v->room.has_new ? TEXT_FROM_CACHE
                                             : TEXT_FROM_CACHE_ALONE));
    add(f, TEXT_LARGEST_REQUEST, text);
}

static void draw_all(struct facts *f) {
    const struct map *map = &f->app->map.map;
    struct map_item sum = {0};
    char text[100], count[LABEL_BYTES];
    for (size_t i = 0; i < map->items.count; i++) {
        const struct map_item *item = &map->items.at[i];
        sum.bytes += item->bytes;
        sum.used += item->used;
        sum.pending += item->pending;
        sum.free += item->free;
        sum.rounding += item->rounding;
        if (item->largest_free > sum.largest_free)
            sum.largest_free = item->largest_free;
    }
    snprintf(text, sizeof text, "%s %.60s", label_count(map->items.count, count),
             app_text(f->app, TEXT_SEGMENTS));
    add_head(f, text, -1);
    add_bytes(f, TEXT_RESERVED, sum.bytes);
    add_bytes(f, TEXT_ALLOCATED, sum.used);
    if (sum.pending > 0)
        add_bytes(f, TEXT_PENDING, sum.pending);
    if (f->app->a.tl->has & TIMELINE_HAS_REQUESTED)
        add_bytes(f, TEXT_ROUNDING, sum.rounding);
    add_bytes(f, TEXT_FREE, sum.free);
    add_bytes(f, TEXT_LARGEST_FREE, sum.largest_free);
    add_room(f);
}

/* --- of what is under the pointer --- */

static void draw_place(struct facts *f, const struct map_hit *hit) {
    struct app *app = f->app;
    const struct timeline *tl = app->a.tl;
    char text[400], bytes[LABEL_BYTES];
    if (hit->block != TIMELINE_NONE) {
        const struct timeline_block *b = &tl->blocks.at[hit->block];
        const char *owner = timeline_text(tl, b->owner), *name = timeline_text(tl, b->name);
        unsigned category = b->category < CATEGORY_COUNT ? b->category : CATEGORY_UNKNOWN;
        const char *dot = *owner && *name ? "." : "";
        if (*owner || *name)
            snprintf(text, sizeof text, "%.200s%s%.100s", owner, dot, name);
        else if (b->op)
            snprintf(text, sizeof text, "%.200s", timeline_text(tl, b->op));
        else
            snprintf(text, sizeof text, "%.80s",
                     i18n_category(app->language, (enum category)category));
        add_head(f, text, (int)category);
    } else {
        add_head(f, app_text(app, hit->range == TIMELINE_NONE ? TEXT_HOLE : TEXT_FREE_RUN), -1);
    }
    add_bytes(f, TEXT_BYTES, hit->bytes);
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)hit->address);
    add(f, TEXT_ADDRESS, text);
    const struct timeline_segment *s = &tl->segments.at[hit->item->segment];
    snprintf(text, sizeof text, "%u, %s, %.40s", hit->item->segment,
             label_bytes(hit->item->bytes, bytes),
             app_text(app, s->small_pool ? TEXT_SMALL_POOL : TEXT_LARGE_POOL));
    add(f, TEXT_SEGMENT, text);
    const struct placement_range *r =
        hit->range == TIMELINE_NONE ? NULL : &app->map.space.placement.ranges.at[hit->range];
    if (r) {
        snprintf(text, sizeof text, "0x%llx-0x%llx", (unsigned long long)r->address,
                 (unsigned long long)(r->address + r->bytes - 1));
        add(f, TEXT_FROM_TO, text);
    }
}

static const struct pin *pin_of(const struct pinning *pinning, uint32_t range) {
    for (size_t i = 0; i < pinning->pins.count; i++)
        if (pinning->pins.at[i].range == range)
            return &pinning->pins.at[i];
    return NULL;
}

static void draw_keepers(struct facts *f, const struct map_hit *hit) {
    struct app *app = f->app;
    const struct map_item *item = hit->item;
    char text[200], bytes[LABEL_BYTES], count[LABEL_BYTES];
    snprintf(text, sizeof text, "%s; %.60s %s", label_bytes(item->free, bytes),
             app_text(app, TEXT_LARGEST), label_bytes(item->largest_free, count));
    add(f, TEXT_FREE, text);
    if (!app->map.facts_valid || hit->range == TIMELINE_NONE)
        return;
    const struct pin *pin = pin_of(&app->map.pinning, hit->range);
    if (!pin) {
        add(f, TEXT_KEPT_BY, app_text(app, TEXT_NOTHING_KEEPS));
        return;
    }
    snprintf(text, sizeof text, "%s %.40s, %s", label_count(pin->blocks, count),
             app_text(app, pin->blocks == 1 ? TEXT_BLOCK_OF : TEXT_BLOCKS_OF),
             label_bytes(pin->live_bytes, bytes));
    add(f, TEXT_KEPT_BY, text);
    if (pin->go_blocks > 0 && pin->go_blocks < pin->blocks) { /* pages of a reservation */
        char gain[LABEL_BYTES];
        snprintf(text, sizeof text, "%s -> %s", label_bytes(pin->go_bytes, bytes),
                 label_bytes(pin->gain_bytes, gain));
        add(f, TEXT_CHEAPEST, text);
    }
}

void map_facts_draw(struct app *app, struct draw_list *list, const struct map_places *places,
                    const struct map_hit *hit) {
    const struct rect *r = &places->facts;
    struct facts f = {.app = app,
                      .list = list,
                      .x = r->x + app_px(app, 10),
                      .right = r->x + r->w - app_px(app, 8),
                      .y = r->y + app_px(app, 4),
                      .bottom = r->y + r->h,
                      .keys = app_px(app, 106)};
    if (r->w <= 0 || r->h <= 0)
        return;
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_rect(list, r->x, r->y + app_px(app, 4), 1, r->h - app_px(app, 8), app_theme(app)->line);
    if (hit) {
        draw_place(&f, hit);
        draw_keepers(&f, hit);
    } else {
        draw_all(&f);
    }
    draw_unclip(list);
}
