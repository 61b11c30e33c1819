/* font_data.h: the embedded bitmap font.
 *
 *   font_cells        ASCII and a few signs in 8x16 cells, bit 7 leftmost: our own drawing
 *   font_wide_cells   the ideographs and wide signs of the interface's Chinese texts, exactly those, in
 *                     16x16 cells, bit 15 leftmost: GNU Unifont's, see font_han.LICENSE; made of
 *                     font_han.hex, which font_han writes */
#ifndef FONT_DATA_H
#define FONT_DATA_H

#include <stddef.h>
#include <stdint.h>

enum { FONT_CELL_WIDTH = 8, FONT_CELL_HEIGHT = 16, FONT_WIDE = 16, FONT_ADVANCE = 7 };

struct font_cell {
    uint32_t code;
    uint8_t rows[FONT_CELL_HEIGHT];
};

struct font_wide_cell {
    uint32_t code;
    uint16_t rows[FONT_CELL_HEIGHT];
};

extern const struct font_cell font_cells[]; /* rising codes */
extern const size_t font_cell_count;
extern const struct font_wide_cell font_wide_cells[]; /* likewise */
extern const size_t font_wide_cell_count;

#endif
