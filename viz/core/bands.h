/* bands.h: what the layers of the timeline stand for: the categories in their order, or the largest
 * groups of blocks by another of the owners' groupings.
 *
 *   others (n)    [count - 1]   where there are more than BANDS_GROUPS groups
 *   group k       [k]           those that were largest at their own highest moment
 *   group 1       [1]           the one whose most is there longest (sizes: the largest; streams: the
 *                               first): what comes and goes lies above
 *   context       [0]           outside the allocator; by category also the blocks of that category
 *
 * Of two timelines a group's band is the same: groups of one name are one. Found in slices; of a lod
 * then only the groups change. Ownership: owns the blocks' bands, which the lods borrow. */
#ifndef BANDS_H
#define BANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "block_groups.h"
#include "lod.h"
#include "owners.h"
#include "theme.h"

struct palette;

enum { BANDS_GROUPS = LOD_GROUPS - 2, BANDS_SIDES = BLOCK_GROUPS_SIDES };

struct band {
    uint32_t block; /* one of the group's, of that side: it says what the group is */
    uint8_t side;
    uint8_t hue;     /* a category, whose colour it has; */
    uint8_t pattern; /* its own: enum pattern */
};

struct bands {
    enum owner_grouping by;
    int count;
    uint32_t others; /* groups in the topmost; 0: it is one itself */
    struct band at[LOD_GROUPS];
    uint8_t *band_of[BANDS_SIDES]; /* by block; NULL: by category */
};

void bands_start(struct bands *bands); /* by category */
void bands_fini(struct bands *bands);
/* "others (12)", or the group's name; valid until the owners change, or in `buffer`. */
const char *bands_name(const struct bands *bands, struct owners *const owners[BANDS_SIDES],
                       int band, enum language language, char buffer[256]);
bool bands_is_others(const struct bands *bands, int band);
struct band_style bands_style(const struct bands *bands, const struct palette *palette, int band);

struct bands_group {
    double area;        /* bytes times the share of the run they are there */
    uint64_t now, most; /* bytes */
    uint32_t block;
    uint8_t side;
};

enum bands_step { BANDS_NAME, BANDS_WALK, BANDS_ASSIGN, BANDS_SUM, BANDS_DONE };

/* While they are found. */
struct bands_job {
    struct bands bands;
    const struct lod *lods[BANDS_SIDES];
    struct owners *owners[BANDS_SIDES];
    int sides, side;
    enum bands_step step;
    bool begun;
    uint32_t next; /* block or event */
    struct block_groups names;
    ARRAY(struct bands_group) groups;
    uint32_t *group_of[BANDS_SIDES]; /* by block */
    ARRAY(uint8_t) band_of_group;
    struct lod_regroup regroup[BANDS_SIDES];
};

/* Of one timeline, or two: the second lod may be NULL. */
void bands_job_start(struct bands_job *job, enum owner_grouping by,
                     const struct lod *const lods[BANDS_SIDES],
                     struct owners *const owners[BANDS_SIDES]);
/* Looks at most at `count` more blocks or events; at BANDS_DONE that was all. False: host memory. */
bool bands_job_more(struct bands_job *job, uint32_t count);
/* Done: these are the lods' groups, and *bands, now. Nothing is left to free. */
void bands_job_take(struct bands_job *job, struct lod *const lods[BANDS_SIDES],
                    struct bands *bands);
void bands_job_fini(struct bands_job *job);

#endif
