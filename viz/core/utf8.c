/* utf8.c: see utf8.h. */
#include "utf8.h"

#include <stdbool.h>

static bool is_unsafe(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/* Continuation bytes after a first byte; -1: not a first byte. */
static int rest_of(unsigned char first) {
    if (first < 0x80)
        return 0;
    if (first >= 0xc2 && first < 0xe0)
        return 1;
    if (first >= 0xe0 && first < 0xf0)
        return 2;
    return first >= 0xf0 && first < 0xf5 ? 3 : -1;
}

uint32_t utf8_next(const char **at, const char *end) {
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    if (*at >= end)
        return 0;
    unsigned char first = (unsigned char)*(*at)++;
    int rest = rest_of(first);
    if (rest < 0)
        return UTF8_REPLACEMENT;
    uint32_t code = rest == 0 ? first : first & (0x3fu >> rest);
    const char *p = *at;
    for (int i = 0; i < rest; i++, p++) {
        if (p >= end || ((unsigned char)*p & 0xc0) != 0x80)
            return UTF8_REPLACEMENT;
        code = code << 6 | ((unsigned char)*p & 0x3fu);
    }
    *at = p;
    if (code < least[rest] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return UTF8_REPLACEMENT;
    return is_unsafe(code) ? UTF8_REPLACEMENT : code;
}

size_t utf8_put(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(unsigned char)(0x80 | (code & 0x3f));
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(unsigned char)(lead[count] | code);
    return count;
}
