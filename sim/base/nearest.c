/* nearest.c: see nearest.h. */
#include "nearest.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LENGTH = 63, MAX_DISTANCE = 2 };

static unsigned least(unsigned a, unsigned b, unsigned c) {
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Insertions, deletions and replacements between two words; two letters in exchanged order are one
 * edit as well. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    unsigned rows[3][MAX_LENGTH + 1];
    for (unsigned j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        const unsigned *two_above = rows[(i + 1) % 3], *above = rows[(i + 2) % 3];
        unsigned *row = rows[i % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(above[j] + 1, row[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1, row[j]);
        }
    }
    return rows[a_length % 3][b_length];
}

void nearest_offer(struct nearest *nearest, const char *name) {
    size_t length = nearest->length ? nearest->length : strlen(nearest->word);
    size_t other = strlen(name);
    if (length > MAX_LENGTH || other > MAX_LENGTH)
        return;
    unsigned d = distance(nearest->word, length, name, other);
    if (d > MAX_DISTANCE || d >= length || d >= other || (nearest->best && d >= nearest->distance))
        return;
    nearest->best = name;
    nearest->distance = d;
}

const char *nearest_hint(const struct nearest *nearest, char out[NEAREST_HINT_BYTES]) {
    out[0] = '\0';
    if (nearest->best)
        snprintf(out, NEAREST_HINT_BYTES, " (did you mean '%s'?)", nearest->best);
    return out;
}
