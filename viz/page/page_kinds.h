/* page_kinds.h: the blocks of a timeline by kind: those alike in all that owners are grouped by. Sums over
 * kinds are the sums of any grouping, so a page need not hold the blocks.
 *
 * At most PAGE_KINDS_MAX; blocks of further kinds are one kind a category, `merged` counts them. */
#ifndef PAGE_KINDS_H
#define PAGE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "owners.h"

struct track;

enum { PAGE_KINDS_MAX = 20000 };

/* What a page can group by. */
#define PAGE_GROUPINGS(X) X(CATEGORY) X(MODULE) X(OP) X(STACK) X(DTYPE) X(STREAM) X(SIZE)

enum {
#define X(id) PAGE_BY_##id,
    PAGE_GROUPINGS(X)
#undef X
        PAGE_GROUPING_COUNT
};

extern const enum owner_grouping page_groupings[PAGE_GROUPING_COUNT];

struct page_kind {
    uint64_t key[PAGE_GROUPING_COUNT];
    uint64_t kept; /* 1: never freed */
};

struct page_kinds {
    ARRAY(struct page_kind) kinds;
    ARRAY(uint32_t) slots; /* hash table: 0 free, else kind + 1 */
    uint32_t *of;          /* [block] */
    uint64_t merged;
};

bool page_kinds_build(struct page_kinds *kinds, struct track *track); /* false: host memory */
void page_kinds_fini(struct page_kinds *kinds);

#endif
