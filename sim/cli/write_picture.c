/* write_picture.c: see cli.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "cli.h"
#include "page.h"
#include "picture.h"
#include "text.h"
#include "theme.h"

static const char *from_environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

struct picture_options cli_picture_options(const struct cli *cli) {
    struct picture_options options = {.width = cli->width,
                                      .height = cli->height,
                                      .scale_percent = cli->scale_percent,
                                      .palette = cli->has_palette ? &cli->palette : NULL,
                                      .language = i18n_language(cli->lang),
                                      .at = cli->at,
                                      .state = cli->state,
                                      .font = cli->font};
    if (cli->theme)
        options.theme = theme_find(cli->theme);
    if (!options.font)
        options.font = from_environment("VRAMSIM_FONT");
    if (options.font && strcmp(options.font, "embedded") == 0) {
        options.font = NULL;
        options.embedded_font = true;
    }
    const char *scale = cli->scale ? NULL : from_environment("VRAMSIM_SCALE");
    struct error ignored = {0}; /* one that is not a scale: as without it */
    if (scale)
        picture_parse_scale(scale, &options.scale_percent, &ignored);
    return options;
}

void cli_font_hint(uint32_t missing) {
    char line[PICTURE_HINT_BYTES];
    const char *hint = picture_font_hint(missing, line);
    if (hint)
        cli_tell(hint);
}

bool cli_is_page(const char *path) {
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".html") == 0;
}

bool cli_write_page(const char *path, const struct timeline *tl, const struct timeline *overlay,
                    const struct picture_options *options, struct error *err) {
    struct text out = {0};
    struct app *app = picture_app(tl, overlay, options, err);
    bool ok = app && page_write(app, &out, err);
    app_destroy(app);
    if (ok)
        return cli_write(path, &out, err);
    text_fini(&out);
    return false;
}

bool cli_write_picture(const struct cli *cli, const struct timeline *tl,
                       const struct timeline *overlay, struct error *err) {
    const struct {
        const char *path;
        enum picture_kind kind;
    } files[] = {{cli->png, PICTURE_PNG}, {cli->svg, PICTURE_SVG}};
    struct picture_options options = cli_picture_options(cli);
    uint32_t missing = 0;
    options.missing = &missing;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct text out = {0};
        if (!files[i].path)
            continue;
        if (!picture_render(tl, overlay, &options, files[i].kind, &out, err)) {
            text_fini(&out);
            return false;
        }
        if (!cli_write(files[i].path, &out, err))
            return false;
    }
    cli_font_hint(missing);
    return !cli->html || cli_write_page(cli->html, tl, overlay, &options, err);
}
