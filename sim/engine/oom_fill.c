/* oom_fill.c: see oom_fill.h. */
#include "oom_fill.h"

#include "alloc.h"
#include "timeline.h"

void oom_fill(struct timeline *tl, const struct alloc *al, uint64_t requested_bytes,
              unsigned device) {
    const struct alloc_oom *figures = alloc_last_oom(al);
    if (tl->ooms.count == 0 || !figures)
        return;
    struct timeline_oom *oom = array_last(&tl->ooms);
    char message[ALLOC_OOM_MESSAGE_BYTES];
    alloc_write_oom(al, device, message, sizeof message);
    oom->requested_bytes = requested_bytes;
    oom->rounded_bytes = figures->rounded_bytes;
    oom->segment_bytes = figures->segment_bytes;
    oom->device_free_bytes = figures->device_free_bytes;
    oom->allocated_bytes = figures->allocated_bytes;
    oom->reserved_bytes = figures->reserved_bytes;
    oom->message = timeline_string(tl, message);
}
