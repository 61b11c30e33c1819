/* live_map.h: from the address of a live block to a number of its owner's, by open addressing. The owner keeps an address
 * in the map at most once. */
#ifndef LIVE_MAP_H
#define LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_NONE UINT32_MAX

struct live_map { /* zero bytes are empty */
    struct live_slot *slots;
    uint32_t bits;
    size_t count;
};

/* Room for one more; false: host memory. The other calls cannot fail. */
bool live_map_reserve(struct live_map *map);
void live_map_add(struct live_map *map, uint64_t address, uint32_t number);
uint32_t live_map_find(const struct live_map *map, uint64_t address); /* LIVE_NONE: not live */
uint32_t live_map_take(struct live_map *map, uint64_t address);       /* likewise; and out of it */
void live_map_fini(struct live_map *map);

#endif
