/* plot_cache.c: see plot_cache.h. */
#include "plot_cache.h"

#include "align.h"

void plot_cache_fini(struct plot_cache *cache) {
    array_fini(&cache->edges);
    array_fini(&cache->mapped);
    array_fini(&cache->first);
    array_fini(&cache->second);
    memset(cache, 0, sizeof *cache);
}

void plot_cache_drop(struct plot_cache *cache) {
    cache->grid.width = 0;
    cache->serial++;
}

static bool take_memory(struct plot_cache *cache, bool two, int width) {
    size_t columns = (size_t)width;
    return array_reserve(&cache->edges, columns + 1) && array_reserve(&cache->first, columns) &&
           (!two ||
            (array_reserve(&cache->mapped, columns + 1) && array_reserve(&cache->second, columns)));
}

/* The columns from .. end - 1, and the edges around them. */
static void read_columns(struct plot_cache *cache, const struct plot_source *source, int from,
                         int end) {
    int count = end - from;
    if (count <= 0)
        return;
    uint32_t *edges = cache->edges.at + from;
    column_edges(&source->ruler, &cache->grid, from, count, edges);
    column_read_all(source->ruler.lod, edges, count, cache->first.at + from);
    if (!source->second)
        return;
    uint32_t *mapped = cache->mapped.at + from;
    for (int i = 0; i <= count; i++)
        mapped[i] = align_map(source->align, edges[i]);
    column_read_all(source->second, mapped, count, cache->second.at + from);
}

/* Moves what is there by `by` columns to the left (< 0: to the right). */
static void shift(struct plot_cache *cache, bool two, int by) {
    size_t kept = (size_t)(cache->grid.width - (by < 0 ? -by : by));
    size_t from = by > 0 ? (size_t)by : 0, to = by < 0 ? (size_t)-by : 0;
    memmove(cache->edges.at + to, cache->edges.at + from, (kept + 1) * sizeof *cache->edges.at);
    memmove(cache->first.at + to, cache->first.at + from, kept * sizeof *cache->first.at);
    if (!two)
        return;
    memmove(cache->mapped.at + to, cache->mapped.at + from, (kept + 1) * sizeof *cache->mapped.at);
    memmove(cache->second.at + to, cache->second.at + from, kept * sizeof *cache->second.at);
}

bool plot_cache_read(struct plot_cache *cache, const struct plot_source *source,
                     const struct view *view, int width) {
    struct column_grid before = cache->grid, grid = before;
    bool two = source->second != NULL;
    if (!take_memory(cache, two, width)) {
        plot_cache_drop(cache);
        return false;
    }
    bool same = column_grid_move(&grid, &source->ruler, view, width);
    int64_t by = grid.first - before.first;
    cache->grid = grid;
    if (!same) {
        cache->serial++;
        read_columns(cache, source, 0, width);
    } else if (by >= width || by <= -width) {
        read_columns(cache, source, 0, width);
    } else if (by != 0) {
        shift(cache, two, (int)by);
        read_columns(cache, source, by > 0 ? width - (int)by : 0, by > 0 ? width : (int)-by);
    }
    return true;
}
