/* track.c: see track.h. */
#include "track.h"

#include <stdlib.h>

#include "error.h"
#include "file.h"
#include "timeline.h"

static bool build_lanes(struct track *track) {
    const struct timeline *tl = track->tl;
    for (uint32_t i = 0; i < tl->phases.count; i++) {
        const struct timeline_phase *p = &tl->phases.at[i];
        bool shown = p->device == track->device && p->depth < TRACK_LANES &&
                     p->begin_event < tl->events.count;
        if (!shown)
            continue;
        /* a lane is searched by its beginnings: a phase out of order would hide others */
        uint32_t before = track->lanes[p->depth].count ? *array_last(&track->lanes[p->depth]) : i;
        if (tl->phases.at[before].begin_event <= p->begin_event &&
            !array_push(&track->lanes[p->depth], i))
            return false;
    }
    return true;
}

bool track_build(struct track *track, const struct timeline *tl, uint8_t device,
                 struct error *err) {
    memset(track, 0, sizeof *track);
    track->tl = tl;
    track->device = device;
    track->allocated_known = timeline_knows(tl, FIGURE_ALLOCATED);
    track->reserved_known = (tl->has & TIMELINE_HAS_SEGMENTS) != 0;
    if ((tl->has & TIMELINE_HAS_DEVICE) && device < tl->devices.count) {
        track->context_bytes = tl->devices.at[device].context_bytes;
        track->capacity_bytes = tl->devices.at[device].total_bytes;
    }
    if (!lod_build(&track->lod, tl, device, NULL, err))
        return false;
    if (live_build(&track->live, tl, device, err) && owners_init(&track->owners, tl, err) &&
        before_build(&track->before, &track->lod, err) &&
        peaks_find(&track->lod, &track->peaks, err)) {
        streams_init(&track->streams, &track->lod, &track->live);
        if (build_lanes(track))
            return true;
        error_host_memory(err);
    }
    track_fini(track);
    return false;
}

void track_fini(struct track *track) {
    lod_fini(&track->lod);
    live_fini(&track->live);
    streams_fini(&track->streams);
    before_fini(&track->before);
    owners_fini(&track->owners);
    for (int i = 0; i < TRACK_LANES; i++)
        array_fini(&track->lanes[i]);
}

const char *track_name(const struct track *track) {
    return file_base(timeline_text(track->tl, track->tl->title));
}

uint32_t track_peak(const struct track *track) {
    return track->lod.peak.arg;
}

uint64_t track_top(const struct track *track, bool with_capacity) {
    uint64_t top = track->lod.peak.max;
    if (track->reserved_known && track->lod.peak.reserved_max > top)
        top = track->lod.peak.reserved_max;
    if (top > UINT64_MAX - track->context_bytes)
        return top;
    top += track->context_bytes;
    return with_capacity && track->capacity_bytes > top ? track->capacity_bytes : top;
}

uint32_t track_phase_end(const struct track *track, uint32_t phase) {
    uint32_t end = track->tl->phases.at[phase].end_event;
    return end < track->lod.moments - 1 ? end + 1 : track->lod.moments;
}

/* How many phases of a lane have begun at a moment. */
static size_t count_begun(const struct track *track, int lane, uint32_t moment) {
    size_t low = 0, high = track->lanes[lane].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t phase = track->lanes[lane].at[middle];
        if (track->tl->phases.at[phase].begin_event < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t track_phase(const struct track *track, uint32_t moment) {
    uint32_t found = TIMELINE_NONE;
    for (int lane = 0; lane < TRACK_LANES; lane++) {
        size_t begun = count_begun(track, lane, moment);
        if (begun == 0)
            continue;
        uint32_t phase = track->lanes[lane].at[begun - 1];
        if (moment <= track_phase_end(track, phase))
            found = phase;
    }
    return found;
}

uint32_t track_next_phase(const struct track *track, uint32_t moment) {
    uint32_t best = track->lod.moments;
    for (int lane = 0; lane < TRACK_LANES; lane++) {
        size_t begun = count_begun(track, lane, moment);
        if (begun == track->lanes[lane].count)
            continue;
        uint32_t begin = track->tl->phases.at[track->lanes[lane].at[begun]].begin_event + 1;
        if (begin < best)
            best = begin;
    }
    return best < track->lod.moments ? best : moment;
}

uint32_t track_previous_phase(const struct track *track, uint32_t moment) {
    uint32_t best = 0;
    for (int lane = 0; lane < TRACK_LANES; lane++) {
        size_t begun = moment > 0 ? count_begun(track, lane, moment - 1) : 0;
        if (begun == 0)
            continue;
        uint32_t begin = track->tl->phases.at[track->lanes[lane].at[begun - 1]].begin_event + 1;
        if (begin > best)
            best = begin;
    }
    return best > 0 ? best : moment;
}
