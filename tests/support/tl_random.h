/* tl_random.h: random timelines that obey PyTorch's rules (the low part of a free block is handed
 * out, neighbours merge), made by an allocator so naive that it is right at a glance. Seeded: the
 * same seed, the same timeline. */
#ifndef TL_RANDOM_H
#define TL_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "timeline.h"

enum { TL_RANDOM_SEGMENT = 64 * 512, TL_RANDOM_LIVE = 64 };

struct tl_random {
    uint64_t state;
    struct timeline *tl;
    uint32_t live[TL_RANDOM_LIVE], live_count;       /* allocated blocks */
    uint32_t pending[TL_RANDOM_LIVE], pending_count; /* freed, completion to come */
};

static inline uint32_t tl_random_next(struct tl_random *r, uint32_t limit) {
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->state >> 33) % limit;
}

static inline uint32_t tl_random_event(struct tl_random *r, struct timeline_event e) {
    e.time_ns = r->tl->events.count ? array_last(&r->tl->events)->time_ns : 0;
    e.time_ns += tl_random_next(r, 8) == 0 ? tl_random_next(r, 1000) : tl_random_next(r, 3);
    return timeline_add_event(r->tl, &e);
}

/* Is any byte of [from, to) in a live or pending block? */
static inline bool tl_random_is_used(const struct tl_random *r, uint64_t from, uint64_t to) {
    for (uint32_t i = 0; i < r->live_count + r->pending_count; i++) {
        uint32_t index = i < r->live_count ? r->live[i] : r->pending[i - r->live_count];
        const struct timeline_block *b = &r->tl->blocks.at[index];
        if (b->address < to && b->address + b->block_bytes > from)
            return true;
    }
    return false;
}

/* The lowest address in a segment where a free run of that size begins, else 0. Runs begin at the
 * segment's start or right behind a block. */
static inline uint64_t tl_random_place(const struct tl_random *r, uint32_t segment,
                                       uint64_t bytes) {
    const struct timeline_segment *s = &r->tl->segments.at[segment];
    if (s->free_event != TIMELINE_NONE)
        return 0;
    for (uint64_t at = s->address; at + bytes <= s->address + s->bytes; at += 512)
        if ((at == s->address || tl_random_is_used(r, at - 512, at)) &&
            !tl_random_is_used(r, at, at + bytes))
            return at;
    return 0;
}

static inline void tl_random_alloc(struct tl_random *r) {
    if (r->live_count + r->pending_count >= TL_RANDOM_LIVE)
        return;
    uint64_t bytes = 1 + tl_random_next(r, 20) * 512 + tl_random_next(r, 512);
    uint64_t block_bytes = (bytes + 511) / 512 * 512, address = 0;
    uint32_t segment = 0;
    for (; segment < r->tl->segments.count && address == 0; segment++)
        address = tl_random_place(r, segment, block_bytes);
    if (address == 0) {
        segment = (uint32_t)r->tl->segments.count;
        address = UINT64_C(1) << 40 |
                  (uint64_t)segment * TL_RANDOM_SEGMENT; /* adjacent to its neighbours */
        struct timeline_segment s = {
            .address = address, .bytes = TL_RANDOM_SEGMENT, .free_event = TIMELINE_NONE};
        s.small_pool = segment % 2 == 0;
        s.alloc_event = tl_random_event(r, (struct timeline_event){.kind = EVENT_SEGMENT_ALLOC,
                                                                   .ref = segment,
                                                                   .bytes = s.bytes,
                                                                   .address = address});
        timeline_add_segment(r->tl, &s);
    } else {
        segment--;
    }
    struct timeline_block b = {.address = address,
                               .requested_bytes = bytes,
                               .block_bytes = block_bytes,
                               .free_event = TIMELINE_NONE,
                               .complete_event = TIMELINE_NONE,
                               .phase = TIMELINE_NONE,
                               .segment = segment,
                               .small_pool = segment % 2 == 0};
    b.category = (uint8_t)tl_random_next(r, CATEGORY_COUNT);
    uint32_t index = (uint32_t)r->tl->blocks.count;
    b.alloc_event = tl_random_event(
        r, (struct timeline_event){
               .kind = EVENT_ALLOC, .ref = index, .bytes = bytes, .address = address});
    timeline_add_block(r->tl, &b);
    r->live[r->live_count++] = index;
}

static inline uint32_t tl_random_change(struct tl_random *r, uint32_t index, enum event_kind kind) {
    const struct timeline_block *b = &r->tl->blocks.at[index];
    return tl_random_event(r, (struct timeline_event){.kind = (uint8_t)kind,
                                                      .ref = index,
                                                      .bytes = b->requested_bytes,
                                                      .address = b->address});
}

static inline void tl_random_free(struct tl_random *r) {
    if (r->live_count == 0)
        return;
    uint32_t at = tl_random_next(r, r->live_count), index = r->live[at];
    r->live[at] = r->live[--r->live_count];
    r->tl->blocks.at[index].free_event = tl_random_change(r, index, EVENT_FREE_REQUESTED);
    if (tl_random_next(r, 4) == 0)
        r->pending[r->pending_count++] = index;
    else
        r->tl->blocks.at[index].complete_event = tl_random_change(r, index, EVENT_FREE_COMPLETED);
}

static inline void tl_random_complete(struct tl_random *r) {
    if (r->pending_count == 0)
        return;
    uint32_t at = tl_random_next(r, r->pending_count), index = r->pending[at];
    r->pending[at] = r->pending[--r->pending_count];
    r->tl->blocks.at[index].complete_event = tl_random_change(r, index, EVENT_FREE_COMPLETED);
}

static inline void tl_random_empty_cache(struct tl_random *r) {
    for (uint32_t i = 0; i < r->tl->segments.count; i++) {
        struct timeline_segment *s = &r->tl->segments.at[i];
        if (s->free_event != TIMELINE_NONE ||
            tl_random_is_used(r, s->address, s->address + s->bytes))
            continue;
        s->free_event = tl_random_event(
            r, (struct timeline_event){
                   .kind = EVENT_SEGMENT_FREE, .ref = i, .bytes = s->bytes, .address = s->address});
    }
}

static inline struct timeline *tl_random(uint64_t seed, uint32_t operations) {
    struct tl_random r = {.state = seed, .tl = timeline_create()};
    assert_non_null(r.tl);
    r.tl->has = TIMELINE_HAS_TIME | TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES |
                TIMELINE_HAS_REQUESTED | TIMELINE_HAS_SEGMENTS | TIMELINE_HAS_STREAM |
                TIMELINE_HAS_CATEGORY | TIMELINE_HAS_HISTORY;
    for (uint32_t i = 0; i < operations; i++) {
        uint32_t what = tl_random_next(&r, 100);
        if (what < 50)
            tl_random_alloc(&r);
        else if (what < 90)
            tl_random_free(&r);
        else if (what < 98)
            tl_random_complete(&r);
        else
            tl_random_empty_cache(&r);
    }
    struct error err = {0};
    assert_ok(timeline_check(r.tl, &err), err);
    return r.tl;
}

#endif
