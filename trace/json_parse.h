/* json_parse.h: JSON as a stream of what stands in it, for files of gigabytes. By YAJL, which is
 * named in json_parse.c alone.
 *
 * Nothing is kept of what was read: handlers see each value once. Texts are UTF-8, checked, not
 * ended by NUL, and good during the call only. Numbers come as they are written, so that none loses
 * digits; json_number_*() read them. */
#ifndef JSON_PARSE_H
#define JSON_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_options;

enum { JSON_DEPTH = 256 }; /* deeper files are refused; real ones nest six deep */

/* All must be there. Each returns 0 to end the parse: the handler has then set the error that
 * json_parse was given. */
struct json_handlers {
    int (*null)(void *context);
    int (*boolean)(void *context, int value);
    int (*number)(void *context, const char *text, size_t length);
    int (*string)(void *context, const unsigned char *text, size_t length);
    int (*key)(void *context, const unsigned char *text, size_t length);
    int (*begin_object)(void *context);
    int (*end_object)(void *context);
    int (*begin_array)(void *context);
    int (*end_array)(void *context);
};

/* One value with blanks around it. False: not JSON (with the byte where), a limit of `options`,
 * interrupted, or what a handler has set. */
bool json_parse(const uint8_t *data, size_t length, const struct json_handlers *handlers,
                void *context, const struct trace_options *options, struct error *err);

/* Numbers as written in JSON. False: it has a fraction or does not fit. */
bool json_number_u64(const char *text, size_t length, uint64_t *out);
bool json_number_i64(const char *text, size_t length, int64_t *out);
/* Decimal digits times 1000, the fraction's further digits cut off: microseconds to nanoseconds
 * without the rounding of a double. False: negative, with an exponent, or it does not fit. */
bool json_number_thousandths(const char *text, size_t length, uint64_t *out);

#endif
