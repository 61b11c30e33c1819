/* cmd_compare.c: two runs of the same program: what grew, what shrank. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "format.h"
#include "growth_report.h"
#include "json_out.h"
#include "replay_base.h"
#include "text.h"
#include "timeline.h"

enum { CHART_HEIGHT = 12 };

struct compared {
    const struct cli *cli;
    struct source_result side[PAIR_SIDES];
    bool is_over; /* on one of the devices */
};

static struct pair_side side_of(const struct source_result *result, const char *name,
                                const char *key, uint8_t device) {
    return (struct pair_side){.tl = result->timeline,
                              .name = name,
                              .key = key,
                              .has_retries = result->is_scenario,
                              .retries = result->stats.num_alloc_retries,
                              .ran_out = replay_base_ran_out(result, device)};
}

static bool compare_device(struct compared *c, uint8_t device, struct text *text, struct json *j,
                           struct error *err) {
    struct growth_report report;
    const struct pair_side sides[PAIR_SIDES] = {side_of(&c->side[0], "A", "a", device),
                                                side_of(&c->side[1], "B", "b", device)};
    const struct growth_limit limit = {.share = c->cli->tolerance < 0 ? 0 : c->cli->tolerance,
                                       .bytes = c->cli->tolerance_bytes};
    bool ok = growth_report_init(&report, device, sides, limit, err);
    if (ok) {
        c->is_over = c->is_over || growth_report_is_over(&report);
        growth_report_text(&report, cli_width(), CHART_HEIGHT, text);
        json_object(j, NULL);
        json_u64(j, "device", device);
        growth_report_json(&report, j);
        json_end(j);
    }
    growth_report_fini(&report);
    return ok;
}

static void find_devices(const struct timeline *tl, bool has[UINT8_MAX + 1]) {
    for (size_t i = 0; i < tl->events.count; i++)
        has[tl->events.at[i].device] = true;
}

/* Every device that either side has; both forms are made at once. */
static bool compare_all(struct compared *c, struct text *text, struct text *json,
                        struct error *err) {
    bool has[UINT8_MAX + 1] = {false};
    struct json j;
    json_begin(&j, json);
    json_object(&j, NULL);
    json_text(&j, "a", c->cli->files[0]);
    json_text(&j, "b", c->cli->files[1]);
    json_array(&j, "devices");
    for (size_t i = 0; i < PAIR_SIDES; i++)
        find_devices(c->side[i].timeline, has);
    for (size_t i = 0; i < PAIR_SIDES; i++) {
        text_add(text, i == 0 ? "A  " : "\nB  ");
        format_safe(text, c->cli->files[i]);
    }
    text_add(text, "\n");
    for (unsigned d = 0; d <= UINT8_MAX; d++)
        if (has[d] && !compare_device(c, (uint8_t)d, text, &j, err))
            return false;
    json_end(&j);
    json_end(&j);
    json_finish(&j);
    return true;
}

static bool write_all(struct compared *c, struct error *err) {
    struct text text = {0}, json = {0};
    bool ok = compare_all(c, &text, &json, err);
    if (ok && cli_reports(c->cli))
        ok = cli_write("-", &text, err);
    if (ok && c->cli->json)
        ok = cli_write(c->cli->json, &json, err);
    text_fini(&text);
    text_fini(&json);
    return ok;
}

/* The second side's options: --set-b goes after --set. */
static bool run_side(const struct cli *cli, size_t side, struct source_result *out,
                     struct error *err) {
    struct source_options options = cli->source;
    const char *sets[2 * CLI_MAX_SETS];
    memcpy(sets, cli->sets, sizeof cli->sets);
    for (size_t i = 0; side == 1 && i < cli->set_b_count; i++)
        sets[options.set_count++] = cli->sets_b[i];
    options.sets = sets;
    return cli_source_run(cli, cli->files[side], &options, out, err);
}

static bool check(const struct cli *cli, struct error *err) {
    if (!source_check_options(cli->files, cli->file_count, &cli->source, err))
        return false;
    return cli->set_b_count == 0 || source_is_scenario(cli->files[1]) ||
           error_set(err, ERROR_USAGE, "%s: a trace has no parameters to --set-b", cli->files[1]);
}

int cmd_compare(struct cli *cli) {
    struct error err = {0};
    struct compared c = {.cli = cli};
    size_t ready = 0;
    bool ok = check(cli, &err);
    while (ok && ready < PAIR_SIDES) {
        ok = run_side(cli, ready, &c.side[ready], &err);
        ready += ok;
        ok = ok && cli_has_history(cli->files[ready - 1], c.side[ready - 1].timeline, &err);
    }
    ok = ok && write_all(&c, &err);
    for (size_t i = 0; i < ready; i++)
        source_result_fini(&c.side[i]);
    if (!ok)
        return cli_fail(&err);
    return c.is_over ? EXIT_NOT : EXIT_FITS;
}
