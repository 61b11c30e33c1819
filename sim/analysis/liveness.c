/* liveness.c: see liveness.h. */
#include "liveness.h"

#include "timeline.h"

/* Has the change recorded at event `at` happened after `event`? NONE as `at`: never happened. */
static bool has_happened(uint32_t at, uint32_t event) {
    return at != TIMELINE_NONE && event != TIMELINE_NONE && at <= event;
}

bool block_is_live(const struct timeline_block *block, uint32_t event) {
    if (block->alloc_event != TIMELINE_NONE && !has_happened(block->alloc_event, event))
        return false;
    return !has_happened(block->complete_event, event);
}

bool block_is_pending(const struct timeline_block *block, uint32_t event) {
    return block_is_live(block, event) &&
           (block->pending_at_start || has_happened(block->free_event, event));
}

bool segment_is_live(const struct timeline_segment *segment, uint32_t event) {
    if (segment->alloc_event != TIMELINE_NONE && !has_happened(segment->alloc_event, event))
        return false;
    return !has_happened(segment->free_event, event);
}
