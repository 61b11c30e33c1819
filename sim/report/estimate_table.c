/* estimate_table.c: see estimate_table.h. A row's figure is the highest requested bytes of its bands,
 * wherever in the run that is: so the rows need not coincide, and their sum is no peak. */
#include "estimate_table.h"

#include <string.h>

#include "format.h"
#include "report.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

enum { BANDS_A_ROW = 3 };

/* The usual estimate of a training step of LLaMA-7B (16 bits, Adam, batch 1, sequence 2048), from
 * 7e9 parameters; `exact` is the arithmetic from the shapes: 6,738,415,616 parameters of 2 bytes,
 * two moments, 32 * hidden * sequence * layers bytes of activations. 0: depends on the
 * implementation. */
static const char estimate_name[] = "llama7b";

static const struct row {
    const char *name, *estimate;
    uint64_t exact;
    uint8_t bands[BANDS_A_ROW];
    uint8_t band_count;
    bool is_always_shown;
} rows[] = {
    {"parameters", "14 GB", UINT64_C(13476831232), {CATEGORY_PARAMETER}, 1, true},
    {"gradients", "14 GB", UINT64_C(13476831232), {CATEGORY_GRADIENT}, 1, true},
    {"optimizer states", "28 GB", UINT64_C(26953662464), {CATEGORY_OPTIMIZER}, 1, true},
    {"activations", "8 to 12 GB", UINT64_C(8589934592), {CATEGORY_ACTIVATION}, 1, true},
    {"temporary buffers", "2 to 4 GB", 0, {CATEGORY_TEMPORARY, CATEGORY_WORKSPACE}, 2, true},
    {"inputs", "-", 0, {CATEGORY_INPUT}, 1, true},
    {"KV cache", "-", 0, {CATEGORY_KV_CACHE}, 1, false},
    {"communication", "-", 0, {CATEGORY_COMMUNICATION}, 1, false},
    {"unknown", "-", 0, {CATEGORY_UNKNOWN}, 1, false},
};

enum {
    ROW_COUNT = sizeof rows / sizeof rows[0],
    NAME_WIDTH = 20,
    ESTIMATE_WIDTH = 14,
    EXACT_WIDTH = 18
};

/* The parameter of the run that decides a band: its value and the words behind it, or words for
 * true and false. */
static const struct variant {
    const char *param, *words, *if_false;
} variants[CATEGORY_COUNT] = {
    [CATEGORY_GRADIENT] = {"set_to_none", "freed after the step (set_to_none)",
                           "kept and zeroed after the step"},
    [CATEGORY_OPTIMIZER] = {"optimizer", "", NULL},
    [CATEGORY_ACTIVATION] = {"attention", " attention", NULL},
    [CATEGORY_TEMPORARY] = {"optimizer_impl", " optimizer; library workspaces are in this row",
                            NULL},
};

/* The row of activations by implementation, in GB: what autograd saves in 32 layers of the shape
 * above. */
static const struct {
    const char *name;
    double gb;
} activation_variants[] = {
    {"fused RMSNorm, flash attention, fused SwiGLU", 8.63},
    {"fused RMSNorm, flash attention", 10.08},
    {"Hugging Face modules, SDPA", 12.22},
    {"Hugging Face modules, eager attention (outside the estimate's range)", 37.98},
};

static bool has_estimate(const struct report *r) {
    return r->run->estimate && strcmp(r->run->estimate, estimate_name) == 0;
}

bool estimate_table_applies(const struct report *report) {
    return report->peaks.category[CATEGORY_GRADIENT].bytes > 0 ||
           report->peaks.category[CATEGORY_OPTIMIZER].bytes > 0;
}

/* The maxima of two bands need not coincide either; their sum is an upper bound that is near for
 * what they hold. */
static uint64_t row_bytes(const struct report *r, const struct row *row) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < row->band_count; i++)
        bytes += r->peaks.category[row->bands[i]].bytes;
    return bytes;
}

static uint64_t row_bytes_at_peak(const struct report *r, const struct row *row) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < row->band_count; i++)
        bytes += r->peaks.requested_at_allocated[row->bands[i]];
    return bytes;
}

static bool is_shown(const struct report *r, const struct row *row) {
    return row->is_always_shown || row_bytes(r, row) > 0;
}

/* The element type that most bytes of a band were asked in; DTYPE_NONE: unknown. */
static enum dtype main_dtype(const struct report *r, enum category band) {
    uint64_t bytes[DTYPE_COUNT] = {0};
    enum dtype best = DTYPE_NONE;
    for (size_t i = 0; i < r->tl->blocks.count; i++) {
        const struct timeline_block *b = &r->tl->blocks.at[i];
        if (b->category == band && b->device == r->device && b->dtype != DTYPE_NONE)
            bytes[b->dtype] += b->requested_bytes;
    }
    for (int d = 0; d < DTYPE_COUNT; d++)
        if (bytes[d] > bytes[best])
            best = (enum dtype)d;
    return best;
}

static void add_comma(size_t begin, struct text *out) {
    if (out->length > begin)
        text_add(out, ", ");
}

/* What decides a row, as the run has it. */
static void add_variant(const struct report *r, const struct row *row, struct text *out) {
    size_t begin = out->length;
    enum dtype dtype = main_dtype(r, (enum category)row->bands[0]);
    if (dtype != DTYPE_NONE && row->bands[0] != CATEGORY_TEMPORARY)
        text_add(out, dtype_short_name(dtype));
    const struct variant *v = &variants[row->bands[0]];
    const char *value = v->param ? report_param(r->run, v->param) : NULL;
    if (!value)
        return;
    add_comma(begin, out);
    if (v->if_false) {
        text_add(out, strcmp(value, "false") == 0 ? v->if_false : v->words);
        return;
    }
    format_safe(out, value);
    text_add(out, v->words);
}

static void add_exact(uint64_t exact, struct text *out) {
    char grouped[UNITS_TEXT_BYTES];
    text_format(out, "%*s  ", EXACT_WIDTH,
                exact ? units_format_grouped(exact, grouped) : "depends");
}

static void write_head(const struct report *r, struct text *out) {
    text_add(
        out,
        has_estimate(r)
            ? "textbook estimate beside the exact bytes (highest requested bytes of each row)\n"
            : "training memory by row (highest requested bytes of each row)\n");
    size_t line = out->length;
    text_add(out, "  row");
    format_pad(out, line, NAME_WIDTH);
    if (has_estimate(r))
        text_format(out, "%*s%*s  ", ESTIMATE_WIDTH, "textbook", EXACT_WIDTH, "exact bytes");
    format_bytes_head(out);
    text_add(out, "   this run\n");
}

static void write_row(const struct report *r, const struct row *row, struct text *out) {
    size_t line = out->length;
    text_format(out, "  %s", row->name);
    format_pad(out, line, NAME_WIDTH);
    if (has_estimate(r)) {
        text_format(out, "%*s", ESTIMATE_WIDTH, row->estimate);
        if (strcmp(row->estimate, "-") != 0)
            add_exact(row->exact, out);
        else
            text_format(out, "%*s  ", EXACT_WIDTH, "-");
    }
    format_bytes(out, row_bytes(r, row));
    text_add(out, "   ");
    add_variant(r, row, out);
    while (out->length > 0 && out->at[out->length - 1] == ' ')
        out->at[--out->length] = '\0';
    text_add(out, "\n");
}

static void write_total(const struct report *r, uint64_t sum, struct text *out) {
    size_t line = out->length;
    text_add(out, "  sum of the rows");
    format_pad(out, line, NAME_WIDTH);
    if (has_estimate(r))
        text_format(out, "%*s%*s  ", ESTIMATE_WIDTH, "66 to 72 GB", EXACT_WIDTH, "64.5 to 70.1 GB");
    format_bytes(out, sum);
    text_add(out, "\n");
    line = out->length;
    text_add(out, "  simulated peak");
    format_pad(out, line, NAME_WIDTH);
    if (has_estimate(r))
        text_format(out, "%*s", ESTIMATE_WIDTH + EXACT_WIDTH + 2, "");
    format_bytes(out, r->peaks.requested.bytes);
    text_add(out, "   requested; allocated ");
    format_short(out, r->peaks.allocated.bytes);
    text_add(out, "\n");
}

/* A row whose highest is elsewhere than the peak: where, and what is left of it at the peak. */
static void write_absence(const struct report *r, const struct row *row, struct text *out) {
    uint64_t most = row_bytes(r, row), there = row_bytes_at_peak(r, row);
    size_t line = out->length;
    text_format(out, "    %s", row->name);
    format_pad(out, line, NAME_WIDTH + 4);
    text_add(out, "highest ");
    format_short(out, most);
    text_add(out, " in ");
    report_place(r->tl, r->device, r->peaks.category[row->bands[0]].event, out);
    text_add(out, there ? "; at the peak " : "; none at the peak\n");
    if (!there)
        return;
    format_short(out, there);
    text_add(out, "\n");
}

static void write_reason(const struct report *r, uint64_t sum, struct text *out) {
    if (sum <= r->peaks.requested.bytes) {
        text_add(out, "  The rows reach their highest together: their sum is the peak.\n");
        return;
    }
    text_add(out, "  The sum is no peak: the rows do not reach their highest at the same time. The "
                  "peak is in ");
    report_place(r->tl, r->device, r->peaks.allocated.event, out);
    text_add(out, ", where\n");
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (row_bytes(r, &rows[i]) > row_bytes_at_peak(r, &rows[i]))
            write_absence(r, &rows[i], out);
}

static void write_activation_variants(struct text *out) {
    text_add(out, "  activations by implementation:\n");
    for (size_t i = 0; i < sizeof activation_variants / sizeof activation_variants[0]; i++)
        text_format(out, "    %6.2f GB  %s\n", activation_variants[i].gb,
                    activation_variants[i].name);
}

void estimate_table_write(const struct report *report, struct text *out) {
    uint64_t sum = 0;
    write_head(report, out);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!is_shown(report, &rows[i]))
            continue;
        write_row(report, &rows[i], out);
        sum += row_bytes(report, &rows[i]);
    }
    write_total(report, sum, out);
    write_reason(report, sum, out);
    if (has_estimate(report))
        write_activation_variants(out);
    if (report->run->note) {
        text_add(out, "  ");
        format_safe(out, report->run->note);
        text_add(out, "\n");
    }
}
