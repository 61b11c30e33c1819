/* marks.h: moments that call for a look, from one walk over the events: the cache given back for want of
 * memory, and sums that contradict each other.
 *
 *   retry   segments or pages given back right before the driver is asked again, or the request fails.
 *           PyTorch does so when a cudaMalloc has failed (docs/allocators.md). Where the timeline tells of
 *           the program's own empty_cache (EVENT_EMPTY_CACHE) that one does not count; a snapshot of PyTorch
 *           does not tell, nor does any tell garbage collection apart.
 *   break   moments at which allocated > reserved, or reserved (with what is outside the allocator) > the
 *           card's capacity: a lossy trace, or a run that the card could not have done
 *
 * Built in slices. Ownership: borrows the track, owns the rest. Zero bytes can be ended. */
#ifndef MARKS_H
#define MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "lod.h"

struct track;

struct mark_retry {
    uint32_t event; /* the first that gave back */
    uint32_t again; /* what the driver was asked for then; an EVENT_OOM: it failed all the same */
    uint64_t bytes;
};

enum mark_kind { MARK_ALLOCATED, MARK_CAPACITY, MARK_KINDS };

struct mark_break {
    uint32_t first, end; /* moments first .. end - 1 */
    enum mark_kind kind;
    uint64_t bytes; /* the most that it is too much */
};

struct marks {
    const struct track *track;
    bool done, given_up; /* given_up: host memory */
    uint32_t moments;    /* looked at */
    ARRAY(struct mark_retry) retries;
    ARRAY(struct mark_break) breaks;
    /* while it is built */
    struct lod_state state;
    struct mark_retry open; /* bytes 0: none */
    bool emptied;
    size_t last[MARK_KINDS]; /* in breaks, + 1; 0: none */
};

void marks_start(struct marks *marks, const struct track *track);
/* At most so many events more. False: host memory; it is then given up. */
bool marks_build(struct marks *marks, uint32_t events);
void marks_fini(struct marks *marks);

#endif
