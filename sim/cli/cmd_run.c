/* cmd_run.c: simulate a scenario (or read a trace), report, write files, open the viewer. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "framework.h"
#include "moment.h"
#include "need.h"
#include "picture.h"
#include "report.h"
#include "text.h"
#include "timeline.h"
#include "writer.h"
#include "xalloc.h"

static int print_parameters(const struct cli *cli) {
    struct scenario_info info;
    struct error err = {0};
    if (!source_parameters(cli->files[0], &cli->source, &info, &err))
        return cli_fail(&err);
    static const char *const types[] = {"integer", "number", "boolean", "text", "integers"};
    static_assert(sizeof types / sizeof types[0] == PARAM_INTEGERS + 1, "a word for each type");
    printf("%s: parameters (--set NAME=VALUE)\n", cli->files[0]);
    int width = 16;
    for (size_t i = 0; i < info.params.count; i++)
        if (strlen(info.params.at[i].name) > (size_t)width)
            width = (int)strlen(info.params.at[i].name);
    for (size_t i = 0; i < info.params.count; i++) {
        const struct scenario_param *p = &info.params.at[i];
        char range[96] = "";
        if (p->has_min && p->has_max)
            snprintf(range, sizeof range, " (%.14g to %.14g)", p->min, p->max);
        else if (p->has_min)
            snprintf(range, sizeof range, " (at least %.14g)", p->min);
        else if (p->has_max)
            snprintf(range, sizeof range, " (at most %.14g)", p->max);
        printf("  %-*s %-8s default %-12s %s%s%s%s%s\n", width, p->name, types[p->type],
               p->default_text, p->help, range, p->choices ? " [" : "",
               p->choices ? p->choices : "", p->choices ? "]" : "");
    }
    scenario_info_fini(&info);
    return EXIT_FITS;
}

/* What the report cannot read off the timeline. The arrays are the caller's to free. */
struct run_facts {
    struct report_run run;
    struct report_param *params;
    struct text notes;
};

/* An estimate is for the scenario as it is shipped. */
static bool has_defaults(const struct scenario_info *info) {
    for (size_t i = 0; i < info->params.count; i++)
        if (strcmp(info->params.at[i].value_text, info->params.at[i].default_text) != 0)
            return false;
    return true;
}

static bool make_facts(const struct cli *cli, const struct source_result *result,
                       struct run_facts *facts) {
    const struct scenario_info *info = &result->info;
    memset(facts, 0, sizeof *facts);
    facts->params = xcalloc(info->params.count + 1, sizeof *facts->params);
    if (!facts->params)
        return false;
    for (size_t i = 0; i < info->params.count; i++)
        facts->params[i] =
            (struct report_param){info->params.at[i].name, info->params.at[i].value_text};
    for (size_t i = 0; i < info->notes.count; i++)
        text_format(&facts->notes, "%s%s", i ? "; " : "", info->notes.at[i]);
    facts->run = (struct report_run){.scenario = cli->files[0],
                                     .params = facts->params,
                                     .param_count = info->params.count,
                                     .estimate = has_defaults(info) ? info->estimate : NULL,
                                     .note = info->notes.count ? text_get(&facts->notes) : NULL,
                                     .device_ordinal = timeline_main_device(result->timeline),
                                     .alloc_settings = cli->source.alloc_settings};
    if (result->is_scenario) {
        facts->run.framework = result->framework->name;
        if (cli->source.allocator)
            facts->run.alloc_settings = cli->source.allocator;
        facts->run.device = result->device.name;
        facts->run.context_is_given = result->device.context_is_given;
        facts->run.max_split_bytes =
            result->settings.max_split_bytes == UINT64_MAX ? 0 : result->settings.max_split_bytes;
        facts->run.end = result->ran_out ? REPORT_END_RAN_OUT : REPORT_END_FINISHED;
        facts->run.has_alloc_retries = true;
        facts->run.alloc_retries = result->stats.num_alloc_retries;
    }
    return !facts->notes.failed;
}

/* The terminal's character set, as its locale names it; the program itself stays in the "C" locale.
 */
static bool terminal_is_utf8(void) {
    const char *names[] = {getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")};
    for (size_t i = 0; i < 3; i++)
        if (names[i] && *names[i])
            return strstr(names[i], "UTF-8") || strstr(names[i], "utf8") ||
                   strstr(names[i], "UTF8");
    return false;
}

static bool print_report(const struct cli *cli, const struct report *report, struct error *err) {
    struct report_style style = {.has_colour = cli_has_colour(cli),
                                 .has_unicode = terminal_is_utf8(),
                                 .width = cli_width(),
                                 .chart_height = 16};
    struct text out = {0};
    bool ok = report_text(report, &style, &out, err);
    if (ok && cli->summary) {
        text_add(&out, "\n");
        report_summary(report, &out);
    }
    if (ok)
        return cli_write("-", &out, err);
    text_fini(&out);
    return false;
}

static bool write_files(const struct cli *cli, const struct report *report, struct error *err) {
    struct text out = {0};
    if (cli->json) {
        report_json(report, &out);
        if (!cli_write(cli->json, &out, err))
            return false;
    }
    if (cli->csv) {
        if (!report_csv(report->tl, report->device, &out, err) || !cli_write(cli->csv, &out, err))
            return false;
    }
    return (!cli->output || cli_write_timeline(cli, report->tl, err)) &&
           cli_write_picture(cli, report->tl, NULL, err);
}

/* What --at and --need ask; after an out-of-memory, what must go for the request that failed. */
static bool find_room(const struct cli *cli, const struct source_result *result,
                      struct room_report *room, struct run_facts *facts, struct error *err) {
    const struct alloc_settings *settings = result->is_scenario ? &result->settings : NULL;
    if (cli->source.allocator || (settings && settings->backend != ALLOC_BACKEND_NATIVE))
        return !moment_is_asked(cli) ||
               error_set(err, ERROR_USAGE, "%s tells of PyTorch's native allocator alone",
                         cli->at ? "--at" : "--need");
    if (!moment_is_asked(cli) && result->timeline->ooms.count == 0)
        return true;
    if (!moment_report(cli, result->timeline, timeline_main_device(result->timeline), settings,
                       room, err))
        return false;
    room->options.is_brief = !moment_is_asked(cli);
    facts->run.room = room;
    return true;
}

static int report_result(const struct cli *cli, const struct source_result *result,
                         struct error *err) {
    struct run_facts facts;
    struct report report;
    struct room_report room;
    if (!make_facts(cli, result, &facts)) {
        error_host_memory(err);
        return cli_fail(err);
    }
    bool is_told = !cli->quiet || cli->json, fits = true;
    bool ok = (!is_told || (need_find(cli, result, &facts.run.need, err) &&
                            find_room(cli, result, &room, &facts, err))) &&
              report_init(&report, result->timeline, &facts.run, err);
    if (ok) {
        fits = report.fits;
        if (cli_reports(cli))
            ok = print_report(cli, &report, err);
        ok = ok && write_files(cli, &report, err);
        report_fini(&report);
    }
    if (facts.run.room)
        room_report_fini(&room);
    xfree(facts.params);
    text_fini(&facts.notes);
    if (!ok)
        return cli_fail(err);
    return fits ? EXIT_FITS : EXIT_NOT;
}

int cmd_run(struct cli *cli) {
    struct error err = {0};
    struct source_result result;
    if (cli->help_scenario)
        return print_parameters(cli);
    if (cli->output && !writer_find(cli->format, cli->output, &err))
        return cli_fail(&err);
    if (!source_check_options(cli->files, cli->file_count, &cli->source, &err))
        return cli_fail(&err);
    if (!cli_source_run(cli, cli->files[0], &cli->source, &result, &err))
        return cli_fail(&err);
    int code = report_result(cli, &result, &err);
    source_result_fini(&result);
    return view_after(cli, code);
}
