/* addrmap.h: an ordered map from an address (any uint64_t) to a uint32_t, for the live blocks and
 * segments of a trace.
 *
 *   tops:  [first key | leaf] [first key | leaf] ...
 *   leaf:  up to 64 keys in order, with their values
 *
 * Every step is logarithmic or moves at most one leaf, whatever the keys are: hostile input cannot
 * make it slow. Ownership: the map owns its leaves. Zero bytes are an empty map. A position is
 * valid until the next change. */
#ifndef ADDRMAP_H
#define ADDRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"

enum { ADDRMAP_LEAF_KEYS = 64 };

struct addrmap_leaf {
    uint64_t keys[ADDRMAP_LEAF_KEYS];
    uint32_t values[ADDRMAP_LEAF_KEYS];
    uint32_t count;
};

struct addrmap_top {
    uint64_t first;
    struct addrmap_leaf *leaf;
};

struct addrmap {
    ARRAY(struct addrmap_top) tops;
    size_t count;
};

struct addrmap_at {
    uint32_t leaf, slot;
};

void addrmap_fini(struct addrmap *map);
/* Adds or replaces. False: host memory exhausted. */
bool addrmap_put(struct addrmap *map, uint64_t key, uint32_t value);
/* The last key <= `key`; false when there is none. */
bool addrmap_floor(const struct addrmap *map, uint64_t key, struct addrmap_at *at);
/* The first position in order; false when the map is empty. */
bool addrmap_first(const struct addrmap *map, struct addrmap_at *at);
/* Moves on to the next key; false at the end (`at` is then unchanged). */
bool addrmap_next(const struct addrmap *map, struct addrmap_at *at);
bool addrmap_find(const struct addrmap *map, uint64_t key, uint32_t *value);
/* Finds and removes; false when the key is not there. */
bool addrmap_take(struct addrmap *map, uint64_t key, uint32_t *value);
/* Removes the key if it has that value; false when it has not. */
bool addrmap_remove(struct addrmap *map, uint64_t key, uint32_t value);

static inline uint64_t addrmap_key(const struct addrmap *map, struct addrmap_at at) {
    return map->tops.at[at.leaf].leaf->keys[at.slot];
}

static inline uint32_t addrmap_value(const struct addrmap *map, struct addrmap_at at) {
    return map->tops.at[at.leaf].leaf->values[at.slot];
}

#endif
