/* counters.c: see counters.h. */
#include "counters.h"

#include <string.h>

/* A block that was never seen allocated by an event lives from the start. */
void counters_start(const struct timeline *tl, uint8_t device, struct counters *c) {
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < tl->blocks.count; i++) {
        const struct timeline_block *b = &tl->blocks.at[i];
        if (b->alloc_event != TIMELINE_NONE || b->device != device)
            continue;
        if (!b->pending_at_start)
            c->allocated += b->block_bytes;
        c->active += b->block_bytes;
        c->requested += b->requested_bytes;
        c->by_category[b->category] += b->block_bytes;
        c->blocks++;
    }
    for (size_t i = 0; i < tl->segments.count; i++) {
        const struct timeline_segment *s = &tl->segments.at[i];
        if (s->alloc_event != TIMELINE_NONE || s->device != device)
            continue;
        c->reserved += s->bytes;
        c->segments++;
    }
}

void counters_apply(const struct timeline *tl, uint8_t device, uint32_t index, struct counters *c) {
    const struct timeline_event *e = &tl->events.at[index];
    if (e->device != device)
        return;
    const struct timeline_block *b = NULL;
    if (e->kind <= EVENT_FREE_COMPLETED)
        b = &tl->blocks.at[e->ref];
    switch ((enum event_kind)e->kind) {
    case EVENT_ALLOC:
        c->allocated += b->block_bytes;
        c->active += b->block_bytes;
        c->requested += b->requested_bytes;
        c->by_category[b->category] += b->block_bytes;
        c->blocks++;
        break;
    case EVENT_FREE_REQUESTED:
        c->allocated -= b->block_bytes;
        break;
    case EVENT_FREE_COMPLETED:
        c->active -= b->block_bytes;
        c->requested -= b->requested_bytes;
        c->by_category[b->category] -= b->block_bytes;
        c->blocks--;
        break;
    case EVENT_SEGMENT_ALLOC:
        c->segments++;
        c->reserved += e->bytes;
        break;
    case EVENT_SEGMENT_MAP:
        c->reserved += e->bytes;
        break;
    case EVENT_SEGMENT_FREE:
        c->segments--;
        c->reserved -= e->bytes;
        break;
    case EVENT_SEGMENT_UNMAP:
        c->reserved -= e->bytes;
        break;
    case EVENT_OOM:
    case EVENT_STREAM_USE:
    case EVENT_EMPTY_CACHE:
    case EVENT_PHASE_BEGIN:
    case EVENT_PHASE_END:
    case EVENT_SNAPSHOT:
    case EVENT_OTHER:
    case EVENT_KIND_COUNT:
        break;
    }
}
