/* address_map.h: a map from address to index: open addressing, linear probing, at most half full;
 * removal closes the gap, so no tombstones pile up in a long walk. Zero bytes are an empty map. */
#ifndef ADDRESS_MAP_H
#define ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_MAP_NONE UINT32_MAX

struct address_map_slot {
    uint64_t address;
    uint32_t value; /* ADDRESS_MAP_NONE: free */
};

struct address_map {
    struct address_map_slot *slots;
    size_t slot_count, count;
};

/* Sets the address's value (not ADDRESS_MAP_NONE). False: host memory. */
bool address_map_put(struct address_map *map, uint64_t address, uint32_t value);
uint32_t address_map_get(const struct address_map *map,
                         uint64_t address); /* ADDRESS_MAP_NONE: none */
void address_map_remove(struct address_map *map, uint64_t address);
void address_map_fini(struct address_map *map);

#endif
