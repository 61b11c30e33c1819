/* layout.c: see layout.h.
 *
 *   +-----------------------------------------------+
 *   | title                                         |
 *   +--+-------------------------------+------------+
 *   |  | overview                      |  details   |
 *   |  | rows                          |            |
 *   |  | phases                        |            |
 *   |  | plot                          +------------+
 *   |  | strip                         |  legend    |
 *   +--+-------------------------------+------------+
 *   | address map                                   |
 *   | tabs                                          |
 *   | prompt                                        |
 *   | status                                        |
 *   +-----------------------------------------------+ */
#include "layout.h"

#include <string.h>

int layout_px(int scale_percent, int units) {
    return (units * scale_percent + 50) / 100;
}

/* Takes `wanted` pixels from the top of `rest` when at least `least` are then left. */
static struct rect take_top(struct rect *rest, int wanted, int least) {
    struct rect taken = {rest->x, rest->y, rest->w, 0};
    if (rest->h - wanted < least)
        return taken;
    taken.h = wanted;
    rest->y += wanted;
    rest->h -= wanted;
    return taken;
}

static struct rect take_bottom(struct rect *rest, int wanted, int least) {
    struct rect taken = {rest->x, rest->y + rest->h, rest->w, 0};
    if (rest->h - wanted < least)
        return taken;
    taken.y -= wanted;
    taken.h = wanted;
    rest->h -= wanted;
    return taken;
}

void layout_usual(bool shown[SPLIT_COUNT], int share[SPLIT_COUNT]) {
    static const struct {
        bool shown;
        int share;
    } usual[SPLIT_COUNT] = {[SPLIT_TABS] = {true, 34},
                            [SPLIT_SIDE] = {true, 330},
                            [SPLIT_MAP] = {false, 22},
                            [SPLIT_STRIP] = {false, 76}};
    for (int i = 0; i < SPLIT_COUNT; i++) {
        shown[i] = usual[i].shown;
        share[i] = usual[i].share;
    }
}

static int within(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

/* Details above the legend: at most half of the side. */
static void divide_side(const struct layout_wish *wish, struct layout *out) {
    struct rect rest = out->legend;
    int wanted = wish->line * 18, most = rest.h / 2;
    if (wish->details && rest.w > 0)
        out->details = take_top(&rest, wanted < most ? wanted : most, wish->line * 3);
    out->legend = rest;
}

static void place_plot(const struct layout_wish *wish, struct layout *out) {
    const struct rect *r = &out->timeline;
    int s = wish->scale_percent, pad = layout_px(s, 6), right_gap = layout_px(s, 10);
    int gutter = layout_px(s, 74) < r->w / 3 ? layout_px(s, 74) : 0;
    int w = r->w - gutter - right_gap, h = r->h - wish->line - pad;
    out->plot = (struct rect){r->x + gutter, r->y, w > 1 ? w : 1, h > 1 ? h : 1};
}

static int share_height(const struct layout_wish *wish, enum layout_split split) {
    return wish->shown[split] ? wish->height * within(wish->share[split], 4, 80) / 100 : 0;
}

void layout_compute(const struct layout_wish *wish, struct layout *out) {
    memset(out, 0, sizeof *out);
    int s = wish->scale_percent, line = wish->line;
    int pad = layout_px(s, 6), least = line * 8;
    struct rect rest = {0, 0, wish->width, wish->height};
    out->title = take_top(&rest, line * 2 + pad * 3, least);
    out->status = take_bottom(&rest, line + pad, least / 2);
    out->prompt = take_bottom(&rest, wish->prompt ? line + pad : 0, least / 2);
    out->tab = take_bottom(&rest, share_height(wish, SPLIT_TABS), least * 4 / 3);
    out->tab_bar = take_top(&out->tab, line + pad, line * 3);
    out->map = take_bottom(&rest, share_height(wish, SPLIT_MAP), least * 4 / 3);
    int side =
        wish->shown[SPLIT_SIDE] ? layout_px(s, within(wish->share[SPLIT_SIDE], 160, 1200)) : 0;
    struct rect right = {rest.x + rest.w, rest.y, 0, rest.h};
    if (rest.w - side >= layout_px(s, 360)) {
        rest.w -= side;
        right.x -= side;
        right.w = side;
    }
    out->legend = right;
    divide_side(wish, out);
    out->overview = take_top(&rest, layout_px(s, 46), least + line * 2);
    int each = line + layout_px(s, 8), most = rest.h / 3;
    int rows = wish->rows * each < most ? wish->rows * each : most;
    if (wish->rows > 0)
        out->rows = take_top(&rest, rows, least + line * 2);
    out->lane_height = line + layout_px(s, 4);
    out->phases = take_top(&rest, wish->lanes * out->lane_height + layout_px(s, 2), least);
    int strip =
        wish->shown[SPLIT_STRIP] ? layout_px(s, within(wish->share[SPLIT_STRIP], 20, 400)) : 0;
    out->strip = take_bottom(&rest, strip, least);
    out->timeline = rest;
    place_plot(wish, out);
}

/* Within four logical units of the upper (or left) edge. */
static bool near(int at, int edge, int reach) {
    return at >= edge - reach && at <= edge + reach;
}

enum layout_split layout_border(const struct layout *layout, int scale_percent, int x, int y) {
    int reach = layout_px(scale_percent, 3);
    if (layout->tab.h > 0 && near(y, layout->tab_bar.y, reach))
        return SPLIT_TABS;
    if (layout->map.h > 0 && near(y, layout->map.y, reach))
        return SPLIT_MAP;
    int top = layout->details.h > 0 ? layout->details.y : layout->legend.y;
    bool beside = y >= top && y < layout->legend.y + layout->legend.h;
    if (layout->legend.w > 0 && beside && near(x, layout->legend.x, reach))
        return SPLIT_SIDE;
    if (layout->strip.h > 0 && x < layout->strip.x + layout->strip.w &&
        near(y, layout->strip.y, reach))
        return SPLIT_STRIP;
    return SPLIT_COUNT;
}

int layout_share(const struct layout_wish *wish, const struct layout *layout,
                 enum layout_split split, int x, int y) {
    int s = wish->scale_percent > 0 ? wish->scale_percent : 100;
    int height = wish->height > 0 ? wish->height : 1;
    switch (split) {
    case SPLIT_TABS:
        return within((layout->tab.y + layout->tab.h - y) * 100 / height, 4, 80);
    case SPLIT_MAP:
        return within((layout->map.y + layout->map.h - y) * 100 / height, 4, 80);
    case SPLIT_SIDE:
        return within((wish->width - x) * 100 / s, 160, 1200);
    case SPLIT_STRIP:
        return within((layout->strip.y + layout->strip.h - y) * 100 / s, 20, 400);
    case SPLIT_COUNT:
        break;
    }
    return 0;
}
