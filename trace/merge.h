/* merge.h: labels of a program and what happened to memory, in one order of time, into a timeline.
 * Private to importers.
 *
 * At equal times a label that ends goes first, then one that begins (the longer one outside), then
 * events, in the order in which they were added; a label without length holds them. A label stands
 * on each of the given devices, since sources name none. */
#ifndef MERGE_H
#define MERGE_H

#include "array.h"
#include "emit.h"

struct merge_mark {
    uint64_t time_ns, longer; /* longer: orders labels that begin or end together */
    uint32_t ref;             /* the caller's number of an event, or a label */
    uint8_t rank;
};

struct merge {
    ARRAY(struct merge_mark) marks;
    ARRAY(uint32_t) labels; /* strings of the timeline */
};

void merge_fini(struct merge *m);
/* False: host memory. */
bool merge_event(struct merge *m, uint64_t time_ns, uint32_t ref);
bool merge_label(struct merge *m, uint64_t begin_ns, uint64_t end_ns, uint32_t name);

struct merge_sink {
    struct emit *emit;
    const uint8_t *devices; /* that labels stand on */
    size_t device_count;
    bool (*event)(void *user, uint32_t ref, uint64_t time_ns);
    void *user;
};

/* False: host memory, or what the sink's function has failed with. */
bool merge_run(struct merge *m, const struct merge_sink *sink);

#endif
