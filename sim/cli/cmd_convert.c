/* cmd_convert.c: a trace, or the run of a scenario, in another program's format. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "text.h"
#include "timeline.h"
#include "writer.h"

/* What is lost goes where it is not taken for the result. */
static void tell_losses(const char *path, const struct text *losses) {
    const char *line = text_get(losses);
    while (*line) {
        struct text said = {0};
        size_t n = strcspn(line, "\n");
        text_format(&said, "%s does not hold: %.*s", path, (int)n, line);
        cli_tell(text_get(&said));
        text_fini(&said);
        line += n + (line[n] == '\n');
    }
}

bool cli_write_timeline(const struct cli *cli, const struct timeline *tl, struct error *err) {
    struct text out = {0}, losses = {0};
    const struct writer *writer = writer_find(cli->format, cli->output, err);
    bool ok = writer && writer->write(tl, &out, &losses, err) &&
              (!losses.failed || error_host_memory(err));
    if (ok)
        tell_losses(cli->output, &losses);
    text_fini(&losses);
    if (ok)
        return cli_write(cli->output, &out, err);
    text_fini(&out);
    return false;
}

int cmd_convert(struct cli *cli) {
    struct error err = {0};
    struct source_result result;
    if (!cli->output)
        error_set(
            &err, ERROR_USAGE,
            "convert: where to? -o FILE, which ends in .vrt, .json, .csv, .perfetto or .pickle");
    if (!cli->output || !writer_find(cli->format, cli->output, &err) ||
        !source_check_options(cli->files, cli->file_count, &cli->source, &err))
        return cli_fail(&err);
    if (!cli_source_run(cli, cli->files[0], &cli->source, &result, &err))
        return cli_fail(&err);
    bool ok = cli_write_timeline(cli, result.timeline, &err);
    source_result_fini(&result);
    return ok ? EXIT_FITS : cli_fail(&err);
}
