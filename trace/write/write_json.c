/* write_json.c: all of a timeline as JSON, for programs of other languages: tables of rows, a row a line, whose columns are
 * named. docs/formats.md describes it; trace/json_import.c reads it. */
#include <string.h>

#include "category.h"
#include "dtype.h"
#include "error.h"
#include "json_quote.h"
#include "text.h"
#include "timeline.h"
#include "timeline_fields.h"
#include "writer.h"

static void add_value(const struct timeline *tl, const struct timeline_field *field,
                      const void *row, struct text *out) {
    uint64_t value = timeline_field_get(field, row);
    switch ((enum timeline_field_type)field->type) {
    case TIMELINE_FIELD_NUMBER:
        text_number(out, value);
        break;
    case TIMELINE_FIELD_BOOL:
        text_add(out, value ? "true" : "false");
        break;
    case TIMELINE_FIELD_STRING:
        if (value)
            json_quote(out, timeline_text(tl, (uint32_t)value));
        else
            text_add(out, "null");
        break;
    case TIMELINE_FIELD_INDEX:
        if (value == TIMELINE_NONE)
            text_add(out, "null");
        else
            text_number(out, value);
        break;
    case TIMELINE_FIELD_KIND:
        json_quote(out, event_kind_name((enum event_kind)value));
        break;
    case TIMELINE_FIELD_CATEGORY:
        json_quote(out, category_key((enum category)value));
        break;
    case TIMELINE_FIELD_DTYPE:
        json_quote(out, dtype_name((enum dtype)value));
        break;
    }
}

/* What the source knows, by name. */
static void add_has(const struct timeline *tl, struct text *out) {
    bool first = true;
    text_add(out, "\"has\":[");
    for (unsigned bit = 0; timeline_has_name(bit); bit++) {
        if (!(tl->has >> bit & 1))
            continue;
        text_add(out, first ? "" : ",");
        json_quote(out, timeline_has_name(bit));
        first = false;
    }
    text_add(out, "]");
}

static void add_run(const struct timeline *tl, struct text *out) {
    const struct timeline_table *table = timeline_table(TIMELINE_TABLE_RUN);
    text_add(out, ",\n\"run\":{");
    add_has(tl, out);
    for (size_t f = 1; f < table->field_count; f++) { /* the first is has */
        text_add(out, ",");
        json_quote(out, table->fields[f].name);
        text_add(out, ":");
        add_value(tl, &table->fields[f], tl, out);
    }
    text_add(out, "}");
}

static void add_row(const struct timeline *tl, enum timeline_table_id id, size_t row,
                    struct text *out) {
    const struct timeline_table *table = timeline_table(id);
    const void *at = timeline_row(tl, id, row);
    for (size_t f = 0; f < table->field_count; f++) {
        text_add(out, f > 0 ? "," : "[");
        add_value(tl, &table->fields[f], at, out);
    }
    text_add(out, "]");
}

static void add_table(const struct timeline *tl, enum timeline_table_id id, struct text *out) {
    const struct timeline_table *table = timeline_table(id);
    text_add(out, ",\n");
    json_quote(out, table->name);
    text_add(out, ":{\"columns\":[");
    for (size_t f = 0; f < table->field_count; f++) {
        text_add(out, f > 0 ? "," : "");
        json_quote(out, table->fields[f].name);
    }
    text_add(out, "],\"rows\":[");
    for (size_t i = 0; i < timeline_rows(tl, id); i++) {
        text_add(out, i > 0 ? ",\n" : "\n");
        add_row(tl, id, i, out);
    }
    text_add(out, "]}");
}

static bool is_utf8(const char *text, size_t length) {
    size_t at = 0;
    while (at < length) {
        size_t n = text[at] ? text_utf8_length(text + at, length - at) : 0;
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

static void tell_losses(const struct timeline *tl, struct text *losses) {
    size_t foreign = 0;
    for (uint32_t i = 0; i < strtab_count(&tl->strings); i++)
        foreign += !is_utf8(strtab_text(&tl->strings, i), strtab_length(&tl->strings, i));
    if (foreign > 0)
        text_format(losses, "%zu texts as they are (they are no UTF-8)\n", foreign);
}

static bool write(const struct timeline *tl, struct text *out, struct text *losses,
                  struct error *err) {
    text_add(out, "{\"format\":\"vramsim timeline\",\"version\":1");
    add_run(tl, out);
    for (unsigned t = TIMELINE_TABLE_STREAMS; t < TIMELINE_TABLE_COUNT; t++)
        add_table(tl, (enum timeline_table_id)t, out);
    text_add(out, "}\n");
    tell_losses(tl, losses);
    return !out->failed || error_host_memory(err);
}

const struct writer writer_json = {
    .name = "json",
    .doc = "everything, for programs of other languages",
    .ending = ".json",
    .write = write,
};
