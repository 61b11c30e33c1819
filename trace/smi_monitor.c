/* smi_monitor.c: the importer of what nvidia-smi prints as it goes on:
 *
 *   nvidia-smi dmon -s m -o DT      "#Date Time gpu fb ..", "#YYYYMMDD HH:MM:SS Idx MB ..", a row a device
 *   nvidia-smi pmon -s m -o DT      "#Date Time gpu pid type fb .. command", a row a process: their sum is the device's sample
 *
 * Columns are found by the names in lines that begin with '#', which come again and again. Without -o there are no times:
 * the order of the rows is all. Source: nvidia-smi dmon -h, pmon -h (driver 550); "MB" are MiB there. */
#include <string.h>

#include "checked.h"
#include "error.h"
#include "importer.h"
#include "probe.h"
#include "smi_samples.h"
#include "smi_time.h"

enum column { COLUMN_DATE, COLUMN_TIME, COLUMN_GPU, COLUMN_PID, COLUMN_FB, COLUMN_COUNT };

static const char *const column_names[COLUMN_COUNT] = {"Date", "Time", "gpu", "pid", "fb"};

enum { MOST_FIELDS = 64, NO_FIELD = UINT8_MAX };
#define UNIT (UINT64_C(1) << 20)
#define DAY_NS (UINT64_C(86400) * 1000000000)

/* One device of a sample of pmon's. */
struct sum {
    struct smi_field gpu;
    uint64_t used, last_pid;
};

struct reader {
    struct smi_samples to;
    uint8_t fields[COLUMN_COUNT]; /* column -> its place; NO_FIELD */
    struct smi_field row[MOST_FIELDS];
    size_t row_count;
    bool has_head;
    uint64_t clock_ns,
        days; /* the last time, and midnights since the first, where no date is told */
    ARRAY(struct sum) sums; /* of the sample that is being read */
    uint64_t sums_ns;
};

static bool is_text(struct smi_field f, const char *text) {
    return f.length == strlen(text) && memcmp(f.at, text, f.length) == 0;
}

static bool is_same(struct smi_field a, struct smi_field b) {
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* At blanks and commas (--format csv). */
static void split(struct reader *r, const char *line, size_t length) {
    r->row_count = 0;
    for (size_t i = 0; i < length && r->row_count < MOST_FIELDS;) {
        size_t from = i;
        while (i < length && !strchr(" \t\r,#", line[i]) && line[i] != '\0')
            i++;
        if (i > from)
            r->row[r->row_count++] = (struct smi_field){line + from, i - from};
        else
            i++;
    }
}

static struct smi_field field_of(const struct reader *r, enum column c) {
    return r->fields[c] < r->row_count ? r->row[r->fields[c]] : (struct smi_field){"", 0};
}

static bool read_number(struct smi_field f, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < f.length; i++) {
        if (f.at[i] < '0' || f.at[i] > '9' || i >= 18)
            return false;
        *out = *out * 10 + (unsigned)(f.at[i] - '0');
    }
    return f.length > 0;
}

/* The line of names; that of units has no "gpu". */
static bool read_head(struct reader *r) {
    bool is_names = false;
    for (size_t i = 0; i < r->row_count; i++)
        is_names = is_names || is_text(r->row[i], column_names[COLUMN_GPU]);
    if (!is_names)
        return true;
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        r->fields[c] = NO_FIELD;
        for (size_t i = r->row_count; i > 0; i--)
            if (is_text(r->row[i - 1], column_names[c]))
                r->fields[c] = (uint8_t)(i - 1);
    }
    r->has_head = true;
    r->to.has_time = r->fields[COLUMN_TIME] != NO_FIELD;
    return r->fields[COLUMN_FB] != NO_FIELD ||
           error_set(r->to.err, ERROR_BAD_INPUT,
                     "nvidia-smi's monitor without memory, its column 'fb'; expected nvidia-smi %s "
                     "-s m -o DT",
                     r->fields[COLUMN_PID] == NO_FIELD ? "dmon" : "pmon");
}

/* --- times --- */

/* "20240501" and "12:00:00"; the day alone is not told: one passes where the clock falls by hours. */
static bool read_time(struct reader *r, uint64_t *time_ns) {
    struct smi_field date = field_of(r, COLUMN_DATE), time = field_of(r, COLUMN_TIME);
    char text[32] = "1970/01/01 ";
    size_t at = 11;
    *time_ns = 0;
    if (!r->to.has_time)
        return true;
    if (date.length == 8) {
        memcpy(text, date.at, 4);
        memcpy(text + 5, date.at + 4, 2);
        memcpy(text + 8, date.at + 6, 2);
    }
    if (time.length == 0 || time.length > sizeof text - at)
        return false;
    memcpy(text + at, time.at, time.length);
    if (!smi_time_parse(text, at + time.length, time_ns))
        return false;
    if (date.length == 8)
        return true;
    r->days += r->clock_ns > *time_ns && r->clock_ns - *time_ns > DAY_NS / 2;
    r->clock_ns = *time_ns;
    *time_ns += r->days * DAY_NS;
    return true;
}

/* --- rows --- */

static bool take(struct reader *r, struct smi_field gpu, uint64_t time_ns, uint64_t used) {
    const struct smi_field no_name = {"", 0};
    return smi_take(&r->to, gpu, no_name, time_ns, used, 0);
}

static bool end_sample(struct reader *r) {
    for (size_t i = 0; i < r->sums.count; i++)
        if (!take(r, r->sums.at[i].gpu, r->sums_ns, r->sums.at[i].used))
            return false;
    array_clear(&r->sums);
    return true;
}

/* A row of a process; "-" stands where a device has none. A device or a process that comes again begins the next sample. */
static bool add_process(struct reader *r, uint64_t time_ns, uint64_t used) {
    struct smi_field gpu = field_of(r, COLUMN_GPU);
    uint64_t pid;
    if (!read_number(field_of(r, COLUMN_PID), &pid))
        pid = 0;
    struct sum *last = r->sums.count > 0 ? array_last(&r->sums) : NULL;
    bool goes_on = last && is_same(last->gpu, gpu) && pid > last->last_pid;
    bool is_new = !goes_on;
    for (size_t i = 0; is_new && i < r->sums.count; i++)
        if (is_same(r->sums.at[i].gpu, gpu) || time_ns != r->sums_ns) {
            if (!end_sample(r))
                return false;
            break;
        }
    if (goes_on && time_ns != r->sums_ns) {
        if (!end_sample(r))
            return false;
        is_new = true;
    }
    r->sums_ns = time_ns;
    if (!is_new) {
        last->used += used;
        last->last_pid = pid;
        return true;
    }
    if (r->sums.count >= EMIT_DEVICES)
        return error_set(r->to.err, ERROR_LIMIT, "line %llu: more than %d devices",
                         (unsigned long long)r->to.line, EMIT_DEVICES);
    const struct sum sum = {.gpu = gpu, .used = used, .last_pid = pid};
    return array_push(&r->sums, sum) || error_host_memory(r->to.err);
}

static bool read_row(struct reader *r) {
    uint64_t number = 0, used = 0, time_ns;
    struct smi_field fb = field_of(r, COLUMN_FB);
    bool is_process = r->fields[COLUMN_PID] != NO_FIELD, is_none = is_process && is_text(fb, "-");
    if (!is_none && (!read_number(fb, &number) || !checked_mul(number, UNIT, &used) ||
                     used > EMIT_MOST_BYTES)) {
        smi_skip(&r->to, "fb is no size");
        return true;
    }
    if (!read_time(r, &time_ns)) {
        smi_skip(&r->to, "no time");
        return true;
    }
    return is_process ? add_process(r, time_ns, used)
                      : take(r, field_of(r, COLUMN_GPU), time_ns, used);
}

static bool read_line(struct reader *r, const char *line, size_t length) {
    size_t at = 0;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    split(r, line, length);
    if (r->row_count == 0)
        return true;
    if (line[at] == '#')
        return end_sample(r) && read_head(r);
    return !r->has_head || read_row(r);
}

static bool read_all(struct reader *r, const char *data, size_t length,
                     const struct trace_options *options) {
    enum { ROWS_BETWEEN = 4096 };
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        r->fields[c] = NO_FIELD;
    for (size_t from = 0; from < length;) {
        const char *end = memchr(data + from, '\n', length - from);
        size_t n = end ? (size_t)(end - (data + from)) : length - from;
        r->to.line++;
        if (!read_line(r, data + from, n))
            return false;
        from += n + 1;
        if (r->to.line % ROWS_BETWEEN == 0 && options->progress &&
            !options->progress(options->user, from, length))
            return error_set(r->to.err, ERROR_INTERRUPTED, "interrupted");
    }
    return end_sample(r);
}

/* The first line has a '#' and the name of the column of devices, with one of nvidia-smi's others. */
static bool probe_monitor(const uint8_t *head, size_t length) {
    static const char *const others[] = {"fb", "pwr", "pid", "sm", "gtemp", "mclk", "rxpci"};
    size_t at = probe_blanks(head, length, 0), known = 0;
    if (at >= length || head[at] != '#')
        return false;
    const uint8_t *end = memchr(head + at, '\n', length - at);
    size_t line = end ? (size_t)(end - head) - at : length - at;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        known += probe_has(head + at, line, others[i]);
    return known > 0 && probe_has(head + at, line, "gpu");
}

static bool import_monitor(const uint8_t *data, size_t length, const struct trace_options *options,
                           struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct reader r = {.has_head = false};
    bool ok = smi_samples_init(&r.to, tl, err) && read_all(&r, (const char *)data, length, options);
    ok = ok && smi_finish(&r.to,
                          r.fields[COLUMN_PID] == NO_FIELD
                              ? "nvidia-smi dmon"
                              : "nvidia-smi pmon: the sum of the processes that it lists",
                          facts);
    array_fini(&r.sums);
    smi_samples_fini(&r.to);
    return ok;
}

const struct importer importer_smi_monitor = {
    .name = "nvidia-smi's monitor",
    .doc = "nvidia-smi dmon -s m -o DT, or pmon",
    .probe = probe_monitor,
    .import = import_monitor,
};
