/* ranks.h: the ranks of one run beside each other, and those that differ from most.
 *
 * Of each rank the device that has memory. A rank is odd where its number of requests is not that of
 * the middle rank (the median), where a peak is more than a hundredth beside that of the middle rank,
 * or where it alone was out of memory. Ranks of a pipeline differ by design: then most are odd, and
 * the table says how. */
#ifndef RANKS_H
#define RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct timeline;

enum rank_figure {
    RANK_REQUESTS,
    RANK_ALLOCATED, /* peaks */
    RANK_RESERVED,  /* or what the device had in use */
    RANK_OOMS,
    RANK_FIGURES
};

struct rank {
    uint64_t number; /* of the rank; UINT64_MAX: unknown */
    uint32_t file;   /* the caller's */
    uint8_t device;
    uint64_t figures[RANK_FIGURES];
    bool known[RANK_FIGURES], odd[RANK_FIGURES];
};

struct ranks {
    ARRAY(struct rank) list;
    uint64_t middle[RANK_FIGURES];
    bool has_middle[RANK_FIGURES];
};

/* `number` UINT64_MAX: not known. False: host memory. */
bool ranks_add(struct ranks *ranks, const struct timeline *tl, uint64_t number, uint32_t file);
/* Puts them in order of their numbers and finds the odd ones. False: host memory. */
bool ranks_compare(struct ranks *ranks);
void ranks_fini(struct ranks *ranks);
bool rank_is_odd(const struct rank *rank);
/* (figure - middle) / middle; 0 when both are 0, infinite when only the middle is. */
double rank_difference(const struct ranks *ranks, const struct rank *rank, enum rank_figure figure);

#endif
