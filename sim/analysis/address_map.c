/* address_map.c: see address_map.h. */
#include "address_map.h"

#include <assert.h>
#include <string.h>

#include "xalloc.h"

/* Addresses are multiples of 512 mostly: a multiplication mixes them, the high half is the index.
 */
static size_t home(const struct address_map *map, uint64_t address) {
    uint64_t mixed = (address ^ (address >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (map->slot_count - 1);
}

static size_t find(const struct address_map *map, uint64_t address) {
    size_t i = home(map, address);
    while (map->slots[i].value != ADDRESS_MAP_NONE && map->slots[i].address != address)
        i = (i + 1) & (map->slot_count - 1);
    return i;
}

static bool grow(struct address_map *map) {
    struct address_map next = {.slot_count = map->slot_count ? map->slot_count * 2 : 64};
    if (next.slot_count > SIZE_MAX / sizeof *next.slots / 2)
        return false;
    next.slots = xalloc(next.slot_count * sizeof *next.slots);
    if (!next.slots)
        return false;
    memset(next.slots, 0xff, next.slot_count * sizeof *next.slots);
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].value != ADDRESS_MAP_NONE)
            next.slots[find(&next, map->slots[i].address)] = map->slots[i];
    next.count = map->count;
    xfree(map->slots);
    *map = next;
    return true;
}

bool address_map_put(struct address_map *map, uint64_t address, uint32_t value) {
    assert(value != ADDRESS_MAP_NONE);
    if (map->count * 2 >= map->slot_count && !grow(map))
        return false;
    size_t i = find(map, address);
    map->count += map->slots[i].value == ADDRESS_MAP_NONE;
    map->slots[i] = (struct address_map_slot){address, value};
    return true;
}

uint32_t address_map_get(const struct address_map *map, uint64_t address) {
    return map->slot_count ? map->slots[find(map, address)].value : ADDRESS_MAP_NONE;
}

void address_map_remove(struct address_map *map, uint64_t address) {
    if (map->slot_count == 0)
        return;
    size_t mask = map->slot_count - 1, hole = find(map, address);
    if (map->slots[hole].value == ADDRESS_MAP_NONE)
        return;
    /* Moves back every later entry of the run whose home does not lie behind the hole. */
    for (size_t i = (hole + 1) & mask; map->slots[i].value != ADDRESS_MAP_NONE;
         i = (i + 1) & mask) {
        size_t from_home = (i - home(map, map->slots[i].address)) & mask;
        if (from_home >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = ADDRESS_MAP_NONE;
    map->count--;
}

void address_map_fini(struct address_map *map) {
    xfree(map->slots);
    memset(map, 0, sizeof *map);
}
