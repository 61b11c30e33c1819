/* divergence.h: the first difference of two runs, as both writers of `validate` show it: the two
 * requests, what lies in the gap before them, and the requests before that. */
#ifndef DIVERGENCE_H
#define DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare.h"

struct text;

enum { DIVERGENCE_LIST = 8, DIVERGENCE_PREVIOUS = 4 };

/* Requests freed in the gap on one side only, as their numbers on that side; `count` may exceed the
 * list. */
struct divergence_frees {
    uint32_t request[DIVERGENCE_LIST], event[DIVERGENCE_LIST];
    uint32_t count;
};

struct divergence {
    enum alignment_difference kind;
    uint32_t simulated, real; /* items; >= the side's count: there is none */
    struct divergence_frees only_simulated, only_real;
    /* kind FREE_SET: blocks from before a window that are freed in the gap */
    struct alignment_older older_simulated, older_real;
    uint32_t answer_simulated,
        answer_real; /* kind SEGMENT: the first that differs, an event; TIMELINE_NONE: none left */
};

/* Only when the comparison is not equal. */
void divergence_find(const struct comparison *c, struct divergence *out);

/* "name.py:12 in function" of a frame that tells something (frames.h), innermost first; false when the item's stack has no such
 * frame. */
bool divergence_frame(const struct alignment_side *side, uint32_t item, uint32_t index,
                      struct text *out);
uint32_t divergence_frame_count(const struct alignment_side *side, uint32_t item);

#endif
