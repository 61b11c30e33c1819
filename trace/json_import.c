/* json_import.c: a timeline as `vramsim convert -o X.json` writes it (trace/write/write_json.c; docs/formats.md). Columns are
 * told by their names: unknown ones, and unknown tables, are passed over; one that is not there is zero, or none. */
#include <string.h>

#include "category.h"
#include "dtype.h"
#include "error.h"
#include "importer.h"
#include "json_parse.h"
#include "probe.h"
#include "timeline.h"
#include "timeline_facts.h"
#include "timeline_fields.h"

enum { VERSION = 1, MOST_COLUMNS = 64, ROWS_A_CHECK = 4096 };

/* The container that is open. */
enum place {
    PLACE_START,
    PLACE_TOP,
    PLACE_RUN,
    PLACE_HAS,
    PLACE_TABLE,
    PLACE_COLUMNS,
    PLACE_ROWS,
    PLACE_ROW,
    PLACE_END
};

enum top_key { TOP_OTHER, TOP_FORMAT, TOP_VERSION, TOP_RUN, TOP_TABLE };
enum table_key { TABLE_OTHER, TABLE_COLUMNS, TABLE_ROWS };

struct reader {
    struct timeline *tl;
    struct error *err;
    size_t max_bytes;
    enum place place;
    unsigned skipped; /* containers open within what is passed over */
    enum top_key top_key;
    enum table_key table_key;
    bool is_ours; /* the format was named */
    enum timeline_table_id id;
    const struct timeline_field *run_field; /* NULL: unknown */
    bool run_key_is_has;
    const struct timeline_field *columns[MOST_COLUMNS]; /* NULL: unknown */
    size_t column_count, column;
    size_t row_index;
    void *row;
};

/* One scalar. */
struct value {
    enum { VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_TEXT } type;
    bool truth;
    const char *text; /* of a number or text */
    size_t length;
};

static const char *const value_names[] = {"null", "true or false", "a number", "a text"};

static bool fail(struct reader *r, const char *wanted, const struct value *found) {
    const struct timeline_field *field =
        r->place == PLACE_ROW ? r->columns[r->column] : r->run_field;
    const char *table = r->place == PLACE_ROW ? timeline_table(r->id)->name : "run";
    return error_set(r->err, ERROR_BAD_INPUT, "%s, row %zu: %s is %s%s%.*s, expected %s", table,
                     r->place == PLACE_ROW ? r->row_index : 0, field ? field->name : "has",
                     value_names[found->type], found->type >= VALUE_NUMBER ? " " : "",
                     found->type >= VALUE_NUMBER ? (int)(found->length < 40 ? found->length : 40)
                                                 : 0,
                     found->type >= VALUE_NUMBER ? found->text : "", wanted);
}

/* --- values of members --- */

static bool read_number(struct reader *r, const struct timeline_field *field, const struct value *v,
                        uint64_t *out) {
    uint64_t most = field->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->bytes) - 1;
    if (v->type != VALUE_NUMBER || !json_number_u64(v->text, v->length, out) || *out > most)
        return fail(r, "a whole number that fits", v);
    return true;
}

static bool is_name(const struct value *v, const char *name) {
    return strlen(name) == v->length && memcmp(name, v->text, v->length) == 0;
}

/* The number of a name; `count` when there is none of it. */
static bool find_name(const struct value *v, uint64_t count, const char *(*name)(uint64_t),
                      uint64_t *out) {
    for (*out = 0; *out < count && !is_name(v, name(*out)); ++*out)
        ;
    return v->type == VALUE_TEXT && *out < count;
}

static const char *kind_name(uint64_t i) {
    return event_kind_name((enum event_kind)i);
}

static const char *category_name(uint64_t i) {
    return category_key((enum category)i);
}

static const char *type_name(uint64_t i) {
    return dtype_name((enum dtype)i);
}

static bool read_text(struct reader *r, const struct value *v, uint64_t *out) {
    uint32_t id = 0;
    if (v->type == VALUE_TEXT && !strtab_add(&r->tl->strings, v->text, v->length, &id))
        return error_host_memory(r->err);
    *out = id;
    return v->type == VALUE_TEXT || v->type == VALUE_NULL || fail(r, "a text or null", v);
}

static bool read_index(struct reader *r, const struct timeline_field *field, const struct value *v,
                       uint64_t *out) {
    *out = TIMELINE_NONE;
    return v->type == VALUE_NULL || read_number(r, field, v, out);
}

static bool read_member(struct reader *r, const struct timeline_field *field, const struct value *v,
                        uint64_t *out) {
    switch ((enum timeline_field_type)field->type) {
    case TIMELINE_FIELD_NUMBER:
        return read_number(r, field, v, out);
    case TIMELINE_FIELD_BOOL:
        *out = v->truth;
        return v->type == VALUE_BOOL || fail(r, "true or false", v);
    case TIMELINE_FIELD_STRING:
        return read_text(r, v, out);
    case TIMELINE_FIELD_INDEX:
        return read_index(r, field, v, out);
    case TIMELINE_FIELD_KIND:
        return find_name(v, EVENT_KIND_COUNT, kind_name, out) || fail(r, "a kind of event", v);
    case TIMELINE_FIELD_CATEGORY:
        return find_name(v, CATEGORY_COUNT, category_name, out) || fail(r, "a category", v);
    case TIMELINE_FIELD_DTYPE:
        return find_name(v, DTYPE_COUNT, type_name, out) || fail(r, "a type of elements", v);
    }
    return false;
}

/* --- tables --- */

static const struct timeline_field *find_field(const struct timeline_table *table,
                                               const struct value *v) {
    for (size_t f = 0; f < table->field_count; f++)
        if (is_name(v, table->fields[f].name))
            return &table->fields[f];
    return NULL;
}

static bool add_column(struct reader *r, const struct value *v) {
    if (v->type != VALUE_TEXT)
        return fail(r, "the name of a column", v);
    if (r->column_count == MOST_COLUMNS)
        return error_set(r->err, ERROR_BAD_INPUT, "%s: more than %d columns",
                         timeline_table(r->id)->name, MOST_COLUMNS);
    r->columns[r->column_count++] = find_field(timeline_table(r->id), v);
    return true;
}

/* Streams and stacks have their first row already. */
static bool begin_row(struct reader *r) {
    const struct timeline_table *table = timeline_table(r->id);
    bool is_there = r->row_index < timeline_rows(r->tl, r->id);
    r->column = 0;
    if (r->row_index % ROWS_A_CHECK == 0 && timeline_bytes(r->tl) > r->max_bytes)
        return error_set(r->err, ERROR_LIMIT,
                         "a timeline of more than %zu bytes; --max-memory allows more",
                         r->max_bytes);
    r->row = is_there ? timeline_rows_at(r->tl, r->id) : timeline_add_rows(r->tl, r->id, 1);
    if (!r->row)
        return error_host_memory(r->err);
    for (size_t f = 0; f < table->field_count && !is_there; f++)
        if (table->fields[f].type == TIMELINE_FIELD_INDEX)
            timeline_field_set(&table->fields[f], r->row, TIMELINE_NONE);
    return true;
}

static bool end_row(struct reader *r) {
    const struct timeline_table *table = timeline_table(r->id);
    if (r->column != r->column_count)
        return error_set(r->err, ERROR_BAD_INPUT, "%s, row %zu: %zu values for %zu columns",
                         table->name, r->row_index, r->column, r->column_count);
    if (r->row_index == 0 && (r->tl->streams.at[0] != 0 || r->tl->stacks.at[0].count != 0))
        return error_set(r->err, ERROR_BAD_INPUT,
                         "%s, row 0: the first stream is 0, the first stack is empty", table->name);
    r->row_index++;
    return true;
}

static bool begin_table(struct reader *r) {
    size_t first = r->id == TIMELINE_TABLE_STREAMS || r->id == TIMELINE_TABLE_STACKS;
    r->column_count = r->row_index = 0;
    r->table_key = TABLE_OTHER;
    return timeline_rows(r->tl, r->id) <= first ||
           error_set(r->err, ERROR_BAD_INPUT, "%s: stands twice", timeline_table(r->id)->name);
}

/* --- what the parser sees --- */

static bool set_has(struct reader *r, const struct value *v) {
    for (unsigned bit = 0; timeline_has_name(bit); bit++)
        if (v->type == VALUE_TEXT && is_name(v, timeline_has_name(bit)))
            r->tl->has |= 1u << bit;
    return v->type == VALUE_TEXT || fail(r, "a text", v);
}

static bool set_top(struct reader *r, const struct value *v) {
    uint64_t version;
    if (r->top_key == TOP_FORMAT) {
        r->is_ours = v->type == VALUE_TEXT && is_name(v, "vramsim timeline");
        return r->is_ours ||
               error_set(r->err, ERROR_BAD_INPUT, "format: expected 'vramsim timeline'");
    }
    if (r->top_key != TOP_VERSION)
        return true;
    if (v->type != VALUE_NUMBER || !json_number_u64(v->text, v->length, &version) || version == 0)
        return error_set(r->err, ERROR_BAD_INPUT, "version: expected a number");
    return version <= VERSION ||
           error_set(
               r->err, ERROR_BAD_INPUT,
               "a timeline of version %llu; this program reads up to %d, a newer one is needed",
               (unsigned long long)version, VERSION);
}

static bool set_run(struct reader *r, const struct value *v) {
    uint64_t value;
    if (!r->run_field)
        return true;
    if (!read_member(r, r->run_field, v, &value))
        return false;
    timeline_field_set(r->run_field, r->tl, value);
    return true;
}

static bool set_cell(struct reader *r, const struct value *v) {
    uint64_t value;
    if (r->column >= r->column_count)
        return error_set(r->err, ERROR_BAD_INPUT, "%s, row %zu: more than %zu values",
                         timeline_table(r->id)->name, r->row_index, r->column_count);
    const struct timeline_field *field = r->columns[r->column];
    if (field && !read_member(r, field, v, &value))
        return false;
    if (field)
        timeline_field_set(field, r->row, value);
    r->column++;
    return true;
}

static int on_value(struct reader *r, const struct value *v) {
    if (r->skipped > 0)
        return 1;
    switch (r->place) {
    case PLACE_TOP:
        return set_top(r, v);
    case PLACE_RUN:
        return set_run(r, v);
    case PLACE_HAS:
        return set_has(r, v);
    case PLACE_COLUMNS:
        return add_column(r, v);
    case PLACE_ROW:
        return set_cell(r, v);
    case PLACE_TABLE:
        return 1;
    case PLACE_START:
    case PLACE_ROWS:
    case PLACE_END:
        break;
    }
    return error_set(r->err, ERROR_BAD_INPUT, "%s where a list or an object is expected",
                     value_names[v->type]);
}

static int on_null(void *context) {
    return on_value(context, &(struct value){.type = VALUE_NULL});
}

static int on_boolean(void *context, int value) {
    return on_value(context, &(struct value){.type = VALUE_BOOL, .truth = value != 0});
}

static int on_number(void *context, const char *text, size_t length) {
    return on_value(context, &(struct value){.type = VALUE_NUMBER, .text = text, .length = length});
}

static int on_string(void *context, const unsigned char *text, size_t length) {
    return on_value(
        context, &(struct value){.type = VALUE_TEXT, .text = (const char *)text, .length = length});
}

static void top_key(struct reader *r, const struct value *v) {
    r->top_key = is_name(v, "format")    ? TOP_FORMAT
                 : is_name(v, "version") ? TOP_VERSION
                 : is_name(v, "run")     ? TOP_RUN
                                         : TOP_OTHER;
    for (unsigned t = TIMELINE_TABLE_STREAMS; t < TIMELINE_TABLE_COUNT; t++)
        if (is_name(v, timeline_table((enum timeline_table_id)t)->name)) {
            r->top_key = TOP_TABLE;
            r->id = (enum timeline_table_id)t;
        }
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    struct reader *r = context;
    const struct value v = {.type = VALUE_TEXT, .text = (const char *)text, .length = length};
    if (r->skipped > 0)
        return 1;
    if (r->place == PLACE_TOP)
        top_key(r, &v);
    if (r->place == PLACE_RUN) {
        r->run_key_is_has = is_name(&v, "has");
        r->run_field =
            r->run_key_is_has ? NULL : find_field(timeline_table(TIMELINE_TABLE_RUN), &v);
    }
    if (r->place == PLACE_TABLE)
        r->table_key = is_name(&v, "columns") ? TABLE_COLUMNS
                       : is_name(&v, "rows")  ? TABLE_ROWS
                                              : TABLE_OTHER;
    return 1;
}

/* Goes into a container that belongs there; others are passed over, or refused where a value is
 * expected. */
static int on_begin(struct reader *r, bool is_object) {
    if (r->skipped > 0 || (r->place == PLACE_TOP && r->top_key == TOP_OTHER) ||
        (r->place == PLACE_TABLE && r->table_key == TABLE_OTHER) ||
        (r->place == PLACE_RUN && !r->run_field && !r->run_key_is_has) ||
        (r->place == PLACE_ROW && r->column < r->column_count && !r->columns[r->column])) {
        r->skipped++;
        return 1;
    }
    if (is_object && r->place == PLACE_START) {
        r->place = PLACE_TOP;
        return 1;
    }
    if (is_object && r->place == PLACE_TOP && r->top_key >= TOP_RUN) {
        r->place = r->top_key == TOP_RUN ? PLACE_RUN : PLACE_TABLE;
        return r->top_key == TOP_RUN || begin_table(r);
    }
    if (!is_object && r->place == PLACE_RUN && r->run_key_is_has) {
        r->place = PLACE_HAS;
        return 1;
    }
    if (!is_object && r->place == PLACE_TABLE) {
        r->place = r->table_key == TABLE_COLUMNS ? PLACE_COLUMNS : PLACE_ROWS;
        return r->place == PLACE_COLUMNS || (r->column_count > 0 && r->row_index == 0) ||
               error_set(r->err, ERROR_BAD_INPUT, "%s: rows before their columns, or twice",
                         timeline_table(r->id)->name);
    }
    if (!is_object && r->place == PLACE_ROWS) {
        r->place = PLACE_ROW;
        return begin_row(r);
    }
    return error_set(r->err, ERROR_BAD_INPUT, "%s where none is expected",
                     is_object ? "an object" : "a list");
}

static int on_end(struct reader *r) {
    if (r->skipped > 0) {
        r->skipped--;
        r->column += r->skipped == 0 && r->place == PLACE_ROW;
        return 1;
    }
    switch (r->place) {
    case PLACE_ROW:
        r->place = PLACE_ROWS;
        return end_row(r);
    case PLACE_ROWS:
    case PLACE_COLUMNS:
        r->place = PLACE_TABLE;
        return 1;
    case PLACE_HAS:
        r->place = PLACE_RUN;
        return 1;
    case PLACE_TABLE:
    case PLACE_RUN:
        r->place = PLACE_TOP;
        return 1;
    case PLACE_TOP:
    case PLACE_START:
    case PLACE_END:
        r->place = PLACE_END;
        break;
    }
    return 1;
}

static int on_begin_object(void *context) {
    return on_begin(context, true);
}

static int on_begin_array(void *context) {
    return on_begin(context, false);
}

static int on_end_container(void *context) {
    return on_end(context);
}

static const struct json_handlers handlers = {.null = on_null,
                                              .boolean = on_boolean,
                                              .number = on_number,
                                              .string = on_string,
                                              .key = on_key,
                                              .begin_object = on_begin_object,
                                              .end_object = on_end_container,
                                              .begin_array = on_begin_array,
                                              .end_array = on_end_container};

/* --- the row of the table --- */

static bool probe(const uint8_t *head, size_t length) {
    size_t at = probe_blanks(head, length, 0);
    return at < length && head[at] == '{' && probe_has(head, length, "\"vramsim timeline\"");
}

static bool import(const uint8_t *data, size_t length, const struct trace_options *options,
                   struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct reader r = {.tl = tl, .err = err, .max_bytes = options->max_memory_bytes};
    if (!json_parse(data, length, &handlers, &r, options, err))
        return false;
    if (!r.is_ours)
        return error_set(err, ERROR_BAD_INPUT, "no format is named; expected 'vramsim timeline'");
    return (timeline_check(tl, err) || error_wrap(err, "the file lies")) &&
           timeline_facts(tl, "json", facts, err);
}

const struct importer importer_json = {
    .name = "vramsim json",
    .doc = "a timeline as vramsim convert -o X.json writes it",
    .probe = probe,
    .import = import,
};
