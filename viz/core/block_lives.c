/* block_lives.c: see block_lives.h. */
#include "block_lives.h"

#include "ruler.h"
#include "sort.h"
#include "timeline.h"
#include "track.h"

static bool add(struct block_lives *l, const struct track *track, uint32_t block) {
    const struct timeline_block *b = &track->tl->blocks.at[block];
    struct block_life row = {.bytes = b->block_bytes, .block = block, .end = track->lod.moments};
    row.first = b->alloc_event == TIMELINE_NONE ? 0 : b->alloc_event + 1;
    if (b->free_event < track->lod.moments - 1)
        row.end = b->free_event + 1;
    l->bytes += row.bytes;
    return array_push(&l->rows, row);
}

static bool add_all(struct block_lives *l, const struct track *track, uint32_t first, uint32_t last,
                    struct live_set *set) {
    const struct timeline *tl = track->tl;
    if (!live_at(&track->live, first, set))
        return false;
    for (size_t i = 0; i < set->ids.count; i++)
        if (!add(l, track, set->ids.at[i]))
            return false;
    for (uint32_t i = first; i < last; i++) {
        const struct timeline_event *e = &tl->events.at[i];
        if (e->kind == EVENT_ALLOC && e->device == track->device && e->ref < tl->blocks.count &&
            !add(l, track, e->ref))
            return false;
    }
    return true;
}

bool block_lives_read(struct block_lives *l, const struct track *track, uint32_t first,
                      uint32_t last) {
    struct live_set set = {0};
    array_clear(&l->rows);
    l->bytes = 0;
    bool read = add_all(l, track, first, last, &set);
    if (!read)
        array_clear(&l->rows);
    array_fini(&set.ids);
    return read;
}

void block_lives_fini(struct block_lives *l) {
    array_fini(&l->rows);
}

double block_lives_length(const struct ruler *ruler, const struct block_life *row) {
    double end = ruler_position(ruler, row->end < ruler->lod->moments ? row->end : row->end - 1);
    return end - ruler_position(ruler, row->first);
}

struct order {
    const struct ruler *ruler;
    enum block_lives_order by;
    bool falling;
};

static double value_of(const struct order *order, const struct block_life *row) {
    switch (order->by) {
    case LIVES_BY_SIZE:
        return (double)row->bytes;
    case LIVES_BY_LENGTH:
        return block_lives_length(order->ruler, row);
    case LIVES_BY_START:
        return row->first;
    }
    return 0;
}

static int comes_first(const void *x, const void *y, const void *user) {
    const struct block_life *a = x, *b = y;
    const struct order *order = user;
    double p = value_of(order, a), q = value_of(order, b);
    if (p < q || p > q)
        return (p < q) == order->falling ? 1 : -1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

void block_lives_sort(struct block_lives *l, const struct ruler *ruler, enum block_lives_order by,
                      bool falling) {
    const struct order order = {ruler, by, falling};
    sort_items(l->rows.at, l->rows.count, sizeof *l->rows.at, comes_first, &order);
}
