/* text.h: a growing string for writers. A failed allocation is remembered in `failed` (the text then stays as it was),
 * so writers check once at the end. Zero bytes are an empty text. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attr.h"

struct text {
    char *at; /* NUL-terminated once anything was added, else NULL */
    size_t length, capacity;
    bool failed;
};

void text_add(struct text *text, const char *s);
void text_add_bytes(struct text *text, const void *bytes, size_t count);
void text_format(struct text *text, const char *format, ...) ATTR_PRINTF(2, 3);
/* A number in decimal, without the cost of a format. */
void text_number(struct text *text, uint64_t value);
/* Bytes of the well-formed UTF-8 character (RFC 3629) at `s`, which has `left` bytes or ends with a
 * zero byte before them; 0: there is none. */
size_t text_utf8_length(const char *s, size_t left);
const char *text_get(const struct text *text); /* never NULL */
/* Whether `text` begins with the `length` letters at `start`, in any case (of ASCII). */
bool text_begins(const char *text, const char *start, size_t length);
void text_fini(struct text *text);

#endif
