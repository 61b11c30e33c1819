/* alignment.h: two timelines, request by request: what both have, and where they first part.
 *
 * An item is an ALLOC or a failed one (OOM), in order. Items are matched by size, stream and
 * failure (diff.h): equal sequences are matched index by index, after a difference the match takes
 * up again where it can. Then each matched pair is compared in what lies before it (the gap since
 * the previous item) and in where it was put:
 *
 *   free set   the blocks freed in the gap, named by the item that asked for them; their order does
 *              not matter, because PyTorch clears some caches in the order of a pointer hash
 *   segments   what the allocator did in the gap: SEGMENT_* events, kinds and sizes in order
 *   offset     address relative to the segment; the segment itself is the same when it is the one
 *              that was first used by the same item
 *
 * Streams are compared by order of first appearance (handle 0 is itself). What either source does
 * not know is not compared.
 *
 * A side may be a window: a trace that begins mid-run, a range of a simulated run (window.h). Then
 * blocks from before it that are freed in it have no item: in a gap they are compared by their
 * sizes. What lies before the first item is not compared (a recording begins anywhere in it), nor
 * are segments and offsets, which hang on the state before: see compare_place(). */
#ifndef ALIGNMENT_H
#define ALIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

#define ALIGNMENT_NONE UINT32_MAX

struct alignment_item {
    uint64_t bytes;     /* requested; of an OOM: rounded */
    uint64_t offset;    /* in its segment; UINT64_MAX: unknown */
    uint64_t allocated; /* of the device, after it */
    uint32_t event;
    uint32_t block;   /* ALIGNMENT_NONE: an OOM */
    uint32_t segment; /* ALIGNMENT_NONE: unknown */
    uint32_t request; /* how many ALLOCs came before */
    uint16_t stream;  /* by order of appearance */
};

/* One side: the items of a device in the events [begin, end). */
struct alignment_side {
    const struct timeline *tl;
    uint8_t device;
    uint32_t begin, end;
    uint32_t requests; /* ALLOCs among the items */
    bool is_window;    /* it does not begin with its run */
    ARRAY(struct alignment_item) items;
    uint32_t *item_of_block; /* ALIGNMENT_NONE: none */
};

bool alignment_side_init(struct alignment_side *side, const struct timeline *tl, uint8_t device,
                         uint32_t begin, uint32_t end, struct error *err);
void alignment_side_fini(struct alignment_side *side);

/* The events between the previous item and this one: [begin, end). `item` == count: after the last.
 */
void alignment_gap(const struct alignment_side *side, uint32_t item, uint32_t *begin,
                   uint32_t *end);
/* The next SEGMENT_* event of the device in [at, end), else `end`. */
uint32_t alignment_next_answer(const struct alignment_side *side, uint32_t at, uint32_t end);
/* The next FREE_REQUESTED of a block that an item asked for, in [at, end), else `end`. */
uint32_t alignment_next_free(const struct alignment_side *side, uint32_t at, uint32_t end);

/* Blocks from before a window that are freed in [begin, end): equal sets of sizes have equal
 * figures. */
struct alignment_older {
    uint32_t count;
    uint64_t bytes; /* requested */
    uint64_t mark;  /* of the sizes, whatever their order */
};
struct alignment_older alignment_older_frees(const struct alignment_side *side, uint32_t begin,
                                             uint32_t end);

#define ALIGNMENT_DIFFERENCES(X)                                                                   \
    X(NONE, "none")                                                                                \
    X(SIZE, "size")                                                                                \
    X(STREAM, "stream")                                                                            \
    X(FREE_SET, "free set")                                                                        \
    X(SEGMENT, "segment")                                                                          \
    X(OFFSET, "offset")                                                                            \
    X(MISSING, "missing") /* the real run has a request that the simulated one lacks */            \
    X(EXTRA, "extra")     /* the simulated run has one that the real one lacks */                  \
    X(OOM, "oom")         /* only one of the two runs out of memory here */

enum alignment_difference {
#define X(id, name) ALIGNMENT_##id##_DIFFERS,
    ALIGNMENT_DIFFERENCES(X)
#undef X
        ALIGNMENT_DIFFERENCE_COUNT
};

const char *alignment_difference_name(enum alignment_difference difference);

/* Which comparisons both sources allow. */
struct alignment_scope {
    bool sizes_are_requested; /* else block sizes are compared */
    bool streams, frees, segments, offsets;
};

struct alignment {
    struct alignment_scope scope;
    uint64_t matched; /* pairs of requests of equal size and stream */
    uint64_t equal;   /* of these, those that agree in all that is compared */
    uint64_t equal_frees, equal_segments, equal_offsets;
    enum alignment_difference first; /* ALIGNMENT_NONE_DIFFERS: the two are equal */
    uint32_t first_simulated,
        first_real;    /* items; may be the count of items: there is no further one */
    uint32_t *partner; /* by simulated item: the real one, or ALIGNMENT_NONE */
};

/* What items are matched by, one key an item (xfree): equal keys for equal sizes, streams, failures.
 * NULL: host memory. */
uint64_t *alignment_keys(const struct alignment_side *side, const struct alignment_side *other);

bool alignment_find(const struct alignment_side *simulated, const struct alignment_side *real,
                    struct alignment *out, struct error *err);
void alignment_fini(struct alignment *alignment);

#endif
