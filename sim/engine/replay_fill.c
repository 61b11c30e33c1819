/* replay_fill.c: the end of a what-if's fill: what it took and gave back again never was; the rest
 * is the start state of the new timeline. No event names any of it yet. */
#include <string.h>

#include "replay_core.h"

void answer_forget_block(struct replay *r, uint32_t block) {
    uint32_t origin = *array_at(&r->origins, block);
    if (origin != TIMELINE_NONE)
        r->blocks[origin] = TIMELINE_NONE;
    r->tl->blocks.at[block].block_bytes = 0; /* none that lives has 0 */
}

/* Every piece of memory becomes a segment, in place of those of the fill. */
static bool replace_segments(struct replay_device *d) {
    struct timeline *tl = d->replay->tl;
    size_t first = tl->segments.count, own = 0;
    struct spans_cursor cursor = {0}, again = {0};
    for (struct span *span; (span = spans_next(&d->mapped, &cursor)) != NULL;) {
        struct timeline_segment segment = tl->segments.at[span->value];
        segment.address = span->start;
        segment.bytes = span->end - span->start;
        span->value = timeline_add_segment(tl, &segment);
        if (span->value == TIMELINE_NONE)
            return false;
    }
    while (own < first && tl->segments.at[own].device != d->result.device)
        own++;
    size_t kept = tl->segments.count - first;
    if (kept > 0)
        memmove(tl->segments.at + own, tl->segments.at + first, kept * sizeof *tl->segments.at);
    tl->segments.count = own + kept;
    for (struct span *span; (span = spans_next(&d->mapped, &again)) != NULL;)
        span->value -= (uint32_t)(first - own);
    return true;
}

static void move_block(struct replay_device *d, uint32_t from, uint32_t to) {
    struct replay *r = d->replay;
    uint32_t origin = r->origins.at[from];
    r->tl->blocks.at[to] = r->tl->blocks.at[from];
    r->origins.at[to] = origin;
    if (origin != TIMELINE_NONE)
        r->blocks[origin] = to;
    struct span *at = spans_find(&d->pending, r->tl->blocks.at[to].address);
    if (at && at->value == from)
        at->value = to;
}

static void settle_blocks(struct replay_device *d) {
    struct replay *r = d->replay;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->tl->blocks.count; i++) {
        struct timeline_block *block = &r->tl->blocks.at[i];
        if (block->device == d->result.device) {
            if (block->block_bytes == 0)
                continue;
            const struct span *at = spans_find(&d->mapped, block->address);
            block->segment = at ? at->value : TIMELINE_NONE;
        }
        move_block(d, i, kept++);
    }
    r->tl->blocks.count = r->origins.count = kept;
}

void answer_end_fill(struct replay_device *d) {
    if (replace_segments(d))
        settle_blocks(d);
    else
        replay_fail_memory(d->replay);
}
