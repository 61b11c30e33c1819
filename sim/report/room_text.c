/* room_text.c: see room_report.h; the form for people. */
#include <inttypes.h>

#include "block_text.h"
#include "format.h"
#include "report.h"
#include "room_report.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

enum { NAME_WIDTH = 22, SEGMENTS_SHOWN = 8, BLOCKS_SHOWN = 4, WAY_BLOCKS_SHOWN = 12 };

static void add_row(const char *name, uint64_t bytes, const char *remark, struct text *out) {
    size_t line = out->length;
    text_format(out, "  %s", name);
    format_pad(out, line, NAME_WIDTH);
    format_bytes(out, bytes);
    text_format(out, "%s%s\n", *remark ? "   " : "", remark);
}

static void write_head(const struct room_report *r, struct text *out) {
    text_add(out, "\nfragmentation ");
    if (r->options.event == TIMELINE_NONE) {
        text_add(out, "before the first event");
    } else {
        text_format(out, "at event %" PRIu32 ", ", r->options.event);
        report_place(r->tl, r->options.device, r->options.event, out);
    }
    if (r->options.where)
        text_format(out, " (%s)", r->options.where);
    text_add(out, "\n");
}

static void write_sums(const struct room_report *r, struct text *out) {
    const struct fragmentation_pool *f = &r->fragmentation.all;
    add_row("reserved", f->reserved_bytes, "", out);
    add_row("in live blocks", f->active_bytes, "", out);
    add_row("free", f->free_bytes, "", out);
    add_row("  idle", r->pinning.idle_bytes,
            "whole segments and pages: empty_cache or a retry gives them back", out);
    uint64_t kept =
        f->free_bytes > r->pinning.idle_bytes ? f->free_bytes - r->pinning.idle_bytes : 0;
    add_row("  kept by live blocks", kept, "free, but in segments or pages with live ones", out);
    add_row("largest request", r->room.cached_bytes, "that a free block serves now", out);
    if (r->room.has_new)
        add_row("", r->room.new_bytes, "that new memory serves, once idle memory is given back",
                out);
}

/* --- segments --- */

static const struct timeline_block *block_at(const struct room_report *r, uint32_t index) {
    return &r->tl->blocks.at[r->pinning.placement.blocks.at[index]];
}

static void write_block(const struct room_report *r, const struct timeline_block *b,
                        const char *indent, struct text *out) {
    char bytes[UNITS_TEXT_BYTES];
    text_format(out, "%s%12s", indent, units_format_bytes(b->block_bytes, bytes));
    if (r->tl->has & TIMELINE_HAS_CATEGORY)
        text_format(out, "  %-17s", category_english((enum category)b->category));
    block_text_names(r->tl, b, out);
    text_add(out, "  ");
    block_text_until(r->tl, b, out);
    text_add(out, "\n");
}

static void write_pin(const struct room_report *r, const struct pin *pin, struct text *out) {
    const struct placement_range *range = &r->pinning.placement.ranges.at[pin->range];
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    text_format(out, "  0x%012" PRIx64 " %-6s %12s %12s %12s %7" PRIu32 "   ", range->address,
                range->is_expandable ? "mapped"
                : range->is_small    ? "small"
                                     : "large",
                units_format_bytes(range->bytes, a), units_format_bytes(pin->free_bytes, b),
                units_format_bytes(pin->live_bytes, c), pin->blocks);
    if (pin->go_blocks == 0)
        text_add(out, pinning_is_private(r->tl, range) ? "only with its private pool" : "nothing");
    else
        text_format(out, "%s, when %s in %" PRIu32 " %s", units_format_bytes(pin->gain_bytes, a),
                    units_format_bytes(pin->go_bytes, b), pin->go_blocks,
                    pin->go_blocks == 1 ? "block goes" : "blocks go");
    text_add(out, "\n");
}

static void write_pin_blocks(const struct room_report *r, const struct pin *pin, struct text *out) {
    for (uint32_t i = 0; i < pin->go_blocks && i < BLOCKS_SHOWN; i++)
        write_block(r, block_at(r, pin->go_first + i), "      ", out);
    if (pin->go_blocks > BLOCKS_SHOWN)
        text_format(out, "      and %" PRIu32 " more\n", pin->go_blocks - BLOCKS_SHOWN);
}

static void write_segments(const struct room_report *r, struct text *out) {
    size_t count = r->pinning.pins.count;
    if (count == 0)
        return;
    text_format(out, "segments that live blocks keep: %zu%s\n", count,
                count > SEGMENTS_SHOWN ? ", those with the most free memory" : "");
    text_format(out, "  %-14s %-6s %12s %12s %12s %7s   %s\n", "at", "kind", "bytes", "free",
                "live", "blocks", "gives back");
    for (size_t i = 0; i < count && i < SEGMENTS_SHOWN; i++) {
        write_pin(r, &r->pinning.pins.at[i], out);
        write_pin_blocks(r, &r->pinning.pins.at[i], out);
    }
    const struct pin *cheapest = pinning_cheapest(&r->pinning);
    if (!cheapest || cheapest < r->pinning.pins.at + SEGMENTS_SHOWN)
        return;
    text_add(out, "the cheapest to release\n");
    write_pin(r, cheapest, out);
    write_pin_blocks(r, cheapest, out);
}

/* --- a request --- */

static void write_way(const struct room_report *r, const struct room_way *way, const char *how,
                      struct text *out) {
    if (!way->is_possible)
        return;
    text_format(out, "  %s: ", how);
    format_short(out, way->bytes);
    text_format(out, " in %zu %s%s\n", way->blocks.count,
                way->blocks.count == 1 ? "block must go" : "blocks must go",
                way->is_exact ? "" : ", or somewhat less");
    for (size_t i = 0; i < way->blocks.count && i < WAY_BLOCKS_SHOWN; i++)
        write_block(r, &r->tl->blocks.at[way->blocks.at[i]], "    ", out);
    if (way->blocks.count > WAY_BLOCKS_SHOWN)
        text_format(out, "    and %zu more\n", way->blocks.count - WAY_BLOCKS_SHOWN);
}

static void write_request(const struct room_report *r, struct text *out) {
    const struct room *room = &r->room;
    const struct room_way *best = room_best(room);
    if (room->bytes == 0)
        return;
    text_add(out, "a request of ");
    format_short(out, room->bytes);
    if (!best) {
        text_add(out, room->has_new ? ": not even if every block went\n"
                                    : ": no free block could be made for it, and what the device "
                                      "has free is not known: vramsim replay FILE --device NAME "
                                      "has it\n");
        return;
    }
    if (best->blocks.count == 0) {
        text_add(out, room->in_place.is_possible && room->in_place.blocks.count == 0
                          ? ": a free block serves it\n"
                          : ": new memory serves it, once idle memory is given back\n");
        return;
    }
    text_add(out, room->has_new ? ": not served\n"
                                : ": no free block serves it; what the device has free is not "
                                  "known: vramsim replay FILE --device NAME has it\n");
    write_way(r, &room->in_place, "in place, neighbours that leave a free block large enough", out);
    write_way(r, &room->by_driver, "new memory, segments or pages that are given back", out);
}

void room_report_text(const struct room_report *report, struct text *out) {
    write_head(report, out);
    if (!report->pinning.is_known) {
        text_add(out, "  unknown: the source tells no addresses and segments\n");
        return;
    }
    write_sums(report, out);
    if (!report->options.is_brief)
        write_segments(report, out);
    write_request(report, out);
}
