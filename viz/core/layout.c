/* layout.c: see layout.h.
 *
 *   +-----------------------------------------------+
 *   | title                                         |
 *   +--+-------------------------------+------------+
 *   |  | overview                      |            |
 *   |  | phases                        |  legend    |
 *   |  | plot                          |            |
 *   +--+-------------------------------+------------+
 *   | owners                                        |
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

void layout_compute(const struct layout_wish *wish, struct layout *out) {
    memset(out, 0, sizeof *out);
    int s = wish->scale_percent, line = wish->line;
    int pad = layout_px(s, 6), least = line * 8;
    struct rect rest = {0, 0, wish->width, wish->height};
    out->title = take_top(&rest, line * 2 + pad * 3, least);
    out->status = take_bottom(&rest, line + pad, least / 2);
    int table = wish->height * 31 / 100;
    out->owners = take_bottom(&rest, wish->owners ? table : 0, least * 4 / 3);
    int legend = layout_px(s, 330);
    struct rect right = {rest.x + rest.w, rest.y, 0, rest.h};
    if (rest.w - legend >= layout_px(s, 360)) {
        rest.w -= legend;
        right.x -= legend;
        right.w = legend;
    }
    out->legend = right;
    out->overview = take_top(&rest, layout_px(s, 46), least + line * 2);
    out->lane_height = line + layout_px(s, 4);
    out->phases = take_top(&rest, wish->lanes * out->lane_height + layout_px(s, 2), least);
    out->timeline = rest;
    int gutter = layout_px(s, 74) < rest.w / 3 ? layout_px(s, 74) : 0;
    int right_gap = layout_px(s, 10);
    int plot_w = rest.w - gutter - right_gap, plot_h = rest.h - line - pad;
    out->plot =
        (struct rect){rest.x + gutter, rest.y, plot_w > 1 ? plot_w : 1, plot_h > 1 ? plot_h : 1};
}
