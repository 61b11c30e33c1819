/* cmd_scenario.c: a config of Transformers as a scenario that a person edits. */
#include "cli.h"
#include "text.h"

int cmd_scenario(struct cli *cli) {
    struct error err = {0};
    struct text out = {0};
    if (source_write_scenario(cli->files[0], &cli->source, &out, &err) &&
        cli_write(cli->output ? cli->output : "-", &out, &err))
        return EXIT_FITS;
    text_fini(&out);
    return cli_fail(&err);
}
