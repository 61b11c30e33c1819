/* piece.h: one block in one pixel column, or what is left of a group; see pieces.h. */
#ifndef PIECE_H
#define PIECE_H

#include <stdbool.h>
#include <stdint.h>

struct piece {
    int32_t top, bottom; /* pixels of the picture, inside the plot; top < bottom */
    uint32_t block;      /* TIMELINE_NONE: the rest */
    uint8_t group;
    bool ends; /* its upper edge is its group's */
};

#endif
