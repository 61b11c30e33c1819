/* live_sum.h: the ideal allocator "sum-of-live": every block is a segment of its own that goes back when the block does, so
 * that reserved memory is the sum of the live blocks. No allocator can hold less; one that moves blocks could hold as much.
 *
 * A block lives until it can be used again: with record_stream until the other streams have passed. Sizes are rounded up to
 * 512 bytes. Addresses never return. Own definition; nothing is modelled here. */
#ifndef LIVE_SUM_H
#define LIVE_SUM_H

#include "alloc.h"

extern const struct alloc_ops live_sum_ops; /* notes lifetimes in config.lifetimes, one a request */

#endif
