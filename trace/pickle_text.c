/* pickle_text.c: the opcodes of protocols 0 and 1 whose argument is a line of text. */
#include <stdlib.h>
#include <string.h>

#include "pickle_machine.h"
#include "text.h"

/* The bytes up to the line's end, which is taken too. */
static bool take_line(struct pickle *p, const char **line, size_t *length) {
    const uint8_t *begin = p->data + p->at;
    const uint8_t *end = p->at < p->length ? memchr(begin, '\n', p->length - p->at) : NULL;
    if (!end)
        return pickle_fail(p, ERROR_BAD_INPUT, "a line without end: truncated or damaged");
    *line = (const char *)begin;
    *length = (size_t)(end - begin);
    p->at += *length + 1;
    return true;
}

/* Decimal digits with an optional sign; false when it is no such number or larger than 64 bits. */
static bool parse_decimal(const char *line, size_t length, uint64_t *bits, bool *negative) {
    size_t i = length > 0 && (line[0] == '-' || line[0] == '+');
    uint64_t value = 0;
    if (i == length)
        return false;
    *negative = line[0] == '-';
    for (; i < length; i++) {
        if (line[i] < '0' || line[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(line[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (*negative && value > (UINT64_C(1) << 63))
        return false;
    *negative = *negative && value > 0;
    *bits = *negative ? ~value + 1 : value;
    return true;
}

static bool push_decimal(struct pickle *p, const char *line, size_t length) {
    uint64_t bits;
    bool negative;
    if (parse_decimal(line, length, &bits, &negative))
        return pickle_push_integer(p, bits, negative);
    if (length == 0)
        return pickle_fail(p, ERROR_BAD_INPUT, "an empty number");
    p->warnings++;
    return pickle_push(p, pickle_make(PICKLE_UNKNOWN, 0));
}

bool pickle_op_int(struct pickle *p) {
    const char *line = NULL;
    size_t length = 0;
    if (!take_line(p, &line, &length))
        return false;
    if (length == 2 && line[0] == '0' &&
        (line[1] == '0' || line[1] == '1')) /* protocol 1's booleans */
        return pickle_push(p, pickle_make(PICKLE_BOOL, line[1] == '1'));
    return push_decimal(p, line, length);
}

bool pickle_op_long(struct pickle *p) {
    const char *line = NULL;
    size_t length = 0;
    if (!take_line(p, &line, &length))
        return false;
    return push_decimal(p, line, length > 0 && line[length - 1] == 'L' ? length - 1 : length);
}

bool pickle_op_float(struct pickle *p) {
    const char *line = NULL;
    size_t length = 0;
    if (!take_line(p, &line, &length))
        return false;
    char copy[64];
    if (length == 0 || length >= sizeof copy)
        return pickle_fail(p, ERROR_BAD_INPUT, "a number of %zu characters", length);
    memcpy(copy, line, length);
    copy[length] = '\0';
    char *end;
    double value = strtod(copy, &end);
    if (*end != '\0')
        return pickle_fail(p, ERROR_BAD_INPUT, "not a number");
    return pickle_push_double(p, value);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_hex(const char *s, size_t digits, uint32_t *value) {
    *value = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = hex_digit(s[i]);
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

static void add_utf8(struct text *out, uint32_t code) {
    unsigned char b[4];
    size_t n = 0;
    if (code < 0x80) {
        b[n++] = (unsigned char)code;
    } else if (code < 0x800) {
        b[n++] = (unsigned char)(0xc0 | code >> 6);
        b[n++] = (unsigned char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        b[n++] = (unsigned char)(0xe0 | code >> 12);
        b[n++] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
        b[n++] = (unsigned char)(0x80 | (code & 0x3f));
    } else {
        b[n++] = (unsigned char)(0xf0 | (code >> 18 & 7));
        b[n++] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
        b[n++] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
        b[n++] = (unsigned char)(0x80 | (code & 0x3f));
    }
    text_add_bytes(out, b, n);
}

static bool push_built(struct pickle *p, struct text *text) {
    bool ok = !text->failed ? pickle_push_string(p, text_get(text), text->length)
                            : error_host_memory(p->err);
    text_fini(text);
    return ok;
}

/* raw-unicode-escape: Latin-1 bytes, with \uXXXX and \UXXXXXXXX. */
bool pickle_op_unicode(struct pickle *p) {
    const char *line = NULL;
    size_t length = 0;
    if (!take_line(p, &line, &length))
        return false;
    struct text text = {0};
    for (size_t i = 0; i < length;) {
        size_t digits = 0;
        uint32_t code;
        if (line[i] == '\\' && i + 1 < length)
            digits = line[i + 1] == 'u' ? 4 : line[i + 1] == 'U' ? 8 : 0;
        if (digits > 0 && length - i - 2 >= digits && parse_hex(line + i + 2, digits, &code)) {
            add_utf8(&text, code);
            i += 2 + digits;
        } else {
            add_utf8(&text, (unsigned char)line[i++]);
        }
    }
    return push_built(p, &text);
}

/* One escape of a Python string literal, behind its backslash; returns the characters used. */
static size_t add_escape(struct text *out, const char *s, size_t left) {
    static const char from[] = "nrt\\'\"", to[] = "\n\r\t\\'\"";
    const char *found = s[0] ? strchr(from, s[0]) : NULL;
    uint32_t code;
    if (found) {
        text_add_bytes(out, &to[found - from], 1);
        return 1;
    }
    if (s[0] == 'x' && left >= 3 && parse_hex(s + 1, 2, &code)) {
        unsigned char byte = (unsigned char)code;
        text_add_bytes(out, &byte, 1);
        return 3;
    }
    text_add_bytes(out, "\\", 1);
    return 0;
}

bool pickle_op_string(struct pickle *p) {
    const char *line = NULL;
    size_t length = 0;
    if (!take_line(p, &line, &length))
        return false;
    if (length < 2 || (line[0] != '\'' && line[0] != '"') || line[length - 1] != line[0])
        return pickle_fail(p, ERROR_BAD_INPUT, "a string without quotes");
    struct text text = {0};
    for (size_t i = 1; i < length - 1;) {
        if (line[i] == '\\' && i + 1 < length - 1)
            i += 1 + add_escape(&text, line + i + 1, length - 2 - i);
        else
            text_add_bytes(&text, &line[i++], 1);
    }
    return push_built(p, &text);
}

static bool take_index(struct pickle *p, uint64_t *index) {
    const char *line = NULL;
    size_t length = 0;
    bool negative;
    if (!take_line(p, &line, &length))
        return false;
    if (!parse_decimal(line, length, index, &negative) || negative)
        return pickle_fail(p, ERROR_BAD_INPUT, "not a memo index");
    return true;
}

bool pickle_op_put(struct pickle *p) {
    uint64_t index = 0;
    return take_index(p, &index) && pickle_memo_put(p, index);
}

bool pickle_op_get(struct pickle *p) {
    uint64_t index = 0;
    return take_index(p, &index) && pickle_memo_get(p, index);
}
