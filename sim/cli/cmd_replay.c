/* cmd_replay.c: a trace's requests through an allocator: with the recorded settings they must come
 * out as recorded, with others they tell what would have happened. */
#include <string.h>

#include "cli.h"
#include "file.h"
#include "framework.h"
#include "json_out.h"
#include "replay.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

struct what_if {
    const char *label;     /* as the row of the table is called */
    const char *settings;  /* NULL: the trace's own */
    const char *allocator; /* NULL: native */
};

/* What --all tries: the settings that people reach for when reserved memory grows. */
static const struct what_if useful[] = {
    {"expandable_segments:True", "expandable_segments:True", NULL},
    {"max_split_size_mb:128", "max_split_size_mb:128", NULL},
    {"max_split_size_mb:512", "max_split_size_mb:512", NULL},
    {"roundup_power2_divisions:4", "roundup_power2_divisions:4", NULL},
    {"roundup_power2_divisions:8", "roundup_power2_divisions:8", NULL},
    {"default settings", "", NULL},
};

static bool is_what_if(const struct cli *cli) {
    return cli->source.alloc_settings || cli->source.allocator || cli->source.device;
}

/* Whose defaults the settings start from: the release asked for, else the trace's, else the newest.
 */
static const struct framework *find_rules(const struct timeline *tl,
                                          const struct framework *asked) {
    const struct framework *recorded =
        tl->framework ? framework_find(timeline_text(tl, tl->framework), NULL) : NULL;
    return asked ? asked : recorded ? recorded : framework_row(0);
}

static bool fill_config(const struct cli *cli, const struct timeline *tl,
                        const struct what_if *change, struct alloc_settings *settings,
                        struct device *device, struct replay_config *config, struct error *err) {
    memset(config, 0, sizeof *config);
    config->reproduce = !is_what_if(cli) && !change->settings && !change->allocator;
    if (cli->source.framework && !(config->framework = framework_find(cli->source.framework, err)))
        return false;
    if (change->allocator && !(config->allocator = alloc_find(change->allocator)))
        return error_set(err, ERROR_USAGE, "unknown allocator '%s'; vramsim allocators lists them",
                         change->allocator);
    if (change->settings) {
        if (!alloc_settings_parse(change->settings, find_rules(tl, config->framework), settings,
                                  err)) {
            err->code = ERROR_USAGE;
            return false;
        }
        config->settings = settings;
        config->settings_text = change->settings;
    }
    if (cli->source.device) {
        if (!device_parse(cli->source.device, device, err))
            return false;
        config->total_bytes = device->total_bytes;
        config->capacity_bytes = device->total_bytes - device->context_bytes;
    }
    return true;
}

static void row(struct text *out, const char *name, uint64_t recorded, uint64_t model) {
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    uint64_t difference = model > recorded ? model - recorded : recorded - model;
    text_format(out, "  %-18s %20s %20s   %s%s\n", name, units_format_grouped(recorded, a),
                units_format_grouped(model, b),
                model > recorded ? "+"
                : difference     ? "-"
                                 : "",
                units_format_bytes(difference, c));
}

static void write_device(const struct replay_device_result *d, bool reproduce, struct text *out) {
    text_format(out, "device %u                       recorded                model   difference\n",
                d->device);
    row(out, "peak allocated", d->recorded.peak_allocated, d->model.peak_allocated);
    row(out, "peak active", d->recorded.peak_active, d->model.peak_active);
    row(out, "peak reserved", d->recorded.peak_reserved, d->model.peak_reserved);
    row(out, "reserved at the end", d->recorded.end_reserved, d->model.end_reserved);
    text_format(out, "  retries %llu, out of memory %llu (recorded %llu)\n",
                (unsigned long long)d->retries, (unsigned long long)d->ooms,
                (unsigned long long)d->recorded_ooms);
    if (d->stopped_at != TIMELINE_NONE)
        text_format(out, "  OUT OF MEMORY at event %u: the run ends there\n", d->stopped_at);
    if (!reproduce)
        return;
    text_format(
        out,
        "  addresses %llu of %llu equal, %llu from the cache; segments %llu of %llu; layout at the "
        "end %s\n",
        (unsigned long long)d->addr_ok, (unsigned long long)d->allocs,
        (unsigned long long)d->cache_hits, (unsigned long long)d->segments_ok + d->releases_ok,
        (unsigned long long)d->segments + d->releases, d->layout_equal ? "equal" : "DIFFERENT");
    if (d->first.found)
        text_format(out, "  first difference at event %u\n    recorded: %s\n    model:    %s\n",
                    d->first.event, d->first.recorded, d->first.model);
}

static void json_figures(struct json *j, const char *key, const struct replay_figures *f) {
    json_object(j, key);
    json_u64(j, "start_active", f->start_active);
    json_u64(j, "start_blocks", f->start_blocks);
    json_u64(j, "start_reserved", f->start_reserved);
    json_u64(j, "peak_allocated", f->peak_allocated);
    json_u64(j, "peak_active", f->peak_active);
    json_u64(j, "peak_reserved", f->peak_reserved);
    json_u64(j, "end_active", f->end_active);
    json_u64(j, "end_reserved", f->end_reserved);
    json_end(j);
}

static void write_json(const struct replay_result *result, bool reproduce, struct text *out) {
    struct json j;
    json_begin(&j, out);
    json_object(&j, NULL);
    json_bool(&j, "reproduce", reproduce);
    if (reproduce)
        json_bool(&j, "equal", result->equal);
    json_text(&j, "framework", result->framework->name);
    json_array(&j, "devices");
    for (size_t i = 0; i < result->devices.count; i++) {
        const struct replay_device_result *d = &result->devices.at[i];
        json_object(&j, NULL);
        json_u64(&j, "device", d->device);
        json_figures(&j, "recorded", &d->recorded);
        json_figures(&j, "model", &d->model);
        json_u64(&j, "allocs", d->allocs);
        json_u64(&j, "addr_ok", d->addr_ok);
        json_u64(&j, "cache_hits", d->cache_hits);
        json_u64(&j, "segments_ok", d->segments_ok);
        json_bool(&j, "layout_equal", d->layout_equal);
        json_u64(&j, "retries", d->retries);
        json_u64(&j, "ooms", d->ooms);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    json_finish(&j);
}

static bool write_result(const struct cli *cli, const struct replay_result *result, bool reproduce,
                         struct error *err) {
    struct text out = {0};
    bool ok = true;
    if (!cli->quiet && !(cli->json && file_is_stdout(cli->json))) {
        if (reproduce)
            text_format(&out, "%s\n", result->equal ? "EQUAL" : "DIFFERENT");
        text_format(&out, "rules of %s%s\n", result->framework->name,
                    result->guessed ? " (the trace does not name its release)" : "");
        for (size_t i = 0; i < result->devices.count; i++)
            write_device(&result->devices.at[i], reproduce, &out);
        ok = cli_write("-", &out, err);
    }
    if (ok && cli->json) {
        write_json(result, reproduce, &out);
        ok = cli_write(cli->json, &out, err);
    }
    return ok;
}

static bool replay(const struct cli *cli, const struct timeline *tl, const struct what_if *change,
                   struct replay_result *result, bool *reproduce, struct error *err) {
    struct alloc_settings settings;
    struct device device;
    struct replay_config config;
    if (!fill_config(cli, tl, change, &settings, &device, &config, err))
        return false;
    *reproduce = config.reproduce;
    return replay_run(tl, &config, result, err);
}

static int replay_one(const struct cli *cli, const struct timeline *tl) {
    struct error err = {0};
    struct replay_result result;
    struct what_if change = {"", cli->source.alloc_settings, cli->source.allocator};
    bool reproduce;
    if (!replay(cli, tl, &change, &result, &reproduce, &err))
        return cli_fail(&err);
    bool good = reproduce ? result.equal : true;
    for (size_t i = 0; i < result.devices.count; i++)
        good = good && (reproduce || result.devices.at[i].stopped_at == TIMELINE_NONE);
    bool wrote = write_result(cli, &result, reproduce, &err);
    replay_result_fini(&result);
    return !wrote ? cli_fail(&err) : good ? EXIT_FITS : EXIT_NOT;
}

struct rank {
    const char *label;
    uint64_t reserved, allocated, retries;
    bool out_of_memory;
};

static void sort_ranks(struct rank *ranks, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0; k--) {
            struct rank *a = &ranks[k - 1], *b = &ranks[k];
            bool swap =
                a->out_of_memory != b->out_of_memory ? a->out_of_memory : b->reserved < a->reserved;
            if (!swap)
                break;
            struct rank kept = *a;
            *a = *b;
            *b = kept;
        }
}

enum { USEFUL_COUNT = sizeof useful / sizeof useful[0] };

static bool find_ranks(const struct cli *cli, const struct timeline *tl,
                       struct rank ranks[USEFUL_COUNT], uint64_t *recorded, struct error *err) {
    *recorded = 0;
    for (size_t i = 0; i < USEFUL_COUNT; i++) {
        struct replay_result result;
        bool reproduce;
        if (!replay(cli, tl, &useful[i], &result, &reproduce, err))
            return false;
        ranks[i] = (struct rank){.label = useful[i].label};
        for (size_t k = 0; k < result.devices.count; k++) {
            const struct replay_device_result *d = &result.devices.at[k];
            ranks[i].reserved += d->model.peak_reserved;
            ranks[i].allocated += d->model.peak_allocated;
            ranks[i].retries += d->retries;
            ranks[i].out_of_memory = ranks[i].out_of_memory || d->stopped_at != TIMELINE_NONE;
            *recorded += i == 0 ? d->recorded.peak_reserved : 0;
        }
        replay_result_fini(&result);
    }
    sort_ranks(ranks, USEFUL_COUNT);
    return true;
}

static void ranks_text(const struct rank ranks[USEFUL_COUNT], uint64_t recorded, struct text *out) {
    char bytes[UNITS_TEXT_BYTES], short_form[UNITS_TEXT_BYTES];
    text_format(out, "peak reserved, recorded: %s B (%s)\n", units_format_grouped(recorded, bytes),
                units_format_bytes(recorded, short_form));
    text_format(out, "  %-30s %20s %20s %8s\n", "settings", "peak reserved", "peak allocated",
                "retries");
    for (size_t i = 0; i < USEFUL_COUNT; i++) {
        text_format(out, "  %-30s %20s", ranks[i].label,
                    units_format_grouped(ranks[i].reserved, bytes));
        text_format(out, " %20s %8llu%s\n", units_format_grouped(ranks[i].allocated, bytes),
                    (unsigned long long)ranks[i].retries,
                    ranks[i].out_of_memory ? "  out of memory" : "");
    }
}

static void ranks_json(const struct rank ranks[USEFUL_COUNT], uint64_t recorded, struct text *out) {
    struct json j;
    json_begin(&j, out);
    json_object(&j, NULL);
    json_u64(&j, "recorded_peak_reserved", recorded);
    json_array(&j, "settings");
    for (size_t i = 0; i < USEFUL_COUNT; i++) {
        json_object(&j, NULL);
        json_text(&j, "name", ranks[i].label);
        json_u64(&j, "peak_reserved", ranks[i].reserved);
        json_u64(&j, "peak_allocated", ranks[i].allocated);
        json_u64(&j, "retries", ranks[i].retries);
        json_bool(&j, "out_of_memory", ranks[i].out_of_memory);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    json_finish(&j);
}

/* Every useful setting, the smallest peak of reserved memory first. */
static int replay_all(const struct cli *cli, const struct timeline *tl) {
    struct rank ranks[USEFUL_COUNT];
    struct error err = {0};
    struct text out = {0};
    uint64_t recorded;
    if (!find_ranks(cli, tl, ranks, &recorded, &err))
        return cli_fail(&err);
    bool ok = true;
    if (!cli->quiet && !(cli->json && file_is_stdout(cli->json))) {
        ranks_text(ranks, recorded, &out);
        ok = cli_write("-", &out, &err);
    }
    if (ok && cli->json) {
        ranks_json(ranks, recorded, &out);
        ok = cli_write(cli->json, &out, &err);
    }
    return ok ? EXIT_FITS : cli_fail(&err);
}

/* Options that would be left without effect. */
static bool check_options(const struct cli *cli, struct error *err) {
    if (cli->all && (cli->source.alloc_settings || cli->source.allocator))
        return error_set(err, ERROR_USAGE, "--all tries settings of its own: without %s",
                         cli->source.alloc_settings ? "--alloc" : "--allocator");
    if (cli->source.set_count > 0 && !source_is_scenario(cli->files[0]))
        return error_set(err, ERROR_USAGE, "%s: a trace has no parameters to --set", cli->files[0]);
    return true;
}

int cmd_replay(struct cli *cli) {
    struct error err = {0};
    struct source_result source;
    struct progress progress = {.what = "reading", .interrupted = cli->interrupted};
    if (!check_options(cli, &err))
        return cli_fail(&err);
    cli->source.progress = progress_show;
    cli->source.user = &progress;
    bool ok = source_run(cli->files[0], &cli->source, &source, &err);
    progress_clear(&progress);
    if (!ok)
        return cli_fail(&err);
    int code = cli->all ? replay_all(cli, source.timeline) : replay_one(cli, source.timeline);
    source_result_fini(&source);
    return code;
}
