/* plot.c: see plot.h. */
#include "plot.h"

#include "app_state.h"
#include "axis.h"
#include "plot_matches.h"
#include "timeline.h"

int plot_y(const struct plot_frame *frame, double bytes) {
    const struct rect *r = frame->rect;
    return r->y + r->h - view_height_of(frame->view, bytes, r->h);
}

enum { BANDS_MAX = LOD_GROUPS + 1 }; /* and what is reserved and not in use */

static struct band_style style_of(const struct app *app, const struct plot_frame *frame, int band) {
    const struct theme *theme = app_theme(app);
    if (band == app->bands.count)
        return (struct band_style){theme->plot, PATTERN_HATCH, theme->hatch};
    struct band_style style = app_band_style(app, band);
    if (app->isolated >= 0 && app->isolated != band) { /* out of focus */
        style.pattern = PATTERN_NONE;
        style.color = theme->line;
    } else if (plot_is_dim(app, frame)) {
        style = theme_dim(theme, style);
    }
    return style;
}

/* Edges are sums in bytes turned into pixels one by one, so rounding never adds up. */
static void fill_edges(const struct plot_frame *frame, const struct column *column, int count,
                       int32_t *edges) {
    double sum = 0;
    edges[0] = plot_y(frame, 0);
    for (int band = 0; band < count; band++) {
        sum += (double)column->group[band];
        if (band == CATEGORY_OUTSIDE)
            sum += (double)frame->track->context_bytes;
        edges[band + 1] = plot_y(frame, sum);
    }
    double reserved = (double)column->reserved + (double)frame->track->context_bytes;
    int top = frame->track->reserved_known ? plot_y(frame, reserved) : edges[count];
    edges[count + 1] = top < edges[count] ? top : edges[count];
}

void plot_bands(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    struct band_style styles[BANDS_MAX];
    int count = app->bands.count;
    for (int i = 0; i <= count; i++)
        styles[i] = style_of(app, frame, i);
    const struct rect *r = frame->rect;
    uint32_t separator = (app_theme(app)->separator & 0xffffff) | 0xa0000000;
    int32_t *edges =
        draw_bands(list, r->x, r->y, r->w, r->h, count + 1, styles, separator, frame->phase);
    for (int i = 0; edges && i < r->w; i++)
        fill_edges(frame, &frame->columns[i], count, edges + (size_t)i * ((size_t)count + 2));
}

/* Blocks of bands out of focus are not told apart. */
static bool is_shown(const struct app *app, const struct piece *piece) {
    return piece->block != TIMELINE_NONE &&
           (app->isolated < 0 || app->isolated == piece->group % app->bands.count);
}

void plot_blocks(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    struct band_style styles[2 * LOD_GROUPS]; /* the latter: of what is looked for */
    int count = app->bands.count;
    for (int i = 0; i < count; i++) {
        styles[i] = style_of(app, frame, i);
        styles[count + i] = app_band_style(app, i);
    }
    bool dim = plot_is_dim(app, frame);
    const struct rect *r = frame->rect;
    struct pieces *pieces = &app->pieces;
    uint32_t separator = (app_theme(app)->separator & 0xffffff) | 0xa0000000;
    if (!draw_blocks(list, r->x, r->y, r->w, r->h, dim ? 2 * count : count, styles, separator,
                     frame->phase))
        return;
    for (int i = 0; i < r->w && !list->failed; i++) {
        if (!pieces_read(frame->blocks, frame, &frame->columns[i], pieces) ||
            (dim && !plot_matches_mark(app, frame, &frame->columns[i], pieces))) {
            list->failed = true;
            return;
        }
        size_t kept = 0;
        for (size_t k = 0; k < pieces->list.count; k++)
            if (is_shown(app, &pieces->list.at[k]))
                pieces->list.at[kept++] = pieces->list.at[k];
        draw_blocks_column(list, i, pieces->list.at, kept);
    }
}

/* The bytes below a group's band. */
static double below_group(const struct plot_frame *frame, const struct column *column, int group) {
    double sum = (double)frame->track->context_bytes;
    for (int i = 0; i < group; i++)
        sum += (double)column->group[i];
    return sum;
}

void plot_before(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct before *before = &frame->track->before;
    const struct rect *r = frame->rect;
    struct band_style style = theme_before();
    for (int g = 0; g < app->bands.count; g++) {
        if (before->groups[g].bytes == 0 || (app->isolated >= 0 && app->isolated != g))
            continue;
        int32_t *edges = draw_bands(list, r->x, r->y, r->w, r->h, 1, &style, 0, frame->phase);
        for (int i = 0; edges && i < r->w; i++) {
            const struct column *column = &frame->columns[i];
            uint64_t left = before_left(before, g, column->arg);
            double bottom = below_group(frame, column, g);
            left = left < column->group[g] ? left : column->group[g];
            *edges++ = plot_y(frame, bottom);
            *edges++ = plot_y(frame, bottom + (double)left);
        }
    }
}

/* How far the total goes down inside each column. */
static void draw_minimum(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    uint32_t color = (app_theme(app)->ground & 0xffffff) | 0xb0000000;
    int32_t *y = draw_steps(list, r->x, r->y, r->w, r->h, app_px(app, 1), false, color);
    for (int i = 0; y && i < r->w; i++)
        y[i] = plot_y(frame, (double)frame->columns[i].min + (double)frame->track->context_bytes);
}

static void draw_grid(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    struct axis axis = plot_byte_axis(app, frame);
    for (int i = 0; i < axis.count; i++)
        draw_rect(list, r->x, plot_y(frame, axis.first + i * axis.step), r->w, 1,
                  app_theme(app)->grid);
}

struct axis plot_byte_axis(const struct app *app, const struct plot_frame *frame) {
    int most = frame->rect->h / app_px(app, 44);
    return axis_ticks(AXIS_BYTES, frame->view->y0, frame->view->y1, most > 1 ? most : 2);
}

void plot_ground(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    draw_clip(list, r->x, r->y, r->w, r->h);
    draw_rect(list, r->x, r->y, r->w, r->h, app_theme(app)->plot);
    draw_grid(app, list, frame);
    plot_bands(app, list, frame);
    if (frame->blocks)
        plot_blocks(app, list, frame);
    else
        plot_matches(app, list, frame);
    plot_before(app, list, frame);
    draw_minimum(app, list, frame);
    plot_reserved(app, list, frame);
    draw_unclip(list);
}

void plot_reserved(struct app *app, struct draw_list *list, const struct plot_frame *frame) {
    const struct rect *r = frame->rect;
    if (!frame->track->reserved_known)
        return;
    int32_t *y =
        draw_steps(list, r->x, r->y, r->w, r->h, app_px(app, 1), false, app_theme(app)->reserved);
    for (int i = 0; y && i < r->w; i++)
        y[i] =
            plot_y(frame, (double)frame->columns[i].reserved + (double)frame->track->context_bytes);
}

static double height_of(const struct column *column, enum level level) {
    return (double)(level == LEVEL_ALLOCATED ? column->max : column->reserved);
}

void plot_line(struct app *app, struct draw_list *list, const struct plot_frame *frame,
               enum level level, uint64_t context, uint32_t color) {
    const struct rect *r = frame->rect;
    if (level == LEVEL_DEVICE)
        context = frame->track->context_bytes;
    const uint32_t colors[2] = {app_theme(app)->plot, color};
    for (int pass = 0; pass < 2; pass++) { /* an outline of the ground first: visible on any band */
        int thickness = app_px(app, pass == 0 ? 4 : 2);
        int32_t *y = draw_steps(list, r->x, r->y, r->w, r->h, thickness, false, colors[pass]);
        for (int i = 0; y && i < r->w; i++)
            y[i] = plot_y(frame, height_of(&frame->columns[i], level) + (double)context) -
                   thickness / 2;
    }
}
