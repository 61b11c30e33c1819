/* block_text.c: see block_text.h. */
#include "block_text.h"

#include <inttypes.h>

#include "format.h"
#include "frames.h"
#include "report.h"
#include "text.h"
#include "timeline.h"

void block_text_names(const struct timeline *tl, const struct timeline_block *b, struct text *out) {
    const uint32_t texts[] = {b->op, b->owner, b->name};
    bool has_text = false;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        if (!texts[k])
            continue;
        text_add(out, "  ");
        format_safe(out, timeline_text(tl, texts[k]));
        has_text = true;
    }
    const struct timeline_frame *f = frames_best(tl, b->stack);
    if (!has_text && !f && (tl->has & TIMELINE_HAS_OWNER))
        text_add(out, "  outside any op");
    if (has_text || !f)
        return;
    struct text frame = {0};
    frames_add(tl, f, &frame);
    text_add(out, "  ");
    format_safe(out, text_get(&frame));
    out->failed |= frame.failed;
    text_fini(&frame);
}

void block_text_until(const struct timeline *tl, const struct timeline_block *b, struct text *out) {
    if (b->free_event == TIMELINE_NONE && b->complete_event == TIMELINE_NONE) {
        text_add(out, "to the end");
        return;
    }
    uint32_t event = b->free_event != TIMELINE_NONE ? b->free_event : b->complete_event;
    text_format(out, "until event %" PRIu32 ", ", event);
    report_place(tl, b->device, event, out);
}
