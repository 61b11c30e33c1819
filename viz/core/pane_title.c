/* pane_title.c: what is shown, and the figures that matter most. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.title;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* "A100 80GB . pytorch-2.15 . expandable_segments:True", what is known of it. */
static void describe(const struct app *app, const struct track *track, char *out,
                     size_t out_bytes) {
    const struct timeline *tl = track->tl;
    uint32_t device = track->device < tl->devices.count ? tl->devices.at[track->device].name : 0;
    const uint32_t parts[] = {device, tl->framework, tl->source_kind, tl->alloc_settings};
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char own[I18N_NAME_BYTES];
        const char *text = i18n_name(app->language, timeline_text(tl, parts[i]), own);
        if (!*text || length + 8 >= out_bytes)
            continue;
        int n = snprintf(out + length, out_bytes - length, "%s%.120s", length ? "  \xc2\xb7  " : "",
                         text);
        length += n > 0 ? (size_t)n : 0;
    }
}

/* A figure over its name; returns the x on its left. */
static int draw_figure(struct app *app, struct draw_list *list, int right, const char *figure,
                       const char *name, uint32_t color) {
    const struct rect *r = &app->layout.title;
    int size = app_px(app, 15), pad = app_px(app, 7);
    int width = font_width(app->font, figure, strlen(figure), size, true);
    int below = font_width(app->font, name, strlen(name), app_small(app), false);
    int column = width > below ? width : below;
    draw_text(list, right - width, r->y + pad, size, true, color, figure);
    draw_text(list, right - below, r->y + pad + font_line(app->font, size), app_small(app), false,
              app_theme(app)->faint, name);
    return right - column - app_px(app, 26);
}

static int draw_headroom(struct app *app, struct draw_list *list, int right) {
    const struct track *a = &app->a;
    char text[LABEL_BYTES];
    if (a->capacity_bytes == 0)
        return right;
    uint64_t used = track_top(a, false);
    bool over = used > a->capacity_bytes;
    label_bytes(over ? used - a->capacity_bytes : a->capacity_bytes - used, text);
    right = draw_figure(app, list, right, text, app_text(app, over ? TEXT_OVER_BY : TEXT_HEADROOM),
                        over ? app_theme(app)->warn : app_theme(app)->ink);
    label_bytes(a->capacity_bytes, text);
    return draw_figure(app, list, right, text, app_text(app, TEXT_CAPACITY), app_theme(app)->ink);
}

static int draw_figures(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.title;
    const struct theme *theme = app_theme(app);
    char text[LABEL_BYTES];
    int right = r->x + r->w - app_px(app, 14);
    if (r->w < app_px(app, 560))
        return right;
    right = draw_headroom(app, list, right);
    if (app->a.reserved_known) {
        label_bytes(app->a.lod.peak.reserved_max, text);
        enum text_id name = timeline_knows(app->a.tl, FIGURE_DEVICE_USE) ? TEXT_PEAK_DEVICE_USE
                                                                         : TEXT_PEAK_RESERVED;
        right = draw_figure(app, list, right, text, app_text(app, name), theme->ink);
    }
    if (app->a.allocated_known) {
        label_bytes(app->a.lod.peak.max, text);
        right = draw_figure(app, list, right, text, app_text(app, TEXT_PEAK_ALLOCATED), theme->ink);
    }
    if (app->a.tl->ooms.count > 0)
        right =
            draw_figure(app, list, right, "OOM", app_text(app, TEXT_OUT_OF_MEMORY), theme->warn);
    return right;
}

static void add_part(char *line, size_t line_bytes, const char *text) {
    size_t used = strlen(line);
    snprintf(line + used, line_bytes - used, "%s%s", used ? "  \xc2\xb7  " : "", text);
}

/* A recording that began later than the run, or whose ring was too short, begins with blocks. */
static void add_before(const struct app *app, char *line, size_t line_bytes) {
    const struct before *before = &app->a.before;
    char text[200], count[LABEL_BYTES], bytes[LABEL_BYTES];
    if (before->blocks.count == 0 || app->a.tl->events.count == 0)
        return;
    snprintf(text, sizeof text, "%s %.40s %.60s (%s)", label_count(before->blocks.count, count),
             app_text(app, before->blocks.count == 1 ? TEXT_BLOCK_OF : TEXT_BLOCKS_OF),
             app_text(app, TEXT_BEFORE_START), label_bytes(before->bytes, bytes));
    add_part(line, line_bytes, text);
}

/* What was repaired, with the first of it by name, and sums that cannot be. */
static bool add_losses(const struct app *app, char *line, size_t line_bytes) {
    uint64_t warnings = (uint64_t)app->a.tl->warnings + (app->has_b ? app->b.tl->warnings : 0);
    const struct timeline *named = app->a.tl->warnings > 0 || !app->has_b ? app->a.tl : app->b.tl;
    char text[400];
    bool broken = false;
    if (warnings > 0) {
        const char *first = timeline_text(named, named->first_warning);
        snprintf(text, sizeof text, "%llu %.80s%s%.200s", (unsigned long long)warnings,
                 app_text(app, TEXT_WARNINGS), *first ? ": " : "", first);
        add_part(line, line_bytes, text);
    }
    for (size_t i = 0; i < app->marks.breaks.count && !broken; i++)
        broken = app->marks.breaks.at[i].kind == MARK_ALLOCATED;
    if (broken)
        add_part(line, line_bytes, app_text(app, TEXT_ALLOCATED_ABOVE));
    return warnings > 0 || broken;
}

static void draw_names(struct app *app, struct draw_list *list, int width) {
    const struct rect *r = &app->layout.title;
    const struct theme *theme = app_theme(app);
    char name[200], line[1024], about[512], shown[1024];
    int size = app_px(app, 15), x = r->x + app_px(app, 14), y = r->y + app_px(app, 7);
    snprintf(name, sizeof name, "%.90s", base_name(timeline_text(app->a.tl, app->a.tl->title)));
    if (app->has_b) {
        size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, "   |   %.90s",
                 base_name(timeline_text(app->b.tl, app->b.tl->title)));
    }
    font_shorten(app->font, name, width, size, true, shown, sizeof shown);
    draw_text(list, x, y, size, true, theme->ink, shown);
    line[0] = '\0';
    bool warns = add_losses(app, line, sizeof line); /* first: what follows may be shortened */
    describe(app, &app->a, about, sizeof about);
    if (*about)
        add_part(line, sizeof line, about);
    add_before(app, line, sizeof line);
    font_shorten(app->font, line, width, app_small(app), false, shown, sizeof shown);
    draw_text(list, x, y + font_line(app->font, size), app_small(app), false,
              warns ? theme->warn : theme->faint, shown);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.title;
    int right = draw_figures(app, list);
    draw_names(app, list, right - r->x - app_px(app, 14));
}

const struct pane_ops pane_title = {.name = "title",
                                    .doc = "files, device, peak, headroom, warnings",
                                    .place = place,
                                    .draw = draw};
