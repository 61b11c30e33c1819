/* filter.h: which blocks a line of words names; all words must hold.
 *
 *   size>1MiB size<=2GiB size=512      the block's bytes
 *   life<2ms life>100                  from allocation to free: a time, or events; a block that is
 *                                      never freed lives longer than any figure
 *   cat:activation                     category, by its key or its name in either language, or a part
 *   stream:7 device:0 dtype:bf16
 *   module:layers.3 op:mm name: stack: phase:    a text somewhere in it ("phase": in it or one
 *                                      around it); "=" in place of ":": the whole, where * stands for
 *                                      any characters but "."; ":~": a POSIX regular expression
 *   alive freed never before           at the cursor; within the timeline; not at all; from before it
 *   TEXT ~REGEX                        in module, op, name, stack or phase
 *   !WORD                              not so; "..." keeps blanks together
 *
 * A test of a text is run once for each string of the timeline. `alive` hangs on the cursor and is not
 * part of filter_run: filter.alive says how it was asked for. Ownership: fini frees. */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "filter_text.h"

struct error;
struct timeline;

enum filter_kind {
    FILTER_SIZE,
    FILTER_LIFE_TIME,
    FILTER_LIFE_EVENTS,
    FILTER_CATEGORY,
    FILTER_STREAM,
    FILTER_DEVICE,
    FILTER_DTYPE,
    FILTER_ALIVE, /* all: filter.alive */
    FILTER_FREED,
    FILTER_NEVER,
    FILTER_BEFORE,
    FILTER_MODULE,
    FILTER_OP,
    FILTER_NAME,
    FILTER_STACK,
    FILTER_PHASE,
    FILTER_ANY
};

enum filter_compare { FILTER_EQUAL, FILTER_LESS, FILTER_MORE };

struct filter_term {
    enum filter_kind kind;
    bool negated;
    enum filter_compare compare;
    bool or_equal;
    uint64_t value; /* bytes, ns, events, an index; category: a bit each */
    struct filter_text text;
};

struct filter {
    ARRAY(struct filter_term) terms;
    int alive; /* 1: only those alive at the cursor; -1: only others; 0: either */
};

/* False: ERROR_USAGE with the word and what was expected, or host memory; there is nothing to free
 * then. Blanks alone are a filter that all blocks pass. */
bool filter_parse(struct filter *filter, const char *text, struct error *err);
void filter_fini(struct filter *filter);
/* A bit a block: `bits` has a word for each 64. False: host memory, or a life in time where the
 * timeline has none (ERROR_USAGE). */
bool filter_run(const struct filter *filter, const struct timeline *tl, uint64_t *bits,
                struct error *err);

#endif
