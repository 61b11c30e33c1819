/* recorded_place.c: see recorded_place.h. */
#include "recorded_place.h"

#include <stdio.h>

#include "compare.h"
#include "error.h"
#include "replay.h"
#include "source.h"

static const struct replay_device_result *find_device(const struct replay_result *result,
                                                      uint8_t device) {
    for (size_t i = 0; i < result->devices.count; i++)
        if (result->devices.at[i].device == device)
            return &result->devices.at[i];
    return NULL;
}

static bool has_equal_peaks(const struct replay_device_result *d) {
    return d->model.peak_allocated == d->recorded.peak_allocated &&
           d->model.peak_active == d->recorded.peak_active &&
           d->model.peak_reserved == d->recorded.peak_reserved;
}

static struct compare_place make_place(const struct replay_device_result *d) {
    struct compare_place place = {
        .is_done = true,
        .is_equal = d->differences == 0 && d->layout_equal && has_equal_peaks(d),
        .addresses = d->allocs,
        .addresses_equal = d->addr_ok,
        .segments = d->segments + d->releases,
        .segments_equal = d->segments_ok + d->releases_ok,
        .allocated = d->model.peak_allocated,
        .active = d->model.peak_active,
        .reserved = d->model.peak_reserved,
    };
    if (d->first.found) {
        snprintf(place.recorded, sizeof place.recorded, "%s", d->first.recorded);
        snprintf(place.model, sizeof place.model, "%s", d->first.model);
    }
    return place;
}

bool recorded_place_find(const struct source_result *simulated, struct comparison *comparison,
                         struct error *err) {
    if (!compare_wants_place(comparison))
        return true;
    const struct replay_config config = {
        .reproduce = true, .framework = simulated->framework, .settings = &simulated->settings};
    struct replay_result result;
    struct error failed = {0};
    if (!replay_run(comparison->real.tl, &config, &result, &failed)) {
        if (failed.code == ERROR_BAD_INPUT) /* the recording contradicts itself: nothing to add */
            return true;
        *err = failed;
        return false;
    }
    const struct replay_device_result *d = find_device(&result, comparison->real.device);
    if (d) {
        struct compare_place place = make_place(d);
        compare_place(comparison, &place);
    }
    replay_result_fini(&result);
    return true;
}
