/* write_picture.c: see cli.h. */
#include <stdio.h>

#include "cli.h"
#include "picture.h"
#include "text.h"
#include "theme.h"

bool cli_write_picture(const struct cli *cli, const struct timeline *tl,
                       const struct timeline *overlay, struct error *err) {
    struct picture_options options = {.width = cli->width, .height = cli->height};
    if (cli->theme)
        options.theme = theme_find(cli->theme);
    options.language = i18n_language(cli->lang);
    const char *hint = cli->png ? picture_usual_font_hint(options.language) : NULL;
    if (hint)
        fprintf(stderr, "vramsim: %s\n", hint);
    struct text out = {0};
    if (cli->png &&
        (!picture_render_png(tl, overlay, &options, &out, err) || !cli_write(cli->png, &out, err)))
        return false;
    if (cli->svg &&
        (!picture_render_svg(tl, overlay, &options, &out, err) || !cli_write(cli->svg, &out, err)))
        return false;
    return true;
}
