/* owner_names.h: the names by which owners are summed, made once a string or stack and kept.
 *
 *   module  "model.layers.3.mlp.up_proj" -> "model.layers.*.mlp.up_proj"; without a path the op:
 * "(aten::mm)" stack   the two innermost frames that are not the framework's wrappers: "forward
 * linear.py:134 < forward llama.py:93" */
#ifndef OWNER_NAMES_H
#define OWNER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "strtab.h"

struct timeline;
struct timeline_block;

struct owner_ids {
    ARRAY(uint32_t) of; /* id + 1; 0: not yet made */
};

struct owner_names {
    const struct timeline *tl;
    struct strtab texts;
    struct owner_ids modules; /* [string] for owners, [strings + string] for ops */
    struct owner_ids stacks;  /* [stack] */
};

bool owner_names_init(struct owner_names *names,
                      const struct timeline *tl); /* false: host memory */
void owner_names_fini(struct owner_names *names);
/* Ids of texts; 0 = none. False: host memory exhausted. */
bool owner_names_module(struct owner_names *names, const struct timeline_block *block,
                        uint32_t *id);
bool owner_names_stack(struct owner_names *names, uint32_t stack, uint32_t *id);
const char *owner_names_text(const struct owner_names *names, uint32_t id);

#endif
