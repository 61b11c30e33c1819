/* picture.c: see picture.h. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "draw.h"
#include "error.h"
#include "export.h"
#include "font.h"
#include "place.h"
#include "png_file.h"
#include "raster.h"
#include "state.h"
#include "svg.h"
#include "text.h"
#include "timeline.h"
#include "xalloc.h"

enum { SIDE_MIN = 64, SIDE_MAX = 16384 };

static bool check_size(int width, int height, struct error *err) {
    if (width >= SIDE_MIN && width <= SIDE_MAX && height >= SIDE_MIN && height <= SIDE_MAX)
        return true;
    return error_set(err, ERROR_USAGE, "size %dx%d: each side must be %d to %d pixels", width,
                     height, SIDE_MIN, SIDE_MAX);
}

bool picture_parse_size(const char *text, int *width, int *height, struct error *err) {
    int w, h;
    char rest;
    if (sscanf(text, "%5dx%5d%c", &w, &h, &rest) != 2)
        return error_set(err, ERROR_USAGE, "size '%s': expected WIDTHxHEIGHT, as 1600x900", text);
    if (!check_size(w, h, err))
        return false;
    *width = w;
    *height = h;
    return true;
}

bool picture_parse_scale(const char *text, int *percent, struct error *err) {
    char *end;
    double scale = strtod(text, &end);
    if (end == text || *end != '\0' || !(scale >= 0.5 && scale <= 4))
        return error_set(err, ERROR_USAGE, "--scale '%s': expected 0.5 to 4", text);
    *percent = (int)(scale * 100 + 0.5);
    return true;
}

const char *picture_font_hint(uint32_t missing, char out[PICTURE_HINT_BYTES]) {
    if (missing == 0)
        return NULL;
    snprintf(out, PICTURE_HINT_BYTES,
             "no font here has U+%04X: a box with its code stands for it (fonts-noto-cjk or "
             "fonts-wqy-microhei have Chinese)",
             (unsigned)missing);
    return out;
}

bool picture_png(const struct draw_list *list, struct font *font, struct text *out,
                 struct error *err) {
    struct canvas canvas = {
        .width = list->width, .height = list->height, .pitch = (size_t)list->width};
    canvas.pixels = xcalloc((size_t)list->width * (size_t)list->height, sizeof *canvas.pixels);
    if (!canvas.pixels)
        return error_host_memory(err);
    raster_paint(&canvas, list, font);
    bool written = png_file_write(&canvas, out, err);
    xfree(canvas.pixels);
    return written;
}

enum picture_kind picture_kind_of(const char *path) {
    static const struct {
        const char *ending;
        enum picture_kind kind;
    } kinds[] = {{".png", PICTURE_PNG},
                 {".svg", PICTURE_SVG},
                 {".draw", PICTURE_DUMP},
                 {".csv", PICTURE_CSV},
                 {".json", PICTURE_JSON}};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t ending = strlen(kinds[i].ending);
        if (length > ending && strcmp(path + length - ending, kinds[i].ending) == 0)
            return kinds[i].kind;
    }
    return PICTURE_KINDS;
}

static bool draw(struct app *app, enum picture_kind kind, struct text *out, struct error *err) {
    struct draw_list list = {0};
    bool done = app_frame(app, &list, err);
    if (done && kind == PICTURE_PNG)
        done = picture_png(&list, app_font(app), out, err);
    else if (done && kind == PICTURE_SVG)
        svg_write(&list, out);
    else if (done)
        draw_dump(&list, out);
    draw_fini(&list);
    return done && (!out->failed || error_host_memory(err));
}

bool picture_of(struct app *app, enum picture_kind kind, struct text *out, struct error *err) {
    switch (kind) {
    case PICTURE_PNG:
    case PICTURE_SVG:
    case PICTURE_DUMP:
        return draw(app, kind, out, err);
    case PICTURE_CSV:
        app_export(app, out);
        return !out->failed || error_host_memory(err);
    case PICTURE_JSON:
        return export_json(app, out, err);
    case PICTURE_KINDS:
        break;
    }
    return false;
}

static bool go_to(struct app *app, const struct timeline *tl, const struct timeline *overlay,
                  const struct picture_options *o, struct error *err) {
    uint32_t moment;
    if (o->at) {
        if (!place_find(tl, overlay, timeline_main_device(tl), o->at, &moment, err))
            return error_wrap(err, "--at %s", o->at);
        app_go_to(app, moment);
    }
    return !o->state || state_apply(app, o->state, err);
}

struct app *picture_app(const struct timeline *tl, const struct timeline *overlay,
                        const struct picture_options *o, struct error *err) {
    struct app_options options = {.width = o->width ? o->width : 1600,
                                  .height = o->height ? o->height : 900,
                                  .scale_percent = o->scale_percent,
                                  .theme = o->theme,
                                  .palette = o->palette,
                                  .language = o->language,
                                  .font = o->font,
                                  .embedded_font = o->embedded_font,
                                  .below = o->below,
                                  .picture = true};
    if (!check_size(options.width, options.height, err))
        return NULL;
    struct app *app = app_create(&options, tl, overlay, err);
    if (!app || go_to(app, tl, overlay, o, err))
        return app;
    app_destroy(app);
    return NULL;
}

bool picture_render(const struct timeline *tl, const struct timeline *overlay,
                    const struct picture_options *options, enum picture_kind kind, struct text *out,
                    struct error *err) {
    struct app *app = picture_app(tl, overlay, options, err);
    bool done = app && picture_of(app, kind, out, err);
    bool asked = options->missing && !options->embedded_font && kind == PICTURE_PNG;
    if (done && asked && *options->missing == 0)
        *options->missing = font_missing(app_font(app));
    app_destroy(app);
    return done;
}
