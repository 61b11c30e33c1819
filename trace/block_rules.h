/* block_rules.h: how large a block of PyTorch's caching allocator is, for blocks whose size the
 * trace does not say.
 *
 * Source: pytorch c10/cuda/CUDACachingAllocator.cpp, the same from 1.13 to 2.15: round_size,
 * get_allocation_size, should_split. Sizes are below 2^62. */
#ifndef BLOCK_RULES_H
#define BLOCK_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum { BLOCK_RULES_SLOTS = 16, BLOCK_MIN_BYTES = 512 };
#define BLOCK_SMALL_MAX_BYTES                                                                      \
    (UINT64_C(1) << 20) /* rounded size up to which the small pool serves */
#define BLOCK_SMALL_SEGMENT_BYTES (UINT64_C(2) << 20)
#define BLOCK_LARGE_SEGMENT_BYTES (UINT64_C(20) << 20) /* also the page of a large reservation */

struct block_rules {
    uint32_t divisions[BLOCK_RULES_SLOTS]; /* roundup_power2_divisions for [2^(20+i), 2^(21+i)); 0,
                                              1: off */
    uint64_t max_split_bytes;              /* UINT64_MAX: unlimited */
    bool expandable;                       /* the option is on */
};

uint64_t block_round(const struct block_rules *rules, uint64_t requested);
/* The bytes asked of the driver for a block of `rounded` bytes. */
uint64_t block_segment_bytes(uint64_t rounded);
/* The block that a request gets out of a plain segment's free range of `room` bytes (>= its rounded
 * size). */
uint64_t block_taken(const struct block_rules *rules, uint64_t rounded, uint64_t room,
                     bool small_pool);

#endif
