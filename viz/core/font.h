/* font.h: glyphs as 8-bit coverage, from a chain: outline fonts found or named, the embedded one, a
 * box with the code.
 *
 * Sizes are em heights in pixels. The embedded font has 8x16 cells and grows by whole factors only.
 * Glyphs are made on first use and kept. Ownership: the font owns its glyphs. Measuring may fail
 * for want of memory: glyphs are then absent and nothing is drawn, never wrong memory. */
#ifndef FONT_H
#define FONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct font;

struct glyph {
    const uint8_t *coverage; /* width * height, 255 = full; NULL when empty */
    int width, height;
    int left, top; /* from the pen, and from the top of the line, to the first row */
    int advance;
};

/* Only the embedded font: the same pixels everywhere. NULL: host memory. */
struct font *font_create_embedded(void);
/* `path` ("FILE" or "FILE:face"; NULL or "": none named), then the usual places, then the embedded
 * font. A named font that cannot be read is an error. */
struct font *font_create(const char *path, struct error *err);
void font_destroy(struct font *font);

/* Is there more than a box for it? */
bool font_has(struct font *font, uint32_t code);
/* The first character that a box was made for; 0: none so far. */
uint32_t font_missing(const struct font *font);
int font_line(struct font *font, int size); /* height of a line */
const struct glyph *font_glyph(struct font *font, uint32_t code, int size, bool bold);
int font_width(struct font *font, const char *text, size_t length, int size, bool bold);

/* Shortens the middle of `text` to at most `width` pixels: "model.lay...gate_proj". Returns `out`.
 */
const char *font_shorten(struct font *font, const char *text, int width, int size, bool bold,
                         char *out, size_t out_bytes);

#endif
