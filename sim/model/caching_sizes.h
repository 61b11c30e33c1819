/* caching_sizes.h: how large the blocks and segments of PyTorch's caching allocator are: what the
 * model, the importer (which does not know all sizes) and the analysis share.
 *
 * Source: pytorch c10/cuda/CUDACachingAllocator.cpp, the same from 1.13 to 2.15: round_size,
 * get_allocation_size, should_split. Measured: docs/allocators.md. */
#ifndef CACHING_SIZES_H
#define CACHING_SIZES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CACHING_MIN_BLOCK_BYTES = 512, /* unit of rounding, smallest block */
    CACHING_DIVISION_SLOTS = 16
};
#define CACHING_SMALL_MAX_BYTES                                                                    \
    (UINT64_C(1) << 20) /* rounded size up to this: small pool; also the large pool's split limit */
#define CACHING_SMALL_SEGMENT_BYTES (UINT64_C(2) << 20) /* also the page of a small reservation */
#define CACHING_LARGE_MIN_BYTES                                                                    \
    (UINT64_C(10) << 20) /* from here on a request has its own segment ... */
#define CACHING_LARGE_ROUND_BYTES (UINT64_C(2) << 20) /* ... rounded up to this */
#define CACHING_LARGE_SEGMENT_BYTES                                                                \
    (UINT64_C(20) << 20) /* default of large_segment_size_mb; page of a large reservation */

struct caching_sizes {
    /* roundup_power2_divisions for [2^(20+i), 2^(21+i)); 0 and 1: off. Below 2 MiB is the first
     * slot, from 32 GiB on the last. */
    uint32_t divisions[CACHING_DIVISION_SLOTS];
    uint64_t large_segment_bytes;          /* not 0 */
    uint64_t max_split_bytes;              /* UINT64_MAX: unlimited */
    uint64_t max_non_split_rounding_bytes; /* what an oversize block may be larger by */
    bool expandable;                       /* the option is on */
};

/* Without any option. */
struct caching_sizes caching_sizes_default(void);
/* The block's bytes for a request; at most 2^62, which no device has. */
uint64_t caching_sizes_round(const uint32_t divisions[CACHING_DIVISION_SLOTS], uint64_t bytes);
/* The bytes asked of the driver for a block of `rounded` bytes (plain segments). */
uint64_t caching_sizes_segment(uint64_t large_segment_bytes, uint64_t rounded);
/* Is the rest of a free block, `rest` bytes beside the `rounded` that are handed out, split off? */
static inline bool caching_sizes_split(uint64_t rounded, uint64_t rest, bool small_pool,
                                       bool expandable, uint64_t max_split_bytes) {
    if (small_pool || expandable)
        return rest >= CACHING_MIN_BLOCK_BYTES;
    return rounded < max_split_bytes && rest > CACHING_SMALL_MAX_BYTES;
}
/* Does a free block of `bytes` (at least `rounded`) serve the request? */
bool caching_sizes_serve(const struct caching_sizes *sizes, uint64_t rounded, uint64_t bytes);

#endif
