/* report_json.c: `vramsim run --json`. Keys are part of the command line's contract: add, never
 * rename. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json_out.h"
#include "report.h"
#include "room_report.h"
#include "text.h"
#include "timeline.h"

/* A text that is put together first. */
static void add_place(struct json *j, const char *key, const struct report *r, uint32_t event) {
    struct text place = {0};
    report_place(r->tl, r->device, event, &place);
    json_text(j, key, text_get(&place));
    if (place.failed)
        j->out->failed = true;
    text_fini(&place);
}

static void add_event(struct json *j, const char *key, uint32_t event) {
    if (event == TIMELINE_NONE)
        json_null(j, key);
    else
        json_u64(j, key, event);
}

static void add_text_or_null(struct json *j, const char *key, const char *value) {
    json_text(j, key, value && *value ? value : NULL);
}

/* --set values are texts; what reads as a number or a truth value is written as one. */
static bool is_integer(const char *s) {
    if (*s == '-')
        s++;
    size_t digits = strspn(s, "0123456789");
    return digits > 0 && digits < 19 && s[digits] == '\0' && (s[0] != '0' || digits == 1);
}

/* "0.0", "1e-05": digits, a point or an exponent, and nothing else. */
static bool is_fraction(const char *s, double *value) {
    char *end;
    size_t sign = *s == '-';
    bool is_decimal = s[sign] >= '0' && s[sign] <= '9' && s[strspn(s, "0123456789+-.eE")] == '\0';
    *value = is_decimal ? strtod(s, &end) : 0;
    return is_decimal && *end == '\0' && isfinite(*value);
}

static void add_param(struct json *j, const struct report_param *p) {
    double fraction;
    if (is_integer(p->value)) {
        int64_t value = 0;
        for (const char *s = p->value + (*p->value == '-'); *s; s++)
            value = value * 10 + (*s - '0');
        json_i64(j, p->name, *p->value == '-' ? -value : value);
    } else if (strcmp(p->value, "true") == 0 || strcmp(p->value, "false") == 0) {
        json_bool(j, p->name, *p->value == 't');
    } else if (is_fraction(p->value, &fraction)) {
        json_double(j, p->name, fraction);
    } else {
        json_text(j, p->name, p->value);
    }
}

static void add_need(struct json *j, const struct report_need *need) {
    if (need->bytes > 0)
        json_u64(j, "would_need_bytes", need->bytes);
    else
        json_null(j, "would_need_bytes");
    if (need->has_expandable)
        json_bool(j, "fits_with_expandable_segments", need->fits_with_expandable);
    else
        json_null(j, "fits_with_expandable_segments");
}

static void add_head(struct json *j, const struct report *r) {
    json_bool(j, "fits", r->fits);
    json_object(j, "ooms");
    json_u64(j, "count", r->ooms.count);
    json_u64(j, "caught", r->caught);
    json_end(j);
    if (r->oom)
        add_need(j, &r->run->need);
    json_text(j, "title", report_title(r));
    add_text_or_null(j, "source", timeline_text(r->tl, r->tl->source_kind));
    add_text_or_null(j, "framework", report_framework(r));
    add_text_or_null(j, "alloc_settings",
                     r->run->alloc_settings ? r->run->alloc_settings
                                            : timeline_text(r->tl, r->tl->alloc_settings));
    json_object(j, "parameters");
    for (size_t i = 0; i < r->run->param_count; i++)
        add_param(j, &r->run->params[i]);
    json_end(j);
    if (r->peaks.has_device) {
        json_object(j, "device");
        json_text(j, "name", report_device_name(r));
        json_u64(j, "total_bytes", r->peaks.total_bytes);
        json_u64(j, "context_bytes", r->peaks.context_bytes);
        json_u64(j, "used_peak_bytes", r->peaks.device_bytes);
        json_end(j);
    } else {
        json_null(j, "device");
    }
    json_u64(j, "warnings", r->tl->warnings);
}

static void add_figure(struct json *j, const struct report *r, enum timeline_figure figure,
                       const char *key, uint64_t bytes) {
    if (timeline_knows(r->tl, figure))
        json_u64(j, key, bytes);
    else
        json_null(j, key);
}

static void add_peak(struct json *j, const struct report *r) {
    const struct peaks *p = &r->peaks;
    json_object(j, "peak");
    add_figure(j, r, FIGURE_ALLOCATED, "allocated_bytes", p->allocated.bytes);
    add_figure(j, r, FIGURE_ACTIVE, "active_bytes", p->active.bytes);
    add_figure(j, r, FIGURE_REQUESTED, "requested_bytes", p->requested.bytes);
    add_figure(j, r, FIGURE_RESERVED, "reserved_bytes", p->reserved.bytes);
    if (timeline_knows(r->tl, FIGURE_DEVICE_USE))
        json_u64(j, "device_used_bytes", p->reserved.bytes);
    add_event(j, "event", p->allocated.event);
    json_u64(j, "time_ns", peak_time_ns(r->tl, p->allocated.event));
    add_place(j, "phase", r, p->allocated.event);
    add_text_or_null(j, "op", peak_op(r->tl, p->allocated.event));
    add_text_or_null(j, "owner", peak_owner(r->tl, p->allocated.event));
    json_end(j);
}

static void add_fragmentation(struct json *j, const struct report *r) {
    const struct fragmentation_pool *f = &r->fragmentation.all;
    if (!r->fragmentation.is_known) {
        json_null(j, "fragmentation_at_peak");
        return;
    }
    json_object(j, "fragmentation_at_peak");
    json_u64(j, "reserved_bytes", f->reserved_bytes);
    json_u64(j, "unused_bytes", f->reserved_bytes - f->allocated_bytes);
    json_u64(j, "inactive_split_bytes", f->inactive_split_bytes);
    json_u64(j, "inactive_split_blocks", f->inactive_split_blocks);
    json_u64(j, "largest_free_bytes", f->largest_free_bytes);
    json_end(j);
}

enum { STEP_EVENTS_AT_MOST = 100000000 }; /* each step walks the events */

void report_json_step(const struct timeline *tl, uint8_t device, const struct step *step,
                      size_t steps, struct json *j) {
    struct fragmentation f = {0};
    struct error err;
    bool began_with_it = step->own_peak_event == TIMELINE_NONE;
    uint32_t event = began_with_it ? step->begin_event : step->own_peak_event;
    if (steps * (tl->events.count + 1) <= STEP_EVENTS_AT_MOST &&
        !fragmentation_find(tl, device, event, &f, &err))
        j->out->failed = true;
    if (f.is_known) {
        json_u64(j, "unused_at_peak_bytes", f.all.reserved_bytes - f.all.allocated_bytes);
        json_u64(j, "largest_free_at_peak_bytes", f.all.largest_free_bytes);
    } else {
        json_null(j, "unused_at_peak_bytes");
        json_null(j, "largest_free_at_peak_bytes");
    }
}

static void add_steps(struct json *j, const struct report *r) {
    json_array(j, "steps");
    for (size_t i = 0; i < r->steps.rows.count; i++) {
        const struct step *s = &r->steps.rows.at[i];
        json_object(j, NULL);
        add_figure(j, r, FIGURE_ALLOCATED, "allocated_peak_bytes", s->allocated_peak);
        add_figure(j, r, FIGURE_ACTIVE, "active_peak_bytes", s->active_peak);
        add_figure(j, r, FIGURE_RESERVED, "reserved_peak_bytes", s->reserved_peak);
        add_figure(j, r, FIGURE_REQUESTED, "requested_peak_bytes", s->requested_peak);
        add_figure(j, r, FIGURE_ALLOCATED, "own_peak_bytes", s->own_allocated_peak);
        add_figure(j, r, FIGURE_RESERVED, "own_reserved_peak_bytes", s->own_reserved_peak);
        add_event(j, "own_peak_event", s->own_peak_event);
        add_place(j, "own_peak_phase", r, s->own_peak_event);
        add_figure(j, r, FIGURE_ALLOCATED, "allocated_end_bytes", s->allocated_end);
        report_json_step(r->tl, r->device, s, r->steps.rows.count, j);
        json_bool(j, "complete", s->is_complete);
        json_end(j);
    }
    json_end(j);
}

static void add_categories(struct json *j, const struct report *r) {
    json_object(j, "categories_at_peak");
    for (size_t c = 0; c < CATEGORY_COUNT; c++)
        if (r->categories[c].bytes > 0)
            json_u64(j, category_key((enum category)c), r->categories[c].bytes);
    json_end(j);
    json_object(j, "categories_requested_peak");
    for (size_t c = 0; c < CATEGORY_COUNT; c++)
        if (r->peaks.category[c].bytes > 0)
            json_u64(j, category_key((enum category)c), r->peaks.category[c].bytes);
    json_end(j);
}

static void add_modules(struct json *j, const struct report *r) {
    static const char *const kinds[] = {"module", "itself", "others", "no_module"};
    json_array(j, "modules_at_peak");
    for (size_t i = 0; i < r->modules.rows.count; i++) {
        const struct holder_row *row = &r->modules.rows.at[i];
        json_object(j, NULL);
        json_text(j, "kind", kinds[row->kind]);
        json_text(j, "path", holder_tree_path(&r->modules, row));
        json_u64(j, "depth", row->depth);
        json_u64(j, "bytes", row->sum.bytes);
        json_u64(j, "blocks", row->sum.blocks);
        json_end(j);
    }
    json_end(j);
}

static void add_oom(struct json *j, const struct report *r) {
    const struct timeline_oom *o = r->oom;
    if (!o) {
        json_null(j, "oom");
        return;
    }
    json_object(j, "oom");
    json_u64(j, "event", o->event);
    json_u64(j, "time_ns", peak_time_ns(r->tl, o->event));
    add_place(j, "phase", r, o->event);
    add_text_or_null(j, "op", timeline_text(r->tl, o->op));
    add_text_or_null(j, "owner", timeline_text(r->tl, o->owner));
    if (o->requested_bytes > 0)
        json_u64(j, "requested_bytes", o->requested_bytes);
    else
        json_null(j, "requested_bytes"); /* a trace tells the rounded request only */
    json_u64(j, "rounded_bytes", o->rounded_bytes);
    json_u64(j, "segment_bytes", o->segment_bytes);
    json_u64(j, "device_free_bytes", o->device_free_bytes);
    json_u64(j, "short_by_bytes", report_shortfall(o));
    json_u64(j, "allocated_bytes", o->allocated_bytes);
    json_u64(j, "reserved_bytes", o->reserved_bytes);
    add_text_or_null(j, "message", timeline_text(r->tl, o->message));
    json_end(j);
}

/* torch.cuda.memory_stats(), nested: memory_stats.allocated_bytes.all.peak. */
static void add_stats(struct json *j, const struct report *r) {
    static const char *const classes[POOL_CLASS_COUNT] = {"all", "large_pool", "small_pool"};
    json_object(j, "memory_stats");
    for (size_t m = 0; m < POOL_METRIC_COUNT; m++) {
        bool is_split = m == POOL_INACTIVE_SPLIT || m == POOL_INACTIVE_SPLIT_BYTES;
        if (is_split && !r->pools.has_inactive_split)
            continue;
        json_object(j, pool_metric_key((enum pool_metric)m));
        for (size_t c = 0; c < POOL_CLASS_COUNT; c++) {
            const struct pool_stat *s = &r->pools.stat[m][c];
            json_object(j, classes[c]);
            json_u64(j, "current", s->current);
            json_u64(j, "peak", s->peak);
            json_u64(j, "allocated", s->allocated);
            json_u64(j, "freed", s->freed);
            json_end(j);
        }
        json_end(j);
    }
    json_u64(j, "num_ooms", r->pools.ooms);
    if (r->run->has_alloc_retries)
        json_u64(j, "num_alloc_retries", r->run->alloc_retries);
    json_end(j);
}

void report_json(const struct report *report, struct text *out) {
    struct json j;
    json_begin(&j, out);
    json_object(&j, NULL);
    add_head(&j, report);
    add_peak(&j, report);
    add_categories(&j, report);
    add_fragmentation(&j, report);
    add_steps(&j, report);
    add_modules(&j, report);
    add_oom(&j, report);
    if (report->run->room)
        room_report_json(report->run->room, "fragmentation", &j);
    add_stats(&j, report);
    json_end(&j);
    json_finish(&j);
}
