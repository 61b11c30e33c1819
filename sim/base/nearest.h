/* nearest.h: the name that was probably meant, for messages about an unknown one. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

enum { NEAREST_HINT_BYTES = 96 };

/* Begin with the unknown word and zeros; offer every known name; then write the hint. */
struct nearest {
    const char *word;
    size_t length; /* 0: the whole word */
    const char *best;
    unsigned distance;
};

void nearest_offer(struct nearest *nearest, const char *name);
/* " (did you mean 'batch'?)" when a name is at most two edits away, else "". */
const char *nearest_hint(const struct nearest *nearest, char out[NEAREST_HINT_BYTES]);

#endif
