/* streams.h: the live blocks of any moment that are large enough to be seen, without looking at the
 * small ones.
 *
 *   tier 0   all blocks: the events themselves, keyframes of live.h
 *   tier k   blocks of STREAMS_LEAST[k] bytes or more: their events' indexes, and a keyframe (the
 * live ones, oldest first) every 4,096 of *those*, or as many as it has blocks
 *
 *   events    a . b C . D d . c e E . D ...        tier 2, the large ones:  C D c E D ...
 *
 * Built in slices, as picture frames allow; until then tier 0 answers for all. Ownership: borrows
 * lod and live. A cursor stands at a moment of one tier and steps on, or starts from a keyframe. */
#ifndef STREAMS_H
#define STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "live.h"
#include "live_list.h"

struct error;

enum { STREAMS_TIERS = 5, STREAMS_STEP = 4096 };

struct streams_keyframe {
    uint32_t moment, position; /* events before it: of all, of the tier */
    uint32_t count;
    size_t first; /* in ids */
};

struct streams_tier {
    ARRAY(uint32_t) events;
    ARRAY(struct streams_keyframe) keyframes;
    ARRAY(uint32_t) ids; /* blocks */
    struct live_set
        set;      /* while it is built: the live ones and some freed since the last keyframe */
    size_t added; /* events since then */
};

struct streams {
    const struct lod *lod;
    const struct live *live;
    struct streams_tier tiers[STREAMS_TIERS]; /* [0] stays empty */
    uint32_t next;                            /* event to be looked at */
    bool done, given_up;                      /* the latter: by whoever builds it */
};

struct streams_cursor {
    const struct streams *streams;
    struct live_list list;
    int tier; /* -1: nowhere */
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
/* `list` becomes the tier's live blocks after `moment` events (clamped). False: host memory; the
 * cursor is then nowhere. */
bool streams_seek(struct streams_cursor *cursor, int tier, uint32_t moment);

#endif
