/* cmd_validate.c: a scenario against a trace of the real run. */
#include <assert.h>
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "framework.h"
#include "recorded_place.h"
#include "text.h"
#include "timeline.h"
#include "validate.h"

/* The newest that attention does not prefer: framework.h. */
#define CUDNN_NOT_PREFERRED "9.15"

/* What the simulated side stands for. */
static void write_assumed(const struct cli *cli, const struct source_result *simulated,
                          bool without_cudnn, struct text *out) {
    const char *settings = cli->source.alloc_settings;
    text_format(out, "\nsimulated as %s on %s, %s%s", simulated->framework->name,
                simulated->device.name, settings ? "settings " : "default settings",
                settings ? settings : "");
    if (cli->source.allocator)
        text_format(out, ", allocator %s", cli->source.allocator);
    text_add(out, "\n");
    if (without_cudnn)
        text_add(out,
                 "attention as with a cuDNN up to " CUDNN_NOT_PREFERRED
                 " (--cudnn " CUDNN_NOT_PREFERRED "): the trace has it through flash attention\n");
}

static const char *const meanings[] = {
    [ALIGNMENT_SIZE_DIFFERS] = "both ask here, but not for the same number of bytes",
    [ALIGNMENT_STREAM_DIFFERS] = "both ask here for the same bytes, on different streams",
    [ALIGNMENT_FREE_SET_DIFFERS] =
        "not the same blocks were freed since the request before, by the request that made them",
    [ALIGNMENT_SEGMENT_DIFFERS] =
        "the allocator took or gave back different segments since the request before",
    [ALIGNMENT_OFFSET_DIFFERS] = "the block was put at another place in its segment",
    [ALIGNMENT_MISSING_DIFFERS] = "the real run has a request here that the simulated one lacks",
    [ALIGNMENT_EXTRA_DIFFERS] = "the simulated run has a request here that the real one lacks",
    [ALIGNMENT_OOM_DIFFERS] = "only one of the two runs was out of memory here",
};

static_assert(sizeof meanings / sizeof meanings[0] == ALIGNMENT_DIFFERENCE_COUNT, "all are told");

/* One line on the kind of the first difference, and what to try next. */
static void write_meaning(const struct cli *cli, const struct comparison *comparison,
                          struct text *out) {
    enum alignment_difference kind = comparison->alignment.first;
    if (compare_is_equal(comparison) || comparison->level != COMPARE_REQUESTS)
        return;
    if (comparison->place.is_done)
        text_add(out, "placement: the card's allocator put a block elsewhere, or took other "
                      "segments or larger blocks, than these rules and settings give\n");
    else if (meanings[kind])
        text_format(out, "%s: %s\n", alignment_difference_name(kind), meanings[kind]);
    if (!cli->source.framework)
        text_add(out, "if the trace is of another release than this, name it: --framework "
                      "(vramsim frameworks)\n");
}

static int write_result(const struct cli *cli, const struct source_result *simulated,
                        const struct comparison *comparison, bool without_cudnn,
                        struct error *err) {
    struct text out = {0};
    if (cli_reports(cli)) {
        validate_text(comparison, cli->tolerance, &out);
        write_assumed(cli, simulated, without_cudnn, &out);
        write_meaning(cli, comparison, &out);
        if (!cli_write("-", &out, err))
            return cli_fail(err);
    }
    if (cli->json) {
        validate_json(comparison, cli->tolerance, &out);
        if (!cli_write(cli->json, &out, err))
            return cli_fail(err);
    }
    bool good = cli->tolerance < 0 ? compare_is_equal(comparison)
                                   : compare_is_within(comparison, cli->tolerance);
    return good ? EXIT_FITS : EXIT_NOT;
}

/* No trace tells which cuDNN was there, and with it whether attention of a card of sm_90 or sm_10x
 * went through cuDNN or through flash: where the former is not what the trace has and the user did
 * not say, the latter is tried. False: an error. */
static bool try_without_cudnn(const struct cli *cli, struct source_result *simulated,
                              const struct timeline *real, struct comparison *comparison,
                              bool *taken, struct error *err) {
    *taken = false;
    if (cli->source.cudnn || !simulated->cudnn_attention || compare_is_equal(comparison) ||
        comparison->level != COMPARE_REQUESTS)
        return true;
    struct source_options options = cli->source;
    struct source_result other;
    struct comparison judged;
    options.cudnn = CUDNN_NOT_PREFERRED;
    if (!cli_source_run(cli, cli->files[0], &options, &other, err))
        return false;
    if (!compare_find(other.timeline, 0, real, timeline_main_device(real), &judged, err)) {
        source_result_fini(&other);
        return false;
    }
    *taken = judged.requests_equal > comparison->requests_equal;
    if (*taken) {
        struct source_result first = *simulated;
        struct comparison last = *comparison;
        *simulated = other;
        *comparison = judged;
        other = first;
        judged = last;
    }
    compare_fini(&judged);
    source_result_fini(&other);
    return true;
}

static int compare(const struct cli *cli, struct source_result *simulated,
                   const struct timeline *real) {
    struct error err = {0};
    struct comparison comparison;
    bool without_cudnn;
    if (!compare_find(simulated->timeline, 0, real, timeline_main_device(real), &comparison, &err))
        return cli_fail(&err);
    bool ok = try_without_cudnn(cli, simulated, real, &comparison, &without_cudnn, &err);
    if (ok && !cli->source.allocator)
        ok = recorded_place_find(simulated, &comparison, &err);
    int code = ok ? write_result(cli, simulated, &comparison, without_cudnn, &err) : cli_fail(&err);
    compare_fini(&comparison);
    return code;
}

static bool check_order(const struct cli *cli, struct error *err) {
    if (source_is_scenario(cli->files[0]) && !source_is_scenario(cli->files[1]))
        return true;
    return error_set(err, ERROR_USAGE,
                     "validate: expected a scenario (.lua), then a trace; found %s, then %s",
                     cli->files[0], cli->files[1]);
}

int cmd_validate(struct cli *cli) {
    struct error err = {0};
    struct source_result simulated, real;
    if (cli->tolerance_bytes > 0)
        error_set(&err, ERROR_USAGE, "validate: --tolerance is a percentage such as 2%%");
    if (cli->tolerance_bytes > 0 || !check_order(cli, &err))
        return cli_fail(&err);
    if (!cli_source_run(cli, cli->files[0], &cli->source, &simulated, &err))
        return cli_fail(&err);
    bool ok = cli_source_run(cli, cli->files[1], &cli->source, &real, &err);
    int code = EXIT_BAD_TRACE;
    if (!ok)
        code = cli_fail(&err);
    else if (!cli_has_history(cli->files[1], real.timeline, &err))
        code = cli_fail(&err);
    else
        code = compare(cli, &simulated, real.timeline);
    if (ok)
        source_result_fini(&real);
    source_result_fini(&simulated);
    return code;
}
