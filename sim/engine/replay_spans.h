/* replay_spans.h: disjoint ranges of addresses in order, each with a number of the caller's.
 *
 * An array kept sorted: traces hold thousands of segments at most, and most changes are at the end.
 * Zero bytes are an empty set; spans_fini frees. */
#ifndef REPLAY_SPANS_H
#define REPLAY_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct span {
    uint64_t start, end; /* end > start */
    uint32_t value;
    bool joins; /* part of a reservation: touching parts of one value are one */
};

struct spans {
    ARRAY(struct span) list;
};

#define SPANS_NONE SIZE_MAX

/* Index of the span that holds `address`; SPANS_NONE. */
size_t spans_find(const struct spans *spans, uint64_t address);
/* Index of the first span that shares an address with [start, end); SPANS_NONE. */
size_t spans_overlap(const struct spans *spans, uint64_t start, uint64_t end);
/* Adds a span that overlaps none. False: host memory. */
bool spans_add(struct spans *spans, struct span span);
/* Takes all addresses of [start, end) out; what is cut in its middle becomes two. False: host
 * memory. */
bool spans_cut(struct spans *spans, uint64_t start, uint64_t end);
void spans_fini(struct spans *spans);

#endif
