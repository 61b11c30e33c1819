/* column.c: see column.h. */
#include "column.h"

#include "view.h"

enum { WIDE = 8 * LOD_BUCKET };

static bool is_near(double a, double b, double most) {
    return a - b < most && b - a < most;
}

/* To the nearest column, but at the ends of the trace outwards. */
static int64_t first_column(const struct column_grid *grid, const struct ruler *ruler,
                            const struct view *view) {
    struct view_limits limits;
    ruler_limits(ruler, &limits);
    double column = (view->x0 - grid->origin) / grid->scale;
    double slack = 0.001, up = 0.5;
    if (view->x0 <= limits.first + grid->scale * slack)
        up = slack;
    else if (view->x1 >= limits.last - grid->scale * slack)
        up = 1 - slack;
    int64_t whole = (int64_t)(column + up);
    return (double)whole > column + up ? whole - 1 : whole;
}

bool column_grid_move(struct column_grid *grid, const struct ruler *ruler, const struct view *view,
                      int width) {
    double scale = (view->x1 - view->x0) / width;
    if (grid->width == width && grid->mode == ruler->mode &&
        is_near(scale * width, grid->scale * width, grid->scale / 64) &&
        is_near(view->x0, grid->origin, grid->scale * (1 << 30))) {
        grid->first = first_column(grid, ruler, view);
        return true;
    }
    *grid = (struct column_grid){view->x0, scale, 0, width, ruler->mode};
    return false;
}

void column_grid_view(const struct column_grid *grid, struct view *view) {
    view->x0 = grid->origin + grid->scale * (double)grid->first;
    view->x1 = grid->origin + grid->scale * (double)(grid->first + grid->width);
}

static uint32_t edge(const struct ruler *ruler, const struct column_grid *grid, int64_t column) {
    return ruler_lower(ruler, grid->origin + grid->scale * (double)column);
}

void column_edges(const struct ruler *ruler, const struct column_grid *grid, int from, int count,
                  uint32_t *edges) {
    int64_t column = grid->first + from;
    uint32_t before = edge(ruler, grid, column - 1), here = edge(ruler, grid, column);
    for (int i = 0; i <= count; i++) {
        uint32_t after = edge(ruler, grid, column + i + 1);
        bool wide = here - before >= WIDE && after - here >= WIDE;
        edges[i] = wide ? here / LOD_BUCKET * LOD_BUCKET : here;
        before = here;
        here = after;
    }
}

void column_read(const struct lod *lod, uint32_t first, uint32_t end, struct column *out) {
    if (end > lod->moments)
        end = lod->moments;
    if (first >= end) { /* the state before, which lasts */
        first = first > 0 ? first - 1 : 0;
        first = first < lod->moments ? first : lod->moments - 1;
        end = first + 1;
    }
    struct lod_node node;
    lod_range(lod, first, end, &node);
    lod_groups_at_max(lod, &node, out->group);
    out->max = node.max;
    out->min = node.min;
    out->reserved = node.reserved_max;
    out->arg = node.arg;
}

void column_read_all(const struct lod *lod, const uint32_t *edges, int width, struct column *out) {
    for (int i = 0; i < width; i++) {
        if (i > 0 && edges[i - 1] == edges[i] && edges[i] == edges[i + 1])
            out[i] = out[i - 1]; /* both repeat the same state */
        else
            column_read(lod, edges[i], edges[i + 1], &out[i]);
    }
}
