/* fragmentation.c: see fragmentation.h. */
#include "fragmentation.h"

#include <string.h>

#include "liveness.h"
#include "placement.h"
#include "timeline.h"

static void add_gap(const struct placement_gap *gap, const struct placement_range *range,
                    struct fragmentation_pool *p) {
    p->free_bytes += gap->bytes;
    p->free_blocks++;
    if (gap->bytes > p->largest_free_bytes)
        p->largest_free_bytes = gap->bytes;
    if (!range->is_expandable && gap->bytes < range->bytes) {
        p->inactive_split_bytes += gap->bytes;
        p->inactive_split_blocks++;
    }
}

static void add_block(const struct timeline_block *b, bool is_pending,
                      struct fragmentation_pool *p) {
    p->active_bytes += b->block_bytes;
    if (!is_pending)
        p->allocated_bytes += b->block_bytes;
}

static void sum_up(const struct timeline *tl, uint32_t event, const struct placement *placement,
                   struct fragmentation *out) {
    for (size_t i = 0; i < placement->ranges.count; i++) {
        const struct placement_range *r = &placement->ranges.at[i];
        out->all.reserved_bytes += r->bytes;
        (r->is_small ? &out->small : &out->large)->reserved_bytes += r->bytes;
    }
    for (size_t i = 0; i < placement->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[placement->blocks.at[i]];
        bool is_pending = block_is_pending(b, event);
        add_block(b, is_pending, &out->all);
        add_block(b, is_pending, b->small_pool ? &out->small : &out->large);
    }
    for (size_t i = 0; i < placement->gaps.count; i++) {
        const struct placement_gap *g = &placement->gaps.at[i];
        const struct placement_range *r = &placement->ranges.at[g->range];
        add_gap(g, r, &out->all);
        add_gap(g, r, r->is_small ? &out->small : &out->large);
    }
}

bool fragmentation_find(const struct timeline *tl, uint8_t device, uint32_t event,
                        struct fragmentation *out, struct error *err) {
    memset(out, 0, sizeof *out);
    if (!placement_is_known(tl))
        return true;
    struct placement placement;
    if (!placement_find(tl, device, event, &placement, err))
        return false;
    out->is_known = true;
    sum_up(tl, event, &placement, out);
    placement_fini(&placement);
    return true;
}
