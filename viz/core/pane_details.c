/* pane_details.c: the pinned block: all that the timeline knows of it. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "dtype.h"
#include "frames.h"
#include "input.h"
#include "label.h"
#include "pane.h"
#include "text.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.details;
}

struct page {
    struct app *app;
    struct draw_list *list; /* or */
    struct text *text;      /* `key: value` lines */
    int x, right, y, bottom, keys;
};

static void add(struct page *page, enum text_id key, const char *value) {
    struct app *app = page->app;
    char shown[TABLE_CELL];
    if (page->text) {
        text_format(page->text, "%s: %s\n", app_text(app, key), value);
        return;
    }
    int line = app_line(app) + app_px(app, 1);
    if (page->y + line > page->bottom)
        return;
    app_draw_text(app, page->list, page->x, page->y, app_theme(app)->faint, app_text(app, key));
    font_shorten(app->font, value, page->right - page->x - page->keys, app_size(app), false, shown,
                 sizeof shown);
    app_draw_text(app, page->list, page->x + page->keys, page->y, app_theme(app)->ink, shown);
    page->y += line;
}

static void add_bytes(struct page *page, enum text_id key, uint64_t bytes) {
    char text[LABEL_BYTES];
    add(page, key, label_bytes_exact(bytes, text));
}

/* "event 1,234, 12.3 ms"; what is said without one is the caller's. */
static void add_event(struct page *page, enum text_id key, uint32_t event, enum text_id without) {
    struct app *app = page->app;
    char text[TABLE_CELL], figure[LABEL_BYTES];
    if (event == TIMELINE_NONE) {
        add(page, key, app_text(app, without));
        return;
    }
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    int length =
        snprintf(text, sizeof text, "%s %s", app_text(app, TEXT_EVENT), label_count(event, figure));
    if (time.mode == RULER_TIME)
        snprintf(text + length, sizeof text - (size_t)length, ", %s",
                 label_time((uint64_t)ruler_position(&time, event + 1), figure));
    add(page, key, text);
}

static void add_lifetime(struct page *page, const struct timeline_block *b) {
    struct app *app = page->app;
    char text[TABLE_CELL], figure[LABEL_BYTES];
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    if (b->alloc_event == TIMELINE_NONE || b->free_event == TIMELINE_NONE ||
        b->free_event < b->alloc_event)
        return;
    int length =
        snprintf(text, sizeof text, "%s %s", label_count(b->free_event - b->alloc_event, figure),
                 app_text(app, TEXT_EVENTS));
    double ns =
        ruler_position(&time, b->free_event + 1) - ruler_position(&time, b->alloc_event + 1);
    if (time.mode == RULER_TIME && ns >= 0)
        snprintf(text + length, sizeof text - (size_t)length, ", %s",
                 label_time((uint64_t)ns, figure));
    add(page, TEXT_LIFETIME, text);
}

static void add_string(struct page *page, enum text_id key, uint32_t string) {
    if (string != 0)
        add(page, key, timeline_text(page->app->a.tl, string));
}

static void add_where(struct page *page, const struct timeline_block *b) {
    struct app *app = page->app;
    const struct timeline *tl = app->a.tl;
    char text[TABLE_CELL];
    if (tl->has & TIMELINE_HAS_ADDRESS) {
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)b->address);
        add(page, TEXT_ADDRESS, text);
    }
    if (b->segment < tl->segments.count) {
        const struct timeline_segment *s = &tl->segments.at[b->segment];
        char bytes[LABEL_BYTES];
        snprintf(text, sizeof text, "%u (%s, %s)", b->segment, label_bytes(s->bytes, bytes),
                 app_text(app, s->small_pool ? TEXT_SMALL_POOL : TEXT_LARGE_POOL));
        add(page, TEXT_SEGMENT, text);
    }
    if ((tl->has & TIMELINE_HAS_STREAM) && b->stream < tl->streams.count) {
        snprintf(text, sizeof text, "%u", b->stream);
        add(page, TEXT_STREAM, text);
    }
}

static void add_phases(struct page *page, uint32_t phase) {
    const struct timeline *tl = page->app->a.tl;
    struct text path = {0};
    const char *names[8];
    int depth = 0;
    for (; phase < tl->phases.count && depth < 8; phase = tl->phases.at[phase].parent)
        names[depth++] = timeline_text(tl, tl->phases.at[phase].name);
    char own[I18N_NAME_BYTES];
    for (int i = depth - 1; i >= 0; i--)
        text_format(&path, "%s%s", path.length ? " / " : "",
                    i18n_name(page->app->language, names[i], own));
    if (path.length > 0)
        add(page, TEXT_PHASE, text_get(&path));
    text_fini(&path);
}

static void add_stack(struct page *page, uint32_t stack) {
    const struct timeline *tl = page->app->a.tl;
    uint32_t count = frames_useful_count(tl, stack);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        struct text line = {0};
        frames_add(tl, frames_useful(tl, stack, i), &line);
        add(page, TEXT_STACK, text_get(&line));
        text_fini(&line);
    }
}

static void add_block(struct page *page, const struct timeline_block *b) {
    struct app *app = page->app;
    add_bytes(page, TEXT_BYTES, b->block_bytes);
    if (app->a.tl->has & TIMELINE_HAS_REQUESTED) {
        add_bytes(page, TEXT_REQUESTED, b->requested_bytes);
        if (b->block_bytes >= b->requested_bytes)
            add_bytes(page, TEXT_ROUNDING, b->block_bytes - b->requested_bytes);
    }
    add_event(page, TEXT_ALLOCATED_AT, b->alloc_event, TEXT_BEFORE_START);
    add_event(page, TEXT_FREED_AT, b->free_event,
              b->pending_at_start ? TEXT_BEFORE_START : TEXT_NEVER);
    add_lifetime(page, b);
    if (app->a.tl->has & TIMELINE_HAS_CATEGORY)
        add(page, TEXT_CATEGORY,
            i18n_category(app->language, b->category < CATEGORY_COUNT ? (enum category)b->category
                                                                      : CATEGORY_UNKNOWN));
    add_string(page, TEXT_BY_PATH, b->owner);
    add_string(page, TEXT_BY_NAME, b->name);
    add_string(page, TEXT_BY_OP, b->op);
    if (b->dtype != DTYPE_NONE && b->dtype < DTYPE_COUNT)
        add(page, TEXT_BY_DTYPE, dtype_name((enum dtype)b->dtype));
    add_where(page, b);
    add_phases(page, b->phase);
    add_stack(page, b->stack);
}

void app_copy_pin(struct app *app, struct text *out) {
    struct page page = {.app = app, .text = out};
    if (app->selection.pin < app->a.tl->blocks.count)
        add_block(&page, &app->a.tl->blocks.at[app->selection.pin]);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = place(app);
    const struct theme *theme = app_theme(app);
    if (app->selection.pin >= app->a.tl->blocks.count)
        return;
    const struct timeline_block *b = &app->a.tl->blocks.at[app->selection.pin];
    uint32_t color = app_band_style(app, app_block_band(app, app->selection.pin)).color;
    int pad = app_px(app, 8), size = app_px(app, 11), line = app_line(app);
    draw_rect(list, r->x, r->y, r->w, r->h, theme->panel);
    draw_frame(list, r->x, r->y, r->w, r->h, theme->line);
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_rect(list, r->x + pad, r->y + pad + (line - size) / 2, size, size, color);
    draw_text(list, r->x + pad + app_px(app, 18), r->y + pad, app_size(app), true, theme->ink,
              app_text(app, TEXT_DETAILS));
    struct page page = {.app = app,
                        .list = list,
                        .x = r->x + pad,
                        .right = r->x + r->w - pad,
                        .y = r->y + pad + line + app_px(app, 3),
                        .bottom = r->y + r->h - app_px(app, 2),
                        .keys = app_px(app, 104)};
    add_block(&page, b);
    draw_unclip(list);
}

const struct pane_ops pane_details = {.name = "details",
                                      .doc = "all that is known of the pinned block",
                                      .place = place,
                                      .draw = draw};
