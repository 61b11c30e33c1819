/* block_groups.h: which group a block is of, by one of the owners' groupings, in one timeline or in
 * two: groups of the same name are one, so that two timelines can be compared.
 *
 * Ownership: borrows the owners (their names are made once a timeline), owns the rest. Zero bytes
 * are ready for block_groups_start. */
#ifndef BLOCK_GROUPS_H
#define BLOCK_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "key_index.h"
#include "owners.h"
#include "strtab.h"

enum { BLOCK_GROUPS_SIDES = 2 };

struct block_groups {
    enum owner_grouping grouping;
    enum language language;
    struct {
        struct owners *owners;
        struct key_index keys;
        ARRAY(uint32_t) group; /* by index of the key */
    } sides[BLOCK_GROUPS_SIDES];
    bool has_names;
    struct strtab names;
    ARRAY(uint32_t) by_name; /* string -> group + 1; 0: none yet */
    ARRAY(uint32_t) name_of; /* group -> string */
};

/* Forgets all groups. `second` may be NULL, or the first. False: host memory. */
bool block_groups_start(struct block_groups *groups, enum owner_grouping grouping,
                        enum language language, struct owners *first, struct owners *second);
void block_groups_fini(struct block_groups *groups);
/* The group of a block of a side: groups count up from 0. False: host memory. */
bool block_groups_find(struct block_groups *groups, int side, uint32_t block, uint32_t *group);
uint32_t block_groups_count(const struct block_groups *groups);
const char *block_groups_name(const struct block_groups *groups, uint32_t group);

#endif
