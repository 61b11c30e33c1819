/* phases.c: see phases.h. */
#include "phases.h"

#include "text.h"
#include "timeline.h"

enum { PATH_DEPTH_LIMIT = 64 }; /* parents come from files: a loop must end */

static bool is_open_after(const struct timeline_phase *p, uint32_t event) {
    return p->begin_event <= event && (p->end_event == TIMELINE_NONE || p->end_event > event);
}

uint32_t phase_at(const struct timeline *tl, uint8_t device, uint32_t event) {
    uint32_t best = TIMELINE_NONE;
    if (event == TIMELINE_NONE)
        return best;
    for (uint32_t i = 0; i < tl->phases.count; i++) {
        const struct timeline_phase *p = &tl->phases.at[i];
        if (p->device != device || !is_open_after(p, event))
            continue;
        if (best == TIMELINE_NONE || p->depth >= tl->phases.at[best].depth)
            best = i;
    }
    return best;
}

static void add_name(const char *name, struct text *out) {
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        text_add_bytes(out, c < 32 || c == 127 ? "?" : name, 1);
    }
}

void phase_path(const struct timeline *tl, uint32_t phase, struct text *out) {
    uint32_t chain[PATH_DEPTH_LIMIT];
    size_t count = 0;
    for (; phase < tl->phases.count && count < PATH_DEPTH_LIMIT;
         phase = tl->phases.at[phase].parent)
        chain[count++] = phase;
    while (count > 0) {
        add_name(timeline_text(tl, tl->phases.at[chain[--count]].name), out);
        if (count > 0)
            text_add(out, "/");
    }
}
