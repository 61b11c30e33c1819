/* pane_selection.c: what is singled out, over the timeline: the range, the second cursor, the life of
 * the pinned block. */
#include "app_state.h"
#include "pane.h"
#include "timeline.h"

static const struct rect *place(const struct app *app) {
    return &app->layout.plot;
}

static int x_of(const struct app *app, uint32_t moment) {
    struct ruler ruler = app_ruler(app);
    const struct rect *r = &app->layout.plot;
    return r->x + view_x(&app->view, ruler_position(&ruler, moment), r->w);
}

static void draw_range(struct app *app, struct draw_list *list, const struct selection *s) {
    const struct rect *r = &app->layout.plot;
    int a = x_of(app, s->first), b = x_of(app, s->end);
    uint32_t color = app_theme(app)->accent & 0xffffff;
    draw_rect(list, a, r->y, b - a + 1, r->h, color | 0x28000000);
    draw_rect(list, a, r->y, 1, r->h, color | 0xc0000000);
    draw_rect(list, b, r->y, 1, r->h, color | 0xc0000000);
}

static void draw_mark(struct app *app, struct draw_list *list, uint32_t mark) {
    const struct rect *r = &app->layout.plot;
    int x = x_of(app, mark), dash = app_px(app, 5);
    for (int y = r->y; y < r->y + r->h; y += 2 * dash)
        draw_rect(list, x, y, app_px(app, 1), dash, app_theme(app)->accent);
}

/* A bar along the bottom edge from its allocation to its free. */
static void draw_life(struct app *app, struct draw_list *list, const struct timeline_block *b) {
    const struct rect *r = &app->layout.plot;
    int thick = app_px(app, 4), y = r->y + r->h - thick;
    bool before = b->alloc_event == TIMELINE_NONE, after = b->free_event == TIMELINE_NONE;
    int from = before ? r->x : x_of(app, b->alloc_event + 1);
    int to = after ? r->x + r->w : x_of(app, b->free_event + 1);
    uint32_t ink = app_theme(app)->ink;
    draw_rect(list, from, y, to - from > 1 ? to - from : 1, thick, ink);
    if (!before)
        draw_rect(list, from, y - thick, app_px(app, 1), thick, ink);
    if (!after)
        draw_rect(list, to, y - thick, app_px(app, 1), thick, ink);
}

static void draw(struct app *app, struct draw_list *list) {
    const struct rect *r = &app->layout.plot;
    const struct selection *s = &app->selection;
    draw_clip(list, r->x, r->y, r->w, r->h);
    if (selection_has_range(s))
        draw_range(app, list, s);
    if (s->pin < app->a.tl->blocks.count)
        draw_life(app, list, &app->a.tl->blocks.at[s->pin]);
    if (s->mark != SELECTION_NONE)
        draw_mark(app, list, s->mark);
    draw_unclip(list);
}

const struct pane_ops pane_selection = {.name = "selection",
                                        .doc = "what is singled out, over the timeline",
                                        .place = place,
                                        .draw = draw,
                                        .above = true};
