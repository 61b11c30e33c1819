/* info_ranks.c: `vramsim info` of several files: the ranks of one run. Each is read, its figures are
 * kept, and it is let go, so that many fit. */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "facts.h"
#include "file.h"
#include "importer.h"
#include "ranks.h"
#include "ranks_report.h"
#include "text.h"
#include "timeline.h"

static uint64_t digits_at(const char *at) {
    uint64_t number = 0;
    for (; isdigit((unsigned char)*at); at++) {
        if (number > UINT32_MAX)
            return UINT64_MAX;
        number = number * 10 + (unsigned)(*at - '0');
    }
    return number;
}

/* "rank3.pickle", "snapshot_rank-12_step4.json.gz"; without that word the last number of the name. */
static uint64_t number_in_name(const char *path) {
    const char *name = file_base(path);
    const char *word = strstr(name, "rank");
    if (word) {
        word += strlen("rank");
        word += *word == '_' || *word == '-' || *word == '=';
        if (isdigit((unsigned char)*word))
            return digits_at(word);
    }
    uint64_t number = UINT64_MAX;
    for (const char *c = name; *c && *c != '.'; c++)
        if (isdigit((unsigned char)*c) && (c == name || !isdigit((unsigned char)c[-1])))
            number = digits_at(c);
    return number;
}

/* What the file itself says goes before its name. */
static uint64_t number_of(const struct trace_facts *facts, const char *path) {
    const struct trace_figure *rank = trace_figure_find(facts, NULL, "rank");
    return rank ? rank->value : number_in_name(path);
}

static bool add_file(const struct cli *cli, const struct trace_options *options, uint32_t file,
                     struct ranks *ranks, struct error *err) {
    struct timeline *tl;
    struct trace_facts facts;
    const char *path = cli->files[file];
    if (source_is_scenario(path))
        return error_set(err, ERROR_USAGE, "%s: a scenario, not a trace of a rank", path);
    if (!trace_import(path, options, &tl, &facts, err))
        return false;
    bool ok = ranks_add(ranks, tl, number_of(&facts, path), file) || error_host_memory(err);
    timeline_destroy(tl);
    trace_facts_fini(&facts);
    return ok;
}

static bool write_ranks(const struct cli *cli, const struct ranks *ranks, struct error *err) {
    struct text out = {0};
    if (cli_reports(cli)) {
        ranks_report_text(ranks, cli->files, &out);
        if (!cli_write("-", &out, err))
            return false;
    }
    if (!cli->json)
        return true;
    ranks_report_json(ranks, cli->files, &out);
    return cli_write(cli->json, &out, err);
}

int info_ranks(const struct cli *cli) {
    struct error err = {0};
    struct ranks ranks = {0};
    struct progress progress = {.what = "reading", .interrupted = cli->interrupted};
    const struct trace_options options = {.max_file_bytes = cli->source.max_memory_bytes,
                                          .max_memory_bytes = cli->source.max_memory_bytes,
                                          .progress = progress_show,
                                          .user = &progress};
    bool ok = true;
    for (uint32_t i = 0; ok && i < cli->file_count; i++)
        ok = add_file(cli, &options, i, &ranks, &err);
    progress_clear(&progress);
    ok = ok && (ranks_compare(&ranks) || error_host_memory(&err));
    ok = ok && write_ranks(cli, &ranks, &err);
    ranks_fini(&ranks);
    return ok ? EXIT_FITS : cli_fail(&err);
}
