/* pane_timeline.c: bands, limits, marks, the cursor, the second timeline over the first or below
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_state.h"
#include "axis.h"
#include "hit.h"
#include "label.h"
#include "pane.h"
#include "plates.h"
#include "plot.h"
#include "plot_matches.h"
#include "plot_names.h"
#include "timeline.h"
#include "tip.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.timeline;
}

static void draw_byte_labels(struct app *app, struct draw_list *list,
                             const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    struct axis axis = plot_byte_axis(app, frame);
    int gutter = r->x - app->layout.timeline.x, half = font_line(app->font, app_small(app)) / 2;
    for (int i = 0; i < axis.count; i++) {
        char text[AXIS_TEXT_BYTES];
        double value = axis.first + i * axis.step;
        int y = plot_y(frame, value);
        axis_text(AXIS_BYTES, value, axis.step, text);
        int width = font_width(app->font, text, strlen(text), app_small(app), false);
        if (gutter > 0 && y - half >= r->y - half && y + half <= r->y + r->h + half)
            draw_text(list, r->x - width - app_px(app, 8), y - half, app_small(app), false,
                      app_theme(app)->faint, text);
    }
}

static void draw_position_axis(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.plot;
    struct ruler ruler = app_ruler(app);
    enum axis_unit unit = ruler.mode == RULER_TIME ? AXIS_NS : AXIS_EVENT;
    int most = r->w / app_px(app, 110);
    double low = app->view.x0 > 0 ? app->view.x0 : 0;
    struct axis axis = axis_ticks(unit, low, app->view.x1, most > 1 ? most : 1);
    int y = r->y + r->h;
    for (int i = 0; i < axis.count; i++) {
        char text[AXIS_TEXT_BYTES];
        double value = axis.first + i * axis.step;
        int x = r->x + view_x(&app->view, value, r->w);
        axis_text(unit, value, axis.step, text);
        int width = font_width(app->font, text, strlen(text), app_small(app), false);
        draw_rect(list, x, y, 1, app_px(app, 4), app_theme(app)->faint);
        if (!app->picture && abs(x - app_cursor_x(app)) < (width + app_px(app, 84)) / 2)
            continue; /* the cursor's own label is there */
        x -= width / 2;
        x = x + width > r->x + r->w ? r->x + r->w - width : x < r->x ? r->x : x;
        draw_text(list, x, y + app_px(app, 5), app_small(app), false, app_theme(app)->faint, text);
    }
}

static void draw_capacity(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    if (frame->track->capacity_bytes == 0)
        return;
    int y = plot_y(frame, (double)frame->track->capacity_bytes);
    if (y < r->y || y >= r->y + r->h)
        return;
    int32_t *steps =
        draw_steps(list, r->x, r->y, r->w, r->h, app_px(app, 1), true, app_theme(app)->capacity);
    for (int i = 0; steps && i < r->w; i++)
        steps[i] = y;
}

static void name_capacity(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                          struct plates *plates) {
    const struct rect *r = frame->rect;
    int y = plot_y(frame, (double)frame->track->capacity_bytes);
    if (frame->track->capacity_bytes == 0 || y < r->y || y >= r->y + r->h ||
        r->w < app_px(app, 400))
        return;
    char text[160], figure[LABEL_BYTES];
    snprintf(text, sizeof text, "%.60s %s", app_text(app, TEXT_CAPACITY),
             label_bytes(frame->track->capacity_bytes, figure));
    plates_draw(app, list, plates, r->x + r->w, y + app_px(app, 4), app_theme(app)->capacity, false,
                text);
}

/* Where an out-of-memory is in the plot; -1: not in view. */
static int oom_x(const struct app *app, const struct plot_frame *frame,
                 const struct timeline_oom *oom) {
    struct ruler ruler = app_ruler(app);
    if (oom->event >= frame->track->tl->events.count)
        return -1;
    int x = view_x(&app->view, ruler_position(&ruler, oom->event + 1), frame->rect->w);
    return x < frame->rect->w ? x : -1;
}

static void draw_ooms(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    const struct timeline *tl = frame->track->tl;
    for (size_t i = 0; i < tl->ooms.count && i < 1000; i++) {
        int x = oom_x(app, frame, &tl->ooms.at[i]);
        if (x >= 0)
            draw_rect(list, r->x + x - 1, r->y, app_px(app, 2), r->h, app_theme(app)->warn);
    }
}

static void name_ooms(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                      struct plates *plates) {
    const struct rect *r = frame->rect;
    const struct timeline *tl = frame->track->tl;
    for (size_t i = 0; i < tl->ooms.count && i < 1000; i++) {
        int x = oom_x(app, frame, &tl->ooms.at[i]);
        if (x < 0)
            continue;
        char text[160], figure[LABEL_BYTES];
        snprintf(text, sizeof text, "%.60s: %s", app_text(app, TEXT_OUT_OF_MEMORY),
                 label_bytes(tl->ooms.at[i].rounded_bytes, figure));
        int width = font_width(app->font, text, strlen(text), app_small(app), true);
        int gap = app_px(app, 6), left = x > r->w / 2 ? x - width - 3 * gap : x + gap;
        plates_draw(app, list, plates, r->x + left, r->y + app_px(app, 44), app_theme(app)->warn,
                    true, text);
    }
}

/* A ring at the exact event and the bytes beside it. */
static void draw_peak(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                      struct plates *plates) {
    const struct rect *r = frame->rect;
    struct ruler ruler = app_ruler(app);
    const struct lod_node *peak = &frame->track->lod.peak;
    int x = view_x(&app->view, ruler_position(&ruler, peak->arg), r->w);
    if (x < 0 || x >= r->w || peak->max == 0)
        return;
    double bytes = (double)peak->max + (double)frame->track->context_bytes;
    int y = plot_y(frame, bytes), size = app_px(app, 5);
    if (y < r->y || y > r->y + r->h)
        return;
    x += r->x;
    for (int row = 0; row < size; row++) /* a triangle that points down at it */
        draw_rect(list, x - (size - row - 1), y - app_px(app, 2) - size + row, 2 * (size - row) - 1,
                  1, app_theme(app)->ink);
    plates_keep(plates, (struct rect){x - size, y - app_px(app, 2) - size, 2 * size, size});
    char text[160], figure[LABEL_BYTES];
    snprintf(text, sizeof text, "%.60s %s", app_text(app, TEXT_PEAK),
             label_bytes(peak->max, figure));
    int width = font_width(app->font, text, strlen(text), app_small(app), true);
    int line = font_line(app->font, app_small(app));
    plates_draw(app, list, plates, x - width / 2 - app_px(app, 4), y - size - line - app_px(app, 7),
                app_theme(app)->ink, true, text);
}

static void draw_cursor(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.plot;
    int x = app_cursor_x(app), line = app->layout.phases.y;
    if (x < r->x || x >= r->x + r->w || app->picture)
        return;
    draw_rect(list, x, line, app_px(app, 1), r->y + r->h - line, app_theme(app)->accent);
    char text[LABEL_BYTES];
    struct ruler ruler = app_ruler(app);
    if (ruler.mode == RULER_TIME)
        label_time((uint64_t)ruler_position(&ruler, app->cursor), text);
    else if (app->cursor > 0)
        label_count(app->cursor - 1, text);
    else
        snprintf(text, sizeof text, "%.60s", app_text(app, TEXT_START));
    int pad = app_px(app, 5), size = app_small(app);
    int w = font_width(app->font, text, strlen(text), size, true) + 2 * pad;
    int left = x - w / 2;
    left = left < r->x ? r->x : left + w > r->x + r->w ? r->x + r->w - w : left;
    draw_rect(list, left, r->y + r->h + 1, w, font_line(app->font, size) + app_px(app, 4),
              app_theme(app)->accent);
    draw_text(list, left + pad, r->y + r->h + app_px(app, 3), size, true, app_theme(app)->ground,
              text);
}

/* Which band of the column is at this height; -1: none of them. */
static int band_at(const struct app *app, const struct plot_frame *frame,
                   const struct column *column, int y) {
    double sum = 0;
    for (int band = 0; band < app->bands.count; band++) {
        sum += (double)column->group[band];
        if (band == CATEGORY_OUTSIDE)
            sum += (double)frame->track->context_bytes;
        if (y >= plot_y(frame, sum))
            return band;
    }
    return -1;
}

static void add_band(struct app *app, const struct plot_frame *frame, int x, int y,
                     struct tip *tip) {
    const struct column *column = &frame->columns[x - frame->rect->x];
    int band = band_at(app, frame, column, y);
    char bytes[LABEL_BYTES], name[256];
    if (band >= 0) {
        uint64_t sum = column->group[band];
        if (band == CATEGORY_OUTSIDE)
            sum += frame->track->context_bytes;
        tip_add(tip, "%.160s  %s", app_band_name(app, band, name), label_bytes_exact(sum, bytes));
    }
    tip_add(tip, "%.100s  %s", app_text(app, TEXT_ALLOCATED),
            label_bytes_exact(column->max, bytes));
}

/* The block, then its band. */
static bool tip(struct app *app, int x, int y, struct tip *out) {
    struct rect upper = app_plot_rect(app), lower = app->layout.plot;
    bool below = app->has_b && app->compare == COMPARE_BELOW;
    uint32_t block = TIMELINE_NONE;
    int group;
    lower.y += upper.h + app_px(app, 6);
    lower.h -= upper.h + app_px(app, 6);
    bool second = below && rect_has(&lower, x, y);
    if (!rect_has(second ? &lower : &upper, x, y) ||
        !app_read_plot(app, &app->plot, &app->view, app->layout.plot.w))
        return false;
    struct plot_frame frame = app_plot_frame(app, second ? &lower : &upper, second);
    if (!second && app_hit(app, x, y, &block, &group) && block < app->a.tl->blocks.count)
        tip_block(app, block, out);
    add_band(app, &frame, x, y, out);
    return true;
}

static void draw_zoom_range(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.plot;
    if (app->drag != DRAG_ZOOM)
        return;
    int a = app->drag_from < app->drag_at ? app->drag_from : app->drag_at;
    int b = app->drag_from < app->drag_at ? app->drag_at : app->drag_from;
    draw_rect(list, a, r->y, b - a + 1, r->h, (app_theme(app)->accent & 0xffffff) | 0x40000000);
}

static void draw_one(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                     struct plot_layer *layer) {
    const struct rect *r = frame->rect;
    draw_byte_labels(app, list, frame);
    if (!app->layered)
        plot_ground(app, list, frame);
    else if (plot_layer_update(app, layer, frame))
        draw_pixels(list, r->x, r->y, r->w, r->h, layer->pixels.at, (size_t)layer->width);
    else
        list->failed = true;
    draw_clip(list, r->x, r->y, r->w, r->h);
    plot_matches_line(app, list, frame);
    plot_names(app, list, frame);
    draw_capacity(app, list, frame);
    draw_unclip(list);
}

/* The lines first: a plate covers them. The peak's is beside its mark, the others give way. */
static void draw_marks(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                       struct plates *plates) {
    const struct rect *r = frame->rect;
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_ooms(app, list, frame);
    if (frame->track == &app->a)
        plot_marks(app, list, frame);
    draw_peak(app, list, frame, plates);
    name_ooms(app, list, frame, plates);
    name_capacity(app, list, frame, plates);
    if (frame->track == &app->a)
        plot_mark_names(app, list, frame, plates);
    draw_unclip(list);
}

/* Both on the same scale, the second in the lower half, its events under those of the first that
 * they match. */
static void draw_below(struct app *app, struct draw_list *list) {
    struct rect upper = app_plot_rect(app), lower = app->layout.plot;
    int taken = upper.h + app_px(app, 6);
    lower.y += taken;
    lower.h -= taken;
    struct plot_frame a = app_plot_frame(app, &upper, false), b = app_plot_frame(app, &lower, true);
    draw_one(app, list, &a, &app->layers[0]);
    draw_one(app, list, &b, &app->layers[1]);
    const struct plot_frame *const frames[2] = {&a, &b};
    struct plates plates[2] = {{.bounds = &upper}, {.bounds = &lower}};
    for (int i = 0; i < 2; i++)
        plates_draw(app, list, &plates[i], upper.x + app_px(app, 8),
                    frames[i]->rect->y + app_px(app, 6), app_theme(app)->ink, true,
                    track_name(frames[i]->track));
    draw_cursor(app, list);
    draw_marks(app, list, &a, &plates[0]);
    name_capacity(app, list, &b, &plates[1]);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.plot;
    if (!app_read_plot(app, &app->plot, &app->view, r->w)) {
        list->failed = true;
        return;
    }
    draw_position_axis(app, list);
    if (app->has_b && app->compare == COMPARE_BELOW) {
        draw_below(app, list);
        return;
    }
    struct plot_frame frame = app_plot_frame(app, r, false);
    draw_one(app, list, &frame, &app->layers[0]);
    if (app->has_b && app->compare == COMPARE_OVERLAY) {
        struct plot_frame over = app_plot_frame(app, r, true);
        draw_clip(list, r->x, r->y, r->w, r->h);
        if (level_known(&app->b, app->strip.level))
            plot_line(app, list, &over, app->strip.level, app_context(app),
                      app_theme(app)->overlay);
        draw_unclip(list);
    }
    draw_zoom_range(app, list);
    draw_cursor(app, list);
    struct plates plates = {.bounds = r};
    draw_marks(app, list, &frame, &plates);
}

const struct pane_ops pane_timeline = {.name = "timeline",
                                       .doc = "memory over time in bands of a grouping",
                                       .place = place,
                                       .draw = draw,
                                       .tip = tip};
