/* pair_report.c: see pair_report.h. */
#include "pair_report.h"

#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "json_out.h"
#include "report.h"
#include "text.h"
#include "timeline.h"

enum { CURVE_COLUMNS = 256 };
static const char *const keys[PAIR_SIDES] = {"recorded", "model"};

static bool find_side(struct pair_side *side, uint8_t device, uint32_t requests,
                      struct error *err) {
    counters_start(side->tl, device, &side->start);
    peak_find(side->tl, device, &side->peaks);
    ooms_find(side->tl, device, &side->ooms);
    return fragmentation_find(side->tl, device, side->peaks.reserved.event, &side->fragmentation,
                              err) &&
           steps_find(side->tl, device, &side->steps, err) &&
           request_curve_build(side->tl, device, requests, CURVE_COLUMNS, &side->curve, err);
}

bool pair_report_init(struct pair_report *report, uint8_t device,
                      const struct pair_side sides[PAIR_SIDES], struct error *err) {
    memset(report, 0, sizeof *report);
    report->device = device;
    for (size_t i = 0; i < PAIR_SIDES; i++) {
        uint32_t requests = request_curve_count(sides[i].tl, device);
        report->side[i] = sides[i];
        report->requests = requests > report->requests ? requests : report->requests;
    }
    for (size_t i = 0; i < PAIR_SIDES; i++)
        if (!find_side(&report->side[i], device, report->requests, err))
            return false;
    return true;
}

void pair_report_fini(struct pair_report *report) {
    for (size_t i = 0; i < PAIR_SIDES; i++) {
        steps_fini(&report->side[i].steps);
        request_curve_fini(&report->side[i].curve);
    }
}

static void json_oom(struct json *j, const struct pair_side *side, uint8_t device) {
    const struct timeline_oom *oom = side->ooms.last;
    struct text place = {0};
    if (!oom) {
        json_null(j, "last_oom");
        return;
    }
    report_place(side->tl, device, oom->event, &place);
    json_object(j, "last_oom");
    json_u64(j, "event", oom->event);
    json_text(j, "phase", text_get(&place));
    json_u64(j, "rounded_bytes", oom->rounded_bytes);
    json_u64(j, "short_by_bytes", report_shortfall(oom));
    json_bool(j, "ended_the_run", side->ran_out);
    json_end(j);
    j->out->failed |= place.failed;
    text_fini(&place);
}

static void json_figure(struct json *j, const struct pair_side *side, enum timeline_figure figure,
                        const char *key, uint64_t bytes) {
    if (timeline_knows(side->tl, figure))
        json_u64(j, key, bytes);
    else
        json_null(j, key);
}

static void json_side(struct json *j, const char *key, const struct pair_side *side,
                      uint8_t device) {
    const struct fragmentation_pool *f = &side->fragmentation.all;
    json_object(j, key);
    json_figure(j, side, FIGURE_ACTIVE, "start_active", side->start.active);
    json_u64(j, "start_blocks", side->start.blocks);
    json_figure(j, side, FIGURE_RESERVED, "start_reserved", side->start.reserved);
    json_figure(j, side, FIGURE_ALLOCATED, "peak_allocated", side->peaks.allocated.bytes);
    json_figure(j, side, FIGURE_ACTIVE, "peak_active", side->peaks.active.bytes);
    json_figure(j, side, FIGURE_RESERVED, "peak_reserved", side->peaks.reserved.bytes);
    json_figure(j, side, FIGURE_ALLOCATED, "end_allocated", side->peaks.at_end.allocated);
    json_figure(j, side, FIGURE_ACTIVE, "end_active", side->peaks.at_end.active);
    json_figure(j, side, FIGURE_RESERVED, "end_reserved", side->peaks.at_end.reserved);
    if (timeline_knows(side->tl, FIGURE_DEVICE_USE))
        json_u64(j, "peak_device_used", side->peaks.reserved.bytes);
    if (side->fragmentation.is_known) {
        json_object(j, "fragmentation_at_peak_reserved");
        json_u64(j, "unused_bytes", f->reserved_bytes - f->allocated_bytes);
        json_u64(j, "inactive_split_bytes", f->inactive_split_bytes);
        json_u64(j, "largest_free_bytes", f->largest_free_bytes);
        json_end(j);
    } else {
        json_null(j, "fragmentation_at_peak_reserved");
    }
    if (side->has_retries)
        json_u64(j, "retries", side->retries);
    else
        json_null(j, "retries");
    json_u64(j, "ooms", side->ooms.count);
    json_oom(j, side, device);
    json_array(j, "steps");
    for (size_t i = 0; i < side->steps.rows.count; i++) {
        json_object(j, NULL);
        json_u64(j, "own_peak_bytes", side->steps.rows.at[i].own_allocated_peak);
        json_u64(j, "own_reserved_peak_bytes", side->steps.rows.at[i].own_reserved_peak);
        report_json_step(side->tl, device, &side->steps.rows.at[i], side->steps.rows.count, j);
        json_end(j);
    }
    json_end(j);
    json_array(j, "curve_allocated");
    for (size_t i = 0; i < side->curve.points.count; i++)
        json_u64(j, NULL, side->curve.points.at[i].allocated);
    json_end(j);
    json_array(j, "curve_reserved");
    for (size_t i = 0; i < side->curve.points.count; i++)
        json_u64(j, NULL, side->curve.points.at[i].reserved);
    json_end(j);
    json_end(j);
}

void pair_report_json(const struct pair_report *report, struct json *j) {
    json_u64(j, "requests", report->requests);
    for (size_t i = 0; i < PAIR_SIDES; i++)
        json_side(j, report->side[i].key ? report->side[i].key : keys[i], &report->side[i],
                  report->device);
}

static void csv_point(const struct request_curve *curve, size_t row, struct text *out) {
    if (row < curve->points.count)
        text_format(out, ",%" PRIu64 ",%" PRIu64, curve->points.at[row].allocated,
                    curve->points.at[row].reserved);
    else
        text_add(out, ",,");
}

bool pair_report_csv(const struct pair_report *report, struct text *out, struct error *err) {
    struct request_curve curves[PAIR_SIDES] = {0};
    const struct pair_side *side = report->side;
    uint32_t columns = report->requests ? report->requests : 1;
    bool ok = true;
    for (size_t i = 0; ok && i < PAIR_SIDES; i++)
        ok = request_curve_build(side[i].tl, report->device, report->requests, columns, &curves[i],
                                 err);
    text_format(out, "request,%s_allocated,%s_reserved,%s_allocated,%s_reserved\n", keys[0],
                keys[0], keys[1], keys[1]);
    for (uint32_t row = 0; ok && row < report->requests; row++) {
        text_format(out, "%" PRIu32, row);
        for (size_t i = 0; i < PAIR_SIDES; i++)
            csv_point(&curves[i], row, out);
        text_add(out, "\n");
    }
    for (size_t i = 0; i < PAIR_SIDES; i++)
        request_curve_fini(&curves[i]);
    return ok;
}
