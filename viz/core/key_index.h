/* key_index.h: keys to indexes that count up from 0 in order of first use. Zero bytes are empty. */
#ifndef KEY_INDEX_H
#define KEY_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct key_index {
    ARRAY(uint64_t) keys;  /* by index */
    ARRAY(uint32_t) slots; /* open addressing; 0: free, else index + 1 */
};

/* The index of a key, which is new when it equals the count before. False: host memory. */
bool key_index_add(struct key_index *index, uint64_t key, uint32_t *at);
void key_index_clear(struct key_index *index);
void key_index_fini(struct key_index *index);

#endif
