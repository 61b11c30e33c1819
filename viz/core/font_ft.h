/* font_ft.h: outline fonts through FreeType, a part that a build may lack (font_ft_none.c). One
 * face a file. */
#ifndef FONT_FT_H
#define FONT_FT_H

#include <stdbool.h>
#include <stdint.h>

struct font_ft;

/* One rendered glyph; `coverage` is valid until the next call. */
struct font_ft_glyph {
    const uint8_t *coverage;
    int width, height, pitch;
    int left, above; /* from the pen to the left; from the baseline up to the first row */
    int advance;
};

struct font_ft *font_ft_create(void); /* NULL: not built in, or no memory */
void font_ft_destroy(struct font_ft *ft);
/* Adds a face to the chain (regular, or bold). False: no such file or not a font. */
bool font_ft_add(struct font_ft *ft, const char *path, long face, bool bold);
/* Largest ascent and height of the faces at a size; false: no faces. */
bool font_ft_metrics(struct font_ft *ft, int size, int *ascent, int *height);
/* From the first face that has the code; false: none has. */
bool font_ft_render(struct font_ft *ft, uint32_t code, int size, bool bold,
                    struct font_ft_glyph *out);

#endif
