/* ooms.c: see ooms.h. */
#include "ooms.h"

#include <string.h>

#include "timeline.h"

void ooms_find(const struct timeline *tl, uint8_t device, struct ooms *out) {
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < tl->ooms.count; i++) {
        const struct timeline_oom *oom = &tl->ooms.at[i];
        if (oom->event < tl->events.count && tl->events.at[oom->event].device != device)
            continue;
        out->count++;
        out->last = oom;
        if (!out->first)
            out->first = oom;
    }
    if (!out->last)
        return;
    for (size_t i = out->last->event; i < tl->events.count && !out->went_on; i++)
        out->went_on = tl->events.at[i].kind == EVENT_ALLOC && tl->events.at[i].device == device;
}
