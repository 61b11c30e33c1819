/* report_text.c: the report for people. One function a part, in the order of the page. */
#include <inttypes.h>
#include <string.h>

#include "block_text.h"
#include "chart_term.h"
#include "error.h"
#include "estimate_table.h"
#include "format.h"
#include "report.h"
#include "room_report.h"
#include "source_note.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

enum { DEFAULT_WIDTH = 100, NAME_WIDTH = 22, PARAMS_INDENT = 13 };

static void add_line(struct text *out, const char *s) {
    text_add(out, s);
    text_add(out, "\n");
}

/* --- head --- */

static void add_fact(const char *name, const char *value, struct text *out) {
    if (!value || !*value)
        return;
    text_format(out, "  %-11s", name);
    format_safe(out, value);
    text_add(out, "\n");
}

static void write_params(const struct report *r, uint32_t width, struct text *out) {
    size_t line = 0;
    for (size_t i = 0; i < r->run->param_count; i++) {
        const struct report_param *p = &r->run->params[i];
        size_t length = strlen(p->name) + strlen(p->value) + 2;
        bool is_first = i == 0, is_full = line + length > width;
        if (is_first || is_full) {
            text_format(out, "%s%-13s", is_first ? "" : "\n", is_first ? "  parameters" : "");
            line = PARAMS_INDENT;
        } else {
            text_add(out, " ");
        }
        format_safe(out, p->name);
        text_add(out, "=");
        format_safe(out, p->value);
        line += length;
    }
    if (r->run->param_count > 0)
        text_add(out, "\n");
}

static void write_need(const struct report_need *need, bool is_caught, struct text *out) {
    if (need->bytes == 0 && !need->has_expandable)
        return;
    text_add(out, "  ");
    if (need->bytes > 0) {
        text_add(out, is_caught ? "without that it would need " : "would need ");
        format_short(out, need->bytes);
    }
    if (need->has_expandable) {
        const char *good = is_caught ? "none fails, at most " : "fits, at most ";
        const char *bad = is_caught ? "some fail too" : "does not fit either";
        text_format(out, "%swith expandable_segments:True %s", need->bytes > 0 ? "; " : "",
                    need->fits_with_expandable ? good : bad);
        if (need->fits_with_expandable)
            format_short(out, need->expandable_bytes);
    }
    text_add(out, "\n");
}

static void add_times(const char *before, uint32_t count, const char *after, struct text *out) {
    text_format(out, "%s%" PRIu32 " %s%s", before, count, count == 1 ? "time" : "times", after);
}

/* A run that fits only so is near its end; what does not fit has its advice above. */
static void write_retries(const struct report *r, struct text *out) {
    uint64_t count = r->run->alloc_retries;
    if (!r->run->has_alloc_retries || count == 0)
        return;
    text_format(out, "  retries    the allocator gave back its cache %" PRIu64 " %s %s", count,
                count == 1 ? "time" : "times", r->fits ? "to get there" : "before");
    if (r->fits)
        text_add(out, "; vramsim replay --all tries other\n             settings, such as "
                      "expandable_segments:True");
    text_add(out, "\n");
}

static void write_verdict(const struct report *r, struct text *out) {
    const struct peaks *p = &r->peaks;
    bool is_caught = r->fits && r->caught > 0;
    if (r->fits && !p->has_device) { /* a recorded run on a device unknown */
        if (is_caught)
            add_times("  RAN OUT OF MEMORY ", r->caught, " and went on", out);
        else
            text_add(out, "  no request failed");
        text_add(out, "\n");
        return;
    }
    if (is_caught)
        add_times("  FINISHED, but ran out of memory ", r->caught, ", each caught", out);
    else
        text_add(out, r->fits ? "  FITS" : "  DOES NOT FIT");
    if (p->has_device && r->fits) {
        text_add(out, ": at most ");
        format_short(out, p->device_bytes);
        text_add(out, " of ");
        format_short(out, p->total_bytes);
        text_add(out, " in use, ");
        format_share(out, p->device_bytes, p->total_bytes);
    } else if (p->has_device) {
        text_add(out, " into ");
        format_short(out, p->total_bytes);
    }
    if (!r->fits && r->caught > 0)
        add_times("; ran out of memory ", r->caught, " before, each caught", out);
    text_add(out, "\n");
    if (r->oom)
        write_need(&r->run->need, r->fits, out);
    write_retries(r, out);
}

static void write_head(const struct report *r, uint32_t width, struct text *out) {
    const char *title = report_title(r);
    format_safe(out, *title ? title : "(no title)");
    text_add(out, "\n");
    add_fact("device", report_device_name(r), out);
    add_fact("framework", report_framework(r), out);
    const char *settings = r->run->alloc_settings ? r->run->alloc_settings
                                                  : timeline_text(r->tl, r->tl->alloc_settings);
    if (*settings || timeline_knows(r->tl, FIGURE_PLACEMENT)) /* poor sources do not tell */
        add_fact("allocator", *settings ? settings : "default settings", out);
    add_fact("source", timeline_text(r->tl, r->tl->source_kind), out);
    write_params(r, width, out);
    if (r->tl->warnings > 0) {
        text_format(out, "  warnings   %" PRIu32 " records skipped or repaired; the first: ",
                    r->tl->warnings);
        format_safe(out, timeline_text(r->tl, r->tl->first_warning));
        text_add(out, "\n");
    }
    write_verdict(r, out);
}

/* --- out of memory --- */

static void add_oom_bytes(const char *name, uint64_t bytes, struct text *out) {
    if (bytes == 0) /* unknown: a trace tells the rounded request only */
        return;
    text_format(out, "  %-24s", name);
    format_bytes(out, bytes);
    text_add(out, "\n");
}

static void add_oom_text(const char *name, const char *value, const char *none, struct text *out) {
    text_format(out, "  %-24s  ", name);
    format_safe(out, *value ? value : none);
    text_add(out, "\n");
}

static void write_oom(const struct report *r, struct text *out) {
    const struct timeline_oom *o = r->oom;
    text_add(out, "\nout of memory");
    if (r->fits && r->caught > 1)
        text_format(out, ", the first of %" PRIu32, r->caught);
    if (r->fits)
        text_add(out, ", caught,");
    text_format(out, " at event %" PRIu32 ", ", o->event);
    report_place(r->tl, r->device, o->event, out);
    text_add(out, ", t = ");
    format_time(out, peak_time_ns(r->tl, o->event));
    text_add(out, "\n");
    bool has_names = r->tl->has & TIMELINE_HAS_OWNER;
    add_oom_text("op", timeline_text(r->tl, o->op), has_names ? "outside any op" : "unknown", out);
    add_oom_text("for", timeline_text(r->tl, o->owner),
                 has_names ? "outside any module" : "unknown", out);
    add_oom_bytes("requested", o->requested_bytes, out);
    add_oom_bytes("rounded", o->rounded_bytes, out);
    add_oom_bytes("asked of the driver", o->segment_bytes, out);
    add_oom_bytes("free on the device", o->device_free_bytes, out);
    add_oom_bytes("short by", report_shortfall(o), out);
    add_oom_bytes("allocated then", o->allocated_bytes, out);
    add_oom_bytes("reserved then", o->reserved_bytes, out);
    if (o->message) {
        text_format(out, "  %-24s  ", "the framework says");
        format_safe_lines(out, timeline_text(r->tl, o->message), 28);
        text_add(out, "\n");
    }
}

/* --- the peak --- */

static void write_peak_row(const struct report *r, const char *name, const struct peak *p,
                           struct text *out) {
    size_t line = out->length;
    text_format(out, "  %s", name);
    format_pad(out, line, NAME_WIDTH);
    format_bytes(out, p->bytes);
    text_add(out, "   ");
    report_place(r->tl, r->device, p->event, out);
    if (p->event != TIMELINE_NONE) {
        text_format(out, ", event %" PRIu32 ", t = ", p->event);
        format_time(out, peak_time_ns(r->tl, p->event));
    }
    const char *op = peak_op(r->tl, p->event), *owner = peak_owner(r->tl, p->event);
    if (*op) {
        text_add(out, ", ");
        format_safe(out, op);
    }
    if (*owner) {
        text_add(out, " for ");
        format_safe(out, owner);
    }
    text_add(out, "\n");
}

static void write_bytes_row(const char *name, uint64_t bytes, const char *remark,
                            struct text *out) {
    size_t line = out->length;
    text_format(out, "  %s", name);
    format_pad(out, line, NAME_WIDTH);
    format_bytes(out, bytes);
    if (*remark)
        text_format(out, "   %s", remark);
    text_add(out, "\n");
}

static void write_figure(const struct report *r, enum timeline_figure figure, const char *name,
                         const struct peak *p, struct text *out) {
    if (timeline_knows(r->tl, figure))
        write_peak_row(r, name, p, out);
    else
        text_format(out, "  %-22s unknown to the source\n", name);
}

static void write_peaks(const struct report *r, struct text *out) {
    const struct peaks *p = &r->peaks;
    size_t line = out->length + 1;
    text_add(out, "\npeaks");
    format_pad(out, line, NAME_WIDTH);
    format_bytes_head(out);
    text_add(out, "   first reached in\n");
    if (timeline_knows(r->tl, FIGURE_DEVICE_USE))
        write_peak_row(r, "used of the device", &p->reserved, out);
    write_figure(r, FIGURE_ALLOCATED, "allocated", &p->allocated, out);
    write_figure(r, FIGURE_ACTIVE, "active", &p->active, out);
    write_figure(r, FIGURE_REQUESTED, "requested", &p->requested, out);
    write_figure(r, FIGURE_RESERVED, "reserved", &p->reserved, out);
    if (!p->has_device)
        return;
    if (!timeline_knows(r->tl, FIGURE_DEVICE_USE))
        write_bytes_row("context, libraries", p->context_bytes,
                        r->run->context_is_given
                            ? "outside the allocator (given with the device)"
                            : "outside the allocator (estimate of the device preset)",
                        out);
    if (!timeline_knows(r->tl, FIGURE_DEVICE_USE))
        write_bytes_row("device", p->device_bytes, "reserved + context", out);
    write_bytes_row("device total", p->total_bytes, "", out);
}

static void write_fragmentation(const struct report *r, struct text *out) {
    const struct fragmentation_pool *f = &r->fragmentation.all;
    if (timeline_knows(r->tl, FIGURE_DEVICE_USE))
        return;
    add_line(out, "\nat the peak of allocated");
    if (!r->fragmentation.is_known) {
        add_line(out, timeline_knows(r->tl, FIGURE_RESERVED)
                          ? "  unused, free blocks    unknown to the source"
                          : "  reserved               unknown to the source");
        return;
    }
    write_bytes_row("reserved", f->reserved_bytes, "", out);
    write_bytes_row("allocated", f->allocated_bytes, "", out);
    write_bytes_row("unused", f->reserved_bytes - f->allocated_bytes, "reserved - allocated", out);
    size_t line = out->length;
    text_add(out, "  not releasable");
    format_pad(out, line, NAME_WIDTH);
    format_bytes(out, f->inactive_split_bytes);
    text_format(out, "   in %" PRIu32 " free blocks beside live ones (fragmentation ",
                f->inactive_split_blocks);
    format_share(out, f->inactive_split_bytes, f->reserved_bytes);
    text_add(out, ")\n");
    write_bytes_row("largest free block", f->largest_free_bytes, "", out);
}

/* --- who holds it --- */

static void write_categories(const struct report *r, struct text *out) {
    uint64_t all = r->peaks.at_allocated.active;
    size_t line = out->length + 1;
    text_add(out, "\nheld by category");
    format_pad(out, line, NAME_WIDTH);
    format_bytes_head(out);
    text_add(out, "    share   highest of its own (requested)\n");
    if (!(r->tl->has & TIMELINE_HAS_CATEGORY)) {
        add_line(out, "  unknown to the source");
        return;
    }
    for (size_t c = 0; c < CATEGORY_COUNT; c++) {
        if (r->peaks.category[c].bytes == 0)
            continue;
        line = out->length;
        text_format(out, "  %s", category_english((enum category)c));
        format_pad(out, line, NAME_WIDTH);
        format_bytes(out, r->categories[c].bytes);
        size_t column = out->length;
        text_add(out, "   ");
        format_share(out, r->categories[c].bytes, all);
        format_pad(out, column, 12);
        format_short(out, r->peaks.category[c].bytes);
        text_add(out, ", ");
        report_place(r->tl, r->device, r->peaks.category[c].event, out);
        text_add(out, "\n");
    }
}

static const char *row_label(const struct report *r, const struct holder_row *row) {
    switch (row->kind) {
    case HOLDER_PATH:
        break;
    case HOLDER_ITSELF:
        return "(itself)";
    case HOLDER_OTHERS:
        return "(others)";
    case HOLDER_UNKNOWN:
        return "(no module)";
    }
    /* Below a parent the last part of the path says enough. */
    const char *path = holder_tree_path(&r->modules, row), *dot = strrchr(path, '.');
    return row->depth > 0 && dot ? dot : path;
}

static void write_modules(const struct report *r, struct text *out) {
    if (!(r->tl->has & TIMELINE_HAS_OWNER))
        return;
    size_t line = out->length + 1;
    text_add(out, "\nheld by module (* = all of its kind)");
    format_pad(out, line, 2 * NAME_WIDTH);
    format_bytes_head(out);
    text_add(out, "    share    blocks\n");
    for (size_t i = 0; i < r->modules.rows.count; i++) {
        const struct holder_row *row = &r->modules.rows.at[i];
        line = out->length;
        text_format(out, "%*s", (int)(2 + 2 * row->depth), "");
        format_safe_cut(out, row_label(r, row), 2 * NAME_WIDTH - 3 - 2 * row->depth);
        format_pad(out, line, 2 * NAME_WIDTH);
        format_bytes(out, row->sum.bytes);
        size_t column = out->length;
        text_add(out, "   ");
        format_share(out, row->sum.bytes, r->modules.total.bytes);
        format_pad(out, column, 12);
        text_format(out, "%6" PRIu32 "\n", row->sum.blocks);
    }
}

static void write_ops(const struct report *r, struct text *out) {
    bool is_unknown =
        r->ops.rows.count == 0 || (r->ops.rows.count == 1 && r->ops.rows.at[0].name == 0);
    if (is_unknown)
        return;
    size_t line = out->length + 1;
    text_add(out, r->ops_are_frames ? "\nheld by source line" : "\nheld by op that asked");
    format_pad(out, line, 2 * NAME_WIDTH);
    format_bytes_head(out);
    text_add(out, "    share    blocks\n");
    for (size_t i = 0; i < r->ops.rows.count; i++) {
        const struct holder_entry *e = &r->ops.rows.at[i];
        const char *name = e->is_others ? "(others)" : strtab_text(&r->ops.strings, e->name);
        line = out->length;
        text_add(out, "  ");
        const char *none = r->ops_are_frames ? "(no stack)" : "(outside any op)";
        format_safe_cut(out, *name ? name : none, 2 * NAME_WIDTH - 3);
        format_pad(out, line, 2 * NAME_WIDTH);
        format_bytes(out, e->sum.bytes);
        size_t column = out->length;
        text_add(out, "   ");
        format_share(out, e->sum.bytes, r->ops.total.bytes);
        format_pad(out, column, 12);
        text_format(out, "%6" PRIu32 "\n", e->sum.blocks);
    }
}

static void write_blocks(const struct report *r, struct text *out) {
    add_line(out, "\nlargest blocks");
    for (size_t i = 0; i < r->blocks.rows.count; i++) {
        const struct timeline_block *b = &r->tl->blocks.at[r->blocks.rows.at[i]];
        char grouped[UNITS_TEXT_BYTES];
        text_format(out, "  %18s B", units_format_grouped(b->requested_bytes, grouped));
        if (r->tl->has & TIMELINE_HAS_CATEGORY)
            text_format(out, "  %-17s", category_english((enum category)b->category));
        if (b->dtype != DTYPE_NONE)
            text_format(out, " %-5s", dtype_short_name((enum dtype)b->dtype));
        block_text_names(r->tl, b, out);
        text_add(out, "\n");
    }
}

/* --- steps --- */

static void write_step(const struct report *r, size_t index, struct text *out) {
    const struct step *s = &r->steps.rows.at[index];
    bool has_reserved = timeline_knows(r->tl, FIGURE_RESERVED);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    text_format(out, "  step %-4zu %18s %18s %18s   ", index + 1,
                units_format_grouped(s->allocated_peak, a),
                has_reserved ? units_format_grouped(s->reserved_peak, b) : "unknown",
                units_format_grouped(s->own_allocated_peak, c));
    if (s->own_peak_event == TIMELINE_NONE)
        text_add(out, "at its beginning");
    else
        report_place(r->tl, r->device, s->own_peak_event, out);
    text_add(out, s->is_complete ? "\n" : "   (not finished)\n");
}

static void write_steps(const struct report *r, struct text *out) {
    if (r->steps.rows.count == 0 || !timeline_knows(r->tl, FIGURE_ALLOCATED))
        return;
    text_format(out, "\n%-11s %18s %18s %18s   its own peak in\n", "steps", "allocated so far",
                "reserved so far", "allocated, own");
    for (size_t i = 0; i < r->steps.rows.count; i++)
        write_step(r, i, out);
}

/* What a scenario of one's own may have left out; a trace has its own names. */
static void write_hints(const struct report *r, struct text *out) {
    if (!(r->tl->has & TIMELINE_HAS_OWNER))
        return;
    bool is_named = false;
    for (size_t i = 0; i < r->modules.rows.count; i++)
        is_named |= r->modules.rows.at[i].kind != HOLDER_UNKNOWN;
    /* A run that was out of memory while its model was built did not get to the names. */
    bool is_built = r->fits || r->steps.rows.count > 0;
    if (!is_named && is_built && r->modules.rows.count > 0)
        add_line(out, "\nnote: no module has a name; nn.name(model) gives them theirs");
    const struct steps *steps = &r->steps;
    if (steps->rows.count > 0 && steps->rows.at[0].phase == TIMELINE_NONE)
        add_line(out,
                 "\nnote: steps are guessed from the phases; begin_step(i) says where they begin");
}

bool report_text(const struct report *report, const struct report_style *style, struct text *out,
                 struct error *err) {
    uint32_t width = style->width ? style->width : DEFAULT_WIDTH;
    write_head(report, width, out);
    const struct room_report *room = report->run->room;
    if (report->oom)
        write_oom(report, out);
    if (room && room_report_is_oom(room))
        room_report_text(room, out);
    if (style->chart_height > 0) {
        struct chart_term_options chart = {.device = report->device,
                                           .width = width,
                                           .height = style->chart_height,
                                           .has_colour = style->has_colour,
                                           .has_unicode = style->has_unicode,
                                           .by_time = style->by_time};
        text_add(out, "\n");
        if (!chart_term_write(report->tl, &chart, out, err))
            return false;
    }
    if (estimate_table_applies(report)) {
        text_add(out, "\n");
        estimate_table_write(report, out);
    } else if (report->run->note) {
        add_fact("note", report->run->note, out);
    }
    write_peaks(report, out);
    write_fragmentation(report, out);
    if (room && !room_report_is_oom(room))
        room_report_text(room, out);
    if (!timeline_knows(report->tl, FIGURE_DEVICE_USE)) {
        write_categories(report, out);
        write_modules(report, out);
        write_ops(report, out);
        write_blocks(report, out);
    }
    write_steps(report, out);
    write_hints(report, out);
    source_note(report->tl, out);
    return !out->failed || error_host_memory(err);
}
