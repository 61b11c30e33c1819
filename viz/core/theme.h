/* theme.h: colours and patterns. 0xAARRGGBB.
 *
 * Bands are Okabe-Ito hues in an order found by search (neighbours differ in normal, protan, deutan
 * and tritan sight); a pattern tells apart the two categories that share a hue. Colour is never the
 * only cue: order, label and numbers say the same. */
#ifndef THEME_H
#define THEME_H

#include <stdint.h>

#include "category.h"

/* The last is for what is drawn over bands: no palette gives it to one. */
enum pattern { PATTERN_NONE, PATTERN_DIAGONALS, PATTERN_DOTS, PATTERN_HATCH, PATTERN_BACKSLASHES };

struct band_style {
    uint32_t color;
    enum pattern pattern;
    uint32_t on; /* a label on it */
};

/* name, in the order of the key that changes it */
#define THEMES(X) X(DARK, "dark") X(LIGHT, "light") X(CONTRAST, "contrast")

enum theme_id {
#define X(id, name) THEME_##id,
    THEMES(X)
#undef X
        THEME_COUNT
};

struct theme {
    uint32_t ground, plot, panel, raised; /* window, plot, pane, highlighted row */
    uint32_t ink, faint, line, grid;      /* text, secondary text, borders, grid */
    uint32_t accent, warn, shade;         /* cursor, failures, what is outside the brush */
    uint32_t separator;                   /* between bands */
    uint32_t reserved, capacity, overlay; /* lines */
    uint32_t hatch;                       /* reserved but not in use */
    uint32_t phase[2];                    /* two shades by turns */
    uint32_t more, less;                  /* differences: of the first state, or of the now */
};

const struct theme *theme_get(enum theme_id id);
/* THEME_COUNT when there is none. */
enum theme_id theme_find(const char *name);
/* One of a few shades of a band's colour, so that a block is told from its neighbours: by its number
 * alone, the same in every column. */
uint32_t theme_shade(uint32_t color, uint32_t block);
/* Over the bands of blocks that were there before the recording: only the pattern, no colour. */
struct band_style theme_before(void);
struct band_style theme_band(enum category category);
/* A band that is not what is looked for: its colour is still told apart. */
struct band_style theme_dim(const struct theme *theme, struct band_style style);

#endif
