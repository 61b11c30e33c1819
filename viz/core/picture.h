/* picture.h: the viewer's picture without a window, for files. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "i18n.h"
#include "theme.h"

struct app;
struct draw_list;
struct error;
struct font;
struct palette;
struct text;
struct timeline;

struct picture_options { /* zero = defaults */
    int width, height;   /* pixels of the picture; 0: 1600 x 900 */
    int scale_percent;   /* of texts and margins; 0: 100 */
    enum theme_id theme;
    const struct palette *palette; /* NULL: the usual one */
    enum language language;
    const char *at;     /* place.h; NULL: the peak */
    const char *state;  /* state.h, applied after it; NULL: as at the start */
    const char *font;   /* FILE[:face]; NULL: those of the system, else the embedded one */
    bool embedded_font; /* the same pixels on every machine */
    bool below;         /* the overlay below instead of over it */
    uint32_t *
        missing; /* where the first character of a PNG goes that no font of the system has; or NULL */
};

/* The application as the options say: the caller's to destroy. NULL: bad options (ERROR_USAGE), want of
 * memory. */
struct app *picture_app(const struct timeline *tl, const struct timeline *overlay,
                        const struct picture_options *options, struct error *err);

/* What a file is, by the end of its name. */
enum picture_kind {
    PICTURE_PNG,
    PICTURE_SVG,
    PICTURE_DUMP, /* the draw list as text */
    PICTURE_CSV,  /* the open tab's table with exact figures: app_export */
    PICTURE_JSON, /* export.h */
    PICTURE_KINDS
};

/* PICTURE_KINDS: none of them. */
enum picture_kind picture_kind_of(const char *path);
/* Appends a whole file to `out`. `overlay` may be NULL. Fails on bad options (ERROR_USAGE) and for want
 * of memory. */
bool picture_render(const struct timeline *tl, const struct timeline *overlay,
                    const struct picture_options *options, enum picture_kind kind, struct text *out,
                    struct error *err);
/* One frame that is already drawn. */
bool picture_png(const struct draw_list *list, struct font *font, struct text *out,
                 struct error *err);
/* Of an application as it stands. */
bool picture_of(struct app *app, enum picture_kind kind, struct text *out, struct error *err);
/* What to install when characters were missing (font_missing); NULL: none were. */
enum { PICTURE_HINT_BYTES = 160 };
const char *picture_font_hint(uint32_t missing, char out[PICTURE_HINT_BYTES]);
/* "1.5": 150 */
bool picture_parse_scale(const char *text, int *percent, struct error *err);
/* "1600x900" */
bool picture_parse_size(const char *text, int *width, int *height, struct error *err);

#endif
