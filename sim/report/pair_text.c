/* pair_text.c: see pair_report.h; the form for people. */
#include <inttypes.h>
#include <stdio.h>

#include "format.h"
#include "pair_report.h"
#include "report.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

enum { AXIS_WIDTH = 13, WIDTH_AT_LEAST = 60, STEPS_SHOWN = 12 };

static const char *sign_of(uint64_t recorded, uint64_t model) {
    return model > recorded ? "+" : model < recorded ? "-" : "";
}

static void add_row(const char *name, uint64_t recorded, uint64_t model, struct text *out) {
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    uint64_t difference = model > recorded ? model - recorded : recorded - model;
    text_format(out, "  %-22s %18s %18s   %s%s\n", name, units_format_grouped(recorded, a),
                units_format_grouped(model, b), sign_of(recorded, model),
                units_format_bytes(difference, c));
}

static void add_count(uint64_t count, bool is_known, struct text *out) {
    char text[UNITS_TEXT_BYTES];
    text_format(out, " %18s", is_known ? units_format_grouped(count, text) : "unknown");
}

/* What a side does not know has no difference to the other. */
static void add_figure(const struct pair_report *r, enum timeline_figure figure, const char *name,
                       uint64_t a, uint64_t b, struct text *out) {
    bool knows_a = timeline_knows(r->side[0].tl, figure);
    bool knows_b = timeline_knows(r->side[1].tl, figure);
    if (knows_a && knows_b) {
        add_row(name, a, b, out);
        return;
    }
    text_format(out, "  %-22s", name);
    add_count(a, knows_a, out);
    add_count(b, knows_b, out);
    text_add(out, "\n");
}

static void write_fragmentation(const struct pair_report *r, struct text *out) {
    const struct fragmentation *a = &r->side[0].fragmentation, *b = &r->side[1].fragmentation;
    if (!a->is_known || !b->is_known)
        return;
    text_add(out, "  at the peak of reserved\n");
    add_row("  unused", a->all.reserved_bytes - a->all.allocated_bytes,
            b->all.reserved_bytes - b->all.allocated_bytes, out);
    add_row("  not releasable", a->all.inactive_split_bytes, b->all.inactive_split_bytes, out);
    add_row("  largest free block", a->all.largest_free_bytes, b->all.largest_free_bytes, out);
}

static void write_counts(const struct pair_report *r, struct text *out) {
    text_format(out, "  %-22s", "retries");
    for (size_t i = 0; i < PAIR_SIDES; i++)
        add_count(r->side[i].retries, r->side[i].has_retries, out);
    text_format(out, "\n  %-22s", "out of memory");
    for (size_t i = 0; i < PAIR_SIDES; i++)
        add_count(r->side[i].ooms.count, true, out);
    text_add(out, "\n");
}

/* Where a side ended too early. */
static void write_end(const struct pair_report *r, const struct pair_side *side, struct text *out) {
    const struct timeline_oom *oom = side->ooms.last;
    if (!side->ran_out || !oom)
        return;
    text_format(out, "  %s: OUT OF MEMORY at event %" PRIu32 ", ", side->name, oom->event);
    report_place(side->tl, r->device, oom->event, out);
    text_add(out, ": a request of ");
    format_short(out, oom->requested_bytes ? oom->requested_bytes : oom->rounded_bytes);
    if (report_shortfall(oom) > 0) {
        text_add(out, ", short by ");
        format_short(out, report_shortfall(oom));
    }
    text_add(out, "; the run ends there\n");
}

static void write_steps(const struct pair_report *r, struct text *out) {
    const struct steps *a = &r->side[0].steps, *b = &r->side[1].steps;
    size_t count = a->rows.count > b->rows.count ? a->rows.count : b->rows.count;
    if (count < 2)
        return;
    text_add(out, "  highest reserved in\n");
    for (size_t i = 0; i < count && i < STEPS_SHOWN; i++) {
        char name[24], left[UNITS_TEXT_BYTES], right[UNITS_TEXT_BYTES];
        snprintf(name, sizeof name, "  step %zu", i + 1);
        if (i < a->rows.count && i < b->rows.count)
            add_row(name, a->rows.at[i].own_reserved_peak, b->rows.at[i].own_reserved_peak, out);
        else
            text_format(
                out, "  %-22s %18s %18s\n", name,
                i < a->rows.count ? units_format_grouped(a->rows.at[i].own_reserved_peak, left)
                                  : "-",
                i < b->rows.count ? units_format_grouped(b->rows.at[i].own_reserved_peak, right)
                                  : "-");
    }
    if (count > STEPS_SHOWN)
        text_format(out, "    and %zu more\n", count - STEPS_SHOWN);
}

/* --- the chart --- */

/* A column of the chart has several of the curve, or shares one. */
static struct request_point point_at(const struct request_curve *curve, size_t total,
                                     uint32_t column, uint32_t columns) {
    struct request_point most = {0, 0};
    size_t from = (size_t)column * total / columns, to = ((size_t)column + 1) * total / columns;
    for (size_t i = from; i < (to > from ? to : from + 1) && i < curve->points.count; i++) {
        const struct request_point *p = &curve->points.at[i];
        most.allocated = p->allocated > most.allocated ? p->allocated : most.allocated;
        most.reserved = p->reserved > most.reserved ? p->reserved : most.reserved;
    }
    return most;
}

static char cell(const struct request_point *was, const struct request_point *is, uint64_t low,
                 uint64_t high) {
    uint64_t middle = low + (high - low) / 2;
    bool is_top = was->reserved > low && was->reserved <= high;
    bool differs = is->reserved <= low || is->reserved > high;
    if (is_top && differs)
        return 'o';
    return is->allocated > middle ? '#' : is->reserved > middle ? '.' : ' ';
}

static void write_chart(const struct pair_report *r, uint32_t width, uint32_t height,
                        struct text *out) {
    uint64_t top = r->side[0].peaks.reserved.bytes;
    if (r->side[1].peaks.reserved.bytes > top)
        top = r->side[1].peaks.reserved.bytes;
    size_t total = r->side[0].curve.points.count;
    if (r->side[1].curve.points.count > total)
        total = r->side[1].curve.points.count;
    if (height == 0 || top == 0 || total == 0)
        return;
    uint32_t columns = (width < WIDTH_AT_LEAST ? (uint32_t)WIDTH_AT_LEAST : width) - AXIS_WIDTH - 1;
    text_format(out,
                "\n  requests, left to right; # allocated and . reserved, %s; o reserved, %s\n",
                r->side[1].name, r->side[0].name);
    for (uint32_t row = 0; row < height; row++) {
        char label[UNITS_TEXT_BYTES] = "";
        double step = (double)top / height;
        uint64_t high = (uint64_t)(step * (height - row));
        uint64_t low = (uint64_t)(step * (height - row - 1));
        if (row % 4 == 0)
            units_format_bytes(high, label);
        text_format(out, "%*s |", AXIS_WIDTH - 2, label);
        size_t end = out->length;
        for (uint32_t c = 0; c < columns; c++) {
            struct request_point was = point_at(&r->side[0].curve, total, c, columns);
            struct request_point is = point_at(&r->side[1].curve, total, c, columns);
            char glyph[2] = {cell(&was, &is, low, high), '\0'};
            text_add(out, glyph);
            if (glyph[0] != ' ')
                end = out->length;
        }
        if (!out->failed) { /* no blanks at the end of a line */
            out->length = end;
            text_add(out, "\n");
        }
    }
}

void pair_report_text(const struct pair_report *r, uint32_t width, uint32_t chart_height,
                      struct text *out) {
    const struct pair_side *a = &r->side[0], *b = &r->side[1];
    text_format(out, "%-8s %-15u %18s %18s   difference\n", "device", r->device, a->name, b->name);
    add_figure(r, FIGURE_ALLOCATED, "peak allocated", a->peaks.allocated.bytes,
               b->peaks.allocated.bytes, out);
    add_figure(r, FIGURE_ACTIVE, "peak active", a->peaks.active.bytes, b->peaks.active.bytes, out);
    add_figure(r, FIGURE_RESERVED, "peak reserved", a->peaks.reserved.bytes,
               b->peaks.reserved.bytes, out);
    add_figure(r, FIGURE_RESERVED, "reserved at the end", a->peaks.at_end.reserved,
               b->peaks.at_end.reserved, out);
    if (timeline_knows(a->tl, FIGURE_DEVICE_USE) || timeline_knows(b->tl, FIGURE_DEVICE_USE))
        add_figure(r, FIGURE_DEVICE_USE, "used of the device", a->peaks.reserved.bytes,
                   b->peaks.reserved.bytes, out);
    write_fragmentation(r, out);
    write_counts(r, out);
    write_end(r, a, out);
    write_end(r, b, out);
    write_steps(r, out);
    write_chart(r, width, chart_height, out);
}
