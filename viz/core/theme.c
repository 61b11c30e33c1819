/* theme.c: see theme.h. */
#include "theme.h"

#include <string.h>

static const struct theme themes[THEME_COUNT] = {
    [THEME_DARK] = {.ground = 0xff16181b,
                    .plot = 0xff1b1d21,
                    .panel = 0xff1b1d21,
                    .raised = 0xff2a2e34,
                    .ink = 0xffe6e6e6,
                    .faint = 0xff9aa0a6,
                    .line = 0xff34383e,
                    .grid = 0xff2b2f35,
                    .accent = 0xffffffff,
                    .warn = 0xffff6b5e,
                    .shade = 0xa016181b,
                    .separator = 0xff16181b,
                    .reserved = 0xffb4b9bf,
                    .capacity = 0xffff6b5e,
                    .overlay = 0xffffffff,
                    .hatch = 0xff62686f,
                    .phase = {0xff2e3840, 0xff39454f},
                    .more = 0xffe07b39,
                    .less = 0xff56b4e9},
    [THEME_LIGHT] = {.ground = 0xfff0f1f3,
                     .plot = 0xfffafafa,
                     .panel = 0xfffafafa,
                     .raised = 0xffe4e8ee,
                     .ink = 0xff202124,
                     .faint = 0xff5f6368,
                     .line = 0xffc9ccd1,
                     .grid = 0xffe3e5e8,
                     .accent = 0xff000000,
                     .warn = 0xffc5221f,
                     .shade = 0xa0f0f1f3,
                     .separator = 0xff202124,
                     .reserved = 0xff5f6368,
                     .capacity = 0xffc5221f,
                     .overlay = 0xff000000,
                     .hatch = 0xffa0a5ab,
                     .phase = {0xffd5dde4, 0xffc3ced8},
                     .more = 0xffd55e00,
                     .less = 0xff0072b2},
    [THEME_CONTRAST] = {.ground = 0xff000000,
                        .plot = 0xff000000,
                        .panel = 0xff000000,
                        .raised = 0xff303030,
                        .ink = 0xffffffff,
                        .faint = 0xffffffff,
                        .line = 0xffffffff,
                        .grid = 0xff404040,
                        .accent = 0xffffffff,
                        .warn = 0xffffff00,
                        .shade = 0xc0000000,
                        .separator = 0xff000000,
                        .reserved = 0xffffffff,
                        .capacity = 0xffffff00,
                        .overlay = 0xffffffff,
                        .hatch = 0xffb0b0b0,
                        .phase = {0xff303030, 0xff505050},
                        .more = 0xffffff00,
                        .less = 0xff00ffff},
};

static const char *const names[THEME_COUNT] = {
#define X(id, name) name,
    THEMES(X)
#undef X
};

static const struct band_style bands[CATEGORY_COUNT] = {
    [CATEGORY_OUTSIDE] = {0xff4d5258, PATTERN_NONE, 0xffffffff},
    [CATEGORY_PARAMETER] = {0xffcc79a7, PATTERN_NONE, 0xff000000},
    [CATEGORY_OPTIMIZER] = {0xfff0e442, PATTERN_NONE, 0xff000000},
    [CATEGORY_GRADIENT] = {0xffd55e00, PATTERN_NONE, 0xff000000},
    [CATEGORY_INPUT] = {0xff56b4e9, PATTERN_NONE, 0xff000000},
    [CATEGORY_ACTIVATION] = {0xff0072b2, PATTERN_NONE, 0xffffffff},
    [CATEGORY_KV_CACHE] = {0xff0072b2, PATTERN_DIAGONALS, 0xffffffff},
    [CATEGORY_TEMPORARY] = {0xffe69f00, PATTERN_NONE, 0xff000000},
    [CATEGORY_WORKSPACE] = {0xffe69f00, PATTERN_DOTS, 0xff000000},
    [CATEGORY_COMMUNICATION] = {0xff009e73, PATTERN_NONE, 0xff000000},
    [CATEGORY_UNKNOWN] = {0xffc4c8cc, PATTERN_NONE, 0xff000000},
};

const struct theme *theme_get(enum theme_id id) {
    return &themes[id];
}

enum theme_id theme_find(const char *name) {
    for (unsigned i = 0; i < THEME_COUNT; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum theme_id)i;
    return THEME_COUNT;
}

struct band_style theme_band(enum category category) {
    return bands[category];
}

/* Towards black by nothing, a 14th, a 7th: labels on the bands stay legible, hues tell the groups. */
struct band_style theme_before(void) {
    return (struct band_style){0x00000000, PATTERN_BACKSLASHES, 0xff000000};
}

uint32_t theme_shade(uint32_t color, uint32_t block) {
    uint32_t part = 256 - block * UINT32_C(2654435769) / UINT32_C(1431655766) * 18;
    uint32_t rb = (color & 0xff00ff) * part >> 8 & 0xff00ff;
    uint32_t g = (color & 0x00ff00) * part >> 8 & 0x00ff00;
    return (color & 0xff000000) | rb | g;
}

/* A quarter of the colour, the rest the ground of the plot. */
struct band_style theme_dim(const struct theme *theme, struct band_style style) {
    uint32_t mixed = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        uint32_t color = style.color >> shift & 0xff, ground = theme->plot >> shift & 0xff;
        mixed |= (color + 3 * ground) / 4 << shift;
    }
    return (struct band_style){0xff000000 | mixed, PATTERN_NONE, theme->ink};
}
