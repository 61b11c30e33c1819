/* pane_notice.c: that a file is being read, and how far; or that it could not be. In the middle of an
 * empty picture, else where it hides little. */
#include <stdio.h>
#include <string.h>

#include "app_state.h"
#include "pane.h"

static const struct rect *place(const struct app *app) {
    static const struct rect closed = {0, 0, 0, 0};
    return app->notice.kind == NOTICE_NONE ? &closed : &app->layout.timeline;
}

static const char *title_of(const struct app *app) {
    switch (app->notice.kind) {
    case NOTICE_READING:
        return app_text(app, TEXT_READING);
    case NOTICE_CANCELLED:
        return app_text(app, TEXT_CANCELLED);
    case NOTICE_FAILED:
        return app_text(app, TEXT_NOT_READ);
    case NOTICE_NONE:
        break;
    }
    return "";
}

static const char *hint_of(const struct app *app) {
    return app_text(app, app->notice.kind == NOTICE_READING ? TEXT_ESC_CANCELS : TEXT_TRY_AGAIN);
}

static struct rect box_of(struct app *app) {
    int w = app_px(app, 440), h = 3 * app_line(app) + app_px(app, 40);
    w = w < app->width - app_px(app, 12) ? w : app->width - app_px(app, 12);
    struct rect r = {(app->width - w) / 2, (app->height - h) / 2, w, h};
    if (app->a.lod.moments > 1)
        r.y = app->layout.plot.y + app_px(app, 8);
    return r;
}

/* What is done of the bar; unknown how much there is: the whole bar, faint. */
static void draw_bar(struct app *app, struct draw_list *list, const struct rect *bar) {
    const struct app_notice *n = &app->notice;
    draw_rect(list, bar->x, bar->y, bar->w, bar->h, app_theme(app)->line);
    if (n->kind != NOTICE_READING)
        return;
    double share = n->total > 0 ? (double)n->done / (double)n->total : 1;
    int w = (int)(bar->w * (share < 1 ? share : 1));
    draw_rect(list, bar->x, bar->y, w, bar->h,
              n->total > 0 ? app_theme(app)->accent : app_theme(app)->faint);
}

static void draw(struct app *app, struct draw_list *list) {
    struct rect r = box_of(app);
    int pad = app_px(app, 12), line = app_line(app), x = r.x + pad, room = r.w - 2 * pad;
    char shown[300];
    draw_clip(list, r.x, r.y, r.w, r.h);
    draw_rect(list, r.x, r.y, r.w, r.h, app_theme(app)->raised);
    draw_frame(list, r.x, r.y, r.w, r.h, app_theme(app)->faint);
    draw_text(list, x, r.y + pad, app_size(app), true, app_theme(app)->ink, title_of(app));
    if (app->notice.kind == NOTICE_READING && app->notice.total > 0) {
        int percent = (int)((double)app->notice.done / (double)app->notice.total * 100);
        snprintf(shown, sizeof shown, "%d %%", percent < 100 ? percent : 100);
        app_draw_right(app, list, r.x + r.w - pad, r.y + pad, app_theme(app)->ink, shown);
    }
    font_shorten(app->font, app->notice.text, room, app_size(app), false, shown, sizeof shown);
    app_draw_text(app, list, x, r.y + pad + line, app_theme(app)->ink, shown);
    struct rect bar = {x, r.y + pad + 2 * line + app_px(app, 4), room, app_px(app, 6)};
    draw_bar(app, list, &bar);
    font_shorten(app->font, hint_of(app), room, app_size(app), false, shown, sizeof shown);
    app_draw_text(app, list, x, bar.y + bar.h + app_px(app, 4), app_theme(app)->faint, shown);
    draw_unclip(list);
}

const struct pane_ops pane_notice = {.name = "notice",
                                     .doc = "what is being read, or could not be",
                                     .place = place,
                                     .draw = draw,
                                     .above = true};
