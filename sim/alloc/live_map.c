/* live_map.c: linear probing, at most half full; holes are closed on removal, so nothing is left behind of what went. */
#include "live_map.h"

#include <assert.h>

#include "xalloc.h"

enum { FIRST_BITS = 6, MOST_BITS = 31 };

struct live_slot {
    uint64_t address;
    uint32_t number; /* LIVE_NONE: empty */
};

static size_t mask_of(const struct live_map *map) {
    return ((size_t)1 << map->bits) - 1;
}

/* Addresses are multiples of 256 at least: the low bits say nothing. */
static size_t first_slot(const struct live_map *map, uint64_t address) {
    return (size_t)((address >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - map->bits));
}

static size_t find_slot(const struct live_map *map, uint64_t address) {
    size_t at = first_slot(map, address);
    while (map->slots[at].number != LIVE_NONE && map->slots[at].address != address)
        at = (at + 1) & mask_of(map);
    return at;
}

bool live_map_reserve(struct live_map *map) {
    if (map->slots && (map->count + 1) * 2 <= mask_of(map) + 1)
        return true;
    struct live_map grown = {.bits = map->slots ? map->bits + 1 : FIRST_BITS, .count = map->count};
    if (grown.bits > MOST_BITS)
        return false;
    grown.slots = xalloc((mask_of(&grown) + 1) * sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i <= mask_of(&grown); i++)
        grown.slots[i].number = LIVE_NONE;
    for (size_t i = 0; map->slots && i <= mask_of(map); i++)
        if (map->slots[i].number != LIVE_NONE)
            grown.slots[find_slot(&grown, map->slots[i].address)] = map->slots[i];
    xfree(map->slots);
    *map = grown;
    return true;
}

void live_map_add(struct live_map *map, uint64_t address, uint32_t number) {
    size_t at = find_slot(map, address);
    assert(number != LIVE_NONE && map->slots[at].number == LIVE_NONE);
    map->slots[at] = (struct live_slot){address, number};
    map->count++;
}

uint32_t live_map_find(const struct live_map *map, uint64_t address) {
    return map->slots ? map->slots[find_slot(map, address)].number : LIVE_NONE;
}

uint32_t live_map_take(struct live_map *map, uint64_t address) {
    if (!map->slots)
        return LIVE_NONE;
    size_t mask = mask_of(map), hole = find_slot(map, address);
    uint32_t number = map->slots[hole].number;
    if (number == LIVE_NONE)
        return LIVE_NONE;
    for (size_t at = (hole + 1) & mask; map->slots[at].number != LIVE_NONE; at = (at + 1) & mask) {
        size_t wanted = first_slot(map, map->slots[at].address);
        if (((at - wanted) & mask) < ((at - hole) & mask))
            continue; /* it would lie before its first slot */
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole].number = LIVE_NONE;
    map->count--;
    return number;
}

void live_map_fini(struct live_map *map) {
    xfree(map->slots);
    *map = (struct live_map){0};
}
