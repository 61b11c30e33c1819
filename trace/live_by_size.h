/* live_by_size.h: live blocks by a number, mostly their size, for sources whose frees name no
 * address: the newest of equal ones goes first. Zero bytes are an empty one. */
#ifndef LIVE_BY_SIZE_H
#define LIVE_BY_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "addrmap.h"
#include "array.h"

struct live_by_size {
    struct addrmap newest;    /* key -> block */
    ARRAY(uint32_t) previous; /* block -> the next older one of its key; UINT32_MAX: none */
};

void live_by_size_fini(struct live_by_size *live);
/* False: host memory. */
bool live_by_size_push(struct live_by_size *live, uint64_t key, uint32_t block);
/* False: there is none. */
bool live_by_size_pop(struct live_by_size *live, uint64_t key, uint32_t *block);

#endif
