/* cmd_validate.c: a scenario against a trace of the real run. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "file.h"
#include "text.h"
#include "timeline.h"
#include "validate.h"

static int write_result(const struct cli *cli, const struct comparison *comparison,
                        struct error *err) {
    struct text out = {0};
    bool to_stdout = cli->json && strcmp(cli->json, "-") == 0;
    if (!cli->quiet && !to_stdout) {
        validate_text(comparison, cli->tolerance, &out);
        if (out.failed) {
            text_fini(&out);
            error_host_memory(err);
            return cli_fail(err);
        }
        fputs(text_get(&out), stdout);
        text_fini(&out);
    }
    if (cli->json) {
        validate_json(comparison, cli->tolerance, &out);
        bool ok = out.failed ? error_host_memory(err)
                             : file_write(cli->json, text_get(&out), out.length, err);
        text_fini(&out);
        if (!ok)
            return cli_fail(err);
    }
    bool good = cli->tolerance < 0 ? compare_is_equal(comparison)
                                   : compare_is_within(comparison, cli->tolerance);
    return good ? EXIT_FITS : EXIT_NOT;
}

static int compare(const struct cli *cli, const struct timeline *simulated,
                   const struct timeline *real) {
    struct error err = {0};
    struct comparison comparison;
    if (!compare_find(simulated, 0, real, 0, &comparison, &err))
        return cli_fail(&err);
    int code = write_result(cli, &comparison, &err);
    compare_fini(&comparison);
    return code;
}

int cmd_validate(struct cli *cli) {
    struct error err = {0};
    struct source_result simulated, real;
    struct progress progress = {.what = "reading"};
    cli->source.progress = progress_show;
    cli->source.user = &progress;
    bool ok = source_run(cli->files[0], &cli->source, &simulated, &err);
    if (!ok)
        return cli_fail(&err);
    ok = source_run(cli->files[1], &cli->source, &real, &err);
    progress_clear(&progress);
    int code = ok ? compare(cli, simulated.timeline, real.timeline) : cli_fail(&err);
    if (ok)
        source_result_fini(&real);
    source_result_fini(&simulated);
    return code;
}
