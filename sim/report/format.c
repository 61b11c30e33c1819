/* format.c: see format.h. */
#include "format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "text.h"
#include "units.h"

/* The length of the UTF-8 sequence at s, 0 when it is not one (overlong forms and surrogates are
 * not told apart: a terminal copes with them). */
static size_t sequence_length(const unsigned char *s) {
    size_t n = *s < 0x80                 ? 1
               : *s >= 0xc2 && *s < 0xe0 ? 2
               : *s >= 0xe0 && *s < 0xf0 ? 3
               : *s >= 0xf0 && *s < 0xf5 ? 4
                                         : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* C1 controls (U+0080 to U+009F) steer terminals as much as the C0 ones do. */
static int is_control(const unsigned char *s, size_t length) {
    return (length == 1 && (*s < 32 || *s == 127)) || (length == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

/* Appends the character at s, returns the bytes read. */
static size_t add_character(struct text *out, const char *s) {
    unsigned char bytes[4] = {0};
    for (size_t i = 0; i < 4 && s[i]; i++)
        bytes[i] = (unsigned char)s[i];
    size_t n = sequence_length(bytes);
    if (n == 0 || is_control(bytes, n)) {
        text_add(out, "?");
        return n ? n : 1;
    }
    text_add_bytes(out, s, n);
    return n;
}

void format_safe(struct text *out, const char *s) {
    while (*s)
        s += add_character(out, s);
}

void format_safe_lines(struct text *out, const char *s, size_t indent) {
    while (*s) {
        if (*s == '\n') {
            text_format(out, "\n%*s", (int)indent, "");
            s++;
        } else {
            s += add_character(out, s);
        }
    }
}

void format_safe_cut(struct text *out, const char *s, size_t width) {
    if (format_width(s, strlen(s)) <= width) {
        format_safe(out, s);
        return;
    }
    for (size_t i = 3; i < width && *s; i++)
        s += add_character(out, s);
    text_add(out, width >= 3 ? "..." : "");
}

size_t format_width(const char *s, size_t length) {
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)s[i] & 0xc0) != 0x80;
    return width;
}

void format_pad(struct text *out, size_t line_begin, size_t width) {
    if (line_begin > out->length)
        return; /* the text has failed */
    size_t has = format_width(text_get(out) + line_begin, out->length - line_begin);
    text_format(out, "%*s", has < width ? (int)(width - has) : 1, "");
}

void format_bytes(struct text *out, uint64_t bytes) {
    char grouped[UNITS_TEXT_BYTES];
    bool is_small = bytes < GIB;
    text_format(out, "%18s B %10.2f %s %10.2f %s", units_format_grouped(bytes, grouped),
                (double)bytes / (double)(is_small ? MIB : GIB), is_small ? "MiB" : "GiB",
                (double)bytes / (is_small ? 1e6 : 1e9), is_small ? "MB" : "GB");
}

void format_bytes_head(struct text *out) {
    text_format(out, "%20s %14s %13s", "bytes", "GiB, MiB", "GB, MB");
}

void format_short(struct text *out, uint64_t bytes) {
    char grouped[UNITS_TEXT_BYTES];
    if (bytes < 1000000)
        text_format(out, "%s B", units_format_grouped(bytes, grouped));
    else if (bytes < 1000000000)
        text_format(out, "%.2f MB (%.2f MiB)", (double)bytes / 1e6, (double)bytes / 1048576.0);
    else
        text_format(out, "%.2f GB (%.2f GiB)", (double)bytes / 1e9, (double)bytes / 1073741824.0);
}

void format_share(struct text *out, uint64_t part, uint64_t whole) {
    if (whole == 0)
        text_add(out, "-");
    else
        text_format(out, "%.1f %%", 100.0 * (double)part / (double)whole);
}

void format_time(struct text *out, uint64_t time_ns) {
    if (time_ns < 1000)
        text_format(out, "%" PRIu64 " ns", time_ns);
    else if (time_ns < 1000000)
        text_format(out, "%.3f us", (double)time_ns / 1e3);
    else if (time_ns < 1000000000)
        text_format(out, "%.3f ms", (double)time_ns / 1e6);
    else
        text_format(out, "%.3f s", (double)time_ns / 1e9);
}
