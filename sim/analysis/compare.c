/* compare.c: see compare.h. */
#include "compare.h"

#include <math.h>
#include <string.h>

#include "compare_window.h"
#include "error.h"
#include "peak.h"
#include "timeline.h"

/* Where the comparison of requests ends: with the last step, when it is complete and no failure
 * comes after it. */
static uint32_t compared_end(const struct timeline *tl, uint8_t device, const struct steps *steps) {
    uint32_t all = (uint32_t)tl->events.count;
    if (steps->rows.count == 0)
        return all;
    const struct step *last = array_last(&steps->rows);
    if (!last->is_complete)
        return all;
    for (size_t i = 0; i < tl->ooms.count; i++) {
        uint32_t event = tl->ooms.at[i].event;
        if (event < all && event > last->end_event && tl->events.at[event].device == device)
            return all;
    }
    return last->end_event + 1;
}

static double height(const struct alignment_side *side, size_t item) {
    return item < side->items.count ? (double)side->items.at[item].allocated : 0;
}

static double curve_distance(const struct alignment_side *simulated,
                             const struct alignment_side *real) {
    double between = 0, area = 0;
    size_t count =
        simulated->items.count > real->items.count ? simulated->items.count : real->items.count;
    for (size_t i = 0; i < count; i++) {
        between += fabs(height(simulated, i) - height(real, i));
        area += height(real, i);
    }
    return area > 0 ? between / area : between > 0 ? 1 : 0;
}

static bool both_know(const struct timeline *simulated, const struct timeline *real,
                      enum timeline_figure figure) {
    bool is_whole =
        figure == FIGURE_RESERVED || !((simulated->has | real->has) & TIMELINE_RELATIVE);
    return is_whole && timeline_knows(simulated, figure) && timeline_knows(real, figure);
}

static enum compare_level find_level(const struct timeline *simulated,
                                     const struct timeline *real) {
    if (timeline_knows(real, FIGURE_DEVICE_USE))
        return COMPARE_DEVICE;
    bool has_requests =
        !((simulated->has | real->has) & TIMELINE_SUMS_BLOCKS) &&
        (timeline_knows(real, FIGURE_ALLOCATED) || timeline_knows(real, FIGURE_REQUESTED));
    return has_requests ? COMPARE_REQUESTS : COMPARE_TOTALS;
}

static void compare_peaks(const struct timeline *simulated, uint8_t simulated_device,
                          const struct timeline *real, uint8_t real_device,
                          struct comparison *out) {
    struct peaks a, b;
    peak_find(simulated, simulated_device, &a);
    peak_find(real, real_device, &b);
    struct window_peaks in = {a.allocated.bytes, a.active.bytes, a.reserved.bytes};
    if (out->is_window)
        in = window_peaks(&out->simulated);
    out->allocated = (struct compare_value){b.allocated.bytes, in.allocated};
    out->active = (struct compare_value){b.active.bytes, in.active};
    out->reserved = (struct compare_value){b.reserved.bytes, in.reserved};
    out->own_allocated = out->allocated;
    out->own_active = out->active;
    out->own_reserved = out->reserved;
    out->has_allocated = both_know(simulated, real, FIGURE_ALLOCATED);
    out->has_active = both_know(simulated, real, FIGURE_ACTIVE);
    out->has_reserved = both_know(simulated, real, FIGURE_RESERVED);
    out->device = (struct compare_value){b.reserved.bytes, a.reserved.bytes + a.context_bytes};
}

static bool compare_steps(const struct steps *simulated, const struct steps *real,
                          struct comparison *out) {
    out->steps_simulated = (uint32_t)simulated->rows.count;
    out->steps_real = (uint32_t)real->rows.count;
    for (size_t i = 0; i < simulated->rows.count && i < real->rows.count; i++) {
        const struct step *a = &simulated->rows.at[i], *b = &real->rows.at[i];
        struct compare_step row = {
            .allocated_peak = {b->allocated_peak, a->allocated_peak},
            .reserved_peak = {b->reserved_peak, a->reserved_peak},
            .own_peak = {b->own_allocated_peak, a->own_allocated_peak},
        };
        if (!array_push(&out->steps, row))
            return false;
    }
    return true;
}

/* Of the simulated run, the part that a recording from mid-run shows. */
static bool narrow(struct comparison *out, const struct steps *simulated_steps,
                   const struct steps *real_steps, struct error *err) {
    struct alignment_side whole = out->simulated;
    if (!out->real.is_window || whole.is_window)
        return true;
    if (!window_find(&whole, simulated_steps, &out->real, real_steps, &out->window, err))
        return false;
    out->is_window = true;
    for (size_t i = 0; i < simulated_steps->rows.count; i++)
        if (simulated_steps->rows.at[i].begin_event <= out->window.begin)
            out->window_step = (uint32_t)i + 1;
    uint32_t real_begin = out->real.items.count > 0 ? out->real.items.at[0].event : 0;
    if (!alive_find(&whole, out->window.begin, &out->real, real_begin, &out->alive))
        return error_host_memory(err);
    bool ok = alignment_side_init(&out->simulated, whole.tl, whole.device, out->window.begin,
                                  out->window.end, err);
    alignment_side_fini(&whole);
    return ok;
}

static bool compare_requests(const struct timeline *simulated, uint8_t simulated_device,
                             const struct steps *simulated_steps, const struct timeline *real,
                             uint8_t real_device, const struct steps *real_steps,
                             struct comparison *out, struct error *err) {
    uint32_t simulated_end = compared_end(simulated, simulated_device, simulated_steps);
    uint32_t real_end = compared_end(real, real_device, real_steps);
    if (!alignment_side_init(&out->simulated, simulated, simulated_device, 0, simulated_end, err) ||
        !alignment_side_init(&out->real, real, real_device, 0, real_end, err) ||
        !narrow(out, simulated_steps, real_steps, err) ||
        !alignment_find(&out->simulated, &out->real, &out->alignment, err))
        return false;
    out->requests_simulated = out->simulated.requests;
    out->requests_real = out->real.requests;
    out->requests_equal = out->alignment.equal;
    out->curve_distance = curve_distance(&out->simulated, &out->real);
    return true;
}

bool compare_find(const struct timeline *simulated, uint8_t simulated_device,
                  const struct timeline *real, uint8_t real_device, struct comparison *out,
                  struct error *err) {
    memset(out, 0, sizeof *out);
    out->level = find_level(simulated, real);
    if (out->level != COMPARE_REQUESTS) {
        compare_peaks(simulated, simulated_device, real, real_device, out);
        return true;
    }
    struct steps a = {0}, b = {0};
    bool ok =
        steps_find(simulated, simulated_device, &a, err) && steps_find(real, real_device, &b, err);
    ok = ok && compare_requests(simulated, simulated_device, &a, real, real_device, &b, out, err);
    if (ok && !out->is_window && !compare_steps(&a, &b, out))
        ok = error_host_memory(err);
    if (ok)
        compare_peaks(simulated, simulated_device, real, real_device, out);
    steps_fini(&a);
    steps_fini(&b);
    if (!ok)
        compare_fini(out);
    return ok;
}

void compare_fini(struct comparison *comparison) {
    alignment_side_fini(&comparison->simulated);
    alignment_side_fini(&comparison->real);
    alignment_fini(&comparison->alignment);
    array_fini(&comparison->steps);
}

/* All requests have partners, and all frees are equal. */
static bool has_equal_log(const struct comparison *c) {
    enum alignment_difference first = c->alignment.first;
    return (first == ALIGNMENT_NONE_DIFFERS || first == ALIGNMENT_SEGMENT_DIFFERS ||
            first == ALIGNMENT_OFFSET_DIFFERS) &&
           c->alignment.equal_frees == c->requests_real &&
           c->requests_real == c->requests_simulated;
}

bool compare_wants_place(const struct comparison *comparison) {
    return comparison->level == COMPARE_REQUESTS && has_equal_log(comparison) &&
           timeline_knows(comparison->real.tl, FIGURE_PLACEMENT) &&
           (comparison->is_window || comparison->alignment.first != ALIGNMENT_NONE_DIFFERS);
}

void compare_place(struct comparison *comparison, const struct compare_place *place) {
    comparison->place = *place;
    comparison->allocated.simulated = place->allocated;
    comparison->active.simulated = place->active;
    comparison->reserved.simulated = place->reserved;
    if (place->is_equal)
        comparison->requests_equal = comparison->requests_real;
}

bool compare_is_equal(const struct comparison *comparison) {
    if (comparison->level != COMPARE_REQUESTS)
        return compare_is_within(comparison, 0);
    if (comparison->place.is_done)
        return comparison->place.is_equal;
    return comparison->alignment.first == ALIGNMENT_NONE_DIFFERS;
}

double compare_error(struct compare_value value) {
    if (value.real == value.simulated)
        return 0;
    if (value.real == 0)
        return HUGE_VAL;
    double difference = value.simulated > value.real ? (double)(value.simulated - value.real)
                                                     : -(double)(value.real - value.simulated);
    return difference / (double)value.real;
}

bool compare_is_within(const struct comparison *comparison, double tolerance) {
    if (comparison->level == COMPARE_DEVICE)
        return fabs(compare_error(comparison->device)) <= tolerance;
    return (!comparison->has_allocated ||
            fabs(compare_error(comparison->allocated)) <= tolerance) &&
           (!comparison->has_reserved || fabs(compare_error(comparison->reserved)) <= tolerance);
}
