/* validate_json.c: `vramsim validate --json`. Keys are part of the command line's contract: add,
 * never rename. */
#include "divergence.h"
#include "json_out.h"
#include "phases.h"
#include "text.h"
#include "timeline.h"
#include "validate.h"

static void add_value(struct json *j, const char *key, struct compare_value v) {
    json_object(j, key);
    json_u64(j, "real", v.real);
    json_u64(j, "simulated", v.simulated);
    if (v.simulated >= v.real)
        json_u64(j, "error_bytes", v.simulated - v.real);
    else
        json_i64(j, "error_bytes", -(int64_t)(v.real - v.simulated));
    json_double(j, "error", compare_error(v));
    json_end(j);
}

static const char *const levels[] = {
    [COMPARE_REQUESTS] = "requests", [COMPARE_TOTALS] = "totals", [COMPARE_DEVICE] = "device"};

/* What a source does not know is null. */
static void add_known(struct json *j, const char *key, bool is_known, struct compare_value v) {
    if (is_known)
        add_value(j, key, v);
    else
        json_null(j, key);
}

static void add_reserved(struct json *j, const char *key, const struct comparison *c,
                         struct compare_value v) {
    add_known(j, key, c->has_reserved, v);
}

static void add_text(struct json *j, const char *key, const char *value) {
    json_text(j, key, *value ? value : NULL);
}

static void add_phase(struct json *j, const struct alignment_side *side, uint32_t event) {
    struct text path = {0};
    uint32_t phase = phase_at(side->tl, side->device, event);
    phase_path(side->tl, phase, &path);
    add_text(j, "phase", text_get(&path));
    if (path.failed)
        j->out->failed = true;
    text_fini(&path);
}

static void add_frames(struct json *j, const struct alignment_side *side, uint32_t item) {
    struct text frame = {0};
    json_array(j, "stack");
    for (uint32_t i = 0; divergence_frame(side, item, i, &frame); i++) {
        json_text(j, NULL, text_get(&frame));
        frame.length = 0;
    }
    json_end(j);
    if (frame.failed)
        j->out->failed = true;
    text_fini(&frame);
}

static void add_item(struct json *j, const struct alignment_side *side, uint32_t item) {
    const struct alignment_item *it = &side->items.at[item];
    json_bool(j, "oom", it->block == ALIGNMENT_NONE);
    json_u64(j, "request", it->request);
    json_u64(j, "event", it->event);
    json_u64(j, "bytes", it->bytes);
    json_u64(j, "stream", it->stream);
    if (it->segment != ALIGNMENT_NONE) {
        json_u64(j, "segment", it->segment);
        json_u64(j, "offset", it->offset);
    }
    if (it->block == ALIGNMENT_NONE)
        return;
    const struct timeline_block *b = &side->tl->blocks.at[it->block];
    add_text(j, "op", timeline_text(side->tl, b->op));
    add_text(j, "owner", timeline_text(side->tl, b->owner));
    add_text(j, "name", timeline_text(side->tl, b->name));
}

static void add_frees(struct json *j, const struct divergence_frees *frees) {
    json_u64(j, "frees_only_here", frees->count);
    json_array(j, "freed_requests");
    for (uint32_t i = 0; i < frees->count && i < DIVERGENCE_LIST; i++)
        json_u64(j, NULL, frees->request[i]);
    json_end(j);
}

static void add_answer(struct json *j, const struct alignment_side *side, uint32_t event) {
    if (event == TIMELINE_NONE) {
        json_null(j, "allocator");
        return;
    }
    json_object(j, "allocator");
    json_text(j, "kind", event_kind_name((enum event_kind)side->tl->events.at[event].kind));
    json_u64(j, "bytes", side->tl->events.at[event].bytes);
    json_end(j);
}

static void add_previous(struct json *j, const struct alignment_side *side, uint32_t item) {
    json_array(j, "previous");
    uint32_t from = item > DIVERGENCE_PREVIOUS ? item - DIVERGENCE_PREVIOUS : 0;
    for (uint32_t i = from; i < item && i < side->items.count; i++) {
        json_object(j, NULL);
        add_item(j, side, i);
        json_end(j);
    }
    json_end(j);
}

static void add_side(struct json *j, const char *key, const struct alignment_side *side,
                     uint32_t item, const struct divergence *d,
                     const struct divergence_frees *frees, uint32_t answer) {
    json_object(j, key);
    json_bool(j, "present", item < side->items.count);
    if (item < side->items.count) {
        add_item(j, side, item);
        add_phase(j, side, side->items.at[item].event);
        add_frames(j, side, item);
    }
    if (d->kind == ALIGNMENT_FREE_SET_DIFFERS)
        add_frees(j, frees);
    if (d->kind == ALIGNMENT_SEGMENT_DIFFERS)
        add_answer(j, side, answer);
    add_previous(j, side, item);
    json_end(j);
}

static void add_divergence(struct json *j, const struct comparison *c) {
    if (compare_is_equal(c)) {
        json_null(j, "first_divergence");
        return;
    }
    struct divergence d;
    divergence_find(c, &d);
    json_object(j, "first_divergence");
    json_text(j, "kind", alignment_difference_name(d.kind));
    add_side(j, "simulated", &c->simulated, d.simulated, &d, &d.only_simulated, d.answer_simulated);
    add_side(j, "real", &c->real, d.real, &d, &d.only_real, d.answer_real);
    json_end(j);
}

static void add_requests(struct json *j, const struct comparison *c) {
    const struct alignment *a = &c->alignment;
    json_object(j, "requests");
    json_u64(j, "equal", c->requests_equal);
    json_u64(j, "real", c->requests_real);
    json_u64(j, "simulated", c->requests_simulated);
    json_u64(j, "matched", a->matched);
    json_u64(j, "equal_frees", a->equal_frees);
    json_u64(j, "equal_segments", a->equal_segments);
    json_u64(j, "equal_offsets", a->equal_offsets);
    json_end(j);
    json_object(j, "compared");
    json_bool(j, "requested_sizes", a->scope.sizes_are_requested);
    json_bool(j, "streams", a->scope.streams);
    json_bool(j, "frees", a->scope.frees);
    json_bool(j, "segments", a->scope.segments);
    json_bool(j, "offsets", a->scope.offsets);
    json_end(j);
}

static void add_steps(struct json *j, const struct comparison *c) {
    json_array(j, "steps");
    for (size_t i = 0; i < c->steps.count; i++) {
        json_object(j, NULL);
        add_known(j, "allocated_peak", c->has_allocated, c->steps.at[i].allocated_peak);
        add_reserved(j, "reserved_peak", c, c->steps.at[i].reserved_peak);
        add_known(j, "own_peak", c->has_allocated, c->steps.at[i].own_peak);
        json_end(j);
    }
    json_end(j);
    json_u64(j, "steps_real", c->steps_real);
    json_u64(j, "steps_simulated", c->steps_simulated);
}

static void add_window(struct json *j, const struct comparison *c) {
    if (!c->is_window) {
        json_null(j, "window");
        return;
    }
    json_object(j, "window");
    json_u64(j, "first_request", c->window.first_request);
    json_u64(j, "step", c->window_step);
    json_u64(j, "places", c->window.places);
    if (!timeline_knows(c->real.tl, FIGURE_PLACEMENT)) { /* one sum at best */
        json_null(j, "alive_before");
        json_end(j);
        return;
    }
    json_object(j, "alive_before");
    json_u64(j, "real", c->alive.real);
    json_u64(j, "simulated", c->alive.simulated);
    json_u64(j, "equal", c->alive.equal);
    json_u64(j, "real_bytes", c->alive.real_bytes);
    json_u64(j, "simulated_bytes", c->alive.simulated_bytes);
    json_end(j);
    json_end(j);
}

static void add_place(struct json *j, const struct comparison *c) {
    if (!c->place.is_done) {
        json_null(j, "placement");
        return;
    }
    json_object(j, "placement");
    json_bool(j, "equal", c->place.is_equal);
    json_u64(j, "addresses", c->place.addresses);
    json_u64(j, "addresses_equal", c->place.addresses_equal);
    json_u64(j, "segments", c->place.segments);
    json_u64(j, "segments_equal", c->place.segments_equal);
    add_value(j, "own_allocated", c->own_allocated);
    add_reserved(j, "own_reserved", c, c->own_reserved);
    json_end(j);
}

void validate_json(const struct comparison *comparison, double tolerance, struct text *out) {
    struct json j;
    json_begin(&j, out);
    json_object(&j, NULL);
    json_bool(&j, "equal", compare_is_equal(comparison));
    json_text(&j, "level", levels[comparison->level]);
    if (tolerance >= 0) {
        json_double(&j, "tolerance", tolerance);
        json_bool(&j, "within_tolerance", compare_is_within(comparison, tolerance));
    }
    if (comparison->level == COMPARE_REQUESTS) {
        add_requests(&j, comparison);
        add_window(&j, comparison);
        add_place(&j, comparison);
        if (comparison->place.is_done)
            json_null(&j, "first_divergence");
        else
            add_divergence(&j, comparison);
    }
    json_object(&j, "peak");
    if (comparison->level == COMPARE_DEVICE)
        add_value(&j, "device", comparison->device);
    add_known(&j, "allocated", comparison->has_allocated, comparison->allocated);
    add_known(&j, "active", comparison->has_active, comparison->active);
    add_known(&j, "reserved", comparison->has_reserved, comparison->reserved);
    json_end(&j);
    if (comparison->level == COMPARE_REQUESTS) {
        if (comparison->has_allocated)
            json_double(&j, "curve_distance", comparison->curve_distance);
        else
            json_null(&j, "curve_distance");
        add_steps(&j, comparison);
    }
    json_end(&j);
    json_finish(&j);
}
