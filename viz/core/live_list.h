/* live_list.h: the live blocks of one moment, a doubly linked list a group, so that adding at the
 * tail and taking out cost nothing and the order is age. Slots are used again.
 *
 * Ownership: borrows the lod; owns the rest. Zero bytes with a lod are an empty list. */
#ifndef LIVE_LIST_H
#define LIVE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "lod.h"

struct live_slot {
    uint64_t bytes;
    uint32_t block;
    uint32_t next, previous; /* slots; LIVE_NO_SLOT: none */
    uint8_t group;
};

#define LIVE_NO_SLOT UINT32_MAX

struct live_list {
    const struct lod *lod;
    ARRAY(struct live_slot) slots;
    uint32_t first[LOD_GROUPS], last[LOD_GROUPS], spare; /* slots */
    uint32_t *slot_of;                                   /* block -> slot; stale where not live */
};

void live_list_init(struct live_list *list, const struct lod *lod);
void live_list_fini(struct live_list *list);
void live_list_clear(struct live_list *list);
/* A block that is there already, or none of the timeline, changes nothing. False: host memory. */
bool live_list_add(struct live_list *list, uint32_t block);
void live_list_remove(struct live_list *list, uint32_t block);

#endif
