/* replay_rank.c: see replay_rank.h. */
#include "replay_rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "array.h"
#include "cli.h"
#include "fragmentation.h"
#include "framework.h"
#include "json_out.h"
#include "ooms.h"
#include "peak.h"
#include "replay_base.h"
#include "text.h"
#include "timeline.h"
#include "units.h"
#include "what_if.h"

/* Settings that a release does not know are left out. */
static const struct {
    const char *settings;
    bool is_rough; /* of a model that was not measured against the real one */
} useful[] = {
    {"", false},
    {"expandable_segments:True", false},
    {"max_split_size_mb:64", false},
    {"max_split_size_mb:128", false},
    {"max_split_size_mb:256", false},
    {"max_split_size_mb:512", false},
    {"roundup_power2_divisions:4", false},
    {"roundup_power2_divisions:8", false},
    {"expandable_segments:True,roundup_power2_divisions:8", false},
    {"large_segment_size_mb:64", false},
    {"backend:cudaMallocAsync", true},
};
enum { USEFUL_COUNT = sizeof useful / sizeof useful[0] };

/* No settings reach these; they say what is left to gain. */
static const char *const bounds[] = {"best-packing", "sum-of-live"};

struct rank {
    struct what_if change;
    bool is_recorded; /* the settings that the trace has */
    bool is_rough;    /* as in the table */
    uint64_t reserved, allocated, unused, retries, ooms;
    uint64_t served;    /* requests */
    bool out_of_memory; /* the run ends there */
};

struct ranks {
    ARRAY(struct rank) rows;   /* the best first */
    ARRAY(struct rank) bounds; /* in the table's order */
    uint64_t base_reserved;
    bool base_ran_out;
    uint64_t capacity_bytes; /* that the process could get; 0: not known */
    uint64_t late_blocks;    /* alive before the recording began */
};

static void name_row(const struct rank *r, char *out, size_t size) {
    const char *settings = r->change.settings && *r->change.settings ? r->change.settings : NULL;
    if (r->change.allocator)
        snprintf(out, size, "%s", r->change.allocator);
    else
        snprintf(out, size, "%s%s", settings ? settings : "default settings",
                 r->is_rough      ? " (a rough model)"
                 : r->is_recorded ? " (recorded)"
                                  : "");
}

/* --- the runs --- */

static bool measure(const struct replay_result *result, struct rank *rank, struct ranks *ranks,
                    struct error *err) {
    for (size_t i = 0; i < result->devices.count; i++) {
        const struct replay_device_result *d = &result->devices.at[i];
        struct peaks peaks;
        struct fragmentation f;
        peak_find(result->timeline, d->device, &peaks);
        if (!fragmentation_find(result->timeline, d->device, peaks.reserved.event, &f, err))
            return false;
        ranks->capacity_bytes = d->capacity_bytes;
        rank->reserved += d->model.peak_reserved;
        rank->allocated += d->model.peak_allocated;
        rank->unused += f.all.reserved_bytes - f.all.allocated_bytes;
        rank->retries += d->retries;
        rank->ooms += d->ooms;
        rank->served += d->allocs;
        struct ooms ooms;
        ooms_find(result->timeline, d->device, &ooms);
        rank->out_of_memory = rank->out_of_memory || d->stopped_at != TIMELINE_NONE ||
                              (ranks->base_ran_out && ooms.count > 0 && !ooms.went_on);
    }
    return true;
}

static bool try_one(const struct cli *cli, const struct source_result *base, struct rank rank,
                    struct ranks *out, struct error *err) {
    struct replay_result result;
    char label[128];
    name_row(&rank, label, sizeof label);
    struct progress progress = {.what = label, .interrupted = cli->interrupted};
    struct source_options options = cli->source;
    options.user = &progress;
    bool ran = what_if_run(cli->files[0], &options, base, &rank.change, &result, err);
    progress_clear(&progress);
    if (!ran)
        return false;
    bool ok = measure(&result, &rank, out, err);
    replay_result_fini(&result);
    ok = ok &&
         (rank.change.allocator ? array_push(&out->bounds, rank) : array_push(&out->rows, rank));
    return ok || (err->code == ERROR_NONE && error_host_memory(err));
}

static bool is_known(const struct cli *cli, const struct source_result *base,
                     const char *settings) {
    struct alloc_settings parsed;
    struct error ignored = {0};
    return alloc_settings_parse(settings, what_if_rules(&cli->source, base->timeline), &parsed,
                                &ignored);
}

/* Written otherwise than in the table. */
static const char *recorded_settings(const struct source_result *base) {
    const char *text = timeline_text(base->timeline, base->timeline->alloc_settings);
    if (base->is_scenario || !*text || strcmp(text, "expandable_segments:False") == 0)
        return NULL;
    for (size_t i = 0; i < USEFUL_COUNT; i++)
        if (strcmp(useful[i].settings, text) == 0)
            return NULL;
    return text;
}

static bool try_all(const struct cli *cli, const struct source_result *base, struct ranks *out,
                    struct error *err) {
    const char *recorded = recorded_settings(base);
    const char *own = timeline_text(base->timeline, base->timeline->alloc_settings);
    for (size_t i = 0; i < USEFUL_COUNT; i++) {
        const char *settings = useful[i].settings;
        struct rank rank = {.change = {settings, NULL, cli->source.device},
                            .is_rough = useful[i].is_rough,
                            .is_recorded =
                                !base->is_scenario && *own && strcmp(settings, own) == 0};
        if (is_known(cli, base, settings) && !try_one(cli, base, rank, out, err))
            return false;
    }
    if (recorded && is_known(cli, base, recorded)) {
        struct rank rank = {.change = {recorded, NULL, cli->source.device}, .is_recorded = true};
        if (!try_one(cli, base, rank, out, err))
            return false;
    }
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        struct rank rank = {.change = {NULL, bounds[i], cli->source.device}};
        if (try_one(cli, base, rank, out, err))
            continue;
        /* too many blocks to place (a limit, or a bad scenario by it): the other bound stands alone */
        if (err->code != ERROR_LIMIT && err->code != ERROR_BAD_SCENARIO)
            return false;
        *err = (struct error){0};
    }
    return true;
}

/* What was measured comes before rough models; what fits first, then what gets furthest, then the
 * fewest failed requests, then the least memory; among equals the plainer settings, which are tried
 * first. */
static bool is_better(const struct rank *a, const struct rank *b) {
    if (a->is_rough != b->is_rough)
        return b->is_rough;
    if (a->out_of_memory != b->out_of_memory)
        return b->out_of_memory;
    if (a->out_of_memory && a->served != b->served)
        return a->served > b->served;
    if (a->ooms != b->ooms)
        return a->ooms < b->ooms;
    if (a->reserved != b->reserved)
        return a->reserved < b->reserved;
    return a->retries < b->retries;
}

static void sort_ranks(struct ranks *ranks) {
    struct rank *rows = ranks->rows.at;
    for (size_t i = 1; i < ranks->rows.count; i++)
        for (size_t k = i; k > 0 && is_better(&rows[k], &rows[k - 1]); k--) {
            struct rank kept = rows[k];
            rows[k] = rows[k - 1];
            rows[k - 1] = kept;
        }
}

/* --- output --- */

static void add_base(const struct source_result *base, struct ranks *ranks) {
    bool seen[UINT8_MAX + 1] = {false};
    const struct timeline *tl = base->timeline;
    for (size_t i = 0; i < tl->segments.count; i++)
        seen[tl->segments.at[i].device] = true;
    for (unsigned d = 0; d <= UINT8_MAX; d++) {
        if (!seen[d])
            continue;
        const struct replay_figures f = replay_figures_of(tl, (uint8_t)d);
        ranks->base_reserved += f.peak_reserved;
        ranks->late_blocks += f.start_blocks;
        ranks->base_ran_out = ranks->base_ran_out || replay_base_ran_out(base, (uint8_t)d);
    }
}

static void write_notes(const struct cli *cli, const struct source_result *base,
                        const struct ranks *ranks, struct text *out) {
    if (!base->is_scenario && ranks->base_ran_out)
        text_add(out, "note: the recording ends out of memory: what the program would have asked "
                      "for after that is in no row\n");
    if (ranks->late_blocks > 0)
        text_format(
            out,
            "note: the recording begins late: the %llu blocks from before it are asked for "
            "first, in address order;\n      compare with the row of the recorded or default "
            "settings, not with the recording\n",
            (unsigned long long)ranks->late_blocks);
    replay_base_note_card(base, cli->source.device, ranks->capacity_bytes, out);
}

static void ranks_text(const struct cli *cli, const struct source_result *base,
                       const struct ranks *ranks, struct text *out) {
    char bytes[UNITS_TEXT_BYTES], other[UNITS_TEXT_BYTES], label[128];
    text_format(out, "peak reserved, %s: %s B (%s)%s\n",
                base->is_scenario ? "simulated with default settings" : "recorded",
                units_format_grouped(ranks->base_reserved, bytes),
                units_format_bytes(ranks->base_reserved, other),
                ranks->base_ran_out ? ", then out of memory" : "");
    text_format(out, "  %-52s %18s %18s %12s %8s\n", "settings", "peak reserved", "peak allocated",
                "unused then", "retries");
    for (size_t i = 0; i < ranks->rows.count; i++) {
        const struct rank *r = &ranks->rows.at[i];
        name_row(r, label, sizeof label);
        text_format(out, "  %-52s %18s", label, units_format_grouped(r->reserved, bytes));
        text_format(out, " %18s %12s %8llu", units_format_grouped(r->allocated, bytes),
                    units_format_bytes(r->unused, other), (unsigned long long)r->retries);
        if (r->out_of_memory)
            text_add(out, "  OUT OF MEMORY");
        else if (r->ooms > 0)
            text_format(out, "  %llu failed", (unsigned long long)r->ooms);
        text_add(out, "\n");
    }
    text_add(out, "no allocator can reserve less:");
    for (size_t i = 0; i < ranks->bounds.count; i++) {
        const struct rank *r = &ranks->bounds.at[i];
        text_format(out, "%s %s %s", i ? "," : "", r->change.allocator,
                    r->out_of_memory ? "does not fit either"
                                     : units_format_grouped(r->reserved, bytes));
    }
    text_add(out, "\n");
    write_notes(cli, base, ranks, out);
}

static void ranks_json(const struct source_result *base, const struct ranks *ranks,
                       struct text *out) {
    struct json j;
    char label[128];
    json_begin(&j, out);
    json_object(&j, NULL);
    json_u64(&j, "recorded_peak_reserved", ranks->base_reserved);
    json_bool(&j, "recorded_out_of_memory", ranks->base_ran_out);
    json_bool(&j, "simulated", base->is_scenario);
    json_u64(&j, "blocks_before_the_recording", ranks->late_blocks);
    json_array(&j, "settings");
    for (size_t i = 0; i < ranks->rows.count; i++) {
        const struct rank *r = &ranks->rows.at[i];
        name_row(r, label, sizeof label);
        json_object(&j, NULL);
        json_text(&j, "name", label);
        json_text(&j, "alloc_settings", r->change.settings);
        json_text(&j, "allocator", r->change.allocator);
        json_u64(&j, "peak_reserved", r->reserved);
        json_u64(&j, "peak_allocated", r->allocated);
        json_u64(&j, "unused_at_peak_reserved", r->unused);
        json_u64(&j, "retries", r->retries);
        json_u64(&j, "ooms", r->ooms);
        json_bool(&j, "out_of_memory", r->out_of_memory);
        json_u64(&j, "requests", r->served);
        json_bool(&j, "rough_model", r->is_rough);
        json_end(&j);
    }
    json_end(&j);
    json_array(&j, "bounds");
    for (size_t i = 0; i < ranks->bounds.count; i++) {
        json_object(&j, NULL);
        json_text(&j, "allocator", ranks->bounds.at[i].change.allocator);
        json_u64(&j, "peak_reserved", ranks->bounds.at[i].reserved);
        json_bool(&j, "out_of_memory", ranks->bounds.at[i].out_of_memory);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    json_finish(&j);
}

static bool write_all(const struct cli *cli, const struct source_result *base,
                      const struct ranks *ranks, struct error *err) {
    struct text out = {0};
    if (cli_reports(cli)) {
        ranks_text(cli, base, ranks, &out);
        if (!cli_write("-", &out, err))
            return false;
    }
    if (!cli->json)
        return true;
    ranks_json(base, ranks, &out);
    return cli_write(cli->json, &out, err);
}

int replay_rank(const struct cli *cli, const struct source_result *base) {
    struct ranks ranks = {0};
    struct error err = {0};
    add_base(base, &ranks);
    bool ok = try_all(cli, base, &ranks, &err);
    bool fits = false;
    if (ok) {
        sort_ranks(&ranks);
        fits = ranks.rows.count > 0 && !ranks.rows.at[0].out_of_memory;
        ok = write_all(cli, base, &ranks, &err);
    }
    array_fini(&ranks.rows);
    array_fini(&ranks.bounds);
    return !ok ? cli_fail(&err) : fits ? EXIT_FITS : EXIT_NOT;
}
