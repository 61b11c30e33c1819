/* snapshot_phases.c: external annotations -> phases. They nest per thread but name no thread: an
 * END closes the most recent open START of the same device and name. */
#include "error.h"
#include "snapshot_build.h"

static bool begin_phase(struct build *b, struct build_device *d, struct timeline_event *event,
                        uint32_t name) {
    if (d->open_phases.count >= MAX_OPEN_PHASES) {
        build_warn(b, "more than %d annotations are open at once", MAX_OPEN_PHASES);
        return true;
    }
    size_t depth = d->open_phases.count;
    const struct timeline_phase phase = {.name = name,
                                         .begin_event = (uint32_t)b->tl->events.count,
                                         .end_event = TIMELINE_NONE,
                                         .parent = depth > 0 ? d->open_phases.at[depth - 1]
                                                             : TIMELINE_NONE,
                                         .depth = (uint16_t)depth,
                                         .device = (uint8_t)d->ordinal};
    event->kind = EVENT_PHASE_BEGIN;
    event->ref = timeline_add_phase(b->tl, &phase);
    uint32_t index;
    if (event->ref == TIMELINE_NONE || !array_push(&d->open_phases, event->ref))
        return build_no_memory(b);
    return build_push(b, event, &index);
}

static bool end_phase(struct build *b, struct build_device *d, struct timeline_event *event,
                      uint32_t name) {
    size_t i = d->open_phases.count;
    while (i > 0 && b->tl->phases.at[d->open_phases.at[i - 1]].name != name)
        i--;
    if (i == 0) {
        build_warn(b, "an annotation ends that did not begin: %s", timeline_text(b->tl, name));
        return true;
    }
    event->kind = EVENT_PHASE_END;
    event->ref = d->open_phases.at[i - 1];
    b->tl->phases.at[event->ref].end_event = (uint32_t)b->tl->events.count;
    for (; i < d->open_phases.count; i++)
        d->open_phases.at[i - 1] = d->open_phases.at[i];
    d->open_phases.count--;
    uint32_t index;
    return build_push(b, event, &index);
}

bool build_phase(struct build *b, const struct snapshot_annotation *a) {
    struct build_device *d;
    uint32_t name, ordinal = a->has & HAS_DEVICE ? a->device : 0;
    if (ordinal >= MAX_DEVICES || !(a->has & HAS_TIME) ||
        (a->stage != KEY_START && a->stage != KEY_END)) {
        build_warn(b, "an annotation without a usable stage, time or device");
        return true;
    }
    if (!build_device(b, ordinal, &d) || !build_string(b, a->name, &name))
        return false;
    struct timeline_event event = {.time_ns =
                                       a->time_us <= UINT64_MAX / 1000 ? a->time_us * 1000 : 0,
                                   .device = (uint8_t)ordinal};
    return a->stage == KEY_START ? begin_phase(b, d, &event, name) : end_phase(b, d, &event, name);
}
