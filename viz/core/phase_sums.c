/* phase_sums.c: see phase_sums.h. */
#include "phase_sums.h"

#include "app_state.h"
#include "timeline.h"

static void add_event(const struct track *track, uint32_t event, struct phase_sums *sums) {
    const struct timeline_event *e = &track->tl->events.at[event];
    if (e->device != track->device || e->ref >= track->tl->blocks.count)
        return;
    uint64_t bytes = e->kind == EVENT_ALLOC || e->kind == EVENT_FREE_REQUESTED
                         ? track->tl->blocks.at[e->ref].block_bytes
                         : 0;
    if (e->kind == EVENT_ALLOC)
        sums->allocated += bytes;
    else
        sums->freed += bytes;
}

const struct phase_sums *phase_sums_of(struct app *app, uint32_t phase) {
    struct phase_sums *sums = &app->phase_sums;
    const struct track *track = &app->a;
    if (sums->known && sums->phase == phase)
        return sums;
    uint32_t last = track->lod.moments - 1, end = track_phase_end(track, phase);
    uint32_t begin = track->tl->phases.at[phase].begin_event;
    begin = begin < last ? begin + 1 : last;
    end = end < begin ? begin : end > last ? last : end;
    *sums = (struct phase_sums){.known = true, .phase = phase, .begin = begin, .end = end};
    struct lod_node node;
    lod_range(&track->lod, begin, end + 1, &node);
    sums->peak = node.max;
    for (uint32_t event = begin; event < end; event++)
        add_event(track, event, sums);
    return sums;
}
