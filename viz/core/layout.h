/* layout.h: where the panes are. Pure. Panes that have no room are left out (zero height or width),
 * the timeline last. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>

struct rect {
    int x, y, w, h;
};

/* Panes whose size a person chooses by dragging their border. */
enum layout_split {
    SPLIT_TABS,  /* height of the tabs, in hundredths of the window */
    SPLIT_SIDE,  /* width of legend and details, in logical units */
    SPLIT_MAP,   /* height of the address map, in hundredths */
    SPLIT_STRIP, /* height of the strip below the timeline, in logical units */
    SPLIT_COUNT
};

struct layout_wish {
    int width, height;
    int line; /* height of a line of text */
    int scale_percent;
    int lanes;         /* of phases */
    bool details;      /* a block is pinned */
    const bool *shown; /* [SPLIT_COUNT] */
    const int *share;  /* [SPLIT_COUNT]; see layout_usual */
    int rows;          /* small ones, of timelines */
    bool prompt;       /* a text field is shown */
};

struct layout {
    struct rect title, overview, rows, phases, timeline, strip, map, details, legend, tab_bar, tab,
        prompt, status;
    struct rect plot; /* inside the timeline: between the byte labels and the time labels */
    int lane_height;
};

/* What a window has before anyone drags. */
void layout_usual(bool shown[SPLIT_COUNT], int share[SPLIT_COUNT]);
/* The border under a point and what it divides; SPLIT_COUNT: none. */
enum layout_split layout_border(const struct layout *layout, int scale_percent, int x, int y);
/* The share that brings that border to the point. */
int layout_share(const struct layout_wish *wish, const struct layout *layout,
                 enum layout_split split, int x, int y);
void layout_compute(const struct layout_wish *wish, struct layout *out);
static inline bool rect_has(const struct rect *r, int x, int y) {
    return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}
int layout_px(int scale_percent, int units); /* logical units to pixels */

#endif
