/* plot_names.c: see plot_names.h. For each band the place, as wide as its name, where it is
 * thickest throughout. */
#include "plot_names.h"

#include <string.h>

#include "app_state.h"
#include "plot.h"
#include "plot_matches.h"

enum { STEP = 4 }; /* columns looked at: every fourth */
enum { WIDEST = 300, NAME_BYTES = 200 };

struct spot {
    int x, middle, height;
};

/* The band's edges in one column, bottom and top, inside the plot. */
static void band_edges(const struct plot_frame *frame, int column, int band, int *bottom,
                       int *top) {
    const struct rect *r = frame->rect;
    double below = band > CATEGORY_OUTSIDE ? (double)frame->track->context_bytes : 0;
    const struct column *c = &frame->columns[column];
    for (int i = 0; i < band; i++)
        below += (double)c->group[i];
    double above = below + (double)c->group[band];
    if (band == CATEGORY_OUTSIDE)
        above += (double)frame->track->context_bytes;
    *bottom = plot_y(frame, below);
    *top = plot_y(frame, above);
    *bottom = *bottom > r->y + r->h ? r->y + r->h : *bottom;
    *top = *top < r->y ? r->y : *top;
}

/* From `first` on, over the width: the room that all columns share. */
static struct spot room_at(const struct plot_frame *frame, int band, int first, int width) {
    int low = frame->rect->y + frame->rect->h, high = frame->rect->y;
    for (int x = first; x < first + width && low - high > 0; x += STEP) {
        int bottom, top;
        band_edges(frame, x, band, &bottom, &top);
        low = bottom < low ? bottom : low;
        high = top > high ? top : high;
    }
    return (struct spot){frame->rect->x + first, (low + high) / 2, low - high};
}

static struct spot best_room(const struct plot_frame *frame, int band, int width) {
    struct spot best = {0, 0, 0};
    for (int x = 0; x + width <= frame->rect->w; x += 4 * STEP) {
        struct spot spot = room_at(frame, band, x, width);
        if (spot.height > best.height)
            best = spot;
    }
    return best;
}

void plot_names(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    if (plot_is_dim(app, frame)) /* they would be over what is bright; the legend tells */
        return;
    int line = font_line(app->font, app_small(app)), margin = app_px(app, 6);
    for (int band = 0; band < app->bands.count; band++) {
        char buffer[256], name[NAME_BYTES];
        if (app->isolated >= 0 && app->isolated != band)
            continue;
        font_shorten(app->font, app_band_name(app, band, buffer), app_px(app, WIDEST),
                     app_small(app), false, name, sizeof name);
        int width = font_width(app->font, name, strlen(name), app_small(app), false);
        struct spot spot = best_room(frame, band, width + 2 * margin);
        if (spot.height >= line + 2)
            draw_text(list, spot.x + margin, spot.middle - line / 2, app_small(app), false,
                      app_band_style(app, band).on, name);
    }
}
