/* request_match.h: two timelines request by request, as `vramsim validate` compares them
 * (compare.h): where they first differ, and which moments are the same in both.
 *
 * Ownership: keeps nothing of the tracks. Zero bytes: not yet looked for. */
#ifndef REQUEST_MATCH_H
#define REQUEST_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "align.h"
#include "alignment.h"
#include "array.h"

struct error;
struct track;

/* One side of the first difference. */
struct request_item {
    bool is_there; /* else there is no further request */
    bool is_oom;
    uint32_t event, block; /* TIMELINE_NONE: none */
    uint32_t request;      /* its number; of an OOM of the last before */
    uint64_t bytes;
};

struct request_match {
    bool is_done;
    enum alignment_difference kind; /* ALIGNMENT_NONE_DIFFERS: equal */
    struct request_item first, second;
    uint64_t equal, requests_first, requests_second;
    ARRAY(struct align_anchor) pairs; /* moments: the ends of the runs that are the same; rising */
};

/* False: host memory, or too many requests. */
bool request_match_find(struct request_match *match, const struct track *first,
                        const struct track *second, struct error *err);
void request_match_fini(struct request_match *match);
/* The moment of the first timeline where the two part; its last when it ends there. */
uint32_t request_match_moment(const struct request_match *match, const struct track *first);

#endif
