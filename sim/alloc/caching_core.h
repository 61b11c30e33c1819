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
 * life: joining keeps the lower block, cutting too.
 *
 * Blocks and segments are packed, as a step may have a thousand of each: addresses and sizes are
 * multiples of 512 bytes, so the low bits of one word are free for the state. What few runs need, uses
 * by other streams and ages for garbage collection, is a second array that they alone have. */
#ifndef CACHING_CORE_H
#define CACHING_CORE_H

#include <assert.h>

#include "alloc.h"
#include "array.h"
#include "caching.h"
#include "caching_sizes.h"

enum {
    FREE_BIN_WORDS = 14 /* bins of 1/16 octave: 64-bit sizes need fewer than 14 * 64 */
};

/* An address lies below 2^55 (CUDA's have 49 bits), a block is smaller than 2^50 bytes. */
#define CACHING_ADDRESS_END (UINT64_C(1) << 55)
#define CACHING_BYTES_END (UINT64_C(1) << 50)
/* A reservation's granule is smaller: it has 24 bits, in MiB. The settings may ask for more. */
#define CACHING_PAGE_END (UINT64_C(1) << 44)

struct block {
    /* bits 0..8 the state, 9..54 the address, 55..63 bits 32..40 of the size in units of 512 */
    uint64_t place;
    uint32_t units; /* bits 0..31 of the size in units of 512 */
    uint32_t segment, prev, next;
    union {
        uint64_t requested; /* allocated, pending */
        struct {
            uint32_t left, right; /* free, unmapped: the set's tree */
        } tree;
    };
};
static_assert(sizeof(struct block) == 32, "many blocks are most of a model's memory");

/* Beside a block, by its id. */
struct side {
    union {
        uint32_t uses;        /* allocated, pending: first struct use; 0 = none */
        uint32_t freed_calls; /* free: pool.calls when it became free */
    };
    uint32_t events; /* pending: outstanding ones */
};

struct segment {
    /* bits 0..39 its number, from 1 in order of creation, 40..63 the granule of mapping of a
     * reservation in MiB; 0: a plain segment */
    uint64_t number_page;
    uint32_t home;  /* index into homes; 0: this slot is free */
    uint32_t first; /* lowest block; in free slots: next free slot */
};
static_assert(sizeof(struct segment) == 16, "a step may have as many segments as blocks");

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
    uint32_t index;    /* in caching.homes */
    uint32_t unmapped; /* tree by address */
    uint32_t bin_count;
    uint64_t occupied[FREE_BIN_WORDS];
    uint32_t roots[]; /* bin_count trees by (size, age by the tie rule, address) */
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
    uint64_t next_address, next_number; /* number: of segments and births */
    uint64_t loaded_number;             /* births below are of caching_load_state */

    struct pool small, large;
    ARRAY(struct private_pool *) private_pools;
    ARRAY(struct redirect) redirects;
    ARRAY(struct caching_pool_reserved) pool_reserved; /* has room for every pool without one */

    ARRAY(struct home *) homes; /* of all pools; at[0] unused; NULL: a free slot */
    ARRAY(struct block) blocks; /* at[0] unused; free slots linked by next */
    ARRAY(struct side) sides;   /* empty, or as many as there is room for blocks */
    ARRAY(uint64_t) births;     /* likewise; by block id, under TIE_OLDER_BLOCK: from next_number */
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

static inline uint64_t block_address(const struct block *block) {
    return block->place & (CACHING_ADDRESS_END - 512);
}

static inline uint64_t block_bytes(const struct block *block) {
    return ((block->place >> 55 << 32) | block->units) * 512;
}

static inline uint64_t block_end(const struct block *block) {
    return block_address(block) + block_bytes(block);
}

static inline enum caching_block_state block_state(const struct block *block) {
    return (enum caching_block_state)(block->place & 511);
}

static inline void block_set_state(struct block *block, enum caching_block_state state) {
    block->place = (block->place & ~UINT64_C(511)) | (uint64_t)state;
}

static inline void block_set_bytes(struct block *block, uint64_t bytes) {
    assert(bytes % 512 == 0 && bytes < CACHING_BYTES_END);
    block->units = (uint32_t)(bytes / 512);
    block->place = (block->place & (CACHING_ADDRESS_END - 1)) | bytes / 512 >> 32 << 55;
}

/* The block's bookkeeping beside it; only where caching_reserve_sides was. */
static inline struct side *block_side(const struct caching *al, const struct block *block) {
    return &al->sides.at[block_id(al, block)];
}

static inline uint32_t block_uses(const struct caching *al, const struct block *block) {
    return al->sides.count > 0 ? block_side(al, block)->uses : 0;
}

static inline void block_forget_uses(const struct caching *al, const struct block *block) {
    if (al->sides.count > 0)
        *block_side(al, block) = (struct side){{0}, 0};
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

static inline struct home *segment_home(const struct caching *al, const struct segment *segment) {
    return al->homes.at[segment->home];
}

static inline struct home *block_home(const struct caching *al, const struct block *block) {
    return segment_home(al, block_segment(al, block));
}

static inline uint64_t segment_number(const struct segment *segment) {
    return segment->number_page & ((UINT64_C(1) << 40) - 1);
}

static inline void segment_set_number(struct segment *segment, uint64_t number) {
    segment->number_page = (segment->number_page >> 40 << 40) | number;
}

/* Bytes; 0: a plain segment. */
static inline uint64_t segment_page(const struct segment *segment) {
    return segment->number_page >> 40 << 20;
}

static inline uint64_t segment_address(const struct caching *al, const struct segment *segment) {
    return block_address(block_at(al, segment->first));
}

static inline bool block_is_expandable(const struct caching *al, const struct block *block) {
    return segment_page(block_segment(al, block)) != 0;
}

static inline enum alloc_pool_class pool_class(const struct pool *pool) {
    return pool->small ? ALLOC_POOL_SMALL : ALLOC_POOL_LARGE;
}

/* caching_blocks.c: slots of blocks and segments, cutting and joining, the map of live addresses.
 */
bool caching_reserve_blocks(struct caching *al, uint32_t count);
bool caching_reserve_segment(struct caching *al);
bool caching_reserve_live(struct caching *al);
/* From now on blocks have their sides; all zero. */
bool caching_reserve_sides(struct caching *al);
struct segment *segment_create(struct caching *al, struct home *home, uint64_t address,
                               uint64_t bytes, uint64_t page);
void segment_drop(struct caching *al, struct segment *segment); /* with its single block */
/* The part of `block` from `bytes` on becomes a new block of the same state, in no set. */
struct block *block_cut(struct caching *al, struct block *block, uint64_t bytes);
/* From here on it counts as just made (TIE_OLDER_BLOCK); it is in no set. */
void block_renew(struct caching *al, const struct block *block);
/* `to` goes on in the place of `from`. */
void block_take_birth(struct caching *al, const struct block *to, const struct block *from);
/* `low` takes its upper neighbour in; both in no set. */
void block_join_next(struct caching *al, struct block *low);
void live_add(struct caching *al, const struct block *block);
struct block *live_find(const struct caching *al, uint64_t address); /* NULL: not live */
struct block *live_take(struct caching *al, uint64_t address); /* likewise; and out of the map */

/* caching_free.c: pools, homes and their sets. */
void pool_fini(struct caching *al, struct pool *pool);
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
/* False: the driver has none, or none that a block can have. */
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
void private_pool_destroy(struct caching *al, struct private_pool *pool);

/* caching.c */
struct block *caching_find_free(struct caching *al, struct pool *pool, struct home *home,
                                uint64_t rounded);
void caching_complete_free(struct caching *al, struct block *block);
void caching_entry(struct caching *al, enum alloc_entry_kind kind, const struct block *block);
void caching_entry_range(struct caching *al, enum alloc_entry_kind kind,
                         const struct segment *segment, uint64_t address, uint64_t bytes);

#endif
