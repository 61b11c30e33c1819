/* block_lives.h: the blocks that are there at a moment or at any moment of a range, with their lives, in
 * an order.
 *
 * Ownership: borrows the track. Zero bytes are empty. */
#ifndef BLOCK_LIVES_H
#define BLOCK_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct ruler;
struct track;

struct block_life {
    uint64_t bytes;
    uint32_t block;
    uint32_t first, end; /* the moments first .. end - 1; `end` of one never freed: the last + 1 */
};

struct block_lives {
    ARRAY(struct block_life) rows;
    uint64_t bytes; /* of all */
};

/* False: host memory; no rows then. */
bool block_lives_read(struct block_lives *lives, const struct track *track, uint32_t first,
                      uint32_t last);
void block_lives_fini(struct block_lives *lives);

enum block_lives_order { LIVES_BY_SIZE, LIVES_BY_LENGTH, LIVES_BY_START };
/* Lengths are measured by the ruler; equal ones: the larger, then the earlier first. */
void block_lives_sort(struct block_lives *lives, const struct ruler *ruler,
                      enum block_lives_order order, bool falling);
double block_lives_length(const struct ruler *ruler, const struct block_life *row);

#endif
