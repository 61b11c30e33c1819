/* map.h: the address map of a moment: segments in rows of pixels, and what is at one of them.
 *
 *   section   one pool and stream     large, stream 0   [seg |bb| ]  [seg ]  [s]
 *   item      a plain segment, or a                     [a long one ............
 *             reservation with holes                    ......]  [seg]
 *
 * An item is as wide as it has bytes (a scale for each kind of pool; at least a few pixels); it goes on in
 * the next row when it is longer. Holes of a reservation, where nothing is mapped, count as no more
 * than what is mapped. used + pending + free = bytes for each item, where the data does not contradict
 * itself.
 *
 * Ownership: owns its arrays; reads a space (space.h) that stands at the moment. Zero bytes are empty. */
#ifndef MAP_H
#define MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct space;

enum { MAP_FINE = 256, MAP_LINES_MAX = 100000 }; /* parts of a pixel */

struct map_range { /* beside the placement's range */
    uint32_t item;
    uint64_t at; /* in the item's span */
    uint32_t first_block, end_block, first_gap, end_gap;
};

struct map_item {
    uint32_t segment;
    uint32_t first, end;  /* in `order`: its ranges by address */
    uint64_t bytes, span; /* reserved; with holes */
    uint64_t used, pending, free, largest_free;
    uint64_t rounding; /* of `used` */
    uint32_t blocks;
    int line, x, width; /* pixels */
};

struct map_section {
    uint32_t first, end; /* items */
    int line;
};

/* How it is laid out. */
struct map_look {
    int width, gap, least; /* pixels */
    double large, small;   /* bytes a pixel */
};

struct map {
    ARRAY(struct map_range) ranges;
    ARRAY(uint32_t) order; /* placement's ranges, by item */
    ARRAY(struct map_item) items;
    ARRAY(struct map_section) sections;
    struct map_look look;
    int lines;
    uint64_t serial; /* of the space's ranges */
};

/* False: host memory; the map is then empty. */
bool map_read(struct map *map, const struct space *space);
void map_arrange(struct map *map, const struct space *space, const struct map_look *look);
void map_fini(struct map *map);

/* Where a place of the item's span is: pixels from the start of its first row times MAP_FINE, rows
 * one after the other. Never falling. */
uint64_t map_place(const struct map *map, const struct map_item *item, uint64_t at);

/* What has the most bytes of a pixel. */
struct map_hit {
    const struct map_item *item;
    uint32_t range;          /* of the placement; TIMELINE_NONE: a hole */
    uint32_t block;          /* TIMELINE_NONE: free, or a hole */
    uint64_t address, bytes; /* of the block, the free run or the hole */
};
/* Row `line`, pixel `x`. False: nothing is there. */
bool map_at(const struct map *map, const struct space *space, int line, int x, struct map_hit *hit);

#endif
