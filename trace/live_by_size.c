/* live_by_size.c: see live_by_size.h. */
#include "live_by_size.h"

enum { NO_BLOCK = UINT32_MAX };

void live_by_size_fini(struct live_by_size *live) {
    addrmap_fini(&live->newest);
    array_fini(&live->previous);
}

bool live_by_size_push(struct live_by_size *live, uint64_t key, uint32_t block) {
    uint32_t older = NO_BLOCK;
    (void)addrmap_find(&live->newest, key, &older);
    while (live->previous.count <= block)
        if (!array_push(&live->previous, NO_BLOCK))
            return false;
    live->previous.at[block] = older;
    return addrmap_put(&live->newest, key, block);
}

bool live_by_size_pop(struct live_by_size *live, uint64_t key, uint32_t *block) {
    if (!addrmap_find(&live->newest, key, block))
        return false;
    uint32_t older = live->previous.at[*block];
    if (older == NO_BLOCK)
        (void)addrmap_remove(&live->newest, key, *block);
    else
        (void)addrmap_put(&live->newest, key, older); /* replaces: takes no memory */
    return true;
}
