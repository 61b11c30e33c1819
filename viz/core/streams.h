/* streams.h: the live blocks of any moment that are large enough to be seen, without looking at the
 * small ones.
 *
 *   tier 0   all blocks: the events themselves, keyframes of live.h
 *   tier k   blocks of so many bytes or more (64 KiB, 1, 16, 256 MiB) in the order of allocation, and
 * a keyframe (the live ones, oldest first) every 4,096 of *those*, or as many as it has blocks
 *
 * Between two moments the blocks that are freed by then are dropped and those allocated since and
 * still alive are added: what comes and goes between them is only passed by.
 *
 * Built in slices, as picture frames allow; until then tier 0 answers for all. Ownership: borrows
 * lod and live. A cursor stands at a moment of one tier and goes on from it, or from a keyframe. */
#ifndef STREAMS_H
#define STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "live.h"
#include "lod.h"

struct error;

enum { STREAMS_TIERS = 5, STREAMS_STEP = 4096 };

struct streams_keyframe {
    uint32_t moment, position; /* events before it; blocks of the tier before it */
    uint32_t count;
    size_t first; /* in live */
};

/* When it lives stands beside the block's number, so that what is passed by is not looked up. */
struct streams_entry {
    uint32_t block, alloc_event, free_event;
};

struct streams_tier {
    ARRAY(struct streams_entry) blocks; /* in the order of their allocation */
    ARRAY(struct streams_keyframe) keyframes;
    ARRAY(uint32_t) live;
    struct live_set set; /* while it is built: live ones, and some freed since the last keyframe */
};

struct streams {
    const struct lod *lod;
    const struct live *live;
    struct streams_tier tiers[STREAMS_TIERS]; /* [0] stays empty */
    uint32_t next;                            /* event to be looked at */
    bool started, done, given_up;             /* the last: by whoever builds it */
};

struct streams_block {
    uint64_t bytes;
    uint32_t block;
    uint32_t free_event; /* TIMELINE_NONE: never */
};

struct streams_cursor {
    const struct streams *streams;
    struct {
        ARRAY(struct streams_block) list;
    } groups[LOD_GROUPS]; /* the live blocks, oldest first */
    int tier;             /* -1: nowhere */
    uint32_t moment;
    size_t position;
};

void streams_init(struct streams *streams, const struct lod *lod, const struct live *live);
void streams_fini(struct streams *streams);
/* Looks at most at `events` more; `done` tells when that was all. False: host memory; the build can
 * be gone on with. */
bool streams_build(struct streams *streams, uint32_t events, struct error *err);
/* The tier with the fewest blocks that has all of `bytes` or more. */
int streams_tier_of(const struct streams *streams, double bytes);

void streams_cursor_init(struct streams_cursor *cursor, const struct streams *streams);
void streams_cursor_fini(struct streams_cursor *cursor);
/* The lod's groups are others now. */
void streams_cursor_forget(struct streams_cursor *cursor);
/* The groups hold the tier's live blocks after `moment` events (clamped). False: host memory; the
 * cursor is then nowhere. */
bool streams_seek(struct streams_cursor *cursor, int tier, uint32_t moment);

#endif
