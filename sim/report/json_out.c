/* json_out.c: see json_out.h. */
#include "json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_quote.h"
#include "text.h"

void json_begin(struct json *j, struct text *out) {
    memset(j, 0, sizeof *j);
    j->out = out;
}

void json_finish(struct json *j) {
    assert(j->depth == 0);
    text_add(j->out, "\n");
}

static void begin_value(struct json *j, const char *key) {
    if (j->depth > 0) {
        text_format(j->out, "%s\n%*s", j->has_member[j->depth] ? "," : "", (int)j->depth * 2, "");
        j->has_member[j->depth] = true;
    }
    if (key) {
        json_quote(j->out, key);
        text_add(j->out, ": ");
    }
}

static void open_value(struct json *j, const char *key, const char *opening, char closing) {
    assert(j->depth < JSON_DEPTH);
    begin_value(j, key);
    text_add(j->out, opening);
    j->depth++;
    j->has_member[j->depth] = false;
    j->closing[j->depth] = closing;
}

void json_object(struct json *j, const char *key) {
    open_value(j, key, "{", '}');
}

void json_array(struct json *j, const char *key) {
    open_value(j, key, "[", ']');
}

void json_end(struct json *j) {
    assert(j->depth > 0);
    char closing = j->closing[j->depth];
    bool has_member = j->has_member[j->depth];
    j->depth--;
    if (has_member)
        text_format(j->out, "\n%*s", (int)j->depth * 2, "");
    text_add_bytes(j->out, &closing, 1);
}

void json_u64(struct json *j, const char *key, uint64_t value) {
    begin_value(j, key);
    text_format(j->out, "%" PRIu64, value);
}

void json_i64(struct json *j, const char *key, int64_t value) {
    begin_value(j, key);
    text_format(j->out, "%" PRId64, value);
}

void json_double(struct json *j, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    begin_value(j, key);
    text_add(j->out, digits);
}

void json_bool(struct json *j, const char *key, bool value) {
    begin_value(j, key);
    text_add(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key) {
    begin_value(j, key);
    text_add(j->out, "null");
}

void json_text(struct json *j, const char *key, const char *value) {
    if (!value) {
        json_null(j, key);
        return;
    }
    begin_value(j, key);
    json_quote(j->out, value);
}
