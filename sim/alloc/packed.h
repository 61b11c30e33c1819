/* packed.h: the ideal allocator "best-packing": every block at an offset of one area that only grows. With
 * config.packing the offsets are those of a packing that knows the whole run (packing.h); without it, and where the run
 * goes another way than it did then, a block gets the lowest offset that is free.
 *
 * Lifetimes and sizes as in live_sum.h. Own definition; nothing is modelled here. */
#ifndef PACKED_H
#define PACKED_H

#include "alloc.h"

extern const struct alloc_ops packed_ops;

#endif
