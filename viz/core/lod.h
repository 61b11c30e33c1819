/* lod.h: levels of detail of one timeline on one device: what a picture column needs, without
 * walking all events.
 *
 *   moment m    the state after m events: 0 = before the first event, m = after event m - 1; there
 * are events + 1 bucket      64 moments: the group sums at its first moment and at its maximum
 *   pyramid     level 0 one node a bucket, each further level one for 8: max, first moment of max,
 * min, max of reserved
 *
 *   moments  |0 ........ 63|64 ....... 127| ...
 *   level 0  |   node 0    |   node 1     | ...      level 1  |  nodes 0 .. 7  | ...
 *
 * `total` is what the allocator counts as allocated (counters.h: down when the free is requested);
 * the groups sum to it. Built in one linear pass; about 5 bytes an event. A range costs at most 2 *
 * 63 events and 16 nodes a level. Ownership: the lod borrows the timeline and `group_of`, owns the
 * rest. Records that contradict the timeline's promises (a reference out of bounds) count for
 * nothing; sums then wrap, nothing breaks. */
#ifndef LOD_H
#define LOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct timeline;

enum { LOD_GROUPS = 13, LOD_BUCKET = 64, LOD_FANOUT = 8, LOD_LEVELS = 12 };
/* As a group: the block counts for nothing, not in the total either. */
enum { LOD_NO_GROUP = 255 };

struct lod_state {
    uint64_t group[LOD_GROUPS];
    uint64_t total, reserved;
};

struct lod_node {
    uint64_t max, min, reserved_max;
    uint32_t arg; /* first moment of max */
};

struct lod_bucket {
    uint64_t first[LOD_GROUPS], at_max[LOD_GROUPS];
    uint64_t reserved;
};

struct lod {
    const struct timeline *tl;
    const uint8_t *group_of; /* block -> group < LOD_GROUPS, or LOD_NO_GROUP; NULL: its category */
    uint8_t device;
    uint32_t moments; /* events + 1 */
    struct lod_bucket *buckets;
    struct lod_node *nodes[LOD_LEVELS];
    size_t node_count[LOD_LEVELS];
    size_t levels;
    struct lod_node peak; /* over all moments */
    bool time_known;      /* recorded, never backwards, and not all the same */
};

/* Other groups for a lod that is there, made beside the old ones in slices: all else does not depend on
 * them. */
struct lod_regroup {
    struct lod to; /* the lod with the new groups; owns the buckets alone */
    struct lod_state state;
    uint32_t block, moment; /* to be looked at */
    bool done;
};

bool lod_build(struct lod *lod, const struct timeline *tl, uint8_t device, const uint8_t *group_of,
               struct error *err);
void lod_fini(struct lod *lod);
/* `group_of` as that of lod_build. False: host memory. */
bool lod_regroup_start(struct lod_regroup *regroup, const struct lod *lod, const uint8_t *group_of);
/* Looks at most at `count` more blocks or moments, until `done`. */
void lod_regroup_more(struct lod_regroup *regroup, uint32_t count);
/* Done: the lod, which must be the one it began with, has those groups. Nothing is left to free. */
void lod_regroup_take(struct lod_regroup *regroup, struct lod *lod);
void lod_regroup_fini(struct lod_regroup *regroup);

/* A block of the timeline: below LOD_GROUPS. */
unsigned lod_group(const struct lod *lod, uint32_t block);
/* The state at a moment (clamped to the last). */
void lod_state_at(const struct lod *lod, uint32_t moment, struct lod_state *state);
/* Makes the state at moment `event` that after it. */
void lod_apply(const struct lod *lod, uint32_t event, struct lod_state *state);
/* Over the moments first .. end - 1, not empty, inside the timeline. */
void lod_range(const struct lod *lod, uint32_t first, uint32_t end, struct lod_node *out);
/* The group sums at `node.arg` of a range: from its bucket where that is its maximum too, else by
 * replay. */
void lod_groups_at_max(const struct lod *lod, const struct lod_node *node,
                       uint64_t group[LOD_GROUPS]);

#endif
