/* holders.h: who holds the device's memory after an event: by category, by op, by source line, and
 * the largest blocks.
 *
 * All figures are of live blocks (active), in block bytes, as counters.h counts them. Lists are
 * sorted: bytes down, then name. The last row may be "others", so that the rows sum up to the
 * total. `event` TIMELINE_NONE: the state before the first event. The tree by module path is in
 * holder_tree.h. */
#ifndef HOLDERS_H
#define HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "category.h"
#include "strtab.h"

struct error;
struct timeline;

struct holder_sum {
    uint64_t bytes, requested_bytes;
    uint32_t blocks;
};

void holders_by_category(const struct timeline *tl, uint8_t device, uint32_t event,
                         struct holder_sum out[CATEGORY_COUNT]);

enum holder_key {
    HOLDER_BY_OP,
    HOLDER_BY_FRAME /* frames_best() of the stack, "function (file:line)"; traces */
};

struct holder_entry {
    uint32_t name; /* in strings; 0: unknown */
    bool is_others;
    struct holder_sum sum;
};

struct holder_list {
    struct strtab strings; /* foreign texts: not yet fit for a terminal */
    ARRAY(struct holder_entry) rows;
    struct holder_sum total;
};

/* At most `top` rows (0: all) and perhaps one of others. False: host memory. holder_list_fini()
 * frees. */
bool holder_list_find(const struct timeline *tl, uint8_t device, uint32_t event,
                      enum holder_key key, uint32_t top, struct holder_list *out,
                      struct error *err);
void holder_list_fini(struct holder_list *list);

struct holder_blocks {
    ARRAY(uint32_t) rows; /* block indexes, largest first, older first among equals */
};

bool holder_blocks_find(const struct timeline *tl, uint8_t device, uint32_t event, uint32_t top,
                        struct holder_blocks *out, struct error *err);
void holder_blocks_fini(struct holder_blocks *blocks);

/* For the readers of several lists: adds one block to a sum. */
struct timeline_block;
void holder_sum_add(struct holder_sum *sum, const struct timeline_block *block);

#endif
