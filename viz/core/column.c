/* column.c: see column.h. */
#include "column.h"

#include "ruler.h"
#include "view.h"

enum { WIDE = 8 * LOD_BUCKET };

static void round_edges(int width, uint32_t *edges) {
    uint32_t before = edges[0]; /* unrounded */
    for (int i = 1; i < width; i++) {
        uint32_t here = edges[i];
        if (here - before >= WIDE && edges[i + 1] - here >= WIDE)
            edges[i] = here / LOD_BUCKET * LOD_BUCKET;
        before = here;
    }
}

void column_edges(const struct ruler *ruler, const struct view *view, int width, uint32_t *edges) {
    for (int i = 0; i <= width; i++)
        edges[i] = ruler_lower(ruler, view_position(view, i, width));
    round_edges(width, edges);
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
