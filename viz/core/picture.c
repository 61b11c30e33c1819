/* picture.c: see picture.h. */
#include "picture.h"

#include <stdio.h>

#include "app.h"
#include "draw.h"
#include "error.h"
#include "font.h"
#include "png_file.h"
#include "raster.h"
#include "svg.h"
#include "text.h"
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

const char *picture_font_hint(struct font *font, enum language language) {
    if (language != LANGUAGE_CHINESE ||
        (font && font_has(font, 0x663e))) /* the first character of "显存" */
        return NULL;
    return "no font with Chinese characters: install fonts-noto-cjk or fonts-wqy-microhei";
}

const char *picture_usual_font_hint(enum language language) {
    struct error err = {0};
    struct font *font = language == LANGUAGE_CHINESE ? font_create(NULL, &err) : NULL;
    const char *hint = picture_font_hint(font, language);
    font_destroy(font);
    return hint;
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

bool picture_svg(const struct draw_list *list, struct text *out, struct error *err) {
    svg_write(list, out);
    return !out->failed || error_host_memory(err);
}

static struct app *make_app(const struct timeline *tl, const struct timeline *overlay,
                            const struct picture_options *o, struct error *err) {
    struct app_options options = {.width = o->width ? o->width : 1600,
                                  .height = o->height ? o->height : 900,
                                  .scale_percent = o->scale_percent,
                                  .theme = o->theme,
                                  .language = o->language,
                                  .device = o->device,
                                  .font = o->font,
                                  .embedded_font = o->embedded_font,
                                  .below = o->below,
                                  .picture = true};
    if (!check_size(options.width, options.height, err))
        return NULL;
    struct app *app = app_create(&options, tl, overlay, err);
    if (app && o->at_event)
        app_go_to(app, o->event < UINT32_MAX ? o->event + 1 : o->event);
    return app;
}

static bool render(const struct timeline *tl, const struct timeline *overlay,
                   const struct picture_options *options, bool png, struct text *out,
                   struct error *err) {
    struct draw_list list = {0};
    struct app *app = make_app(tl, overlay, options, err);
    bool done = app && app_frame(app, &list, err) &&
                (png ? picture_png(&list, app_font(app), out, err) : picture_svg(&list, out, err));
    draw_fini(&list);
    app_destroy(app);
    return done;
}

bool picture_render_png(const struct timeline *tl, const struct timeline *overlay,
                        const struct picture_options *options, struct text *out,
                        struct error *err) {
    return render(tl, overlay, options, true, out, err);
}

bool picture_render_svg(const struct timeline *tl, const struct timeline *overlay,
                        const struct picture_options *options, struct text *out,
                        struct error *err) {
    return render(tl, overlay, options, false, out, err);
}
