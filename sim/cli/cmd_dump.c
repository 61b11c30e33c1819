/* cmd_dump.c: a stage as text: what the ops were, what was dispatched, what was asked for, what the
 * allocator answered. */
#include <string.h>

#include "cli.h"
#include "text.h"
#include "timeline.h"

enum stage { STAGE_TAPE, STAGE_SCHEDULE, STAGE_REQUESTS, STAGE_TIMELINE, STAGE_COUNT };

static const char *const stage_names[] = {"tape", "schedule", "requests", "timeline"};

static enum stage find_stage(const char *name) {
    unsigned i = 0;
    while (i < STAGE_COUNT && strcmp(stage_names[i], name) != 0)
        i++;
    return (enum stage)i;
}

int cmd_dump(struct cli *cli) {
    struct error err = {0};
    struct text out = {0};
    struct source_result result;
    enum stage stage = find_stage(cli->files[0]);
    if (stage == STAGE_COUNT) {
        error_set(&err, ERROR_USAGE, "unknown stage '%s'; known: tape schedule requests timeline",
                  cli->files[0]);
        return cli_fail(&err);
    }
    if (stage < STAGE_REQUESTS && !source_is_scenario(cli->files[1])) {
        error_set(&err, ERROR_USAGE, "%s: a trace has no %s; its stages are requests and timeline",
                  cli->files[1], stage_names[stage]);
        return cli_fail(&err);
    }
    if (stage == STAGE_TAPE)
        cli->source.tape_dump = &out;
    if (stage == STAGE_SCHEDULE)
        cli->source.schedule_dump = &out;
    if (!source_check_options(cli->files + 1, 1, &cli->source, &err))
        return cli_fail(&err);
    bool ran = source_run(cli->files[1], &cli->source, &result, &err), ok = ran;
    if (ran && stage >= STAGE_REQUESTS)
        timeline_dump(result.timeline, stage == STAGE_REQUESTS, &out);
    if (ran) {
        ok = cli_write("-", &out, &err);
        source_result_fini(&result);
    }
    text_fini(&out);
    return ok ? EXIT_FITS : cli_fail(&err);
}
