/* addrmap.c: see addrmap.h. */
#include "addrmap.h"

#include <string.h>

/* How many of the sorted `count` keys are <= key. No branch depends on the keys: they cannot be
 * predicted. */
static uint32_t count_up_to(const uint64_t *keys, uint32_t count, uint64_t key) {
    const uint64_t *low = keys;
    if (count == 0)
        return 0;
    while (count > 1) {
        uint32_t half = count / 2;
        low += low[half - 1] <= key ? half : 0;
        count -= half;
    }
    return (uint32_t)(low - keys) + (*low <= key);
}

/* The leaf whose range holds `key`: the last one that begins at or before it, else the first. */
static uint32_t find_leaf(const struct addrmap *map, uint64_t key) {
    uint32_t low = 0, count = (uint32_t)map->tops.count;
    while (count > 0) {
        uint32_t half = count / 2;
        if (map->tops.at[low + half].first <= key) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low > 0 ? low - 1 : 0;
}

void addrmap_fini(struct addrmap *map) {
    for (size_t i = 0; i < map->tops.count; i++)
        xfree(map->tops.at[i].leaf);
    array_fini(&map->tops);
    map->count = 0;
}

static bool insert_leaf(struct addrmap *map, uint32_t index, struct addrmap_leaf *leaf) {
    if (!array_reserve(&map->tops, map->tops.count + 1))
        return false;
    struct addrmap_top *at = map->tops.at + index;
    memmove(at + 1, at, (map->tops.count - index) * sizeof *at);
    *at = (struct addrmap_top){.first = leaf->count > 0 ? leaf->keys[0] : 0, .leaf = leaf};
    map->tops.count++;
    return true;
}

/* A full last leaf is left full when the new key goes behind it, so that ascending keys fill
 * leaves. */
static bool split_leaf(struct addrmap *map, uint32_t index, bool at_end) {
    struct addrmap_leaf *leaf = map->tops.at[index].leaf;
    struct addrmap_leaf *upper = xalloc(sizeof *upper);
    if (!upper)
        return false;
    uint32_t keep = at_end ? ADDRMAP_LEAF_KEYS - 1 : ADDRMAP_LEAF_KEYS / 2;
    upper->count = ADDRMAP_LEAF_KEYS - keep;
    memcpy(upper->keys, leaf->keys + keep, upper->count * sizeof upper->keys[0]);
    memcpy(upper->values, leaf->values + keep, upper->count * sizeof upper->values[0]);
    if (!insert_leaf(map, index + 1, upper)) {
        xfree(upper);
        return false;
    }
    leaf->count = keep;
    return true;
}

static bool add_first_leaf(struct addrmap *map) {
    struct addrmap_leaf *leaf = xalloc(sizeof *leaf);
    if (!leaf)
        return false;
    leaf->count = 0;
    if (insert_leaf(map, 0, leaf))
        return true;
    xfree(leaf);
    return false;
}

bool addrmap_put(struct addrmap *map, uint64_t key, uint32_t value) {
    if (map->tops.count == 0 && !add_first_leaf(map))
        return false;
    uint32_t index = find_leaf(map, key);
    struct addrmap_leaf *leaf = map->tops.at[index].leaf;
    uint32_t slot = count_up_to(leaf->keys, leaf->count, key);
    if (slot > 0 && leaf->keys[slot - 1] == key) {
        leaf->values[slot - 1] = value;
        return true;
    }
    if (leaf->count == ADDRMAP_LEAF_KEYS) {
        bool at_end = slot == leaf->count && index + 1 == map->tops.count;
        return split_leaf(map, index, at_end) && addrmap_put(map, key, value);
    }
    memmove(leaf->keys + slot + 1, leaf->keys + slot, (leaf->count - slot) * sizeof leaf->keys[0]);
    memmove(leaf->values + slot + 1, leaf->values + slot,
            (leaf->count - slot) * sizeof leaf->values[0]);
    leaf->keys[slot] = key;
    leaf->values[slot] = value;
    leaf->count++;
    map->tops.at[index].first = leaf->keys[0];
    map->count++;
    return true;
}

bool addrmap_floor(const struct addrmap *map, uint64_t key, struct addrmap_at *at) {
    if (map->tops.count == 0)
        return false;
    uint32_t index = find_leaf(map, key);
    const struct addrmap_leaf *leaf = map->tops.at[index].leaf;
    uint32_t slot = count_up_to(leaf->keys, leaf->count, key);
    if (slot == 0)
        return false;
    *at = (struct addrmap_at){index, slot - 1};
    return true;
}

bool addrmap_first(const struct addrmap *map, struct addrmap_at *at) {
    *at = (struct addrmap_at){0, 0};
    return map->count > 0;
}

bool addrmap_next(const struct addrmap *map, struct addrmap_at *at) {
    if (at->slot + 1 < map->tops.at[at->leaf].leaf->count) {
        at->slot++;
        return true;
    }
    if (at->leaf + 1 >= map->tops.count)
        return false;
    *at = (struct addrmap_at){at->leaf + 1, 0};
    return true;
}

bool addrmap_find(const struct addrmap *map, uint64_t key, uint32_t *value) {
    struct addrmap_at at;
    if (!addrmap_floor(map, key, &at) || addrmap_key(map, at) != key)
        return false;
    *value = addrmap_value(map, at);
    return true;
}

static void drop_leaf(struct addrmap *map, uint32_t index) {
    struct addrmap_top *at = map->tops.at + index;
    xfree(at->leaf);
    map->tops.count--;
    memmove(at, at + 1, (map->tops.count - index) * sizeof *at);
}

static void remove_at(struct addrmap *map, struct addrmap_at at) {
    struct addrmap_leaf *leaf = map->tops.at[at.leaf].leaf;
    uint32_t behind = leaf->count - at.slot - 1;
    memmove(leaf->keys + at.slot, leaf->keys + at.slot + 1, behind * sizeof leaf->keys[0]);
    memmove(leaf->values + at.slot, leaf->values + at.slot + 1, behind * sizeof leaf->values[0]);
    leaf->count--;
    map->count--;
    if (leaf->count == 0)
        drop_leaf(map, at.leaf);
    else
        map->tops.at[at.leaf].first = leaf->keys[0];
}

bool addrmap_take(struct addrmap *map, uint64_t key, uint32_t *value) {
    struct addrmap_at at;
    if (!addrmap_floor(map, key, &at) || addrmap_key(map, at) != key)
        return false;
    *value = addrmap_value(map, at);
    remove_at(map, at);
    return true;
}

bool addrmap_remove(struct addrmap *map, uint64_t key, uint32_t value) {
    struct addrmap_at at;
    if (!addrmap_floor(map, key, &at) || addrmap_key(map, at) != key ||
        addrmap_value(map, at) != value)
        return false;
    remove_at(map, at);
    return true;
}
