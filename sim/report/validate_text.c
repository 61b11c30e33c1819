/* validate_text.c: `vramsim validate` for people. */
#include <inttypes.h>
#include <math.h>

#include "divergence.h"
#include "format.h"
#include "phases.h"
#include "text.h"
#include "timeline.h"
#include "units.h"
#include "validate.h"

enum { FRAMES_SHOWN = 12, NAME_WIDTH = 12, LABEL_WIDTH = 14 };

static void add_percent(double error, struct text *out) {
    if (isfinite(error))
        text_format(out, "%+9.4f %%", 100 * error);
    else
        text_add(out, "          -");
}

static void write_value(const char *name, struct compare_value v, struct text *out) {
    char real[UNITS_TEXT_BYTES], simulated[UNITS_TEXT_BYTES], error[UNITS_TEXT_BYTES];
    bool is_more = v.simulated >= v.real;
    uint64_t difference = is_more ? v.simulated - v.real : v.real - v.simulated;
    text_format(out, "  %-*s%20s%20s   %s%-18s", NAME_WIDTH, name,
                units_format_grouped(v.real, real), units_format_grouped(v.simulated, simulated),
                difference == 0 ? " "
                : is_more       ? "+"
                                : "-",
                units_format_grouped(difference, error));
    add_percent(compare_error(v), out);
    text_add(out, "\n");
}

static void write_known(const char *name, bool is_known, struct compare_value v, struct text *out) {
    if (is_known)
        write_value(name, v, out);
    else
        text_format(out, "  %-14sunknown to a source\n", name);
}

static void write_peaks(const struct comparison *c, struct text *out) {
    text_format(out, "\n%-14s%20s%20s    %-18s%11s\n", "peaks", "real bytes", "simulated bytes",
                "error bytes", "error");
    if (c->level == COMPARE_DEVICE)
        write_value("device", c->device, out);
    write_known("allocated", c->has_allocated, c->allocated, out);
    write_known("active", c->has_active, c->active, out);
    write_known("reserved", c->has_reserved, c->reserved, out);
    if (c->level != COMPARE_REQUESTS)
        return;
    if (c->place.is_done) {
        text_add(out, "  without the driver's addresses and the recorded start, as the simulation "
                      "alone has it:\n");
        write_value("allocated", c->own_allocated, out);
        write_value("reserved", c->own_reserved, out);
    }
    if (!c->has_allocated)
        return;
    text_format(
        out,
        "  curve distance %.6f (area between the curves of allocated over that of the real one)\n",
        c->curve_distance);
}

static void write_steps(const struct comparison *c, struct text *out) {
    if (c->steps.count == 0)
        return;
    text_format(out,
                "\nsteps: %" PRIu32 " real, %" PRIu32
                " simulated (running maxima at each step's end)\n",
                c->steps_real, c->steps_simulated);
    for (size_t i = 0; i < c->steps.count; i++) {
        const struct compare_step *s = &c->steps.at[i];
        text_format(out, "  step %zu\n", i + 1);
        if (c->has_allocated)
            write_value("allocated", s->allocated_peak, out);
        if (c->has_reserved)
            write_value("reserved", s->reserved_peak, out);
        if (c->has_allocated)
            write_value("own peak", s->own_peak, out);
    }
}

/* --- the first divergence --- */

static void add_item(const struct alignment_side *side, uint32_t item, struct text *out) {
    if (item >= side->items.count) {
        text_add(out, "no further request");
        return;
    }
    const struct alignment_item *it = &side->items.at[item];
    char bytes[UNITS_TEXT_BYTES];
    if (it->block == ALIGNMENT_NONE)
        text_format(out, "out of memory after request %" PRIu32 ", %s B", it->request,
                    units_format_grouped(it->bytes, bytes));
    else
        text_format(out, "request %" PRIu32 ", %s B", it->request,
                    units_format_grouped(it->bytes, bytes));
    if (it->stream > 0)
        text_format(out, ", stream %u", (unsigned)it->stream);
    if (it->segment != ALIGNMENT_NONE)
        text_format(out, ", segment %" PRIu32 " + %" PRIu64, it->segment, it->offset);
    text_format(out, " (event %" PRIu32 ")", it->event);
}

static void add_named(const char *name, const char *value, struct text *out) {
    if (!*value)
        return;
    text_format(out, "    %-*s", LABEL_WIDTH, name);
    format_safe(out, value);
    text_add(out, "\n");
}

static void write_phase(const struct alignment_side *side, uint32_t event, struct text *out) {
    uint32_t phase = phase_at(side->tl, side->device, event);
    if (phase == TIMELINE_NONE)
        return;
    text_format(out, "    %-*s", LABEL_WIDTH, "phase");
    phase_path(side->tl, phase, out);
    text_add(out, "\n");
}

static void write_frames(const struct alignment_side *side, uint32_t item, struct text *out) {
    uint32_t count = divergence_frame_count(side, item);
    struct text frame = {0};
    for (uint32_t i = 0; i < count && i < FRAMES_SHOWN; i++) {
        frame.length = 0;
        divergence_frame(side, item, i, &frame);
        text_format(out, "    %-*s", LABEL_WIDTH, i == 0 ? "stack" : "");
        format_safe(out, text_get(&frame));
        text_add(out, "\n");
    }
    if (count > FRAMES_SHOWN)
        text_format(out, "    %-*s(%" PRIu32 " more)\n", LABEL_WIDTH, "", count - FRAMES_SHOWN);
    text_fini(&frame);
}

static void write_previous(const struct alignment_side *side, uint32_t item, struct text *out) {
    uint32_t from = item > DIVERGENCE_PREVIOUS ? item - DIVERGENCE_PREVIOUS : 0;
    for (uint32_t i = from; i < item && i < side->items.count; i++) {
        const struct alignment_item *it = &side->items.at[i];
        text_format(out, "    %-*s", LABEL_WIDTH, i == from ? "before" : "");
        add_item(side, i, out);
        if (it->block != ALIGNMENT_NONE) {
            const struct timeline_block *b = &side->tl->blocks.at[it->block];
            text_add(out, b->op ? ", " : "");
            format_safe(out, timeline_text(side->tl, b->op));
        }
        text_add(out, "\n");
    }
}

static void write_frees(const struct divergence_frees *frees, struct text *out) {
    if (frees->count == 0)
        return;
    text_format(out, "    %-*sonly here: of request", LABEL_WIDTH, "freed before");
    for (uint32_t i = 0; i < frees->count && i < DIVERGENCE_LIST; i++)
        text_format(out, "%s %" PRIu32, i ? "," : "", frees->request[i]);
    if (frees->count > DIVERGENCE_LIST)
        text_format(out, " and %" PRIu32 " more", frees->count - DIVERGENCE_LIST);
    text_add(out, "\n");
}

static void write_older(const struct alignment_older *older, struct text *out) {
    char bytes[UNITS_TEXT_BYTES];
    text_format(out, "    %-*sof before the recording: %" PRIu32 ", %s B\n", LABEL_WIDTH,
                "freed before", older->count, units_format_grouped(older->bytes, bytes));
}

static void write_answer(const struct alignment_side *side, uint32_t event, struct text *out) {
    char bytes[UNITS_TEXT_BYTES];
    text_format(out, "    %-*s", LABEL_WIDTH, "allocator");
    if (event == TIMELINE_NONE)
        text_add(out, "nothing more before it\n");
    else
        text_format(out, "%s %s B before it\n",
                    event_kind_name((enum event_kind)side->tl->events.at[event].kind),
                    units_format_grouped(side->tl->events.at[event].bytes, bytes));
}

static void write_side(const struct alignment_side *side, const char *name, uint32_t item,
                       const struct divergence *d, const struct divergence_frees *frees,
                       uint32_t answer, struct text *out) {
    text_format(out, "  %-*s  ", LABEL_WIDTH, name);
    add_item(side, item, out);
    text_add(out, "\n");
    if (item < side->items.count) {
        const struct alignment_item *it = &side->items.at[item];
        write_phase(side, it->event, out);
        if (it->block != ALIGNMENT_NONE) {
            const struct timeline_block *b = &side->tl->blocks.at[it->block];
            add_named("op", timeline_text(side->tl, b->op), out);
            add_named("module", timeline_text(side->tl, b->owner), out);
            add_named("tensor", timeline_text(side->tl, b->name), out);
        }
        write_frames(side, item, out);
    }
    write_frees(frees, out);
    if (d->kind == ALIGNMENT_FREE_SET_DIFFERS && d->older_simulated.count + d->older_real.count > 0)
        write_older(frees == &d->only_real ? &d->older_real : &d->older_simulated, out);
    if (d->kind == ALIGNMENT_SEGMENT_DIFFERS)
        write_answer(side, answer, out);
    write_previous(side, item, out);
}

static void write_divergence(const struct comparison *c, struct text *out) {
    struct divergence d;
    divergence_find(c, &d);
    text_format(out, "\nfirst divergence: %s\n", alignment_difference_name(d.kind));
    write_side(&c->simulated, "simulated", d.simulated, &d, &d.only_simulated, d.answer_simulated,
               out);
    write_side(&c->real, "real", d.real, &d, &d.only_real, d.answer_real, out);
}

static void write_requests(const struct comparison *c, struct text *out) {
    const struct alignment *a = &c->alignment;
    char equal[UNITS_TEXT_BYTES], real[UNITS_TEXT_BYTES], simulated[UNITS_TEXT_BYTES];
    text_format(out, "requests     %s equal, %s real, %s simulated\n",
                units_format_grouped(c->requests_equal, equal),
                units_format_grouped(c->requests_real, real),
                units_format_grouped(c->requests_simulated, simulated));
    if (compare_is_equal(c))
        return;
    text_format(out,
                "             %" PRIu64 " of equal size and stream; of these equal frees %" PRIu64
                ", segments %" PRIu64 ", offsets %" PRIu64 "\n",
                a->matched, a->equal_frees, a->equal_segments, a->equal_offsets);
}

/* The part of the simulated run that is compared, and what lived before it. */
static void write_window(const struct comparison *c, struct text *out) {
    char real[UNITS_TEXT_BYTES], simulated[UNITS_TEXT_BYTES], equal[UNITS_TEXT_BYTES];
    char real_bytes[UNITS_TEXT_BYTES], simulated_bytes[UNITS_TEXT_BYTES];
    const struct compare_alive *alive = &c->alive;
    text_format(out,
                "window       the recording begins mid-run: compared from request %s of the "
                "simulated run on",
                units_format_grouped(c->window.first_request, real));
    if (c->window_step > 0)
        text_format(out, " (step %" PRIu32 ")", c->window_step);
    if (c->window.places > 1)
        text_format(out, ", the last of %" PRIu32 " places where its requests stand",
                    c->window.places);
    text_add(out, "\n");
    if (!timeline_knows(c->real.tl, FIGURE_PLACEMENT)) /* what lived before is one sum at best */
        return;
    text_format(out, "alive before %s real (%s B), %s simulated (%s B); %s of one size\n",
                units_format_grouped(alive->real, real),
                units_format_grouped(alive->real_bytes, real_bytes),
                units_format_grouped(alive->simulated, simulated),
                units_format_grouped(alive->simulated_bytes, simulated_bytes),
                units_format_grouped(alive->equal, equal));
}

static void write_place(const struct comparison *c, struct text *out) {
    const struct compare_place *p = &c->place;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], x[UNITS_TEXT_BYTES], y[UNITS_TEXT_BYTES];
    text_format(out,
                "placement    by the allocator's rules from the recorded start, with the driver's "
                "addresses:\n             %s of %s addresses equal, %s of %s segment entries\n",
                units_format_grouped(p->addresses_equal, a), units_format_grouped(p->addresses, b),
                units_format_grouped(p->segments_equal, x), units_format_grouped(p->segments, y));
    if (!p->is_equal && p->recorded[0])
        text_format(out, "             first: recorded %s; model %s\n", p->recorded, p->model);
}

static void write_scope(const struct comparison *c, struct text *out) {
    const struct alignment_scope *s = &c->alignment.scope;
    if (c->is_window)
        write_window(c, out);
    if (c->place.is_done)
        write_place(c, out);
    else if ((c->simulated.is_window || c->real.is_window) && s->sizes_are_requested && s->frees)
        text_add(out, "compared     requests and frees\n");
    else if (!s->streams || !s->segments || !s->offsets || !s->sizes_are_requested)
        text_format(out, "compared     %s%s%s%s%s; the rest is unknown to a source\n",
                    s->sizes_are_requested ? "requested sizes" : "block sizes",
                    s->frees ? ", frees" : "", s->streams ? ", streams" : "",
                    s->segments ? ", segments" : "", s->offsets ? ", offsets" : "");
}

static void write_level(enum compare_level level, struct text *out) {
    text_add(out,
             level == COMPARE_DEVICE
                 ? "compared     the device's peak alone: the source samples what all programs "
                   "had of it;\n             simulated: reserved, and the context of one program\n"
                 : "compared     peaks alone: the source tells no requests\n");
}

void validate_text(const struct comparison *comparison, double tolerance, struct text *out) {
    bool is_equal = compare_is_equal(comparison);
    text_add(out, is_equal ? "EQUAL" : "DIFFERENT");
    if (tolerance >= 0)
        text_format(out, ", peaks %s the tolerance of %g %%",
                    compare_is_within(comparison, tolerance) ? "within" : "outside",
                    100 * tolerance);
    text_add(out, "\n");
    if (comparison->level != COMPARE_REQUESTS) {
        write_level(comparison->level, out);
        write_peaks(comparison, out);
        return;
    }
    write_requests(comparison, out);
    write_scope(comparison, out);
    write_peaks(comparison, out);
    write_steps(comparison, out);
    if (!is_equal && !comparison->place.is_done)
        write_divergence(comparison, out);
}
