/* caching_free.c: the ordered sets of free blocks.
 *
 * One set a pool and stream. Sizes fall into bins of 1/16 octave (exact up to 32 units of 512
 * bytes), each bin is a treap by (size, age by the tie rule, address), and a bitmap tells the bins
 * that hold something: searching costs a few instructions with mixed sizes and O(log n) with n
 * equal ones. A treap's priority is a hash of the block's id, so the shape is reproducible and
 * needs no room in the block. Unmapped ranges of reservations are one treap by address. */
#include <assert.h>

#include "bits.h"
#include "caching_core.h"
#include "framework.h"

enum { BIN_STEP_BITS = 4, EXACT_BINS = 32 };
static_assert(EXACT_BINS == 2 << BIN_STEP_BITS,
              "the first octave above the exact bins has steps of two units");

enum tree_order { BY_SIZE, BY_ADDRESS };

struct key {
    uint64_t bytes, age, address;
};

/* --- treaps --- */

static uint32_t priority(uint32_t id) {
    id = (id ^ id >> 16) * UINT32_C(0x7feb352d);
    id = (id ^ id >> 15) * UINT32_C(0x846ca68b);
    return id ^ id >> 16;
}

/* 0 for all when the tie goes to the lower address. */
static uint64_t age_of(const struct caching *al, const struct block *block) {
    switch (al->framework->tie_rule) {
    case TIE_OLDER_SEGMENT:
        return segment_number(block_segment(al, block));
    case TIE_OLDER_BLOCK:
        return al->births.at[block_id(al, block)];
    case TIE_LOWER_ADDRESS:
        break;
    }
    return 0;
}

static struct key key_of(const struct caching *al, const struct block *block) {
    return (struct key){block_bytes(block), age_of(al, block), block_address(block)};
}

static inline bool sorts_before(const struct caching *al, enum tree_order order,
                                const struct block *block, const struct key *key) {
    if (order == BY_SIZE) {
        uint64_t bytes = block_bytes(block);
        if (bytes != key->bytes)
            return bytes < key->bytes;
        uint64_t age = age_of(al, block);
        if (age != key->age)
            return age < key->age;
    }
    return block_address(block) < key->address;
}

static inline void tree_add(struct caching *al, enum tree_order order, uint32_t *root,
                            struct block *block) {
    struct key key = key_of(al, block);
    uint32_t id = block_id(al, block), rank = priority(id);
    uint32_t *link = root;
    while (*link && priority(*link) > rank) {
        struct block *at = block_at(al, *link);
        link = sorts_before(al, order, at, &key) ? &at->tree.right : &at->tree.left;
    }
    uint32_t rest = *link, *left = &block->tree.left, *right = &block->tree.right;
    *link = id;
    while (rest) { /* split what hung here by the key */
        struct block *at = block_at(al, rest);
        if (sorts_before(al, order, at, &key)) {
            *left = rest;
            left = &at->tree.right;
            rest = at->tree.right;
        } else {
            *right = rest;
            right = &at->tree.left;
            rest = at->tree.left;
        }
    }
    *left = *right = 0;
}

static inline void tree_remove(struct caching *al, enum tree_order order, uint32_t *root,
                               const struct block *block) {
    struct key key = key_of(al, block);
    uint32_t id = block_id(al, block);
    uint32_t *link = root;
    while (*link != id) {
        assert(*link);
        struct block *at = block_at(al, *link);
        link = sorts_before(al, order, at, &key) ? &at->tree.right : &at->tree.left;
    }
    uint32_t left = block->tree.left, right = block->tree.right;
    while (left && right) {
        if (priority(left) > priority(right)) {
            *link = left;
            link = &block_at(al, left)->tree.right;
            left = *link;
        } else {
            *link = right;
            link = &block_at(al, right)->tree.left;
            right = *link;
        }
    }
    *link = left ? left : right;
}

/* The first block that does not sort before `key`, or the last that does; 0: none. */
static inline uint32_t tree_from(const struct caching *al, enum tree_order order, uint32_t root,
                                 const struct key *key) {
    uint32_t best = 0;
    while (root) {
        const struct block *at = block_at(al, root);
        if (sorts_before(al, order, at, key)) {
            root = at->tree.right;
        } else {
            best = root;
            root = at->tree.left;
        }
    }
    return best;
}

static uint32_t tree_last_before(const struct caching *al, uint32_t root, const struct key *key) {
    uint32_t best = 0;
    while (root) {
        const struct block *at = block_at(al, root);
        if (sorts_before(al, BY_SIZE, at, key)) {
            best = root;
            root = at->tree.right;
        } else {
            root = at->tree.left;
        }
    }
    return best;
}

/* --- bins --- */

static uint32_t bin_of(uint64_t bytes) {
    uint64_t units = bytes / CACHING_MIN_BLOCK_BYTES;
    if (units < EXACT_BINS)
        return (uint32_t)units;
    uint32_t shift = bits_highest(units) - BIN_STEP_BITS;
    return (shift << BIN_STEP_BITS) + (uint32_t)(units >> shift);
}

/* First occupied bin from `bin` on, or bin_count. */
static uint32_t next_bin(const struct home *home, uint32_t bin) {
    if (bin >= home->bin_count)
        return home->bin_count;
    uint32_t word = bin / 64, words = (home->bin_count + 63) / 64;
    uint64_t bits = home->occupied[word] & UINT64_MAX << bin % 64;
    while (!bits) {
        if (++word == words)
            return home->bin_count;
        bits = home->occupied[word];
    }
    return word * 64 + bits_lowest(bits);
}

/* Last occupied bin below `bin`, or bin_count. */
static uint32_t prev_bin(const struct home *home, uint32_t bin) {
    while (bin > 0) {
        uint32_t word = (bin - 1) / 64, within = (bin - 1) % 64;
        uint64_t bits = home->occupied[word] & UINT64_MAX >> (63 - within);
        if (bits)
            return word * 64 + bits_highest(bits);
        bin = word * 64;
    }
    return home->bin_count;
}

static void mark_bin(struct home *home, uint32_t bin) {
    uint64_t bit = UINT64_C(1) << bin % 64;
    if (home->roots[bin])
        home->occupied[bin / 64] |= bit;
    else
        home->occupied[bin / 64] &= ~bit;
}

/* --- homes --- */

void pool_fini(struct caching *al, struct pool *pool) {
    for (size_t i = 0; i < pool->homes.count; i++) {
        al->homes.at[pool->homes.at[i]->index] = NULL;
        xfree(pool->homes.at[i]);
    }
    array_fini(&pool->homes);
    pool->last_home = NULL;
}

static size_t home_index(const struct pool *pool, uint64_t stream) {
    size_t low = 0, high = pool->homes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pool->homes.at[middle]->stream < stream)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A free slot of al->homes; 0: host memory. */
static uint32_t home_slot(struct caching *al) {
    for (size_t i = 1; i < al->homes.count; i++)
        if (!al->homes.at[i])
            return (uint32_t)i;
    if (al->homes.count >= UINT32_MAX ||
        (al->homes.count == 0 && !array_push(&al->homes, NULL)) || /* NOLINT */
        !array_push(&al->homes, NULL))                             /* NOLINT */
        return 0;
    return (uint32_t)al->homes.count - 1;
}

static struct home *add_home(struct caching *al, struct pool *pool, uint64_t stream, size_t index) {
    /* no free block is larger than what the driver gives */
    uint64_t most = al->capacity_bytes < CACHING_BYTES_END ? al->capacity_bytes : CACHING_BYTES_END;
    uint32_t bins = bin_of(most) + 1, slot = home_slot(al);
    assert(bins <= FREE_BIN_WORDS * 64);
    struct home *home = slot ? xcalloc(1, sizeof *home + bins * sizeof home->roots[0]) : NULL;
    if (!home)
        return NULL;
    *home = (struct home){.stream = stream, .pool = pool, .index = slot, .bin_count = bins};
    if (!array_push(&pool->homes, home)) { /* NOLINT(bugprone-sizeof-expression): pointers */
        xfree(home);
        return NULL;
    }
    for (size_t i = pool->homes.count - 1; i > index; i--)
        pool->homes.at[i] = pool->homes.at[i - 1];
    pool->homes.at[index] = home;
    al->homes.at[slot] = home;
    return home;
}

struct home *pool_home(struct caching *al, struct pool *pool, uint64_t stream) {
    if (pool->last_home && pool->last_home->stream == stream)
        return pool->last_home;
    size_t index = home_index(pool, stream);
    bool known = index < pool->homes.count && pool->homes.at[index]->stream == stream;
    struct home *home = known ? pool->homes.at[index] : add_home(al, pool, stream, index);
    if (home)
        pool->last_home = home;
    return home;
}

/* --- the sets --- */

void free_set_add(struct caching *al, struct block *block) {
    struct home *home = block_home(al, block);
    uint32_t bin = bin_of(block_bytes(block));
    assert(block_state(block) == CACHING_BLOCK_FREE && bin < home->bin_count);
    if (al->sides.count > 0)
        block_side(al, block)->freed_calls = home->pool->calls;
    tree_add(al, BY_SIZE, &home->roots[bin], block);
    mark_bin(home, bin);
    home->pool->free_bytes += block_bytes(block);
}

void free_set_remove(struct caching *al, struct block *block) {
    struct home *home = block_home(al, block);
    uint32_t bin = bin_of(block_bytes(block));
    assert(block_state(block) == CACHING_BLOCK_FREE);
    tree_remove(al, BY_SIZE, &home->roots[bin], block);
    mark_bin(home, bin);
    home->pool->free_bytes -= block_bytes(block);
}

static struct block *set_from(const struct caching *al, const struct home *home,
                              const struct key *key) {
    static const struct key lowest = {0, 0, 0};
    uint32_t bin = bin_of(key->bytes);
    uint32_t id = bin < home->bin_count ? tree_from(al, BY_SIZE, home->roots[bin], key) : 0;
    if (!id) {
        bin = next_bin(home, bin + 1);
        if (bin == home->bin_count)
            return NULL;
        id = tree_from(al, BY_SIZE, home->roots[bin], &lowest);
    }
    return block_at(al, id);
}

static struct block *set_last_before(const struct caching *al, const struct home *home,
                                     const struct key *key) {
    static const struct key highest = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    uint32_t bin = bin_of(key->bytes);
    uint32_t id = bin < home->bin_count ? tree_last_before(al, home->roots[bin], key) : 0;
    if (!id) {
        bin = prev_bin(home, bin < home->bin_count ? bin : home->bin_count);
        if (bin == home->bin_count)
            return NULL;
        id = tree_last_before(al, home->roots[bin], &highest);
    }
    return block_at(al, id);
}

struct block *free_set_from(const struct caching *al, const struct home *home, uint64_t bytes) {
    struct key key = {bytes, 0, 0};
    return set_from(al, home, &key);
}

struct block *free_set_next(const struct caching *al, const struct block *block) {
    struct key key = key_of(al, block);
    key.address++;
    return set_from(al, block_home(al, block), &key);
}

struct block *free_set_last_before(const struct caching *al, const struct home *home,
                                   uint64_t bytes) {
    struct key key = {bytes, 0, 0};
    return set_last_before(al, home, &key);
}

struct block *free_set_prev(const struct caching *al, const struct block *block) {
    struct key key = key_of(al, block);
    return set_last_before(al, block_home(al, block), &key);
}

void unmapped_add(struct caching *al, struct block *block) {
    assert(block_state(block) == CACHING_BLOCK_UNMAPPED);
    tree_add(al, BY_ADDRESS, &block_home(al, block)->unmapped, block);
}

void unmapped_remove(struct caching *al, struct block *block) {
    assert(block_state(block) == CACHING_BLOCK_UNMAPPED);
    tree_remove(al, BY_ADDRESS, &block_home(al, block)->unmapped, block);
}

struct block *unmapped_from(const struct caching *al, const struct home *home, uint64_t address) {
    struct key key = {0, 0, address};
    uint32_t id = tree_from(al, BY_ADDRESS, home->unmapped, &key);
    return id ? block_at(al, id) : NULL;
}
