/* spans.h: disjoint ranges of addresses in order, each with a number of the caller's.
 *
 *   runs  [a b c] [d e] [f g h i]     sorted runs of a few hundred spans: a change moves the rest of
 *                                     its run only, so n changes in any order cost n log n
 *
 * Zero bytes are an empty set; spans_fini frees. A pointer to a span is good until the next change. */
#ifndef SPANS_H
#define SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct span {
    uint64_t start, end; /* end > start */
    uint32_t value;
    bool joins; /* part of a whole: touching parts of one value are one */
};

struct spans_run {
    ARRAY(struct span) list; /* never empty */
};

struct spans {
    ARRAY(struct spans_run) runs;
};

static inline bool spans_is_empty(const struct spans *spans) {
    return spans->runs.count == 0;
}

/* The span that holds `address`; NULL. Its bounds are the set's, its value is the caller's to change. */
struct span *spans_find(const struct spans *spans, uint64_t address);
/* The first span that shares an address with [start, end); NULL. */
struct span *spans_overlap(const struct spans *spans, uint64_t start, uint64_t end);
/* Adds a span that overlaps none. False: host memory. */
bool spans_add(struct spans *spans, struct span span);
/* Takes all addresses of [start, end) out; what is cut in its middle becomes two. False: host
 * memory. */
bool spans_cut(struct spans *spans, uint64_t start, uint64_t end);
void spans_fini(struct spans *spans);

/* Zero bytes stand before the first. */
struct spans_cursor {
    size_t run, index;
};
/* Each span in order, then NULL. */
struct span *spans_next(const struct spans *spans, struct spans_cursor *cursor);

#endif
