/* json_quote.c: see json_quote.h. */
#include "json_quote.h"

#include <stdint.h>

#include "text.h"

static void add_escaped(struct text *out, unsigned char c) {
    switch (c) {
    case '"':
        text_add(out, "\\\"");
        break;
    case '\\':
        text_add(out, "\\\\");
        break;
    case '\n':
        text_add(out, "\\n");
        break;
    case '\t':
        text_add(out, "\\t");
        break;
    default:
        text_format(out, "\\u%04x", c);
    }
}

void json_quote(struct text *out, const char *value) {
    text_add(out, "\"");
    for (const char *p = value; *p;) {
        unsigned char c = (unsigned char)*p;
        const char *run = p;
        while (*p && text_utf8_length(p, SIZE_MAX) > 0 && (unsigned char)*p >= 32 && *p != '"' &&
               *p != '\\' && *p != 127)
            p += text_utf8_length(p, SIZE_MAX);
        if (p > run) {
            text_add_bytes(out, run, (size_t)(p - run));
            continue;
        }
        if (c < 0x80)
            add_escaped(out, c);
        else
            text_add(out, "\\ufffd");
        p++;
    }
    text_add(out, "\"");
}
