/* range_sums.h: what went on between two moments, group by group.
 *
 *   allocated   bytes of the blocks allocated in the range
 *   freed       bytes of the blocks freed in it, whenever they were allocated
 *   leaked      of those allocated in it, what is still there at its end
 *   max         the most that the group held at any moment of it, the first included
 *   churn       allocated / max: how many times over the group was filled
 *
 * All but max sum to the total's. Ownership: borrows the track. Zero bytes are empty. */
#ifndef RANGE_SUMS_H
#define RANGE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "block_groups.h"
#include "category.h"

struct track;

struct range_row {
    uint32_t group;
    uint32_t allocations, frees, leaks;
    uint64_t allocated, freed, leaked, max;
    uint64_t live;                        /* at the end */
    uint64_t by_category[CATEGORY_COUNT]; /* sums to allocated */
    enum category first;                  /* of the first block */
};

struct range_sums {
    struct block_groups groups;
    ARRAY(struct range_row) rows;
    struct range_row total; /* its group means nothing */
    bool done;
    /* private */
    struct track *track;
    uint32_t next, end; /* events to be looked at */
};

/* The events first .. end - 1, which lead from moment `first` to moment `end`; begins. False: host memory; no
 * rows then. */
bool range_sums_start(struct range_sums *sums, struct track *track, uint32_t first, uint32_t end,
                      enum owner_grouping grouping, enum language language);
/* At most so many events more. When `done` the rows are there, by allocated bytes; before it they mean nothing.
 * False: host memory; it is then done, without rows. */
bool range_sums_more(struct range_sums *sums, uint32_t events);
/* All of it at once. */
bool range_sums_read(struct range_sums *sums, struct track *track, uint32_t first, uint32_t end,
                     enum owner_grouping grouping, enum language language);
void range_sums_fini(struct range_sums *sums);
const char *range_sums_name(const struct range_sums *sums, const struct range_row *row);
enum category range_sums_category(const struct range_row *row);
double range_sums_churn(const struct range_row *row); /* 0 where there never was anything */

enum range_order {
    RANGE_BY_ALLOCATED,
    RANGE_BY_FREED,
    RANGE_BY_LEAKED,
    RANGE_BY_MAX,
    RANGE_BY_CHURN,
    RANGE_BY_COUNT /* of allocations */
};
void range_sums_sort(struct range_sums *sums, enum range_order order, bool falling);

#endif
