/* before.c: see before.h. */
#include "before.h"

#include <stdlib.h>

#include "error.h"
#include "timeline.h"

static int by_event(const void *x, const void *y) {
    const struct before_end *a = x, *b = y;
    return (a->event > b->event) - (a->event < b->event);
}

/* `left` is the block's own size first. */
static bool add_block(struct before *before, const struct lod *lod, uint32_t block) {
    const struct timeline_block *b = &lod->tl->blocks.at[block];
    unsigned group = lod_group(lod, block);
    struct before_end end = {b->free_event, b->block_bytes};
    before->groups[group].bytes += b->block_bytes;
    before->bytes += b->block_bytes;
    return b->free_event == TIMELINE_NONE || array_push(&before->groups[group].ends, end);
}

bool before_regroup(struct before *before, const struct lod *lod) {
    before->bytes = 0;
    for (int g = 0; g < LOD_GROUPS; g++) {
        before->groups[g].bytes = 0;
        array_clear(&before->groups[g].ends);
    }
    for (size_t i = 0; i < before->blocks.count; i++)
        if (!add_block(before, lod, before->blocks.at[i])) {
            before_fini(before);
            return false;
        }
    for (int g = 0; g < LOD_GROUPS; g++) {
        uint64_t left = before->groups[g].bytes;
        struct before_end *ends = before->groups[g].ends.at;
        size_t count = before->groups[g].ends.count;
        if (count > 1)
            qsort(ends, count, sizeof *ends, by_event);
        for (size_t i = 0; i < count; i++)
            left = ends[i].left = left - ends[i].left;
    }
    return true;
}

bool before_build(struct before *before, const struct lod *lod, struct error *err) {
    memset(before, 0, sizeof *before);
    for (uint32_t i = 0; i < lod->tl->blocks.count; i++) {
        const struct timeline_block *b = &lod->tl->blocks.at[i];
        if (b->alloc_event == TIMELINE_NONE && b->device == lod->device && !b->pending_at_start &&
            !array_push(&before->blocks, i)) {
            before_fini(before);
            return error_host_memory(err);
        }
    }
    return before_regroup(before, lod) || error_host_memory(err);
}

void before_fini(struct before *before) {
    array_fini(&before->blocks);
    for (int g = 0; g < LOD_GROUPS; g++)
        array_fini(&before->groups[g].ends);
    memset(before, 0, sizeof *before);
}

uint64_t before_left(const struct before *before, int group, uint32_t moment) {
    const struct before_end *ends = before->groups[group].ends.at;
    size_t low = 0, high = before->groups[group].ends.count;
    while (low < high) { /* the first that is freed at `moment` or later */
        size_t middle = low + (high - low) / 2;
        if (ends[middle].event < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? ends[low - 1].left : before->groups[group].bytes;
}
