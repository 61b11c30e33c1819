/* room.h: would a request of so many bytes be served after an event, and what must go first?
 *
 * Two ways, as PyTorch's caching allocator has them: a free block of the request's pool and stream
 * that is large enough, which blocks beside it may have to make; or new memory from the driver, once
 * everything idle has been given back (the retry), for which whole segments or pages may have to come
 * free. The cheapest is the one with the fewest live bytes to go.
 *
 * Source: pytorch c10/cuda/CUDACachingAllocator.cpp, malloc (2.1 to 2.15); docs/allocators.md. Left
 * out: memory fractions, garbage collection, private pools; and of a reservation that grows the free
 * bytes that it grows from, so with expandable segments a page less may do. */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "caching_sizes.h"

struct error;
struct pinning;
struct timeline;

struct room_options {
    struct caching_sizes sizes;
    uint16_t stream; /* index; of the default pool */
    bool has_device_free;
    uint64_t device_free_bytes; /* what the driver would still give */
};

/* A set of blocks to go. */
struct room_way {
    bool is_possible; /* off: not even with all of them gone, or not known */
    bool is_exact;    /* no set of fewer bytes does it */
    uint64_t bytes;
    ARRAY(uint32_t) blocks; /* of the timeline, by address; empty: nothing has to go */
};

struct room {
    uint64_t cached_bytes; /* the largest request (more than 1 MiB) that a free block serves */
    uint64_t cached_small_bytes; /* likewise of at most 1 MiB */
    bool has_new;                /* the next one is known */
    uint64_t new_bytes;          /* the largest that new memory serves, after a retry */
    /* of one request */
    uint64_t bytes, rounded_bytes, segment_bytes;
    struct room_way in_place, by_driver;
};

/* `bytes` 0: only the largest ones. False: host memory. room_fini() frees. */
bool room_find(const struct timeline *tl, const struct pinning *pinning, uint64_t bytes,
               const struct room_options *options, struct room *out, struct error *err);
void room_fini(struct room *room);

/* The better of the two ways; NULL: none is possible. */
const struct room_way *room_best(const struct room *room);

#endif
