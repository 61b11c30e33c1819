/* fragmentation.h: reserved memory that serves nobody after an event, from the addresses of
 * segments and blocks.
 *
 *   unused            reserved - allocated (pending blocks included)
 *   free              reserved - active: the gaps; the largest of them is what one request can get
 *                     without a new segment
 *   inactive split    free blocks of plain segments that are in more than one piece: PyTorch cannot
 *                     give them back (memory_stats' inactive_split_bytes); never of expandable
 *                     segments */
#ifndef FRAGMENTATION_H
#define FRAGMENTATION_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct timeline;

struct fragmentation_pool {
    uint64_t reserved_bytes, allocated_bytes, active_bytes;
    uint64_t free_bytes, largest_free_bytes;
    uint32_t free_blocks;
    uint64_t inactive_split_bytes;
    uint32_t inactive_split_blocks;
};

struct fragmentation {
    bool is_known; /* off: the source has no addresses, block sizes or segments; all else is 0 */
    struct fragmentation_pool all, small, large;
};

/* `event` TIMELINE_NONE: the state before the first event. False: host memory. */
bool fragmentation_find(const struct timeline *tl, uint8_t device, uint32_t event,
                        struct fragmentation *out, struct error *err);

#endif
