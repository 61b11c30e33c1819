/* before.h: the blocks that were there before the recording began: how many of their bytes are left at a
 * moment, by group. They are the oldest of their group, so in a column that is ordered by age they lie at
 * its bottom, up to that height.
 *
 * Ownership: owns its arrays. Zero bytes are empty: nothing was there. */
#ifndef BEFORE_H
#define BEFORE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "lod.h"

struct error;

struct before_end { /* a block is freed */
    uint32_t event;
    uint64_t left; /* of the group, from then on */
};

struct before {
    struct {
        uint64_t bytes; /* at the start */
        ARRAY(struct before_end) ends;
    } groups[LOD_GROUPS];
    uint64_t bytes;
    ARRAY(uint32_t) blocks;
};

/* False: host memory. */
bool before_build(struct before *before, const struct lod *lod, struct error *err);
/* The lod's groups are others now. False: host memory; it is then as if nothing had been there. */
bool before_regroup(struct before *before, const struct lod *lod);
void before_fini(struct before *before);
/* The group's bytes that are left at a moment. */
uint64_t before_left(const struct before *before, int group, uint32_t moment);

#endif
