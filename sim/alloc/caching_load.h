/* caching_load.h: a caching allocator that starts in the middle of a run: the inverse of
 * caching_visit, for replays of traces whose recording began late. */
#ifndef CACHING_LOAD_H
#define CACHING_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "caching.h"

struct error;

/* Gives a new model `blocks` as its state, in the form caching_visit reports them: segment by
 * segment, the blocks of each in address order without gaps, free neighbours joined; the segments
 * in the order of their creation. Private pools are made as caching_pool_create makes them.
 *
 * pending_events[i] is the event that ends the i-th pending block, of whatever `world` numbers its
 * events by; each is on a stream of its own, since the true ones are unknown (NULL: no block is
 * pending). Ages of free blocks are 0; sums of statistics count from here, peaks are the loaded
 * state's.
 *
 * False: BAD_INPUT (the blocks contradict each other or exceed the capacity) or HOST_MEMORY; then
 * the model must be destroyed. */
bool caching_load_state(struct alloc *al, const struct caching_block *blocks, size_t count,
                        const uint64_t *pending_events, struct error *err);
/* Completes the frees whose events are done, as every request does first: for the end of a trace,
 * where the request that noticed them is missing. */
void caching_notice_events(struct alloc *al);
/* What a late start hides: which of the loaded segments is older. Where releases break ties by age
 * and the next request of `bytes` on `stream` is known to be answered at `address`, but a block of
 * the same size in another of the first `loaded` segments would be taken, the two segments change
 * places in the order. `pool_id` zero: the default pool. True: they did. */
bool caching_settle_tie(struct alloc *al, uint64_t bytes, uint64_t stream,
                        struct caching_pool_id pool_id, uint64_t address, uint64_t loaded);

#endif
