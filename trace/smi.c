/* smi.c: the importer of samples of a device's memory as comma separated values, as
 *
 *   nvidia-smi --query-gpu=timestamp,index,name,memory.used,memory.total --format=csv -l 1
 *
 * and scripts around NVML write them: a head that names the columns, then one row a sample and
 * device. Columns are found by name, in any order, others are skipped. Without a head
 * (--format=csv,noheader) they are told by what stands in them, as far as it tells: a size has its
 * unit, a date its form.
 *
 * Source: nvidia-smi --help-query-gpu (driver 550); a unit stands in the head, "[MiB]", and behind
 * each value unless nounits was asked for. */
#include <stdio.h>
#include <string.h>

#include "checked.h"
#include "error.h"
#include "importer.h"
#include "probe.h"
#include "smi_samples.h"
#include "smi_time.h"

enum column { COLUMN_TIME, COLUMN_DEVICE, COLUMN_NAME, COLUMN_USED, COLUMN_TOTAL, COLUMN_COUNT };

/* In order of preference. */
static const struct {
    const char *name;
    enum column column;
} column_names[] = {
    {"timestamp", COLUMN_TIME},    {"time", COLUMN_TIME},          {"index", COLUMN_DEVICE},
    {"gpu_index", COLUMN_DEVICE},  {"uuid", COLUMN_DEVICE},        {"gpu_uuid", COLUMN_DEVICE},
    {"pci.bus_id", COLUMN_DEVICE}, {"name", COLUMN_NAME},          {"gpu_name", COLUMN_NAME},
    {"memory.used", COLUMN_USED},  {"memory.total", COLUMN_TOTAL},
};
enum { COLUMN_NAMES = sizeof column_names / sizeof column_names[0], NO_FIELD = UINT8_MAX };
enum { MOST_FIELDS = 200 };

struct reader {
    struct smi_samples to;
    uint8_t fields[COLUMN_COUNT]; /* column -> its place; NO_FIELD */
    uint64_t units[COLUMN_COUNT]; /* bytes, of a value that says none */
    struct smi_field row[MOST_FIELDS];
    size_t row_count;
    bool is_headless;
};

/* --- lines --- */

static struct smi_field trim(const char *at, size_t length) {
    while (length > 0 && (*at == ' ' || *at == '\t' || *at == '"')) {
        at++;
        length--;
    }
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\r' ||
                          at[length - 1] == '\t' || at[length - 1] == '"'))
        length--;
    return (struct smi_field){at, length};
}

static void split(struct reader *r, const char *line, size_t length) {
    r->row_count = 0;
    size_t from = 0;
    for (size_t i = 0; i <= length && r->row_count < MOST_FIELDS; i++) {
        if (i < length && line[i] != ',')
            continue;
        r->row[r->row_count++] = trim(line + from, i - from);
        from = i + 1;
    }
}

static bool is_text(struct smi_field f, const char *text) {
    return f.length == strlen(text) && memcmp(f.at, text, f.length) == 0;
}

static uint64_t find_unit(struct smi_field f) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"B", 1},
                 {"bytes", 1},
                 {"KiB", UINT64_C(1) << 10},
                 {"MiB", UINT64_C(1) << 20},
                 {"GiB", UINT64_C(1) << 30}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (is_text(f, units[i].name))
            return units[i].bytes;
    return 0;
}

/* --- the head --- */

/* "memory.used [MiB]" */
static struct smi_field split_unit(struct smi_field f, struct smi_field *unit) {
    const char *open = memchr(f.at, '[', f.length);
    *unit = (struct smi_field){0};
    if (!open || f.at[f.length - 1] != ']')
        return f;
    *unit = trim(open + 1, (size_t)(f.at + f.length - open) - 2);
    return trim(f.at, (size_t)(open - f.at));
}

static bool read_names(struct reader *r) {
    size_t best[COLUMN_COUNT];
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        best[c] = COLUMN_NAMES;
    for (size_t i = 0; i < r->row_count; i++) {
        struct smi_field unit, name = split_unit(r->row[i], &unit);
        for (size_t k = 0; k < COLUMN_NAMES; k++) {
            enum column c = column_names[k].column;
            if (!is_text(name, column_names[k].name) || k >= best[c])
                continue;
            best[c] = k;
            r->fields[c] = (uint8_t)i;
            if (find_unit(unit) > 0)
                r->units[c] = find_unit(unit);
        }
    }
    return r->fields[COLUMN_USED] != NO_FIELD;
}

/* --- no head --- */

static struct smi_field field_of(const struct reader *r, enum column c) {
    return r->fields[c] < r->row_count ? r->row[r->fields[c]] : (struct smi_field){"", 0};
}

static bool is_whole(struct smi_field f) {
    for (size_t i = 0; i < f.length; i++)
        if (f.at[i] < '0' || f.at[i] > '9')
            return false;
    return f.length > 0;
}

/* "1234 MiB". False: no size with its unit. */
static bool read_size(struct smi_field f, uint64_t *bytes) {
    uint64_t value = 0;
    size_t digits = 0;
    while (digits < f.length && f.at[digits] >= '0' && f.at[digits] <= '9' && digits < 18)
        value = value * 10 + (unsigned)(f.at[digits++] - '0');
    uint64_t unit = find_unit(trim(f.at + digits, f.length - digits));
    return digits > 0 && unit > 0 && checked_mul(value, unit, bytes);
}

static bool is_date(struct smi_field f) {
    uint64_t ns;
    return f.length > 0 && memchr(f.at, ':', f.length) && smi_time_parse(f.at, f.length, &ns);
}

static bool begins(struct smi_field f, const char *text) {
    return f.length >= strlen(text) && memcmp(f.at, text, strlen(text)) == 0;
}

static bool ask(const struct reader *r, const char *why) {
    return error_set(r->to.err, ERROR_BAD_INPUT,
                     "samples without a head: %s; put one before them, as 'timestamp, index, "
                     "memory.used [MiB], memory.total [MiB]', or leave noheader away",
                     why);
}

/* Of two sizes the larger one is the device's total. */
static bool guess_sizes(struct reader *r, const size_t *places, const uint64_t *sizes,
                        size_t count) {
    if (count == 0)
        return ask(r, "no value has a unit, so which is memory.used is not told");
    if (count > 2)
        return ask(r, "which of the sizes is memory.used is not told");
    size_t used = count == 2 && sizes[0] > sizes[1];
    if (count == 2)
        r->fields[COLUMN_TOTAL] = (uint8_t)places[1 - used];
    r->fields[COLUMN_USED] = (uint8_t)places[used];
    emit_warn(r->to.tl, "no head: column %zu is taken for memory.used", places[used] + 1);
    return true;
}

/* Each column by what stands in the first row. */
static bool guess_columns(struct reader *r) {
    size_t places[MOST_FIELDS], count = 0, numbers = 0, number = NO_FIELD;
    uint64_t sizes[MOST_FIELDS];
    for (size_t i = 0; i < r->row_count; i++) {
        struct smi_field f = r->row[i];
        if (read_size(f, &sizes[count]))
            places[count++] = i;
        else if (is_date(f))
            r->fields[COLUMN_TIME] = (uint8_t)i;
        else if (begins(f, "GPU-") || begins(f, "0000"))
            r->fields[COLUMN_DEVICE] = (uint8_t)i;
        else if (begins(f, "NVIDIA ") || begins(f, "Tesla ") || begins(f, "Quadro "))
            r->fields[COLUMN_NAME] = (uint8_t)i;
        else if (is_whole(f) && ++numbers)
            number = i;
    }
    if (numbers == 1)
        r->fields[COLUMN_DEVICE] = (uint8_t)number;
    if (numbers > 1 && count > 0 && r->fields[COLUMN_DEVICE] == NO_FIELD)
        return ask(r, "which of the numbers is the device's index is not told");
    return guess_sizes(r, places, sizes, count);
}

/* *is_row: the line is a sample itself. */
static bool read_head(struct reader *r, bool *is_row) {
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        r->fields[c] = NO_FIELD;
        r->units[c] = UINT64_C(1) << 20; /* nvidia-smi's own */
    }
    *is_row = r->is_headless;
    if (r->is_headless && !guess_columns(r))
        return false;
    if (!r->is_headless && !read_names(r))
        return error_set(r->to.err, ERROR_BAD_INPUT, "comma separated values without memory.used");
    r->to.has_time = r->fields[COLUMN_TIME] != NO_FIELD;
    return true;
}

/* --- rows --- */

/* "1234 MiB", "1234". False: "[N/A]" and the like. */
static bool read_bytes(const struct reader *r, enum column c, uint64_t *bytes) {
    struct smi_field f = field_of(r, c);
    size_t digits = 0;
    uint64_t value = 0, unit = r->units[c];
    while (digits < f.length && f.at[digits] >= '0' && f.at[digits] <= '9' && digits < 18)
        value = value * 10 + (unsigned)(f.at[digits++] - '0');
    if (digits == 0)
        return false;
    struct smi_field rest = trim(f.at + digits, f.length - digits);
    if (rest.length > 0)
        unit = find_unit(rest);
    return unit > 0 && checked_mul(value, unit, bytes) && *bytes <= EMIT_MOST_BYTES;
}

static bool read_time(const struct reader *r, uint64_t *time_ns) {
    struct smi_field f = field_of(r, COLUMN_TIME);
    *time_ns = 0;
    return !r->to.has_time || smi_time_parse(f.at, f.length, time_ns);
}

static bool read_row(struct reader *r) {
    uint64_t used, time_ns, total = 0;
    if (r->row_count == 1 && r->row[0].length == 0)
        return true;
    if (!read_bytes(r, COLUMN_USED, &used)) {
        smi_skip(&r->to, "memory.used is no size");
        return true;
    }
    if (!read_time(r, &time_ns)) {
        smi_skip(&r->to, "timestamp is no time");
        return true;
    }
    (void)read_bytes(r, COLUMN_TOTAL, &total);
    if (r->is_headless && total > 0 && used > total)
        return ask(r, "which of the sizes is memory.used is not told");
    return smi_take(&r->to, field_of(r, COLUMN_DEVICE), field_of(r, COLUMN_NAME), time_ns, used,
                    total);
}

static bool read_all(struct reader *r, const char *data, size_t length,
                     const struct trace_options *options) {
    enum { ROWS_BETWEEN = 4096 };
    for (size_t from = 0; from < length;) {
        const char *end = memchr(data + from, '\n', length - from);
        size_t n = end ? (size_t)(end - (data + from)) : length - from;
        bool is_row = true;
        r->to.line++;
        split(r, data + from, n);
        if ((r->to.line == 1 && !read_head(r, &is_row)) || (is_row && !read_row(r)))
            return false;
        from += n + 1;
        if (r->to.line % ROWS_BETWEEN == 0 && options->progress &&
            !options->progress(options->user, from, length))
            return error_set(r->to.err, ERROR_INTERRUPTED, "interrupted");
    }
    return true;
}

/* --- the row of the table --- */

static size_t first_line(const uint8_t *head, size_t length) {
    const uint8_t *end = memchr(head, '\n', length);
    return end ? (size_t)(end - head) : length;
}

static bool has_names(const uint8_t *head, size_t line) {
    return probe_has(head, line, "memory.used") && !probe_has(head, line, "{");
}

/* A row of nvidia-smi's own: between commas a size with its unit, or a date first. */
static bool is_row(const uint8_t *head, size_t line) {
    struct reader r = {.row_count = 0};
    uint64_t bytes;
    split(&r, (const char *)head, line);
    for (size_t i = 0; i < r.row_count; i++)
        if (read_size(r.row[i], &bytes) || (i == 0 && r.row_count > 1 && is_date(r.row[i])))
            return true;
    return false;
}

static bool probe_smi(const uint8_t *head, size_t length) {
    size_t line = first_line(head, length);
    return has_names(head, line) || is_row(head, line);
}

static bool import_smi(const uint8_t *data, size_t length, const struct trace_options *options,
                       struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct reader r = {.is_headless = !has_names(data, first_line(data, length))};
    bool ok = smi_samples_init(&r.to, tl, err) &&
              read_all(&r, (const char *)data, length, options) && smi_finish(&r.to, NULL, facts);
    smi_samples_fini(&r.to);
    return ok;
}

const struct importer importer_smi = {
    .name = "samples of device memory",
    .doc = "nvidia-smi --query-gpu=timestamp,index,memory.used --format=csv, or NVML likewise",
    .probe = probe_smi,
    .import = import_smi,
};
