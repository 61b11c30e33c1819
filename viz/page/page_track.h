/* page_track.h: the moments of one timeline that a page holds, and what changes between them. */
#ifndef PAGE_TRACK_H
#define PAGE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "page_kinds.h"

struct error;
struct track;

enum {
    PAGE_MOMENTS_MAX = 150000, /* kept; with as many changes some 3 MB of text */
    PAGE_CHANGES_MAX = 200000
};

struct page_change {
    uint32_t kind;
    int32_t blocks;
    int64_t bytes;
};

struct page_track {
    struct track *track;
    struct page_kinds kinds;
    uint32_t bucket;       /* moments that were put together; 1: all are kept */
    ARRAY(uint32_t) kept;  /* moments, rising; the first is 0, the last the end */
    ARRAY(uint32_t) first; /* of each its first change, and the end of the last one's */
    ARRAY(uint64_t) reserved;
    ARRAY(struct page_change) changes;
};

/* `wanted` are moments to keep in any case. False: host memory. The track is borrowed. */
bool page_track_build(struct page_track *page, struct track *track, const uint32_t *wanted,
                      size_t wanted_count, struct error *err);
void page_track_fini(struct page_track *page);

#endif
