/* cmd_render.c: the viewer's picture, or its table, of one or two runs without a window. The kind of each
 * file is the end of its name. */
#include <stdio.h>

#include "cli.h"
#include "picture.h"
#include "text.h"
#include "timeline.h"

static const char *const kinds = ".png, .svg, .html, .csv, .json";

static bool check_outputs(const struct cli *cli, struct error *err) {
    if (cli->output_count == 0)
        return error_set(err, ERROR_USAGE, "render: where to? -o FILE, which ends in %s", kinds);
    for (size_t i = 0; i < cli->output_count; i++)
        if (picture_kind_of(cli->outputs[i]) == PICTURE_KINDS && !cli_is_page(cli->outputs[i]))
            return error_set(err, ERROR_USAGE, "-o %s: the name ends in none of %s",
                             cli->outputs[i], kinds);
    return true;
}

static bool open_files(struct cli *cli, struct timeline *tl[CLI_MAX_FILES], struct error *err) {
    struct progress progress = {.what = "reading", .interrupted = cli->interrupted};
    cli->source.progress = progress_show;
    cli->source.user = &progress;
    bool ok = true;
    for (size_t i = 0; ok && i < cli->file_count; i++) {
        ok = source_open(cli->files[i], &cli->source, &tl[i], err);
        progress_clear(&progress);
    }
    return ok;
}

static bool write_one(const struct picture_options *options, const char *path,
                      struct timeline *tl[CLI_MAX_FILES], struct error *err) {
    struct text out = {0};
    if (cli_is_page(path))
        return cli_write_page(path, tl[0], tl[1], options, err);
    if (picture_render(tl[0], tl[1], options, picture_kind_of(path), &out, err))
        return cli_write(path, &out, err);
    text_fini(&out);
    return false;
}

int cmd_render(struct cli *cli) {
    struct error err = {0};
    struct timeline *tl[CLI_MAX_FILES] = {NULL, NULL};
    struct picture_options options = cli_picture_options(cli);
    bool ok = check_outputs(cli, &err) &&
              source_check_options(cli->files, cli->file_count, &cli->source, &err) &&
              open_files(cli, tl, &err);
    uint32_t missing = 0;
    options.missing = &missing;
    for (size_t i = 0; ok && i < cli->output_count; i++)
        ok = write_one(&options, cli->outputs[i], tl, &err);
    cli_font_hint(missing);
    for (size_t i = 0; i < cli->file_count; i++)
        timeline_destroy(tl[i]);
    return ok ? EXIT_FITS : cli_fail(&err);
}
