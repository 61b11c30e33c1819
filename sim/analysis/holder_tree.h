/* holder_tree.h: live bytes by module path, as a tree of the dotted parts.
 *
 *   model                       12.5 GiB      a row's bytes include all below it;
 *     model.layers              12.0 GiB      the rows one level below a row sum up to it:
 *       model.layers.*.mlp       8.0 GiB      "(itself)" = blocks of exactly that path,
 *       (others)                 4.0 GiB      "(others)" = the rows that `top` cut off
 *     model.norm ...
 *
 * Rows come depth first, siblings by bytes down, then by path. Blocks without an owner are one row
 * "(unknown)" at depth 0. With fold_indices equal numbered modules are one row, "*"
 * (holder_fold.h). */
#ifndef HOLDER_TREE_H
#define HOLDER_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "holders.h"
#include "strtab.h"

struct error;
struct timeline;

struct holder_tree_options {
    uint32_t depth; /* levels shown; 0: all (at most HOLDER_DEPTH_LIMIT) */
    uint32_t top;   /* rows a parent shows besides the others; 0: all */
    bool fold_indices;
};

enum { HOLDER_DEPTH_LIMIT = 64 }; /* deeper paths count with their first 64 parts */

enum holder_row_kind { HOLDER_PATH, HOLDER_ITSELF, HOLDER_OTHERS, HOLDER_UNKNOWN };

struct holder_row {
    enum holder_row_kind kind;
    uint32_t depth;
    uint32_t path; /* in strings: the whole path; of the parent for ITSELF and OTHERS */
    struct holder_sum sum;
};

struct holder_tree {
    struct strtab strings; /* foreign texts: not yet fit for a terminal */
    ARRAY(struct holder_row) rows;
    struct holder_sum total;
};

/* False: host memory. holder_tree_fini() frees. */
bool holder_tree_find(const struct timeline *tl, uint8_t device, uint32_t event,
                      const struct holder_tree_options *options, struct holder_tree *out,
                      struct error *err);
void holder_tree_fini(struct holder_tree *tree);
const char *holder_tree_path(const struct holder_tree *tree, const struct holder_row *row);

#endif
