/* smi.c: the importer of samples of a device's memory as comma separated values, as
 *
 *   nvidia-smi --query-gpu=timestamp,index,name,memory.used,memory.total --format=csv -l 1
 *
 * and scripts around NVML write them: a head that names the columns, then one row a sample and
 * device. Columns are found by name, in any order, others are skipped. A sample is what all programs
 * have of the device, their contexts included; what an allocator has of it is unknown.
 *
 * Source: nvidia-smi --help-query-gpu (driver 550); a unit stands in the head, "[MiB]", and behind
 * each value unless nounits was asked for. */
#include <stdio.h>
#include <string.h>

#include "checked.h"
#include "emit.h"
#include "error.h"
#include "importer.h"
#include "probe.h"
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
enum { MOST_FIELDS = 200, LABEL_BYTES = 64 };

struct field {
    const char *at;
    size_t length;
};

struct card {
    char label[LABEL_BYTES]; /* of the column that names it */
    char name[LABEL_BYTES];
    uint64_t samples, first, last, least, peak, total;
    uint8_t ordinal;
};

struct reader {
    struct emit emit;
    struct timeline *tl;
    struct error *err;
    uint8_t fields[COLUMN_COUNT]; /* column -> its place; NO_FIELD */
    uint64_t units[COLUMN_COUNT]; /* bytes, of a value that says none */
    struct field row[MOST_FIELDS];
    size_t row_count;
    ARRAY(struct card) cards;
    uint64_t line, samples, unknown;
    bool time_unknown;
};

/* --- lines --- */

static struct field trim(const char *at, size_t length) {
    while (length > 0 && (*at == ' ' || *at == '\t' || *at == '"')) {
        at++;
        length--;
    }
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\r' ||
                          at[length - 1] == '\t' || at[length - 1] == '"'))
        length--;
    return (struct field){at, length};
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

static bool is_text(struct field f, const char *text) {
    return f.length == strlen(text) && memcmp(f.at, text, f.length) == 0;
}

static uint64_t find_unit(struct field f) {
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
static struct field split_unit(struct field f, struct field *unit) {
    const char *open = memchr(f.at, '[', f.length);
    *unit = (struct field){0};
    if (!open || f.at[f.length - 1] != ']')
        return f;
    *unit = trim(open + 1, (size_t)(f.at + f.length - open) - 2);
    return trim(f.at, (size_t)(open - f.at));
}

static bool read_head(struct reader *r) {
    size_t best[COLUMN_COUNT];
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        r->fields[c] = NO_FIELD;
        r->units[c] = UINT64_C(1) << 20; /* nvidia-smi's own */
        best[c] = COLUMN_NAMES;
    }
    for (size_t i = 0; i < r->row_count; i++) {
        struct field unit, name = split_unit(r->row[i], &unit);
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
    if (r->fields[COLUMN_USED] == NO_FIELD)
        return error_set(r->err, ERROR_BAD_INPUT, "comma separated values without memory.used");
    r->time_unknown = r->fields[COLUMN_TIME] == NO_FIELD;
    return true;
}

/* --- rows --- */

static struct field field_of(const struct reader *r, enum column c) {
    return r->fields[c] < r->row_count ? r->row[r->fields[c]] : (struct field){"", 0};
}

/* "1234 MiB", "1234". False: "[N/A]" and the like. */
static bool read_bytes(const struct reader *r, enum column c, uint64_t *bytes) {
    struct field f = field_of(r, c);
    size_t digits = 0;
    uint64_t value = 0, unit = r->units[c];
    while (digits < f.length && f.at[digits] >= '0' && f.at[digits] <= '9' && digits < 18)
        value = value * 10 + (unsigned)(f.at[digits++] - '0');
    if (digits == 0)
        return false;
    struct field rest = trim(f.at + digits, f.length - digits);
    if (rest.length > 0)
        unit = find_unit(rest);
    return unit > 0 && checked_mul(value, unit, bytes) && *bytes <= EMIT_MOST_BYTES;
}

static void copy_label(char to[LABEL_BYTES], struct field f) {
    size_t n = f.length < LABEL_BYTES - 1 ? f.length : LABEL_BYTES - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = f.at[i] >= ' ' && f.at[i] < 0x7f ? f.at[i] : '?';
    to[n] = '\0';
}

/* A device is called by its index where it has one, else numbered as it comes. */
static bool find_card(struct reader *r, struct card **out) {
    char label[LABEL_BYTES];
    copy_label(label, field_of(r, COLUMN_DEVICE));
    for (size_t i = 0; i < r->cards.count; i++)
        if (strcmp(r->cards.at[i].label, label) == 0) {
            *out = &r->cards.at[i];
            return true;
        }
    struct card card = {.least = UINT64_MAX, .ordinal = (uint8_t)r->cards.count};
    unsigned index;
    char end;
    if (sscanf(label, "%3u%c", &index, &end) == 1 && index < EMIT_DEVICES)
        card.ordinal = (uint8_t)index;
    memcpy(card.label, label, sizeof label);
    copy_label(card.name, field_of(r, COLUMN_NAME));
    if (r->cards.count >= EMIT_DEVICES)
        return error_set(r->err, ERROR_LIMIT, "line %llu: more than %d devices",
                         (unsigned long long)r->line, EMIT_DEVICES);
    if (!array_push(&r->cards, card))
        return error_host_memory(r->err);
    *out = array_last(&r->cards);
    return true;
}

static bool read_time(struct reader *r, uint64_t *time_ns) {
    struct field f = field_of(r, COLUMN_TIME);
    if (r->time_unknown) {
        *time_ns = 0;
        return true;
    }
    return smi_time_parse(f.at, f.length, time_ns);
}

static bool take_sample(struct reader *r, uint64_t time_ns, uint64_t used) {
    struct card *card = NULL;
    if (!find_card(r, &card))
        return false;
    uint8_t device = card->ordinal;
    card->samples++;
    card->last = used;
    if (card->samples == 1)
        card->first = used;
    card->peak = used > card->peak ? used : card->peak;
    card->least = used < card->least ? used : card->least;
    (void)read_bytes(r, COLUMN_TOTAL, &card->total);
    r->samples++;
    if (card->samples == 1) { /* it was so before the first sample, as far as is known */
        struct timeline_block block = emit_block(device, TIMELINE_NO_ADDRESS, used);
        uint32_t index;
        const struct timeline_event first = {
            .time_ns = time_ns, .ref = TIMELINE_NONE, .kind = EVENT_OTHER, .device = device};
        return emit_total_start(&r->emit, &block) &&
               emit_reserved(&r->emit, time_ns, device, used) &&
               emit_event(&r->emit, &first, &index);
    }
    /* reserved stands above what is made of it at all times */
    bool rises = used > r->emit.devices[device].reserved_bytes;
    return (!rises || emit_reserved(&r->emit, time_ns, device, used)) &&
           emit_total(&r->emit, time_ns, device, CATEGORY_UNKNOWN, used) &&
           (rises || emit_reserved(&r->emit, time_ns, device, used));
}

static bool read_row(struct reader *r) {
    uint64_t used, time_ns;
    if (r->row_count == 1 && r->row[0].length == 0)
        return true;
    if (!read_bytes(r, COLUMN_USED, &used)) {
        emit_warn(r->tl, "line %llu: memory.used is no size", (unsigned long long)r->line);
        r->unknown++;
        return true;
    }
    if (!read_time(r, &time_ns)) {
        emit_warn(r->tl, "line %llu: timestamp is no time", (unsigned long long)r->line);
        r->unknown++;
        return true;
    }
    return take_sample(r, time_ns, used);
}

static bool read_all(struct reader *r, const char *data, size_t length,
                     const struct trace_options *options) {
    enum { ROWS_BETWEEN = 4096 };
    for (size_t from = 0; from < length;) {
        const char *end = memchr(data + from, '\n', length - from);
        size_t n = end ? (size_t)(end - (data + from)) : length - from;
        r->line++;
        split(r, data + from, n);
        if (r->line == 1 ? !read_head(r) : !read_row(r))
            return false;
        from += n + 1;
        if (r->line % ROWS_BETWEEN == 0 && options->progress &&
            !options->progress(options->user, from, length))
            return error_set(r->err, ERROR_INTERRUPTED, "interrupted");
    }
    return r->samples > 0 || error_set(r->err, ERROR_BAD_INPUT, "no sample below the head");
}

/* --- what came of it --- */

static bool add_devices(struct reader *r) {
    bool all_totals = true;
    for (size_t i = 0; i < r->cards.count; i++) {
        const struct card *card = &r->cards.at[i];
        while (r->tl->devices.count <= card->ordinal)
            if (!array_push(&r->tl->devices, (struct timeline_device){0}))
                return error_host_memory(r->err);
        struct timeline_device *device = &r->tl->devices.at[card->ordinal];
        device->name = timeline_string(r->tl, card->name);
        device->total_bytes = card->total;
        all_totals = all_totals && card->total > 0;
    }
    r->tl->has |= all_totals ? TIMELINE_HAS_DEVICE : 0;
    return true;
}

static bool put_card(struct trace_facts *f, const struct card *card) {
    const enum trace_figure_kind bytes = TRACE_FIGURE_BYTES;
    char sub[8];
    snprintf(sub, sizeof sub, "%u", card->ordinal);
    const char *group = "devices";
    bool ok = (!card->name[0] || trace_figure_text(f, group, sub, "name", card->name)) &&
              trace_figure_add(f, group, sub, "samples", TRACE_FIGURE_COUNT, card->samples) &&
              trace_figure_add(f, group, sub, "used_first", bytes, card->first) &&
              trace_figure_add(f, group, sub, "used_least", bytes, card->least) &&
              trace_figure_add(f, group, sub, "used_peak", bytes, card->peak) &&
              trace_figure_add(f, group, sub, "used_last", bytes, card->last);
    return ok && (card->total == 0 || trace_figure_add(f, group, sub, "total", bytes, card->total));
}

static bool fill_facts(const struct reader *r, struct trace_facts *f) {
    f->kind = "samples";
    bool ok = trace_figure_add(f, NULL, NULL, "samples", TRACE_FIGURE_COUNT, r->samples) &&
              trace_figure_add(f, NULL, NULL, "skipped", TRACE_FIGURE_COUNT, r->unknown);
    for (size_t i = 0; ok && i < r->cards.count; i++)
        ok = put_card(f, &r->cards.at[i]);
    return ok || error_host_memory(r->err);
}

/* The first line is a head that names the column. */
static bool probe_smi(const uint8_t *head, size_t length) {
    const uint8_t *end = memchr(head, '\n', length);
    size_t line = end ? (size_t)(end - head) : length;
    return probe_has(head, line, "memory.used") && !probe_has(head, line, "{");
}

static bool import_smi(const uint8_t *data, size_t length, const struct trace_options *options,
                       struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct reader r = {.tl = tl, .err = err};
    tl->has = TIMELINE_HAS_SEGMENTS | TIMELINE_HAS_HISTORY | TIMELINE_SUMS_BLOCKS |
              TIMELINE_SUMS_SEGMENTS | TIMELINE_DEVICE_USE | TIMELINE_NO_COMPLETIONS;
    tl->source_kind = timeline_string(tl, "samples of device memory");
    bool ok = emit_init(&r.emit, tl, err) && read_all(&r, (const char *)data, length, options) &&
              add_devices(&r) && fill_facts(&r, facts);
    tl->has |= r.time_unknown ? 0 : TIMELINE_HAS_TIME;
    emit_fini(&r.emit);
    array_fini(&r.cards);
    return ok;
}

const struct importer importer_smi = {
    .name = "samples of device memory",
    .doc = "nvidia-smi --query-gpu=timestamp,index,memory.used --format=csv, or NVML likewise",
    .probe = probe_smi,
    .import = import_smi,
};
