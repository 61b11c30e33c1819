/* ranks_report.c: see ranks_report.h. Keys of the JSON are part of the command line's contract. */
#include "ranks_report.h"

#include <inttypes.h>
#include <math.h>

#include "format.h"
#include "json_out.h"
#include "ranks.h"
#include "text.h"
#include "units.h"

static const struct {
    const char *head, *key, *words;
    int width;
} figures[RANK_FIGURES] = {
    [RANK_REQUESTS] = {"requests", "requests", "requests", 12},
    [RANK_ALLOCATED] = {"peak allocated", "peak_allocated_bytes", "peak allocated", 18},
    [RANK_RESERVED] = {"peak reserved", "peak_reserved_bytes", "peak reserved", 18},
    [RANK_OOMS] = {"out of memory", "out_of_memory", "times out of memory", 14},
};

static void add_figure(uint64_t value, bool is_known, int width, struct text *out) {
    char text[UNITS_TEXT_BYTES];
    text_format(out, " %*s", width, is_known ? units_format_grouped(value, text) : "unknown");
}

static void add_number(const struct rank *rank, struct text *out) {
    if (rank->number == UINT64_MAX)
        text_format(out, "%6s", "-");
    else
        text_format(out, "%6" PRIu64, rank->number);
}

static void add_row(const struct rank *rank, const char *file, struct text *out) {
    text_add(out, rank_is_odd(rank) ? "*" : " ");
    add_number(rank, out);
    text_format(out, " %7u", rank->device);
    for (int f = 0; f < RANK_FIGURES; f++)
        add_figure(rank->figures[f], rank->known[f], figures[f].width, out);
    text_add(out, "  ");
    format_safe(out, file);
    text_add(out, "\n");
}

static void add_oddity(const struct ranks *ranks, const struct rank *rank, enum rank_figure f,
                       struct text *out) {
    uint64_t is = rank->figures[f], middle = ranks->middle[f];
    char text[UNITS_TEXT_BYTES];
    text_format(out, "%s%s %s", is > middle ? "+" : "-",
                units_format_grouped(is > middle ? is - middle : middle - is, text),
                figures[f].words);
    double difference = rank_difference(ranks, rank, f);
    if (isfinite(difference) && (f == RANK_ALLOCATED || f == RANK_RESERVED))
        text_format(out, " (%+.2f %%)", 100 * difference);
}

static void add_oddities(const struct ranks *ranks, const struct rank *rank, const char *file,
                         struct text *out) {
    text_add(out, "  rank");
    add_number(rank, out);
    text_add(out, "  ");
    bool is_first = true;
    for (int f = 0; f < RANK_FIGURES; f++) {
        if (!rank->odd[f])
            continue;
        text_add(out, is_first ? "" : ", ");
        add_oddity(ranks, rank, (enum rank_figure)f, out);
        is_first = false;
    }
    text_add(out, "  ");
    format_safe(out, file);
    text_add(out, "\n");
}

static size_t count_odd(const struct ranks *ranks) {
    size_t odd = 0;
    for (size_t i = 0; i < ranks->list.count; i++)
        odd += rank_is_odd(&ranks->list.at[i]);
    return odd;
}

void ranks_report_text(const struct ranks *ranks, const char *const *files, struct text *out) {
    text_format(out, "%zu ranks of a run\n%7s %7s", ranks->list.count, "rank", "device");
    for (int f = 0; f < RANK_FIGURES; f++)
        text_format(out, " %*s", figures[f].width, figures[f].head);
    text_add(out, "  file\n");
    for (size_t i = 0; i < ranks->list.count; i++)
        add_row(&ranks->list.at[i], files[ranks->list.at[i].file], out);
    text_format(out, "%15s", "middle");
    for (int f = 0; f < RANK_FIGURES; f++)
        add_figure(ranks->middle[f], ranks->has_middle[f], figures[f].width, out);
    text_add(out, "\n");
    if (count_odd(ranks) == 0) {
        text_add(out, "none is odd\n");
        return;
    }
    text_add(out, "odd (*): beside the middle by a request, or a hundredth of a peak\n");
    for (size_t i = 0; i < ranks->list.count; i++)
        if (rank_is_odd(&ranks->list.at[i]))
            add_oddities(ranks, &ranks->list.at[i], files[ranks->list.at[i].file], out);
}

static void json_figure(struct json *j, int figure, bool is_known, uint64_t value) {
    if (is_known)
        json_u64(j, figures[figure].key, value);
    else
        json_null(j, figures[figure].key);
}

static void json_rank(struct json *j, const struct rank *rank, const char *file) {
    json_object(j, NULL);
    json_text(j, "file", file);
    if (rank->number == UINT64_MAX)
        json_null(j, "rank");
    else
        json_u64(j, "rank", rank->number);
    json_u64(j, "device", rank->device);
    for (int f = 0; f < RANK_FIGURES; f++)
        json_figure(j, f, rank->known[f], rank->figures[f]);
    json_array(j, "odd");
    for (int f = 0; f < RANK_FIGURES; f++)
        if (rank->odd[f])
            json_text(j, NULL, figures[f].key);
    json_end(j);
    json_end(j);
}

void ranks_report_json(const struct ranks *ranks, const char *const *files, struct text *out) {
    struct json j;
    json_begin(&j, out);
    json_object(&j, NULL);
    json_array(&j, "ranks");
    for (size_t i = 0; i < ranks->list.count; i++)
        json_rank(&j, &ranks->list.at[i], files[ranks->list.at[i].file]);
    json_end(&j);
    json_object(&j, "middle");
    for (int f = 0; f < RANK_FIGURES; f++)
        json_figure(&j, f, ranks->has_middle[f], ranks->middle[f]);
    json_end(&j);
    json_end(&j);
    json_finish(&j);
}
