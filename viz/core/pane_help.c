/* pane_help.c: the table of keys, from the table of keys. */
#include <string.h>

#include "app_state.h"
#include "input.h"
#include "pane.h"
#include "text.h"

/* Covers everything while it is open. */
static const struct rect *place(const struct app *app) {
    static const struct rect closed = {0, 0, 0, 0};
    return app->help ? &app->layout.title : &closed;
}

static const struct {
    enum text_id what, does;
} mouse[] = {
    {TEXT_HELP_DRAG, TEXT_HELP_DRAG_DOES},     {TEXT_HELP_CLICK, TEXT_HELP_CLICK_DOES},
    {TEXT_HELP_WHEEL, TEXT_HELP_WHEEL_DOES},   {TEXT_HELP_MIDDLE, TEXT_HELP_MIDDLE_DOES},
    {TEXT_HELP_RANGE, TEXT_HELP_RANGE_DOES},   {TEXT_HELP_OVERVIEW, TEXT_HELP_OVERVIEW_DOES},
    {TEXT_HELP_LEGEND, TEXT_HELP_LEGEND_DOES},
};

struct page {
    struct app *app;
    struct draw_list *list;
    int x, y, top, bottom, column, keys;
};

static void next_line(struct page *page) {
    page->y += app_line(page->app) + app_px(page->app, 2);
    if (page->y + app_line(page->app) <= page->bottom)
        return;
    page->y = page->top;
    page->x += page->column;
}

static void draw_entry(struct page *page, const char *keys, const char *does) {
    struct app *app = page->app;
    char shown[300];
    int gap = app_px(app, 12);
    font_shorten(app->font, keys, page->keys, app_size(app), true, shown, sizeof shown);
    int width = font_width(app->font, shown, strlen(shown), app_size(app), true);
    draw_text(page->list, page->x + page->keys - width, page->y, app_size(app), true,
              app_theme(app)->ink, shown);
    font_shorten(app->font, does, page->column - page->keys - 2 * gap, app_size(app), false, shown,
                 sizeof shown);
    app_draw_text(app, page->list, page->x + page->keys + gap, page->y, app_theme(app)->ink, shown);
    next_line(page);
}

/* Symbols listed twice for other keyboards are shown once: with Shift only where it means something
 * else. */
static bool is_repeat(const struct binding *binding) {
    return (binding->mods & MOD_SHIFT) && strchr("+=<>?,./", (int)(binding->key & 0x7f)) &&
           binding->key < 0x80;
}

static void add_keys(enum action action, struct text *out) {
    for (size_t i = 0; keys_binding(i); i++) {
        const struct binding *binding = keys_binding(i);
        char name[KEY_NAME_BYTES];
        if (binding->action != action || is_repeat(binding))
            continue;
        text_format(out, "%s%s", out->length ? "  " : "", keys_name(binding, name));
    }
}

static void draw_keys(struct page *page) {
    for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
        const char *doc = keys_doc((enum action)i, page->app->language);
        struct text keys = {0};
        if (!*doc)
            continue;
        if (i == ACTION_ISOLATE_1)
            text_add(&keys, "1 - 9");
        else
            add_keys((enum action)i, &keys);
        draw_entry(page, text_get(&keys), doc);
        text_fini(&keys);
    }
}

static int count_entries(const struct app *app) {
    int count = (int)(sizeof mouse / sizeof mouse[0]) + 1;
    for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
        count += *keys_doc((enum action)i, app->language) != '\0';
    return count;
}

/* Two, or as few more as have room for all; one where two are too narrow. */
static int columns_for(struct app *app, int width, int height, int entries) {
    int most = width / app_px(app, 380), line = app_line(app) + app_px(app, 2);
    int columns = most < 2 ? 1 : 2;
    while (columns < most && entries > columns * (height / line))
        columns++;
    return columns;
}

static void draw(struct app *app, struct draw_list *list) {
    const struct theme *theme = app_theme(app);
    int margin = app_px(app, 24);
    struct rect r = {margin, margin, app->width - 2 * margin, app->height - 2 * margin};
    if (r.w < app_px(app, 120) || r.h < app_px(app, 60))
        r = (struct rect){0, 0, app->width, app->height};
    draw_rect(list, 0, 0, app->width, app->height, theme->shade);
    draw_rect(list, r.x, r.y, r.w, r.h, theme->panel);
    draw_frame(list, r.x, r.y, r.w, r.h, theme->faint);
    draw_clip(list, r.x, r.y, r.w, r.h);
    draw_text(list, r.x + margin, r.y + margin / 2, app_px(app, 15), true, theme->ink,
              app_text(app, TEXT_HELP));
    int top = r.y + margin + app_line(app) + app_px(app, 6);
    struct page page = {.app = app,
                        .list = list,
                        .x = r.x + margin,
                        .y = top,
                        .top = top,
                        .bottom = r.y + r.h - margin / 2};
    int entries = count_entries(app), line = app_line(app) + app_px(app, 2);
    int columns = columns_for(app, r.w - 2 * margin, page.bottom - top, entries);
    page.column = (r.w - 2 * margin) / columns;
    page.keys = app_px(app, columns > 2 ? 124 : 150);
    int even = top + (entries / columns + 1) * line; /* of equal height, where they fit */
    page.bottom = even < page.bottom ? even : page.bottom;
    draw_keys(&page);
    next_line(&page);
    for (size_t i = 0; i < sizeof mouse / sizeof mouse[0]; i++)
        draw_entry(&page, app_text(app, mouse[i].what), app_text(app, mouse[i].does));
    draw_unclip(list);
}

const struct pane_ops pane_help = {
    .name = "help", .doc = "keys and mouse", .place = place, .draw = draw};
