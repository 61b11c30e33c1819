/* owner_tree.h: the owners as a tree: a row of the grouping opens into module paths, these into
 * operations, these into blocks. A level that the grouping is already is left out. What is shown is a
 * flat list; the outermost rows sum to the total, those inside a row to that row.
 *
 * Ownership: borrows the owners, owns the rest. Zero bytes are an empty tree in which nothing is open. */
#ifndef OWNER_TREE_H
#define OWNER_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "live.h"
#include "owners.h"

struct text;

enum { OWNER_TREE_LEVELS = 3 };

struct owner_node {
    struct owner_row row;             /* of a block: its number is `key` */
    uint64_t keys[OWNER_TREE_LEVELS]; /* of it and of those around it */
    uint8_t level;                    /* 0: outermost */
    bool is_block, is_open;
};

struct owner_open {
    uint64_t keys[OWNER_TREE_LEVELS];
    uint8_t level;
};

struct owner_tree {
    struct owners *owners;
    enum owner_grouping by[OWNER_TREE_LEVELS];
    uint8_t levels;
    ARRAY(struct owner_node) nodes;
    ARRAY(struct owner_open) open;
    struct owners inner[OWNER_TREE_LEVELS];
    struct live_set sets[OWNER_TREE_LEVELS];
};

void owner_tree_fini(struct owner_tree *tree);
/* After owners_read of the same set and owners_sort. Another grouping closes all. False: host memory. */
bool owner_tree_read(struct owner_tree *tree, struct owners *owners, const struct live_set *set,
                     enum owner_order order, bool falling);
/* Opens or closes a row with the next reading. False: host memory. */
bool owner_tree_toggle(struct owner_tree *tree, const struct owner_node *node);
/* Is a block one of a row's? */
bool owner_tree_has(const struct owner_tree *tree, const struct owner_node *node, uint32_t block);
/* Words of filter.h that name a row's blocks (of a block: those of its operation and owner). */
void owner_tree_words(const struct owner_tree *tree, const struct owner_node *node,
                      struct text *out);
/* The same of a key of a grouping. */
void owner_key_words(const struct owners *owners, enum owner_grouping by, uint64_t key,
                     struct text *out);

#endif
