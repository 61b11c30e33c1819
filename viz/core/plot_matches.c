/* plot_matches.c: see plot_matches.h. */
#include "plot_matches.h"

#include "app_state.h"
#include "plot.h"
#include "timeline.h"

bool plot_is_dim(const struct app *app, const struct plot_frame *frame) {
    return app_dims(app) && frame->track == &app->a;
}

static const struct lod *lod_of(struct app *app, const struct plot_frame *frame) {
    return plot_is_dim(app, frame) && frame->rect->w > 0 ? app_lit_lod(app) : NULL;
}

static void draw_band(struct app *app, struct draw_list *list, const struct plot_frame *frame,
                      int band, const struct lod_state *matched) {
    const struct rect *r = frame->rect;
    struct band_style style = app_band_style(app, band);
    bool any = false;
    for (int i = 0; i < r->w && !any; i++)
        any = matched[i].group[band] > 0;
    uint32_t separator = (app_theme(app)->separator & 0xffffff) | 0xa0000000;
    int32_t *edges =
        any ? draw_bands(list, r->x, r->y, r->w, r->h, 1, &style, separator, frame->phase) : NULL;
    for (int i = 0; edges && i < r->w; i++) {
        double below = (double)frame->track->context_bytes;
        for (int k = 0; k < band; k++)
            below += (double)frame->columns[i].group[k];
        edges[2 * i] = plot_y(frame, below);
        edges[2 * i + 1] = plot_y(frame, below + (double)matched[i].group[band]);
    }
}

void plot_matches(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct lod *lod = lod_of(app, frame);
    ARRAY(struct lod_state) matched = {0};
    if (!lod)
        return;
    if (array_reserve(&matched, (size_t)frame->rect->w)) {
        for (int i = 0; i < frame->rect->w; i++)
            lod_state_at(lod, frame->columns[i].arg, &matched.at[i]);
        for (int band = 0; band < app->bands.count; band++)
            if (app->isolated < 0 || app->isolated == band)
                draw_band(app, list, frame, band, matched.at);
    } else {
        list->failed = true;
    }
    array_fini(&matched);
}

/* Takes the blocks that have pieces of their own off the sums. */
static void subtract_large(const struct app *app, const struct streams_cursor *live,
                           double bytes_per_pixel, struct lod_state *matched) {
    for (int g = 0; g < LOD_GROUPS; g++)
        for (size_t i = 0; i < live->groups[g].list.count; i++) {
            const struct streams_block *b = &live->groups[g].list.at[i];
            if ((double)b->bytes >= bytes_per_pixel && app_is_lit(app, b->block))
                matched->group[g] -= b->bytes;
        }
}

/* Of no block, one for each group, and not shaded. */
static uint32_t number_of(unsigned group, unsigned groups) {
    uint32_t number = TIMELINE_NONE - 1 - group;
    while (theme_shade(0xffffff, number) != 0xffffff)
        number -= groups;
    return number;
}

bool plot_matches_mark(struct app *app, const struct plot_frame *frame, const struct column *column,
                       struct pieces *pieces) {
    const struct lod *lod = lod_of(app, frame);
    struct lod_state matched = {{0}, 0, 0};
    double each = (frame->view->y1 - frame->view->y0) / frame->rect->h;
    size_t count = pieces->list.count;
    unsigned groups = (unsigned)app->bands.count;
    if (lod) {
        lod_state_at(lod, column->arg, &matched);
        subtract_large(app, frame->blocks, each, &matched);
    }
    for (size_t i = 0; i < count; i++) {
        struct piece *piece = &pieces->list.at[i];
        unsigned group = piece->group;
        if (piece->block != TIMELINE_NONE) {
            piece->group = (uint8_t)(group + (app_is_lit(app, piece->block) ? groups : 0));
        } else if (group < groups && matched.group[group] > 0) {
            double rows = (double)matched.group[group] / each + 0.5;
            struct piece part = *piece;
            part.block = number_of(group, groups);
            part.group = (uint8_t)(group + groups);
            part.top = rows < 1                        ? part.bottom - 1
                       : rows < part.bottom - part.top ? part.bottom - (int)rows
                                                       : part.top;
            matched.group[group] = 0;
            if (!array_push(&pieces->list, part))
                return false;
        }
    }
    return true;
}

void plot_matches_line(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct lod *lod = lod_of(app, frame);
    struct plot_cache *cache = &app->find.columns;
    if (!lod)
        return;
    struct plot_source source = {ruler_of(lod, app->mode), NULL, NULL};
    uint32_t serial = app->find.serial + app->hover.serial;
    if (app->find.columns_serial != serial)
        plot_cache_drop(cache);
    app->find.columns_serial = serial;
    if (!plot_cache_read(cache, &source, frame->view, frame->rect->w)) {
        list->failed = true;
        return;
    }
    struct plot_frame of_matches = *frame;
    of_matches.columns = cache->first.at;
    plot_line(app, list, &of_matches, LEVEL_ALLOCATED, 0, app_theme(app)->accent);
}
