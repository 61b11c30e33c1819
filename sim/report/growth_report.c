/* growth_report.c: see growth_report.h. */
#include "growth_report.h"

#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "error.h"
#include "format.h"
#include "json_out.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

enum { ROWS_SHOWN = 12, NAME_WIDTH = 52 };

static bool match_requests(struct growth_report *r, uint8_t device, struct error *err) {
    struct comparison c;
    if (!compare_find(r->pair.side[1].tl, device, r->pair.side[0].tl, device, &c, err))
        return false;
    r->requests_in_both = c.alignment.matched;
    r->requests_only[0] = c.requests_real - c.alignment.matched;
    r->requests_only[1] = c.requests_simulated - c.alignment.matched;
    compare_fini(&c);
    return true;
}

static bool both_know(const struct timeline *const tl[PAIR_SIDES], enum timeline_figure figure) {
    return timeline_knows(tl[0], figure) && timeline_knows(tl[1], figure);
}

bool growth_report_init(struct growth_report *r, uint8_t device,
                        const struct pair_side sides[PAIR_SIDES], struct growth_limit limit,
                        struct error *err) {
    const struct timeline *const timelines[] = {sides[0].tl, sides[1].tl};
    memset(r, 0, sizeof *r);
    r->limit = limit;
    r->has_allocated = both_know(timelines, FIGURE_ALLOCATED);
    r->is_device_use = both_know(timelines, FIGURE_DEVICE_USE);
    r->has_reserved = r->is_device_use || both_know(timelines, FIGURE_RESERVED);
    return pair_report_init(&r->pair, device, sides, err) &&
           growth_find(timelines, device, &r->growth, err) && match_requests(r, device, err);
}

void growth_report_fini(struct growth_report *r) {
    pair_report_fini(&r->pair);
    growth_fini(&r->growth);
}

/* --- the verdict --- */

static bool is_above(const struct growth_report *r, uint64_t was, uint64_t is) {
    double share = (double)was * r->limit.share, bytes = (double)r->limit.bytes;
    return is > was && (double)(is - was) > (share > bytes ? share : bytes);
}

bool growth_report_is_over(const struct growth_report *r) {
    const struct pair_side *a = &r->pair.side[0], *b = &r->pair.side[1];
    return (r->has_allocated && is_above(r, a->peaks.allocated.bytes, b->peaks.allocated.bytes)) ||
           (r->has_reserved && is_above(r, a->peaks.reserved.bytes, b->peaks.reserved.bytes)) ||
           b->ooms.count > a->ooms.count;
}

/* --- text --- */

static void add_change(uint64_t was, uint64_t is, struct text *out) {
    char text[UNITS_TEXT_BYTES];
    text_format(out, "   %s%s\n", is > was ? "+" : "-",
                units_format_bytes(is > was ? is - was : was - is, text));
}

static void add_row(const struct growth *g, const struct growth_rows *rows,
                    const struct growth_row *row, struct text *out) {
    char text[UNITS_TEXT_BYTES];
    const char *phase = strtab_text(&g->strings, row->phase);
    const char *place = strtab_text(&g->strings, row->place);
    struct text name = {0};
    text_format(&name, "%s%s%s", phase, *phase && *place ? ": " : "", place);
    if (name.length == 0)
        text_add(&name, rows == &g->phases ? "(outside any phase)" : "(not told)");
    size_t begin = out->length;
    text_add(out, "  ");
    format_safe_cut(out, text_get(&name), NAME_WIDTH);
    out->failed = out->failed || name.failed;
    text_fini(&name);
    format_pad(out, begin, NAME_WIDTH + 3);
    for (size_t i = 0; i < GROWTH_SIDES; i++)
        text_format(out, " %18s",
                    row->value.count[i] > 0 ? units_format_grouped(row->value.bytes[i], text)
                                            : "-");
    add_change(row->value.bytes[0], row->value.bytes[1], out);
}

/* The rows that differ, the largest differences; how many there are beside. */
static void write_rows(const struct growth_report *r, const struct growth_rows *rows,
                       const char *head, struct text *out) {
    size_t different = 0;
    while (different < rows->list.count &&
           rows->list.at[different].value.bytes[0] != rows->list.at[different].value.bytes[1])
        different++;
    text_format(out, "\n%s: ", head);
    if (different == 0) {
        text_format(out, "no difference in %zu rows\n", rows->list.count);
        return;
    }
    text_format(out, "%zu of %zu rows differ\n", different, rows->list.count);
    text_format(out, "%*s %18s %18s   difference\n", NAME_WIDTH + 3, "", r->pair.side[0].name,
                r->pair.side[1].name);
    for (size_t i = 0; i < different && i < ROWS_SHOWN; i++)
        add_row(&r->growth, rows, &rows->list.at[i], out);
    if (different > ROWS_SHOWN)
        text_format(out, "  and %zu more\n", different - ROWS_SHOWN);
}

static void add_step(const char *name, uint64_t was, uint64_t is, struct text *out) {
    char text[UNITS_TEXT_BYTES];
    text_format(out, "%s%s", name, units_format_bytes(was, text));
    text_format(out, " -> %s", units_format_bytes(is, text));
}

static void write_verdict(const struct growth_report *r, struct text *out) {
    const struct pair_side *a = &r->pair.side[0], *b = &r->pair.side[1];
    bool is_over = growth_report_is_over(r);
    text_add(out, is_over ? "GREW" : "WITHIN");
    if (r->has_allocated)
        add_step(": peak allocated ", a->peaks.allocated.bytes, b->peaks.allocated.bytes, out);
    else
        text_add(out, r->has_reserved ? ": peak" : ": no figure that both tell");
    if (r->has_reserved)
        add_step(r->is_device_use ? " used of the device " : ", reserved ", a->peaks.reserved.bytes,
                 b->peaks.reserved.bytes, out);
    if (r->limit.bytes > 0) {
        char text[UNITS_TEXT_BYTES];
        text_format(out, "; tolerance %s", units_format_bytes(r->limit.bytes, text));
    } else {
        text_format(out, "; tolerance %g %%", r->limit.share * 100);
    }
    text_add(out, "\n");
}

static const char *place_word(const struct growth *g) {
    static const char *const words[] = {"module", "source (function and file)", "op", "nothing"};
    return words[g->place];
}

void growth_report_text(const struct growth_report *r, uint32_t width, uint32_t chart_height,
                        struct text *out) {
    struct text head = {0};
    write_verdict(r, out);
    pair_report_text(&r->pair, width, chart_height, out);
    text_format(out,
                "\nrequests: %" PRIu64 " of one size and stream in both, %" PRIu64
                " only in %s, %" PRIu64 " only in %s\n",
                r->requests_in_both, r->requests_only[0], r->pair.side[0].name, r->requests_only[1],
                r->pair.side[1].name);
    write_rows(r, &r->growth.phases, "highest allocated in each phase", out);
    if (r->growth.place == GROWTH_BY_NOTHING) {
        text_add(out, "\nwho asks and who holds is not compared: one of the two does not tell\n");
        return;
    }
    text_format(&head, "live at the two peaks of allocated, by %s", place_word(&r->growth));
    write_rows(r, &r->growth.at_peaks, text_get(&head), out);
    text_fini(&head);
    text_format(&head, "asked for in all, by phase and %s", place_word(&r->growth));
    write_rows(r, &r->growth.asked, text_get(&head), out);
    text_fini(&head);
}

/* --- JSON --- */

static void json_rows(const struct growth_report *r, const struct growth_rows *rows,
                      const char *key, struct json *j) {
    static const char *const bytes[] = {"bytes_a", "bytes_b"}, *const counts[] = {"count_a",
                                                                                  "count_b"};
    json_array(j, key);
    for (size_t i = 0; i < rows->list.count; i++) {
        const struct growth_row *row = &rows->list.at[i];
        json_object(j, NULL);
        if (rows != &r->growth.at_peaks)
            json_text(j, "phase", strtab_text(&r->growth.strings, row->phase));
        if (rows != &r->growth.phases)
            json_text(j, "place", strtab_text(&r->growth.strings, row->place));
        for (size_t k = 0; k < GROWTH_SIDES; k++) {
            json_u64(j, bytes[k], row->value.bytes[k]);
            json_u64(j, counts[k], row->value.count[k]);
        }
        json_end(j);
    }
    json_end(j);
}

void growth_report_json(const struct growth_report *r, struct json *j) {
    json_bool(j, "over_tolerance", growth_report_is_over(r));
    pair_report_json(&r->pair, j);
    json_u64(j, "requests_in_both", r->requests_in_both);
    json_u64(j, "requests_only_a", r->requests_only[0]);
    json_u64(j, "requests_only_b", r->requests_only[1]);
    json_text(j, "places", place_word(&r->growth));
    json_rows(r, &r->growth.phases, "phases", j);
    json_rows(r, &r->growth.at_peaks, "at_peaks", j);
    json_rows(r, &r->growth.asked, "asked", j);
}
