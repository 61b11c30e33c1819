/* font_data.h: the embedded bitmap font: ASCII and a few signs in 8x16 cells, bit 7 leftmost. Our
 * own drawing. */
#ifndef FONT_DATA_H
#define FONT_DATA_H

#include <stddef.h>
#include <stdint.h>

enum { FONT_CELL_WIDTH = 8, FONT_CELL_HEIGHT = 16, FONT_ADVANCE = 7 };

struct font_cell {
    uint32_t code;
    uint8_t rows[FONT_CELL_HEIGHT];
};

extern const struct font_cell font_cells[]; /* rising codes */
extern const size_t font_cell_count;

#endif
