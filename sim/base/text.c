/* text.c: see text.h. */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "xalloc.h"

static bool reserve(struct text *text, size_t more) {
    if (text->failed)
        return false;
    if (more > SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    size_t need = text->length + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < need)
        capacity *= 2;
    char *moved = xrealloc(text->at, capacity);
    if (!moved) {
        text->failed = true;
        return false;
    }
    text->at = moved;
    text->capacity = capacity;
    return true;
}

void text_add_bytes(struct text *text, const void *bytes, size_t count) {
    if (!reserve(text, count))
        return;
    memcpy(text->at + text->length, bytes, count);
    text->length += count;
    text->at[text->length] = '\0';
}

void text_add(struct text *text, const char *s) {
    text_add_bytes(text, s, strlen(s));
}

void text_format(struct text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        text->failed = true;
    else if (reserve(text, (size_t)n)) {
        vsnprintf(text->at + text->length, (size_t)n + 1, format, again);
        text->length += (size_t)n;
    }
    va_end(again);
}

void text_number(struct text *text, uint64_t value) {
    enum { DIGITS = 20 };
    char digits[DIGITS];
    size_t at = DIGITS;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    text_add_bytes(text, digits + at, DIGITS - at);
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool text_begins(const char *text, const char *start, size_t length) {
    size_t i = 0;
    while (i < length && text[i] && lower(text[i]) == lower(start[i]))
        i++;
    return i == length;
}

const char *text_get(const struct text *text) {
    return text->at ? text->at : "";
}

void text_fini(struct text *text) {
    xfree(text->at);
    memset(text, 0, sizeof *text);
}

size_t text_utf8_length(const char *s, size_t left) {
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = left > 0 ? (unsigned char)*s : 0xff;
    size_t length = first < 0x80       ? 1
                    : first >> 5 == 6  ? 2
                    : first >> 4 == 14 ? 3
                    : first >> 3 == 30 ? 4
                                       : 0;
    if (length == 0 || length > left)
        return 0;
    uint32_t code = length == 1 ? first : first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((unsigned char)s[i] >> 6 != 2)
            return 0;
        code = code << 6 | ((unsigned char)s[i] & 0x3fu);
    }
    bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < lowest[length] || code > 0x10ffff || is_surrogate ? 0 : length;
}
