/* pinning.h: what keeps reserved memory from being given back after an event: which live blocks lie
 * in which segments, and what must go first for one of them to be released.
 *
 *   plain segment   goes whole, when its last block goes          |block|   free   |block|
 *   reservation     gives back pages that no block touches        |bl|ock| free |  |block|
 *                                                                  page   page   page
 *
 * Source: pytorch c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks and unmap_block (2.1 to
 * 2.15); docs/allocators.md. A retry or empty_cache gives back what is idle; segments of private pools
 * only when their pool's users are gone, so they are listed, but never idle and without a way. */
#ifndef PINNING_H
#define PINNING_H

#include <stdbool.h>
#include <stdint.h>

#include "placement.h"

struct error;
struct timeline;

/* A range with a live block in it. */
struct pin {
    uint32_t range;       /* of the placement */
    uint32_t first_block; /* of the placement's; the range has `blocks` of them from there on */
    uint32_t blocks;
    uint64_t live_bytes, free_bytes, largest_gap_bytes;
    /* The cheapest way to give memory of it back: the fewest live bytes, then the most gained. */
    uint32_t go_first, go_blocks; /* of the placement's; 0 blocks: nothing of it can be released */
    uint64_t go_bytes, gain_bytes;
};

struct pinning {
    bool is_known; /* off: the source has no addresses, block sizes or segments; all else is 0 */
    struct placement placement;
    ARRAY(struct pin) pins; /* most free bytes first, then by address */
    uint64_t idle_bytes;    /* free segments and free pages: given back on a retry */
    uint32_t idle_ranges;   /* the segments among them */
};

/* `large_page_bytes` is the page of a reservation in the large pool (large_segment_size_mb); small
 * ones have 2 MiB. False: host memory. pinning_fini() frees. */
bool pinning_find(const struct timeline *tl, uint8_t device, uint32_t event,
                  uint64_t large_page_bytes, struct pinning *out, struct error *err);
/* Likewise with `out->placement` found already: all else of `out` is zero, or of an earlier moment. False: host
 * memory. */
bool pinning_look(const struct timeline *tl, uint64_t large_page_bytes, struct pinning *out);
void pinning_fini(struct pinning *pinning);

/* The pin whose release costs the fewest live bytes; NULL: none can be released. */
const struct pin *pinning_cheapest(const struct pinning *pinning);

/* One page of a range, and the blocks that touch it. */
struct pinning_page {
    uint64_t start, end;
    uint32_t first_block, end_block; /* of the placement's */
};
/* Walks the whole pages of a reservation's range: zero bytes and the pin's first block begin. */
struct pinning_pages {
    const struct timeline *tl;
    const struct placement *placement;
    uint32_t range, next_block;
    uint64_t page_bytes, next;
};
struct pinning_pages pinning_pages_of(const struct timeline *tl, const struct placement *placement,
                                      uint32_t range, uint32_t first_block,
                                      uint64_t large_page_bytes);
bool pinning_next_page(struct pinning_pages *pages, struct pinning_page *out);
bool pinning_is_private(const struct timeline *tl, const struct placement_range *range);

#endif
