/* plot_layer.h: a plot as pixels, kept from frame to frame: a pan shifts it and paints what is new, a
 * moved pointer paints nothing. Bands of groups are there at once, bands of blocks follow column by
 * column from where one looks (plot_layer_refine).
 *
 * The pixels are those that plot_ground paints. Ownership: owns its memory; zero bytes are empty. */
#ifndef PLOT_LAYER_H
#define PLOT_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "draw.h"

struct app;
struct plot_frame;

enum { LAYER_NOTHING, LAYER_GROUPS, LAYER_BLOCKS };
enum { LAYER_TILE = 16 }; /* columns refined at once */

/* What the pixels depend on besides the columns. */
struct plot_look {
    double y0, y1;
    uint32_t serial;
    int theme, isolated, scale_percent, width, height;
    uint64_t lit; /* app_lit_key */
};

struct plot_layer {
    ARRAY(uint32_t) pixels;     /* width * height */
    ARRAY(uint8_t) detail;      /* of each column */
    int width, height, missing; /* columns without blocks */
    struct plot_look look;
    int64_t first;         /* the grid's column at the left edge */
    uint32_t still_ms;     /* since all of it was painted anew */
    struct draw_list list; /* of what is painted at a time */
};

void plot_layer_fini(struct plot_layer *layer);
/* Up to date, with groups at least. False: host memory; the layer is then empty. */
bool plot_layer_update(struct app *app, struct plot_layer *layer, const struct plot_frame *frame);
/* Does it show what `frame`, as app->plot holds it, would be now? */
bool plot_layer_is_current(const struct app *app, const struct plot_layer *layer,
                           const struct plot_frame *frame);
/* Blocks for the tile nearest to column `around` that lacks them. False: host memory. */
bool plot_layer_refine(struct app *app, struct plot_layer *layer, const struct plot_frame *frame,
                       int around);

#endif
