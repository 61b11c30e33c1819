/* replay.c: see replay.h. */
#include "replay.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "caching.h"
#include "checked.h"
#include "counters.h"
#include "framework.h"
#include "packing.h"
#include "replay_core.h"

/* A reservation of a device that nobody knows: 64 TiB of addresses hold any run. */
#define RESERVE_BYTES (UINT64_C(1) << 46)

void replay_fail_memory(struct replay *r) {
    if (replay_ok(r))
        error_host_memory(&r->error);
}

void replay_differ(struct replay_device *d, uint32_t event, const char *recorded,
                   const char *format, ...) {
    struct replay_difference *first = &d->result.first;
    d->result.differences++;
    if (first->found)
        return;
    *first = (struct replay_difference){.found = true, .event = event};
    snprintf(first->recorded, sizeof first->recorded, "%s", recorded);
    va_list args;
    va_start(args, format);
    vsnprintf(first->model, sizeof first->model, format, args);
    va_end(args);
}

uint64_t replay_stream(const struct timeline *tl, uint16_t index) {
    return index < tl->streams.count ? tl->streams.at[index] : 0;
}

/* --- devices --- */

static bool see_device(struct replay *r, uint8_t ordinal) {
    if (r->slot[ordinal])
        return true;
    if (r->devices.count >= UINT8_MAX)
        return error_set(&r->error, ERROR_LIMIT, "more than %d devices", UINT8_MAX - 1);
    const struct replay_device fresh = {.replay = r,
                                        .result = {.device = ordinal, .stopped_at = TIMELINE_NONE},
                                        .block = TIMELINE_NONE};
    if (!array_push(&r->devices, fresh)) {
        replay_fail_memory(r);
        return false;
    }
    r->slot[ordinal] = (uint8_t)r->devices.count;
    return true;
}

static struct replay_device *device_of(struct replay *r, uint8_t ordinal) {
    return &r->devices.at[r->slot[ordinal] - 1];
}

static bool find_devices(struct replay *r) {
    const struct timeline *real = r->real;
    bool seen[REPLAY_DEVICES] = {false};
    for (size_t i = 0; i < real->blocks.count; i++)
        seen[real->blocks.at[i].device] = true;
    for (size_t i = 0; i < real->segments.count; i++)
        seen[real->segments.at[i].device] = true;
    for (size_t i = 0; i < real->events.count; i++)
        seen[real->events.at[i].device] = true;
    for (unsigned ordinal = 0; ordinal < REPLAY_DEVICES; ordinal++)
        if (seen[ordinal] && !see_device(r, (uint8_t)ordinal))
            return false;
    for (uint32_t i = 0; i < real->events.count; i++) {
        const struct timeline_event *e = &real->events.at[i];
        struct replay_device *d = device_of(r, e->device);
        if ((replay_is_growth(e) || replay_is_release(e)) && !array_push(&d->answers, i)) {
            replay_fail_memory(r);
            return false;
        }
        d->result.segments += replay_is_growth(e);
        d->result.releases += replay_is_release(e);
    }
    return true;
}

/* An out-of-memory of the trace tells what the process could get. */
static void learn_capacity(struct replay_device *d) {
    const struct timeline *real = d->replay->real;
    for (size_t i = 0; i < real->ooms.count && !d->capacity_known; i++) {
        const struct timeline_oom *oom = &real->ooms.at[i];
        if (oom->event >= real->events.count ||
            real->events.at[oom->event].device != d->result.device ||
            !checked_add(oom->reserved_bytes, oom->device_free_bytes, &d->capacity_bytes))
            continue;
        d->capacity_known = true;
        if (d->capacity_bytes < d->result.recorded.peak_reserved)
            d->capacity_bytes = d->result.recorded.peak_reserved;
        d->total_bytes = d->capacity_bytes;
    }
}

static void size_device(struct replay_device *d) {
    const struct replay *r = d->replay;
    const struct timeline *real = r->real;
    const struct replay_config *config = r->config;
    uint8_t ordinal = d->result.device;
    if (config->total_bytes || config->capacity_bytes) {
        d->capacity_known = true;
        d->total_bytes = config->total_bytes ? config->total_bytes : config->capacity_bytes;
        d->capacity_bytes = config->capacity_bytes ? config->capacity_bytes : config->total_bytes;
    } else if ((real->has & TIMELINE_HAS_DEVICE) && ordinal < real->devices.count) {
        const struct timeline_device *device = &real->devices.at[ordinal];
        d->capacity_known = device->total_bytes > device->context_bytes;
        d->total_bytes = device->total_bytes;
        d->capacity_bytes = device->total_bytes - device->context_bytes;
    }
    /* To reproduce, the recorded driver is asked (plan_address), but not for each page. */
    if (!d->capacity_known && (!config->reproduce || r->settings.expandable_segments))
        learn_capacity(d);
    if (!d->capacity_known)
        d->total_bytes = d->capacity_bytes = REPLAY_NO_LIMIT;
    if (d->capacity_bytes > REPLAY_NO_LIMIT)
        d->capacity_bytes = REPLAY_NO_LIMIT;
    d->result.capacity_bytes = d->capacity_known ? d->capacity_bytes : 0;
}

static void see_peaks(struct replay_figures *f, const struct counters *c) {
    f->peak_allocated = c->allocated > f->peak_allocated ? c->allocated : f->peak_allocated;
    f->peak_active = c->active > f->peak_active ? c->active : f->peak_active;
    f->peak_requested = c->requested > f->peak_requested ? c->requested : f->peak_requested;
    f->peak_reserved = c->reserved > f->peak_reserved ? c->reserved : f->peak_reserved;
}

struct replay_figures replay_figures_of(const struct timeline *tl, uint8_t device) {
    struct replay_figures f = {0};
    struct counters c;
    counters_start(tl, device, &c);
    f.start_active = c.active;
    f.start_blocks = c.blocks;
    f.start_reserved = c.reserved;
    see_peaks(&f, &c);
    for (uint32_t i = 0; i < tl->events.count; i++) {
        counters_apply(tl, device, i, &c);
        see_peaks(&f, &c);
    }
    f.end_allocated = c.allocated;
    f.end_active = c.active;
    f.end_reserved = c.reserved;
    return f;
}

static const struct alloc_ops *allocator_of(const struct replay *r) {
    return r->config->allocator ? r->config->allocator : alloc_of_backend(r->settings.backend);
}

static bool start_device(struct replay_device *d, struct error *err) {
    struct replay *r = d->replay;
    d->result.recorded = replay_figures_of(r->real, d->result.device);
    size_device(d);
    struct alloc_config config = {.framework = r->framework,
                                  .settings = r->settings,
                                  .total_bytes = d->total_bytes,
                                  .capacity_bytes = d->capacity_bytes,
                                  .world = replay_world(d)};
    if (!d->capacity_known) {
        d->reserve_bytes = RESERVE_BYTES;
        if (r->config->reproduce && !replay_measure_reservations(d))
            return error_host_memory(err);
        if (config.settings.expandable_reserve_fraction == 0 &&
            config.settings.expandable_reserve_bytes == 0)
            config.settings.expandable_reserve_bytes = d->reserve_bytes;
    }
    const struct alloc_ops *ops = allocator_of(r);
    if (ops->needs_device && !d->capacity_known)
        return error_set(err, ERROR_USAGE,
                         "allocator %s takes a share of the device, and the trace does not tell "
                         "which device it was: name one (--device)",
                         ops->name);
    if (r->lifetimes)
        config.lifetimes = &r->lifetimes[d->result.device];
    if (r->packings)
        config.packing = &r->packings[d->result.device];
    d->al = alloc_create(ops, &config, err);
    if (!d->al)
        return false;
    if (r->config->memory_fraction > 0)
        alloc_set_memory_fraction(d->al, r->config->memory_fraction);
    return replay_start(d, err);
}

/* --- the loop --- */

static bool serve(struct replay_device *d, uint32_t event) {
    switch ((enum event_kind)d->replay->real->events.at[event].kind) {
    case EVENT_ALLOC:
        replay_serve_alloc(d, event);
        return true;
    case EVENT_FREE_REQUESTED:
        replay_serve_free(d, event);
        return true;
    case EVENT_STREAM_USE:
        replay_serve_stream_use(d, event);
        return true;
    case EVENT_EMPTY_CACHE:
        replay_serve_empty_cache(d, event);
        return true;
    case EVENT_OOM:
        replay_serve_oom(d, event);
        return true;
    case EVENT_PHASE_BEGIN:
    case EVENT_PHASE_END:
        answer_copy(d, event);
        return false;
    case EVENT_FREE_COMPLETED:
    case EVENT_SEGMENT_ALLOC:
    case EVENT_SEGMENT_FREE:
    case EVENT_SEGMENT_MAP:
    case EVENT_SEGMENT_UNMAP:
    case EVENT_SNAPSHOT:
    case EVENT_OTHER:
    case EVENT_KIND_COUNT:
        break;
    }
    return false;
}

enum { EVENTS_BETWEEN_PROGRESS = 4096 };

static void tell_progress(struct replay *r, uint32_t event) {
    const struct replay_config *config = r->config;
    const uint64_t each = sizeof(struct timeline_event);
    if (event % EVENTS_BETWEEN_PROGRESS == 0 && config->progress &&
        !config->progress(config->progress_user, event * each, r->real->events.count * each))
        error_set(&r->error, ERROR_INTERRUPTED, "interrupted");
}

static void serve_all(struct replay *r) {
    const struct replay_config *config = r->config;
    for (uint32_t i = 0; i < r->real->events.count && replay_ok(r); i++) {
        tell_progress(r, i);
        uint8_t ordinal = r->real->events.at[i].device;
        struct replay_device *d = device_of(r, ordinal);
        if (!d->stopped && serve(d, i) && config->observe && !d->stopped)
            config->observe(config->user, ordinal, i, d->al);
    }
    for (size_t i = 0; i < r->devices.count && replay_ok(r); i++)
        if (!r->devices.at[i].stopped)
            replay_serve_end(&r->devices.at[i]);
}

/* --- results --- */

static bool is_equal(const struct replay_device_result *d) {
    return d->differences == 0 && d->layout_equal && d->addr_ok == d->allocs &&
           d->segments_ok == d->segments && d->releases_ok == d->releases &&
           d->ooms == d->recorded_ooms;
}

static bool finish_device(struct replay_device *d, struct replay_result *out) {
    const struct alloc_stats *stats = alloc_get_stats(d->al);
    d->result.retries = stats->num_alloc_retries;
    if (d->replay->config->reproduce) {
        d->result.layout_equal = replay_compare_layout(d);
        out->equal = out->equal && is_equal(&d->result);
    }
    d->result.model = replay_figures_of(d->replay->tl, d->result.device);
    return array_push(&out->devices, d->result);
}

static void replay_fini(struct replay *r) {
    for (size_t i = 0; i < r->devices.count; i++) {
        struct replay_device *d = &r->devices.at[i];
        alloc_destroy(d->al);
        array_fini(&d->answers);
        spans_fini(&d->space);
        spans_fini(&d->mapped);
        spans_fini(&d->pending);
    }
    array_fini(&r->devices);
    array_fini(&r->origins);
    array_fini(&r->idle_streams);
    xfree(r->blocks);
    xfree(r->phases);
    xfree(r->uses);
    timeline_destroy(r->tl);
}

static bool run(struct replay *r, struct replay_result *out, struct error *err) {
    if (!answer_begin(r) || !find_devices(r))
        return false;
    for (size_t i = 0; i < r->devices.count; i++)
        if (!start_device(&r->devices.at[i], err))
            return false;
    serve_all(r);
    if (!replay_ok(r))
        return false;
    out->framework = r->framework;
    out->equal = r->config->reproduce;
    for (size_t i = 0; i < r->devices.count; i++)
        if (!finish_device(&r->devices.at[i], out))
            return error_host_memory(err);
    if (!replay_ok(r))
        return false;
    out->timeline = r->tl;
    r->tl = NULL;
    return true;
}

bool replay_once(const struct timeline *real, const struct replay_config *config,
                 const struct framework *framework, struct lifetimes *lifetimes,
                 const struct packing *packings, struct replay_result *out, struct error *err) {
    struct replay r = {.real = real,
                       .config = config,
                       .framework = framework,
                       .lifetimes = lifetimes,
                       .packings = packings};
    *out = (struct replay_result){0};
    if (config->settings)
        r.settings = *config->settings;
    else if (!alloc_settings_parse(timeline_text(real, real->alloc_settings), framework,
                                   &r.settings, err))
        return error_wrap(err, "the trace's allocator settings");
    bool ok = !config->reproduce || r.settings.backend == ALLOC_BACKEND_NATIVE ||
              error_set(err, ERROR_BAD_INPUT,
                        "the trace's backend is not the native one, which alone can reproduce it");
    ok = ok && run(&r, out, err);
    if (!replay_ok(&r) && err)
        *err = r.error;
    replay_fini(&r);
    if (!ok)
        replay_result_fini(out);
    return ok;
}

static bool run_as(const struct timeline *real, const struct replay_config *config,
                   const struct framework *framework, struct replay_result *out,
                   struct error *err) {
    if (config->allocator && config->allocator->packs)
        return replay_twice(real, config, framework, out, err);
    return replay_once(real, config, framework, NULL, NULL, out, err);
}

void replay_result_fini(struct replay_result *result) {
    array_fini(&result->devices);
    timeline_destroy(result->timeline);
    result->timeline = NULL;
}

/* --- which release --- */

static uint64_t first_difference(const struct replay_result *result) {
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < result->devices.count; i++) {
        const struct replay_difference *d = &result->devices.at[i].first;
        if (d->found && d->event < first)
            first = d->event;
    }
    return first;
}

static bool has_tried_rule(size_t row) {
    for (size_t i = 0; i < row; i++)
        if (framework_row(i)->tie_rule == framework_row(row)->tie_rule)
            return true;
    return false;
}

static uint64_t ties_settled(const struct replay_result *result) {
    uint64_t sum = 0;
    for (size_t i = 0; i < result->devices.count; i++)
        sum += result->devices.at[i].ties_settled;
    return sum;
}

/* Ties are settled in favour of the rule by age: a rule that needs none explains more. */
static bool fits_better(const struct replay_result *a, const struct replay_result *b) {
    if (a->equal != b->equal)
        return a->equal;
    if (a->equal)
        return ties_settled(a) < ties_settled(b);
    return first_difference(a) > first_difference(b);
}

/* Takes the better of two; the other one goes. */
static void keep_better(struct replay_result *out, struct replay_result *other) {
    if (fits_better(other, out)) {
        struct replay_result worse = *out;
        *out = *other;
        *other = worse;
    }
    replay_result_fini(other);
}

/* Rows from the newest on, until one fits. A trace may be beyond the rules of one of them. */
static bool try_frameworks(const struct timeline *real, const struct replay_config *config,
                           struct replay_result *out, struct error *err) {
    if (!run_as(real, config, framework_row(0), out, err))
        return false;
    for (size_t row = 1; framework_row(row) && !(out->equal && ties_settled(out) == 0); row++) {
        struct replay_result other;
        struct error failure = {0};
        if (has_tried_rule(row))
            continue;
        if (run_as(real, config, framework_row(row), &other, &failure)) {
            keep_better(out, &other);
        } else if (failure.code != ERROR_BAD_INPUT) {
            replay_result_fini(out);
            if (err)
                *err = failure;
            return false;
        }
    }
    out->guessed = true;
    return true;
}

static bool check_reproducible(const struct timeline *real, const struct replay_config *config,
                               struct error *err) {
    if (!timeline_knows(real, FIGURE_PLACEMENT))
        return error_set(err, ERROR_BAD_INPUT,
                         "the trace does not tell addresses and segments: only a replay with "
                         "settings of one's own is possible");
    if (config->allocator && config->allocator != &caching_ops)
        return error_set(err, ERROR_USAGE, "only the native allocator can reproduce a trace");
    return true;
}

bool replay_run(const struct timeline *real, const struct replay_config *config,
                struct replay_result *out, struct error *err) {
    *out = (struct replay_result){0};
    if (!timeline_check(real, err))
        return false;
    if (config->reproduce && !check_reproducible(real, config, err))
        return false;
    const struct framework *framework = config->framework;
    if (!framework && real->framework)
        framework = framework_find(timeline_text(real, real->framework), NULL);
    if (framework)
        return run_as(real, config, framework, out, err);
    if (config->reproduce)
        return try_frameworks(real, config, out, err);
    out->guessed = run_as(real, config, framework_row(0), out, err);
    return out->guessed;
}
