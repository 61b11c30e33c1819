/* icicle.h: the bytes of a state as a tree: by module path ("model", "layers", "3" ..., the tensor's
 * name or the op at the end) or by stack, the outermost frame first. With a second state every node
 * says how much it held there too.
 *
 * A node's bytes are those of the blocks below it: the children sum to it, the root to the total.
 * Names are kept for the icicle's life, so that a path of them finds its node again in another
 * state.
 *
 * Ownership: borrows the tracks. Zero bytes are empty. */
#ifndef ICICLE_H
#define ICICLE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "category.h"
#include "difference.h"
#include "key_index.h"
#include "strtab.h"

#define ICICLE_NONE UINT32_MAX

enum icicle_kind { ICICLE_PATH, ICICLE_STACK };

struct icicle_node {
    uint32_t parent, child, next; /* first child; next sibling, smaller; ICICLE_NONE */
    uint32_t name;                /* string */
    uint32_t depth;               /* of the root 0 */
    uint32_t count;               /* blocks now */
    uint64_t bytes, then;
    uint64_t by_category[CATEGORY_COUNT]; /* sums to bytes + then */
};

struct icicle {
    bool has_names;
    struct strtab names;
    ARRAY(struct icicle_node) nodes; /* [0]: the root */
    ARRAY(uint32_t) order;           /* nodes by depth first, the larger sibling first */
    struct key_index children;       /* (parent, name) -> node - 1 */
};

/* `then` may be NULL. False: host memory; no nodes then. */
bool icicle_read(struct icicle *icicle, enum icicle_kind kind, const struct difference_side *now,
                 const struct difference_side *then);
void icicle_fini(struct icicle *icicle);
const char *icicle_name(const struct icicle *icicle, uint32_t node); /* of the root "" */
enum category icicle_category(const struct icicle_node *node);
/* The node of the names path[0 .. count - 1] from the root down; as far as there are any. */
uint32_t icicle_find(const struct icicle *icicle, const uint32_t *path, size_t count);

#endif
