/* moment.c: see moment.h. */
#include "moment.h"

#include <string.h>

#include "cli.h"
#include "framework.h"
#include "ooms.h"
#include "peak.h"
#include "place.h"
#include "timeline.h"

bool moment_is_asked(const struct cli *cli) {
    return cli->at || cli->need_bytes > 0;
}

static bool is(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

bool moment_find(const struct cli *cli, const struct timeline *tl, uint8_t device, uint32_t *event,
                 const char **where, struct error *err) {
    struct ooms ooms;
    struct peaks peaks;
    ooms_find(tl, device, &ooms);
    peak_find(tl, device, &peaks);
    *where = NULL;
    if (is(cli->at, "oom") && !ooms.last)
        return error_set(err, ERROR_USAGE, "--at oom: no request failed on device %u", device);
    if (is(cli->at, "oom") || (!cli->at && ooms.last)) {
        *event = ooms.last->event;
        *where = "out of memory";
    } else if (!cli->at || is(cli->at, "peak")) {
        *event = peaks.allocated.event;
        *where = "the peak of allocated";
    } else if (is(cli->at, "reserved")) {
        *event = peaks.reserved.event;
        *where = "the peak of reserved";
    } else if (is(cli->at, "start")) {
        *event = TIMELINE_NONE;
    } else if (is(cli->at, "end")) {
        *event = tl->events.count ? (uint32_t)tl->events.count - 1 : TIMELINE_NONE;
        *where = "the end";
    } else {
        uint32_t moment;
        if (!place_find(tl, NULL, device, cli->at, &moment, err))
            return error_wrap(err, "--at %s", cli->at);
        *event = moment > 0 ? moment - 1 : TIMELINE_NONE;
    }
    return true;
}

/* --- what the allocator would do --- */

static struct caching_sizes sizes_of(const struct timeline *tl,
                                     const struct alloc_settings *settings) {
    struct caching_sizes sizes = caching_sizes_default();
    struct alloc_settings parsed;
    const char *name = tl->framework ? timeline_text(tl, tl->framework) : NULL;
    const struct framework *framework = name ? framework_find(name, NULL) : NULL;
    struct error ignored = {0}; /* a trace's settings may be beyond what is known: the defaults */
    if (!settings &&
        alloc_settings_parse(timeline_text(tl, tl->alloc_settings),
                             framework ? framework : framework_row(0), &parsed, &ignored))
        settings = &parsed;
    if (!settings)
        return sizes;
    memcpy(sizes.divisions, settings->divisions, sizeof sizes.divisions);
    sizes.large_segment_bytes = settings->large_segment_bytes;
    sizes.max_split_bytes = settings->max_split_bytes;
    sizes.max_non_split_rounding_bytes = settings->max_non_split_rounding_bytes;
    sizes.expandable = settings->expandable_segments;
    return sizes;
}

static const struct timeline_oom *oom_at(const struct timeline *tl, uint32_t event) {
    bool is_oom = event < tl->events.count && tl->events.at[event].kind == EVENT_OOM;
    return is_oom ? &tl->ooms.at[tl->events.at[event].ref] : NULL;
}

/* What the process could get of the device: the preset, else what an out-of-memory tells. */
static void find_capacity(const struct timeline *tl, const struct timeline_oom *oom,
                          struct room_report_options *o) {
    if ((tl->has & TIMELINE_HAS_DEVICE) && o->device < tl->devices.count) {
        const struct timeline_device *d = &tl->devices.at[o->device];
        o->has_capacity = d->total_bytes > d->context_bytes;
        o->capacity_bytes = d->total_bytes - d->context_bytes;
    } else if (oom && (tl->has & TIMELINE_HAS_SEGMENTS)) {
        o->has_capacity = true;
        o->capacity_bytes = oom->reserved_bytes + oom->device_free_bytes;
    }
}

bool moment_report_at(const struct timeline *tl, uint8_t device, uint32_t event, const char *where,
                      uint64_t need_bytes, const struct alloc_settings *settings,
                      struct room_report *out, struct error *err) {
    const struct timeline_oom *oom = oom_at(tl, event);
    struct room_report_options o = {.device = device,
                                    .event = event,
                                    .where = where,
                                    .need_bytes = need_bytes,
                                    .sizes = sizes_of(tl, settings)};
    if (oom) {
        o.stream = tl->events.at[event].stream;
        if (need_bytes == 0)
            o.need_bytes = oom->requested_bytes ? oom->requested_bytes : oom->rounded_bytes;
    }
    find_capacity(tl, oom, &o);
    if (!room_report_init(out, tl, &o, err))
        return false;
    const struct room_way *best = room_best(&out->room);
    if (!oom || need_bytes > 0 || !best || best->blocks.count > 0)
        return true;
    /* It was refused with memory left on the device: by a limit of the program's own. */
    room_report_fini(out);
    o.has_capacity = false;
    return room_report_init(out, tl, &o, err);
}

bool moment_report(const struct cli *cli, const struct timeline *tl, uint8_t device,
                   const struct alloc_settings *settings, struct room_report *out,
                   struct error *err) {
    uint32_t event = TIMELINE_NONE;
    const char *where = NULL;
    return moment_find(cli, tl, device, &event, &where, err) &&
           moment_report_at(tl, device, event, where, cli->need_bytes, settings, out, err);
}
