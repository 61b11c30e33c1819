/* holder_fold.h: which numbered modules are shown as one. "layers.0" and "layers.1" are when they
 * hold equal parameters under equal names, so a Sequential of different modules stays apart.
 *
 * The parameters of the whole timeline are compared, not those of a moment. Modules without any are
 * alike. Equal ones are called "*" when all siblings are equal, else by their numbers: "1-26". */
#ifndef HOLDER_FOLD_H
#define HOLDER_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "strtab.h"

struct timeline;

struct fold_node {
    uint32_t parent, first_child, next_sibling;
    uint32_t name, label; /* in strings */
    uint64_t parameter_bytes, shape;
};

struct holder_fold {
    struct strtab paths;   /* a node's index is its path's id */
    struct strtab strings; /* names and labels */
    ARRAY(struct fold_node) nodes;
};

/* False: host memory. holder_fold_fini() frees in either case. */
bool holder_fold_init(struct holder_fold *fold, const struct timeline *tl, uint8_t device);
void holder_fold_fini(struct holder_fold *fold);
/* What the last part of a path without empty parts is shown as. NULL: as it is. */
const char *holder_fold_label(const struct holder_fold *fold, const char *path, size_t length);

#endif
