/* pieces.h: the bands of blocks in one pixel column: each live block of a pixel or more, oldest at
 * the bottom of its group; what is left of the group is one band on top of them.
 *
 *   group 2   |   rest   |  smaller blocks
 *             | block 91 |
 *             | block 12 |  the oldest
 *   group 1   |   rest   |
 *
 * At most as many pieces as the plot has rows, and a rest a group; what is outside the plot's
 * rectangle is left out. */
#ifndef PIECES_H
#define PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "piece.h"

struct column;
struct plot_frame;
struct streams_cursor;

struct pieces {
    ARRAY(struct piece) list; /* from the bottom up */
};

/* Of the column at its maximum. False: host memory; the pieces are then none. */
bool pieces_read(struct streams_cursor *cursor, const struct plot_frame *frame,
                 const struct column *column, struct pieces *out);
/* The piece at a height of the picture; NULL: none. */
const struct piece *pieces_at(const struct pieces *pieces, int y);

#endif
