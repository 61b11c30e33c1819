/* room_report.c: see room_report.h. */
#include "room_report.h"

#include <string.h>

#include "timeline.h"

bool room_report_init(struct room_report *report, const struct timeline *tl,
                      const struct room_report_options *options, struct error *err) {
    memset(report, 0, sizeof *report);
    report->tl = tl;
    report->options = *options;
    if (!fragmentation_find(tl, options->device, options->event, &report->fragmentation, err) ||
        !pinning_find(tl, options->device, options->event, options->sizes.large_segment_bytes,
                      &report->pinning, err))
        return false;
    struct room_options room = {.sizes = options->sizes,
                                .stream = options->stream,
                                .has_device_free = options->has_capacity};
    uint64_t reserved = report->fragmentation.all.reserved_bytes;
    if (options->capacity_bytes > reserved)
        room.device_free_bytes = options->capacity_bytes - reserved;
    if (room_find(tl, &report->pinning, options->need_bytes, &room, &report->room, err))
        return true;
    pinning_fini(&report->pinning);
    return false;
}

void room_report_fini(struct room_report *report) {
    pinning_fini(&report->pinning);
    room_fini(&report->room);
}

bool room_report_is_oom(const struct room_report *report) {
    uint32_t event = report->options.event;
    return event < report->tl->events.count && report->tl->events.at[event].kind == EVENT_OOM;
}
