/* pane_divergence.c: over the timeline, where two timelines first differ, request by request; with the
 * cursor there, what each of them does. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "label.h"
#include "pane.h"
#include "text.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.plot;
}

/* The kinds in the words of alignment.h. */
static enum text_id kind_text(enum alignment_difference kind) {
    static const enum text_id texts[ALIGNMENT_DIFFERENCE_COUNT] = {
        [ALIGNMENT_NONE_DIFFERS] = TEXT_DIFFERS_NONE,
        [ALIGNMENT_SIZE_DIFFERS] = TEXT_DIFFERS_SIZE,
        [ALIGNMENT_STREAM_DIFFERS] = TEXT_DIFFERS_STREAM,
        [ALIGNMENT_FREE_SET_DIFFERS] = TEXT_DIFFERS_FREES,
        [ALIGNMENT_SEGMENT_DIFFERS] = TEXT_DIFFERS_SEGMENT,
        [ALIGNMENT_OFFSET_DIFFERS] = TEXT_DIFFERS_OFFSET,
        [ALIGNMENT_MISSING_DIFFERS] = TEXT_DIFFERS_MISSING,
        [ALIGNMENT_EXTRA_DIFFERS] = TEXT_DIFFERS_EXTRA,
        [ALIGNMENT_OOM_DIFFERS] = TEXT_DIFFERS_OOM,
    };
    return texts[kind];
}

/* "request 1,234, 16,777,216 B  aten::mm  model.layers.3" */
static void add_item(const struct app *app, const struct track *track,
                     const struct request_item *item, struct text *out) {
    char number[LABEL_BYTES], bytes[LABEL_BYTES];
    if (!item->is_there) {
        text_add(out, app_text(app, TEXT_NO_FURTHER_REQUEST));
        return;
    }
    if (item->is_oom)
        text_format(out, "%s, ", app_text(app, TEXT_OUT_OF_MEMORY));
    text_format(out, "%s %s, %s B", app_text(app, TEXT_REQUEST), label_count(item->request, number),
                label_count(item->bytes, bytes));
    if (item->block >= track->tl->blocks.count)
        return;
    const struct timeline_block *b = &track->tl->blocks.at[item->block];
    const char *const names[] = {timeline_text(track->tl, b->op),
                                 timeline_text(track->tl, b->owner),
                                 timeline_text(track->tl, b->name)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (*names[i])
            text_format(out, "  %s", names[i]);
}

void app_copy_divergence(struct app *app, struct text *out) {
    const struct request_match *match = app_match(app);
    if (!match || match->kind == ALIGNMENT_NONE_DIFFERS)
        return;
    text_format(out, "%s: %s\n", app_text(app, TEXT_FIRST_DIFFERENCE),
                app_text(app, kind_text(match->kind)));
    text_format(out, "%s: ", track_name(&app->a));
    add_item(app, &app->a, &match->first, out);
    text_format(out, "\n%s: ", track_name(&app->b));
    add_item(app, &app->b, &match->second, out);
    text_add(out, "\n");
}

/* The lines of a text in a box beside the mark, on the side with more room. */
static void draw_note(struct app *app, struct draw_list *list, int x, const char *text) {
    const struct rect *r = &app->layout.plot;
    int size = app_small(app), line = font_line(app->font, size), pad = app_px(app, 7);
    int room = (x - r->x > r->w / 2 ? x - r->x : r->x + r->w - x) - 3 * pad, w = 0, count = 0;
    for (int pass = 0; pass < 2; pass++) {
        int left = x - r->x > r->w / 2 ? x - pad - w - 2 * pad : x + pad,
            top = r->y + app_px(app, 24);
        if (pass == 1) {
            draw_rect(list, left, top, w + 2 * pad, count * line + 2 * pad, app_theme(app)->raised);
            draw_frame(list, left, top, w + 2 * pad, count * line + 2 * pad, app_theme(app)->warn);
        }
        count = 0;
        for (const char *at = text; *at; count++) {
            char whole[512], shown[512];
            size_t length = strcspn(at, "\n");
            snprintf(whole, sizeof whole, "%.*s", (int)(length < 500 ? length : 500), at);
            font_shorten(app->font, whole, room, size, count == 0, shown, sizeof shown);
            int width = font_width(app->font, shown, strlen(shown), size, count == 0);
            w = pass == 0 && width > w ? width : w;
            if (pass == 1)
                draw_text(list, left + pad, top + pad + count * line, size, count == 0,
                          count == 0 ? app_theme(app)->warn : app_theme(app)->ink, shown);
            at += length + (at[length] == '\n');
        }
    }
}

static void draw(struct app *app, struct draw_list *list) {
    const struct request_match *match = app_match(app);
    const struct rect *r = &app->layout.plot;
    if (!match || match->kind == ALIGNMENT_NONE_DIFFERS || app->compare == COMPARE_OFF)
        return;
    struct ruler ruler = app_ruler(app);
    uint32_t moment = request_match_moment(match, &app->a);
    int x = r->x + view_x(&app->view, ruler_position(&ruler, moment), r->w);
    if (x < r->x || x >= r->x + r->w)
        return;
    draw_clip(list, r->x, r->y, r->w, r->h);
    int dash = app_px(app, 3), thick = app_px(app, 2);
    for (int y = r->y; y < r->y + r->h; y += 3 * dash)
        draw_rect(list, x, y, thick, dash, app_theme(app)->warn);
    struct text text = {0};
    if (app->cursor == moment)
        app_copy_divergence(app, &text);
    else
        text_format(&text, "%s: %s", app_text(app, TEXT_FIRST_DIFFERENCE),
                    app_text(app, kind_text(match->kind)));
    draw_note(app, list, x, text_get(&text));
    list->failed |= text.failed;
    text_fini(&text);
    draw_unclip(list);
}

const struct pane_ops pane_divergence = {.name = "divergence",
                                         .doc = "where two timelines first differ",
                                         .place = place,
                                         .draw = draw,
                                         .above = true};
