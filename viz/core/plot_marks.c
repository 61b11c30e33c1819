/* plot_marks.c: marks over the plot; see marks.h. */
#include <stdio.h>

#include "app_state.h"
#include "label.h"
#include "plates.h"
#include "plot.h"
#include "timeline.h"

enum { NAMED = 8 }; /* more retries in view have no names: they would hide the picture */

/* Pixels inside the plot; may be outside of it. */
static int x_of(const struct app *app, const struct plot_frame *frame, uint32_t moment) {
    struct ruler ruler = app_ruler(app);
    return view_x(&app->view, ruler_position(&ruler, moment), frame->rect->w);
}

/* Retries of one pixel column are one mark. */
struct retry_mark {
    int x, count;
    uint64_t bytes;
    uint32_t moment; /* of the first */
};

static bool next_retry(const struct app *app, const struct plot_frame *frame, size_t *at,
                       struct retry_mark *out) {
    const struct marks *marks = &app->marks;
    *out = (struct retry_mark){.x = -1};
    for (; *at < marks->retries.count; (*at)++) {
        const struct mark_retry *retry = &marks->retries.at[*at];
        int x = x_of(app, frame, retry->event + 1);
        if (x < 0)
            continue;
        if (x >= frame->rect->w || (out->count > 0 && x > out->x + 1))
            break;
        if (out->count++ == 0) {
            out->x = x;
            out->moment = retry->event;
        }
        out->bytes += retry->bytes;
    }
    return out->count > 0;
}

static int count_retries(const struct app *app, const struct plot_frame *frame) {
    struct retry_mark mark;
    int count = 0;
    for (size_t i = 0; count <= NAMED && next_retry(app, frame, &i, &mark);)
        count++;
    return count;
}

/* From the top down to the line of what was reserved, with a foot on it. */
static void draw_retry(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                       const struct retry_mark *mark) {
    const struct rect *r = frame->rect;
    struct lod_state s;
    lod_state_at(&frame->track->lod, mark->moment, &s);
    int y = plot_y(frame, (double)s.reserved + (double)frame->track->context_bytes);
    int foot = app_px(app, 3), x = r->x + mark->x;
    y = y > r->y + r->h ? r->y + r->h : y;
    if (y <= r->y)
        return;
    uint32_t color = app_theme(app)->reserved;
    for (int at = r->y; at < y; at += 6)
        draw_rect(list, x, at, app_px(app, 1), at + 3 < y ? 3 : y - at, color);
    draw_rect(list, x - foot, y - foot / 2, 2 * foot + 1, foot, color);
}

static void name_retry(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                       const struct retry_mark *mark, struct plates *plates) {
    char text[200], bytes[LABEL_BYTES];
    int length = snprintf(text, sizeof text, "%.60s %s", app_text(app, TEXT_GAVE_BACK),
                          label_bytes(mark->bytes, bytes));
    if (mark->count > 1)
        snprintf(text + length, sizeof text - (size_t)length, " (%d)", mark->count);
    plates_draw(app, list, plates, frame->rect->x + mark->x + app_px(app, 5),
                frame->rect->y + app_px(app, 24), app_theme(app)->ink, false, text);
}

/* A bar along the upper edge. */
static void draw_breaks(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    int end_before = -1;
    for (size_t i = 0; i < app->marks.breaks.count; i++) {
        const struct mark_break *b = &app->marks.breaks.at[i];
        int x0 = x_of(app, frame, b->first), x1 = x_of(app, frame, b->end);
        if (b->end >= frame->track->lod.moments)
            x1 = r->w;
        x0 = x0 < 0 ? 0 : x0;
        x1 = x1 > r->w ? r->w : x1 > x0 ? x1 : x0 + 1;
        if (x0 >= r->w || x1 <= 0 || x1 <= end_before)
            continue;
        end_before = x1;
        draw_rect(list, r->x + x0, r->y, x1 - x0, app_px(app, 3), app_theme(app)->warn);
    }
}

/* The worst of each kind that is in view. */
static void name_breaks(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                        struct plates *plates) {
    const struct rect *r = frame->rect;
    const struct mark_break *worst[MARK_KINDS] = {NULL};
    for (size_t i = 0; i < app->marks.breaks.count; i++) {
        const struct mark_break *b = &app->marks.breaks.at[i];
        bool seen = x_of(app, frame, b->first) < r->w && x_of(app, frame, b->end) > 0;
        if (seen && (!worst[b->kind] || b->bytes > worst[b->kind]->bytes))
            worst[b->kind] = b;
    }
    for (int kind = 0; kind < MARK_KINDS; kind++) {
        char text[200], bytes[LABEL_BYTES];
        if (!worst[kind])
            continue;
        int x = x_of(app, frame, worst[kind]->first);
        snprintf(text, sizeof text, "%.80s: %s",
                 app_text(app, kind == MARK_ALLOCATED ? TEXT_ALLOCATED_ABOVE : TEXT_RESERVED_ABOVE),
                 label_bytes(worst[kind]->bytes, bytes));
        plates_draw(app, list, plates, r->x + (x > 0 ? x : 0) + app_px(app, 4),
                    r->y + app_px(app, 5), app_theme(app)->warn, true, text);
    }
}

void plot_marks(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    struct retry_mark mark;
    for (size_t i = 0; next_retry(app, frame, &i, &mark);)
        draw_retry(app, list, frame, &mark);
    draw_breaks(app, list, frame);
}

void plot_mark_names(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                     struct plates *plates) {
    struct retry_mark mark;
    name_breaks(app, list, frame, plates);
    if (count_retries(app, frame) > NAMED)
        return;
    for (size_t i = 0; next_retry(app, frame, &i, &mark);)
        name_retry(app, list, frame, &mark, plates);
}
