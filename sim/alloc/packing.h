/* packing.h: what an allocator that knows the whole run could reach: blocks with known lifetimes, each at one offset for
 * its whole life.
 *
 *   live bytes L   the largest sum of live blocks: no allocator can hold less
 *   height P       of the packing found here. The least possible, O, is NP-hard to find (dynamic storage allocation);
 *                  L <= O <= P, so P = L is exact
 *
 * Own definitions; nothing is modelled here. Ownership: the caller's, lifetimes_fini and packing_fini free. */
#ifndef PACKING_H
#define PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"

struct error;

/* Alive at birth <= t < death; of use are only the order of times and bytes > 0. */
struct lifetime {
    uint64_t bytes, birth, death;
};

struct lifetimes {
    ARRAY(struct lifetime) list; /* in order of birth where an allocator noted them */
};

struct packing_place {
    uint64_t offset, bytes;
};

struct packing {
    struct packing_place *places; /* one a lifetime, in their order */
    size_t count;
    uint64_t live_bytes, height_bytes;
};

/* goes_on is asked now and then; false ends the packing with ERROR_INTERRUPTED. */
struct packing_watch {
    bool (*goes_on)(void *user); /* (optional) */
    void *user;
    uint64_t most_pairs; /* 0: the default */
};

/* Two orders of placing, each block at the lowest offset that is free for its whole life: the largest first (then the
 * longest, then the earliest), and by birth, which needs no knowledge of the future. The lower height counts.
 * The work is the pairs of blocks that live at the same time, which grow with the square of the blocks: past a limit it is
 * ERROR_LIMIT. So are sums that leave 64 bits. watch: NULL, nobody stops it. */
bool packing_make(const struct lifetimes *lifetimes, const struct packing_watch *watch,
                  struct packing *out, struct error *err);
void packing_fini(struct packing *packing);
void lifetimes_fini(struct lifetimes *lifetimes);

#endif
