/* probe.h: what importers ask of the first bytes of a file. */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The next byte from `at` on that is no blank. */
static inline size_t probe_blanks(const uint8_t *head, size_t length, size_t at) {
    while (at < length && (head[at] == ' ' || (head[at] >= '\t' && head[at] <= '\r')))
        at++;
    return at;
}

static inline bool probe_has(const uint8_t *head, size_t length, const char *text) {
    size_t n = strlen(text);
    for (size_t i = 0; i + n <= length; i++)
        if (head[i] == (uint8_t)text[0] && memcmp(head + i, text, n) == 0)
            return true;
    return false;
}

#endif
