/* key_index.c: see key_index.h. */
#include "key_index.h"

static size_t slot_of(const struct key_index *index, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = index->slots.count - 1;
    size_t at = (size_t)(hash >> 32) & mask;
    while (index->slots.at[at] != 0 && *array_at(&index->keys, index->slots.at[at] - 1) != key)
        at = (at + 1) & mask;
    return at;
}

/* Keeps the table at most half full; a power of two. */
static bool grow(struct key_index *index) {
    if (index->slots.count > 2 * index->keys.count + 2)
        return true;
    size_t count = index->slots.count ? 2 * index->slots.count : 64;
    if (!array_reserve(&index->slots, count))
        return false;
    index->slots.count = count;
    memset(index->slots.at, 0, count * sizeof *index->slots.at);
    for (size_t i = 0; i < index->keys.count; i++)
        index->slots.at[slot_of(index, index->keys.at[i])] = (uint32_t)i + 1;
    return true;
}

bool key_index_add(struct key_index *index, uint64_t key, uint32_t *at) {
    if (!grow(index))
        return false;
    size_t slot = slot_of(index, key);
    if (index->slots.at[slot] == 0) {
        if (index->keys.count >= UINT32_MAX - 1 || !array_push(&index->keys, key))
            return false;
        index->slots.at[slot] = (uint32_t)index->keys.count;
    }
    *at = index->slots.at[slot] - 1;
    return true;
}

void key_index_clear(struct key_index *index) {
    array_clear(&index->keys);
    array_clear(&index->slots);
}

void key_index_fini(struct key_index *index) {
    array_fini(&index->keys);
    array_fini(&index->slots);
}
