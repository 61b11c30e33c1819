/* json_out.h: JSON, indented by two blanks, one value a line. Integers are written exactly (64
 * bits); a double as the shortest form that reads back the same, null when it is not finite; texts
 * as UTF-8, with bytes that are not UTF-8 replaced by U+FFFD.
 *
 * `key` names a member; NULL inside an array and for the outermost value. Nesting must be balanced:
 * json_end() closes what json_object() or json_array() opened. */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

struct text;

enum { JSON_DEPTH = 16 };

struct json {
    struct text *out;
    unsigned depth;
    bool has_member[JSON_DEPTH + 1];
    char closing[JSON_DEPTH + 1];
};

void json_begin(struct json *j, struct text *out);
void json_finish(struct json *j); /* the last line's end */

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_text(struct json *j, const char *key, const char *value); /* NULL: null */

#endif
