/* layout.h: where the panes are. Pure. Panes that have no room are left out (zero height or width),
 * the timeline last. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>

struct rect {
    int x, y, w, h;
};

struct layout_wish {
    int width, height;
    int line; /* height of a line of text */
    int scale_percent;
    int lanes; /* of phases */
    bool owners;
};

struct layout {
    struct rect title, overview, phases, timeline, legend, owners, status;
    struct rect plot; /* inside the timeline: between the byte labels and the time labels */
    int lane_height;
};

void layout_compute(const struct layout_wish *wish, struct layout *out);
static inline bool rect_has(const struct rect *r, int x, int y) {
    return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}
int layout_px(int scale_percent, int units); /* logical units to pixels */

#endif
