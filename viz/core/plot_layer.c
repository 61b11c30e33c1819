/* plot_layer.c: see plot_layer.h. */
#include "plot_layer.h"

#include "app_state.h"
#include "plot.h"
#include "raster.h"

void plot_layer_fini(struct plot_layer *layer) {
    array_fini(&layer->pixels);
    array_fini(&layer->detail);
    draw_fini(&layer->list);
    memset(layer, 0, sizeof *layer);
}

static struct plot_look look_of(const struct app *app, const struct plot_frame *frame) {
    return (struct plot_look){.y0 = frame->view->y0,
                              .y1 = frame->view->y1,
                              .serial = app->plot.serial,
                              .theme = app->theme_id,
                              .isolated = app->isolated,
                              .scale_percent = app->scale_percent,
                              .width = frame->rect->w,
                              .height = frame->rect->h,
                              .lit = app_lit_key(app)};
}

static bool same_look(const struct plot_look *a, const struct plot_look *b) {
    return a->y0 == b->y0 && a->y1 == b->y1 && a->serial == b->serial && a->theme == b->theme &&
           a->isolated == b->isolated && a->scale_percent == b->scale_percent &&
           a->width == b->width && a->height == b->height && a->lit == b->lit;
}

/* The columns from .. end - 1. Lines join a column to the one before it, which is painted too and cut
 * off. */
static bool paint(struct app *app, struct plot_layer *layer, const struct plot_frame *frame,
                  int from, int end, bool blocks) {
    int first = from > 0 ? from - 1 : 0;
    struct rect part = {first, 0, end - first, layer->height};
    struct plot_frame piece = *frame;
    struct canvas canvas = {.pixels = layer->pixels.at,
                            .width = layer->width,
                            .height = layer->height,
                            .pitch = (size_t)layer->width};
    piece.rect = &part;
    piece.columns = frame->columns + first;
    piece.phase = (frame->phase + first) & 7;
    piece.blocks = blocks ? frame->blocks : NULL;
    draw_start(&layer->list, layer->width, layer->height);
    draw_clip(&layer->list, from, 0, end - from, layer->height);
    plot_ground(app, &layer->list, &piece);
    draw_unclip(&layer->list);
    if (layer->list.failed)
        return false;
    raster_paint(&canvas, &layer->list, app->font);
    for (int i = from; i < end; i++) {
        layer->missing -= blocks && layer->detail.at[i] != LAYER_BLOCKS;
        layer->detail.at[i] = blocks ? LAYER_BLOCKS : LAYER_GROUPS;
    }
    return true;
}

static bool start(struct plot_layer *layer, const struct plot_look *look) {
    size_t columns = (size_t)look->width;
    layer->width = layer->height = 0;
    if (!array_reserve(&layer->pixels, columns * (size_t)look->height) ||
        !array_reserve(&layer->detail, columns))
        return false;
    layer->width = layer->missing = look->width;
    layer->height = look->height;
    layer->look = *look;
    layer->still_ms = 0;
    memset(layer->detail.at, LAYER_NOTHING, columns);
    return true;
}

static void forget(struct plot_layer *layer, int column) {
    layer->missing += layer->detail.at[column] == LAYER_BLOCKS;
    layer->detail.at[column] = LAYER_NOTHING;
}

/* By `by` columns to the left (< 0: to the right). The column at the edge joins none before it: it
 * and the one that was there are painted again. */
static void shift(struct plot_layer *layer, int by) {
    size_t kept = (size_t)(layer->width - (by < 0 ? -by : by));
    size_t from = by > 0 ? (size_t)by : 0, to = by < 0 ? (size_t)-by : 0;
    for (int y = 0; y < layer->height; y++) {
        uint32_t *row = layer->pixels.at + (size_t)y * (size_t)layer->width;
        memmove(row + to, row + from, kept * sizeof *row);
    }
    forget(layer, 0);
    memmove(layer->detail.at + to, layer->detail.at + from, kept);
    memset(layer->detail.at + (by > 0 ? kept : 0), LAYER_NOTHING, (size_t)layer->width - kept);
    forget(layer, 0);
    layer->missing = 0;
    for (int i = 0; i < layer->width; i++)
        layer->missing += layer->detail.at[i] != LAYER_BLOCKS;
}

static bool paint_missing(struct app *app, struct plot_layer *layer,
                          const struct plot_frame *frame) {
    for (int from = 0, end; from < layer->width; from = end) {
        end = from + 1;
        if (layer->detail.at[from] != LAYER_NOTHING)
            continue;
        while (end < layer->width && layer->detail.at[end] == LAYER_NOTHING)
            end++;
        if (!paint(app, layer, frame, from, end, false))
            return false;
    }
    return true;
}

bool plot_layer_update(struct app *app, struct plot_layer *layer, const struct plot_frame *frame) {
    struct plot_look look = look_of(app, frame);
    int64_t first = app->plot.grid.first, by = first - layer->first;
    bool same = layer->width > 0 && same_look(&look, &layer->look);
    layer->first = first;
    if (same && by == 0)
        return true;
    if (same && by < look.width && by > -look.width)
        shift(layer, (int)by);
    else if (!start(layer, &look))
        return false;
    if (paint_missing(app, layer, frame))
        return true;
    layer->width = 0;
    return false;
}

bool plot_layer_is_current(const struct app *app, const struct plot_layer *layer,
                           const struct plot_frame *frame) {
    struct plot_look look = look_of(app, frame);
    return layer->width > 0 && layer->first == app->plot.grid.first &&
           same_look(&look, &layer->look);
}

/* The nearest column without blocks; there is one. */
static int nearest_missing(const struct plot_layer *layer, int around) {
    for (int away = 0;; away++) {
        if (around + away < layer->width && layer->detail.at[around + away] != LAYER_BLOCKS)
            return around + away;
        if (around - away >= 0 && layer->detail.at[around - away] != LAYER_BLOCKS)
            return around - away;
    }
}

bool plot_layer_refine(struct app *app, struct plot_layer *layer, const struct plot_frame *frame,
                       int around) {
    if (layer->missing == 0)
        return true;
    int middle = around < 0 ? 0 : around >= layer->width ? layer->width - 1 : around;
    int from = nearest_missing(layer, middle), end = from;
    if (from < middle) { /* to the left of it: up to there */
        end = from + 1;
        while (from > 0 && end - from < LAYER_TILE && layer->detail.at[from - 1] != LAYER_BLOCKS)
            from--;
    } else {
        while (end < layer->width && end - from < LAYER_TILE &&
               layer->detail.at[end] != LAYER_BLOCKS)
            end++;
    }
    if (paint(app, layer, frame, from, end, true))
        return true;
    layer->width = 0;
    return false;
}
