/* draw.h: a picture as a list of commands, the only way panes draw: painted by raster.h, written by
 * svg.h, compared as text by draw_dump. Coordinates are pixels, y down. Zero bytes are an empty
 * list; a failed allocation is remembered in `failed` and the list stays valid.
 *
 * DRAW_BANDS and DRAW_STEPS carry one value a pixel column: `data` indexes `values`.
 *   bands   w columns of `count` + 1 rising edges (y falling), bottom edge first; style i fills edge
 * i .. i + 1
 *   steps   w columns of y: a line that follows them
 *   blocks  over bands, w columns of pieces: w + 1 values, where in `pieces` each begins
 *
 * DRAW_PIXELS is a picture that is painted already, and must outlive the list: for windows; files
 * have what it shows as bands and blocks. */
#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "piece.h"
#include "theme.h"

struct text;

enum draw_kind {
    DRAW_RECT,
    DRAW_LINE,
    DRAW_TEXT,
    DRAW_CLIP,
    DRAW_UNCLIP,
    DRAW_BANDS,
    DRAW_BLOCKS,
    DRAW_STEPS,
    DRAW_PIXELS
};

struct draw_command {
    enum draw_kind kind;
    int x, y, w, h; /* line: from x, y to x + w, y + h */
    uint32_t color;
    int size; /* text: pixels of its line; steps and lines: thickness; steps: dash below */
    bool bold, dashed;
    int count;           /* bands */
    size_t data, length; /* values or bytes of text */
    uint32_t separator;  /* bands, blocks: their top edge; 0 = none */
    int phase;           /* bands, blocks: which column of their patterns the first one is */
    const uint32_t *pixels;
    size_t pitch; /* pixels a row */
};

struct draw_list {
    int width, height;
    ARRAY(struct draw_command) commands;
    ARRAY(int32_t) values;
    ARRAY(char) chars;
    ARRAY(struct band_style) styles; /* bands, blocks: `size` is the first of theirs */
    ARRAY(struct piece) pieces;
    bool failed;
};

void draw_start(struct draw_list *list, int width, int height); /* empties it */
void draw_fini(struct draw_list *list);

void draw_rect(struct draw_list *list, int x, int y, int w, int h, uint32_t color);
void draw_frame(struct draw_list *list, int x, int y, int w, int h,
                uint32_t color); /* outline, inside */
void draw_line(struct draw_list *list, int x0, int y0, int x1, int y1, uint32_t color);
/* `y` is the top of the line of text, `size` its em in pixels. */
void draw_text(struct draw_list *list, int x, int y, int size, bool bold, uint32_t color,
               const char *text);
/* Everything until the matching draw_unclip stays inside this and the clips around it. */
void draw_clip(struct draw_list *list, int x, int y, int w, int h);
void draw_unclip(struct draw_list *list);
/* Room for w * (count + 1) edges, to be filled at once; NULL when there is no memory. */
int32_t *draw_bands(struct draw_list *list, int x, int y, int w, int h, int count,
                    const struct band_style *styles, uint32_t separator, int phase);
/* Followed by draw_blocks_column for each column from 0 on, unless it is false: no memory. */
bool draw_blocks(struct draw_list *list, int x, int y, int w, int h, int count,
                 const struct band_style *styles, uint32_t separator, int phase);
void draw_blocks_column(struct draw_list *list, int column, const struct piece *pieces,
                        size_t count);
const struct piece *draw_blocks_at(const struct draw_list *list, const struct draw_command *command,
                                   int column, size_t *count);
void draw_pixels(struct draw_list *list, int x, int y, int w, int h, const uint32_t *pixels,
                 size_t pitch);
int32_t *draw_steps(struct draw_list *list, int x, int y, int w, int h, int thickness, bool dashed,
                    uint32_t color);

/* One line a command, equal columns run together: the form of golden tests. */
void draw_dump(const struct draw_list *list, struct text *out);

#endif
