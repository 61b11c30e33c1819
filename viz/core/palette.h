/* palette.h: the colours and patterns of the bands: the usual ones, or those of a file, a line a category:
 *
 *   # what is not named stays as it is
 *   activation = 0072B2
 *   kv_cache = 0072B2 diagonals
 *
 * Categories by their keys (category.h), patterns none, diagonals, dots, hatch; without one none. The colour
 * of labels on a band is black or white, whichever has the higher contrast (WCAG 2.1, relative
 * luminance). */
#ifndef PALETTE_H
#define PALETTE_H

#include <stdbool.h>

#include "theme.h"

struct error;

struct palette {
    struct band_style bands[CATEGORY_COUNT];
};

void palette_start(struct palette *palette); /* the usual one */
/* `name` is told in errors, as "name:3". False: ERROR_USAGE with found and expected; the palette is then
 * partly set. */
bool palette_parse(const char *text, const char *name, struct palette *palette, struct error *err);
/* A whole file over the usual palette. */
bool palette_read(const char *path, struct palette *palette, struct error *err);
/* 1 to 21, of two colours without their alpha. */
double palette_contrast(uint32_t a, uint32_t b);

#endif
