/* caching_core.h: the inside of the caching allocator, for the caching_*.c files only.
 *
 *   caching ── pools (small, large; two more a private pool)
 *                └── homes: one a stream, with its free set
 *           ── segments: one a cudaMalloc or a reservation
 *                └── blocks: in address order, no gaps
 *
 *   segment      | allocated | free | pending | free |     block.prev / next are ids, 0 = none
 *   reservation  | allocated | free | unmapped ..... |
 *
 * Blocks, segments and uses live in arrays that move when they grow. They grow only in
 * caching_reserve_* (called before anything changes), so pointers stay good for the rest of an
 * operation and nothing fails half-way. A segment's lowest block keeps its id for the segment's
 * life: joining keeps the lower block, cutting too. */
#ifndef CACHING_CORE_H
#define CACHING_CORE_H

#include "alloc.h"
#include "array.h"
#include "caching.h"
#include "caching_sizes.h"

enum {
    FREE_BIN_WORDS = 28 /* bins of 1/32 octave: 64-bit sizes need fewer than 28 * 64 */
};

struct block {
    uint64_t address, bytes;
    union {
        uint64_t requested; /* allocated, pending */
        struct {
            uint32_t left, right; /* free, unmapped: the set's tree */
        } tree;
    };
    union {
        uint32_t uses;        /* allocated, pending: first struct use; 0 = none */
        uint32_t freed_calls; /* free: pool.calls when it became free */
    };
    uint32_t events; /* pending: outstanding ones */
    uint32_t segment, prev, next;
    uint8_t state; /* enum caching_block_state */
};

struct segment {
    uint64_t address, bytes;
    uint64_t number;   /* of creation, from 1 */
    uint64_t page;     /* reservations: granule of mapping; 0: a plain segment */
    struct home *home; /* NULL: this slot is free */
    uint32_t first;    /* lowest block; in free slots: next free slot */
};

/* One other stream's use of a block; after the free request the event that ends it, in the FIFO of
 * that stream. */
struct use {
    uint64_t stream, event;
    uint32_t block;
    uint32_t next;          /* of the same block; then in the FIFO */
    uint32_t next_deferred; /* of the first use of a deferred block: the next such block's */
    bool during_capture;
};

/* Free blocks of one pool and stream, and the unmapped ranges of its reservations. */
struct home {
    uint64_t stream;
    struct pool *pool;
    uint32_t unmapped; /* tree by address */
    uint32_t bin_count;
    uint64_t occupied[FREE_BIN_WORDS];
    uint32_t roots[]; /* bin_count trees by (size, age of the segment, address) */
};

struct pool {
    ARRAY(struct home *) homes; /* ascending by stream */
    struct home *last_home;     /* the one asked for last */
    struct private_pool *owner; /* NULL: the default pool */
    uint64_t free_bytes;
    uint32_t calls; /* searches, while garbage collection is on; wraps, only differences count */
    bool small;
};

struct private_pool {
    struct caching_pool_id id;
    struct pool small, large;
    uint32_t use_count;
    struct caching_pool_options options;
};

struct redirect {
    struct private_pool *pool;
    struct caching_filter filter;
};

struct fifo {
    uint64_t stream;
    uint32_t first, last; /* uses; 0 = none */
};

struct caching {
    struct alloc alloc;
    struct alloc_settings settings;
    const struct framework *framework; /* whose rules */
    struct alloc_world world;
    uint64_t total_bytes, capacity_bytes, used_bytes; /* used: of the driver, by this model */
    uint64_t limit_bytes;
    double option_fraction; /* of the settings the model was built with */
    bool has_limit, capture;
    uint64_t next_address, next_number;

    struct pool small, large;
    ARRAY(struct private_pool *) private_pools;
    ARRAY(struct redirect) redirects;
    ARRAY(struct caching_pool_reserved) pool_reserved; /* has room for every pool without one */

    ARRAY(struct block) blocks; /* at[0] unused; free slots linked by next */
    uint32_t free_block_slot, spare_blocks;
    ARRAY(struct segment) segments; /* at[0] unused */
    uint32_t free_segment_slot;

    uint32_t *live; /* address -> block, open addressing; 0 = empty */
    uint32_t live_bits, live_count;

    ARRAY(struct use) uses; /* at[0] unused */
    uint32_t free_use_slot;
    ARRAY(struct fifo) fifos;
    uint32_t pending_events;
    uint32_t first_deferred, last_deferred; /* uses */

    struct alloc_stats stats;
    struct alloc_oom oom;
};

/* A request on its way through alloc_take. */
struct request {
    uint64_t bytes, rounded, segment_bytes;
    struct pool *pool;
    struct home *home;
    bool redirected, expandable;
    bool rejected; /* out: no retry is to be made */
};

static inline struct caching *caching_of(struct alloc *al) {
    return (struct caching *)(void *)al;
}

static inline struct block *block_at(const struct caching *al, uint32_t id) {
    return &al->blocks.at[id];
}

static inline uint32_t block_id(const struct caching *al, const struct block *block) {
    return (uint32_t)(block - al->blocks.at);
}

/* NULL at the segment's ends. */
static inline struct block *block_prev(const struct caching *al, const struct block *block) {
    return block->prev ? block_at(al, block->prev) : NULL;
}

static inline struct block *block_next(const struct caching *al, const struct block *block) {
    return block->next ? block_at(al, block->next) : NULL;
}

static inline bool block_is_split(const struct block *block) {
    return block->prev || block->next;
}

static inline struct segment *block_segment(const struct caching *al, const struct block *block) {
    return &al->segments.at[block->segment];
}

static inline bool block_is_expandable(const struct caching *al, const struct block *block) {
    return block_segment(al, block)->page != 0;
}

static inline enum alloc_pool_class pool_class(const struct pool *pool) {
    return pool->small ? ALLOC_POOL_SMALL : ALLOC_POOL_LARGE;
}

/* caching_blocks.c: slots of blocks and segments, cutting and joining, the map of live addresses.
 */
bool caching_reserve_blocks(struct caching *al, uint32_t count);
bool caching_reserve_segment(struct caching *al);
bool caching_reserve_live(struct caching *al);
struct segment *segment_create(struct caching *al, struct home *home, uint64_t address,
                               uint64_t bytes, uint64_t page);
void segment_drop(struct caching *al, struct segment *segment); /* with its single block */
/* The part of `block` from `bytes` on becomes a new block of the same state, in no set. */
struct block *block_cut(struct caching *al, struct block *block, uint64_t bytes);
/* `low` takes its upper neighbour in; both in no set. */
void block_join_next(struct caching *al, struct block *low);
void live_add(struct caching *al, const struct block *block);
struct block *live_find(const struct caching *al, uint64_t address); /* NULL: not live */
struct block *live_take(struct caching *al, uint64_t address); /* likewise; and out of the map */

/* caching_free.c: pools, homes and their sets. */
void pool_fini(struct pool *pool);
struct home *pool_home(struct caching *al, struct pool *pool,
                       uint64_t stream); /* NULL: host memory */
void free_set_add(struct caching *al, struct block *block);
void free_set_remove(struct caching *al, struct block *block);
/* First free block of at least `bytes`; neighbours in the order of the set. NULL: none. */
struct block *free_set_from(const struct caching *al, const struct home *home, uint64_t bytes);
struct block *free_set_next(const struct caching *al, const struct block *block);
struct block *free_set_last_before(const struct caching *al, const struct home *home,
                                   uint64_t bytes);
struct block *free_set_prev(const struct caching *al, const struct block *block);
void unmapped_add(struct caching *al, struct block *block);
void unmapped_remove(struct caching *al, struct block *block);
struct block *unmapped_from(const struct caching *al, const struct home *home, uint64_t address);

/* caching_events.c: record_stream and what follows from it. */
bool events_record_use(struct caching *al, struct block *block, uint64_t stream);
void events_free_used(struct caching *al, struct block *block);
void events_process(struct caching *al);
/* Waits for every outstanding event, or only for those of blocks in `only`. */
void events_wait_all(struct caching *al, const struct private_pool *only);

/* caching_segments.c: cudaMalloc, and the ways to give memory back. */
bool driver_plan_address(struct caching *al, uint64_t bytes, bool reservation, uint64_t *address);
void driver_took(struct caching *al, struct pool *pool, uint64_t bytes);
void driver_gave_back(struct caching *al, struct pool *pool, uint64_t bytes);
struct block *caching_new_segment(struct caching *al, struct request *request);
void caching_collect_garbage(struct caching *al);
bool caching_release_available(struct caching *al, const struct request *request);
/* False: host memory exhausted; what was released until then stays so. */
bool caching_release_all(struct caching *al);
bool caching_release_pool(struct caching *al, struct private_pool *pool);

/* caching_expandable.c */
struct block *expandable_grow(struct caching *al, const struct request *request);
bool expandable_unmap_free(struct caching *al, struct pool *pool); /* false: host memory */

/* caching_pools.c */
bool caching_is_suspended(const struct caching *al);
/* NULL: it never had memory. */
struct caching_pool_reserved *pool_reserved_find(const struct caching *al,
                                                 struct caching_pool_id id);
struct private_pool *caching_redirected(const struct caching *al,
                                        uint64_t stream); /* NULL: the default pool */
void private_pool_destroy(struct private_pool *pool);

/* caching.c */
struct block *caching_find_free(struct caching *al, struct pool *pool, struct home *home,
                                uint64_t rounded);
void caching_complete_free(struct caching *al, struct block *block);
void caching_entry(struct caching *al, enum alloc_entry_kind kind, const struct block *block);
void caching_entry_range(struct caching *al, enum alloc_entry_kind kind,
                         const struct segment *segment, uint64_t address, uint64_t bytes);

#endif
