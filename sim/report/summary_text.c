/* summary_text.c: the table of torch.cuda.memory_summary(), in its layout, row and column names.
 * Source: pytorch torch/cuda/memory.py, memory_summary (2.11 to 2.15: "GPU reserved memory" is the
 * same since 1.8): sizes are cut down by 1024 while the first row of a group is 768 Ki units or
 * more, counts by 1000 while 750,000 or more; divisions round down. */
#include <inttypes.h>

#include "report.h"
#include "text.h"

static const char line_double[] =
    "|===========================================================================|\n";
static const char line_single[] =
    "|---------------------------------------------------------------------------|\n";

/* `reference` is the value of the group's first row: it chooses the unit for all rows of the group.
 */
static void add_size(uint64_t value, uint64_t reference, struct text *out) {
    static const char *const units[] = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    double rest = (double)reference;
    while (unit + 1 < sizeof units / sizeof units[0] && rest >= 768.0 * 1024.0) {
        unit++;
        value /= 1024;
        rest /= 1024;
    }
    text_format(out, " %6" PRIu64 " %s |", value, units[unit]);
}

static void add_count(uint64_t value, uint64_t reference, struct text *out) {
    static const char *const units[] = {" ", "K", "M"};
    size_t unit = 0;
    double rest = (double)reference;
    while (unit + 1 < sizeof units / sizeof units[0] && rest >= 750.0 * 1000.0) {
        unit++;
        value /= 1000;
        rest /= 1000;
    }
    text_format(out, " %7" PRIu64 " %s  |", value, units[unit]);
}

typedef void add_value(uint64_t value, uint64_t reference, struct text *out);

static const struct {
    enum pool_metric metric;
    const char *name;
    add_value *add;
} groups[] = {
    {POOL_ALLOCATED_BYTES, "Allocated memory", add_size},
    {POOL_ACTIVE_BYTES, "Active memory", add_size},
    {POOL_REQUESTED_BYTES, "Requested memory", add_size},
    {POOL_RESERVED_BYTES, "GPU reserved memory", add_size},
    {POOL_INACTIVE_SPLIT_BYTES, "Non-releasable memory", add_size},
    {POOL_ALLOCATION, "Allocations", add_count},
    {POOL_ACTIVE, "Active allocs", add_count},
    {POOL_SEGMENT, "GPU reserved segments", add_count},
    {POOL_INACTIVE_SPLIT, "Non-releasable allocs", add_count},
};

static void write_row(const char *name, const struct pool_stat *s, const struct pool_stat *first,
                      bool is_known, add_value *add, struct text *out) {
    text_format(out, "| %-21s |", name);
    if (!is_known) {
        text_add(out, "          - |          - |          - |          - |\n");
        return;
    }
    add(s->current, first->current, out);
    add(s->peak, first->peak, out);
    add(s->allocated, first->allocated, out);
    add(s->freed, first->freed, out);
    text_add(out, "\n");
}

static void write_header(const struct report *r, struct text *out) {
    text_add(out, line_double);
    text_format(out, "|%18sPyTorch CUDA memory summary, device ID %-17u |\n", "",
                (unsigned)r->device);
    text_add(out, line_single);
    text_format(out, "|%12sCUDA OOMs: %-12" PRIu64 " | %6s cudaMalloc retries: ", "", r->pools.ooms,
                "");
    if (r->run->has_alloc_retries)
        text_format(out, "%-8" PRIu64 "  |\n", r->run->alloc_retries);
    else
        text_add(out, "unknown   |\n");
    text_add(out, line_double);
    text_add(out,
             "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n");
}

static bool is_known(const struct report *r, enum pool_metric metric) {
    bool is_split = metric == POOL_INACTIVE_SPLIT || metric == POOL_INACTIVE_SPLIT_BYTES;
    return !is_split || r->pools.has_inactive_split;
}

void report_summary(const struct report *report, struct text *out) {
    write_header(report, out);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        const struct pool_stat *s = report->pools.stat[groups[i].metric];
        bool known = is_known(report, groups[i].metric);
        text_add(out, line_single);
        write_row(groups[i].name, &s[POOL_ALL], &s[POOL_ALL], known, groups[i].add, out);
        write_row("      from large pool", &s[POOL_LARGE], &s[POOL_ALL], known, groups[i].add, out);
        write_row("      from small pool", &s[POOL_SMALL], &s[POOL_ALL], known, groups[i].add, out);
    }
    const struct pool_stat *oversize[] = {&report->pools.oversize_allocations,
                                          &report->pools.oversize_segments};
    static const char *const names[] = {"Oversize allocations", "Oversize GPU segments"};
    for (size_t i = 0; i < 2; i++) {
        text_add(out, line_single);
        write_row(names[i], oversize[i], oversize[i], true, add_count, out);
    }
    text_add(out, line_double);
}
