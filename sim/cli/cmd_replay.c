/* cmd_replay.c: a run under another allocator: as it was, the model must answer as recorded; with
 * others it tells what would have happened. */
#include <assert.h>
#include <string.h>

#include "cli.h"
#include "framework.h"
#include "json_out.h"
#include "moment.h"
#include "ooms.h"
#include "pair_report.h"
#include "replay_base.h"
#include "replay_rank.h"
#include "text.h"
#include "timeline.h"
#include "units.h"
#include "what_if.h"

enum { CHART_HEIGHT = 12 };

struct replayed {
    const struct cli *cli;
    const struct source_result *base;
    struct what_if change;
    bool reproduce;
    struct replay_result result;
};

static const char *settings_of(const struct timeline *tl) {
    const char *text = timeline_text(tl, tl->alloc_settings);
    return *text ? text : "default settings";
}

/* --- text --- */

static void write_head(const struct replayed *r, struct text *out) {
    const struct timeline *tl = r->base->timeline;
    const struct replay_result *result = &r->result;
    if (r->reproduce)
        text_format(out, "%s\n", result->equal ? "EQUAL" : "DIFFERENT");
    if (r->base->is_scenario)
        text_format(out, "simulated: %s on %s, %s\n", r->base->framework->name,
                    r->base->device.name, settings_of(tl));
    text_format(out, "%s of %s%s", r->base->is_scenario ? "model:     rules" : "rules",
                result->framework->name,
                result->guessed ? " (the trace does not name its release)" : "");
    if (!r->reproduce) {
        const char *device = r->change.device       ? r->change.device
                             : r->base->is_scenario ? r->base->device.name
                                                    : NULL;
        if (device)
            text_format(out, " on %s", device);
        text_format(out, ", %s",
                    r->change.allocator ? r->change.allocator
                    : r->change.settings
                        ? (*r->change.settings ? r->change.settings : "default settings")
                        : settings_of(tl));
    }
    text_add(out, "\n");
}

static bool collects_garbage(const struct timeline *tl) {
    return strstr(settings_of(tl), "garbage_collection_threshold") != NULL;
}

static void write_reproduced(const struct replayed *r, const struct replay_device_result *d,
                             struct text *out) {
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
    if (d->first.found && collects_garbage(r->base->timeline) && r->change.memory_fraction == 0)
        text_add(out, "note: garbage_collection_threshold acts below the memory fraction that the "
                      "program set, which no trace tells:\n      --memory-fraction FRACTION "
                      "--device NAME say it\n");
}

/* What the reader must know of a recording to judge the model's column. */
static void write_notes(const struct replayed *r, const struct replay_device_result *d,
                        const struct pair_report *pair, struct text *out) {
    const struct pair_side *recorded = &pair->side[0];
    if (r->reproduce || r->base->is_scenario)
        return;
    if (recorded->start.blocks > 0)
        text_add(out,
                 "note: the recording begins late: the blocks from before it are asked for "
                 "first, in address order; --all has\n      a row with the recorded settings to "
                 "compare with\n");
    replay_base_note_card(r->base, r->change.device, d->capacity_bytes, out);
    if (recorded->ran_out && !pair->side[1].ran_out)
        text_add(out, "note: the request that failed is served; what the program would have asked "
                      "for after it is not known\n");
}

/* --- both --- */

/* A replay stops at a request that was served when it was recorded; one that failed then, at the
 * recording's end, may fail again. */
static bool model_ran_out(const struct replayed *r, const struct replay_device_result *d) {
    struct ooms ooms;
    ooms_find(r->result.timeline, d->device, &ooms);
    bool fails_again = !r->base->is_scenario || r->reproduce;
    return d->stopped_at != TIMELINE_NONE ||
           (fails_again && replay_base_ran_out(r->base, d->device) && ooms.count > 0 &&
            !ooms.went_on);
}

static bool make_pair(const struct replayed *r, const struct replay_device_result *d,
                      struct pair_report *pair, struct error *err) {
    const struct source_result *base = r->base;
    const struct pair_side sides[PAIR_SIDES] = {
        {.tl = base->timeline,
         .name = base->is_scenario ? "simulated" : "recorded",
         .has_retries = base->is_scenario,
         .retries = base->stats.num_alloc_retries,
         .ran_out = replay_base_ran_out(r->base, d->device)},
        {.tl = r->result.timeline,
         .name = "model",
         .has_retries = true,
         .retries = d->retries,
         .ran_out = model_ran_out(r, d)}};
    if (pair_report_init(pair, d->device, sides, err))
        return true;
    pair_report_fini(pair);
    return false;
}

struct moment {
    uint32_t event;
    const char *where;
};

/* Where a side has seen as many requests as the other; its end, where it has fewer. */
static struct moment same_request(const struct pair_side *side, uint8_t device, uint32_t requests) {
    const struct timeline *tl = side->tl;
    if (requests == 0)
        return (struct moment){TIMELINE_NONE, NULL};
    uint32_t event = request_curve_event(tl, device, requests - 1);
    if (event != TIMELINE_NONE || tl->events.count == 0)
        return (struct moment){event, "after the same request"};
    return (struct moment){(uint32_t)tl->events.count - 1,
                           side->ran_out ? "the end of this run: it was out of memory before the "
                                           "moment asked for"
                                         : "the end of this run, before the moment asked for"};
}

/* One of the run as it was, and the same of the model's: its own where a word names it, else after
 * the same request. A failure of the model's alone is the model's moment. */
static bool find_moments(const struct replayed *r, uint8_t device, const struct pair_report *pair,
                         struct moment both[PAIR_SIDES], struct error *err) {
    const struct cli *cli = r->cli;
    const struct timeline *was = pair->side[0].tl, *is = pair->side[1].tl;
    const struct timeline_oom *last = pair->side[1].ooms.last;
    if (!r->reproduce && last && pair->side[0].ooms.count == 0 && cli->at &&
        strcmp(cli->at, "oom") == 0) {
        both[1] = (struct moment){last->event, "out of memory"};
        both[0] =
            same_request(&pair->side[0], device, request_curve_ordinal(is, device, last->event));
        return true;
    }
    if (!moment_find(cli, was, device, &both[0].event, &both[0].where, err))
        return false;
    bool is_number =
        cli->at && ((*cli->at >= '0' && *cli->at <= '9') || text_begins(cli->at, "event ", 6));
    bool is_oom = both[0].where && strcmp(both[0].where, "out of memory") == 0;
    if (!is_number && (!is_oom || pair->side[1].ooms.count > 0))
        return moment_find(cli, is, device, &both[1].event, &both[1].where, err);
    both[1] =
        same_request(&pair->side[1], device, request_curve_ordinal(was, device, both[0].event));
    return true;
}

/* The moment of the recorded run, then the same of the model's. */
static bool make_moments(const struct replayed *r, uint8_t device, const struct pair_report *pair,
                         struct room_report moments[PAIR_SIDES], size_t *count, struct error *err) {
    const struct cli *cli = r->cli;
    struct alloc_settings settings;
    const struct alloc_settings *changed = NULL;
    struct moment both[PAIR_SIDES] = {{0}};
    *count = 0;
    if (!moment_is_asked(cli))
        return true;
    if (!find_moments(r, device, pair, both, err) ||
        !moment_report_at(pair->side[0].tl, device, both[0].event, both[0].where, cli->need_bytes,
                          NULL, &moments[0], err))
        return false;
    ++*count;
    if (r->reproduce)
        return true;
    if (r->change.settings &&
        alloc_settings_parse(r->change.settings, r->result.framework, &settings, err))
        changed = &settings;
    if (changed && changed->backend != ALLOC_BACKEND_NATIVE)
        return error_set(err, ERROR_USAGE, "%s tells of PyTorch's native allocator alone",
                         cli->at ? "--at" : "--need");
    const struct timeline *tl = pair->side[1].tl;
    uint64_t need_bytes = moments[0].options.need_bytes;
    if (!moment_report_at(tl, device, both[1].event, both[1].where, need_bytes, changed,
                          &moments[1], err))
        return false;
    ++*count;
    return true;
}

static void write_moments(const struct replayed *r, const struct room_report *moments, size_t count,
                          struct text *text, struct json *j) {
    static const char *const keys[PAIR_SIDES] = {"fragmentation_recorded", "fragmentation_model"};
    assert(count <= PAIR_SIDES);
    for (size_t i = 0; i < count; i++) {
        if (text) {
            const char *name = r->base->is_scenario ? "simulated" : "recorded";
            text_format(text, "\n%s:", i == 0 ? name : "model");
            room_report_text(&moments[i], text);
        } else {
            room_report_json(&moments[i], keys[i], j);
        }
    }
}

static void json_device(const struct replayed *r, const struct replay_device_result *d,
                        const struct pair_report *pair, struct json *j) {
    json_u64(j, "device", d->device);
    pair_report_json(pair, j);
    json_u64(j, "allocs", d->allocs);
    json_u64(j, "retries", d->retries);
    json_u64(j, "ooms", d->ooms);
    json_bool(j, "fits", !pair->side[1].ran_out);
    if (!r->reproduce)
        return;
    json_u64(j, "addr_ok", d->addr_ok);
    json_u64(j, "cache_hits", d->cache_hits);
    json_u64(j, "segments_ok", d->segments_ok);
    json_bool(j, "layout_equal", d->layout_equal);
    if (!d->first.found)
        return;
    json_object(j, "first_difference");
    json_u64(j, "event", d->first.event);
    json_text(j, "recorded", d->first.recorded);
    json_text(j, "model", d->first.model);
    json_end(j);
}

static void json_head(const struct replayed *r, struct json *j) {
    json_object(j, NULL);
    json_bool(j, "reproduce", r->reproduce);
    if (r->reproduce)
        json_bool(j, "equal", r->result.equal);
    json_bool(j, "simulated", r->base->is_scenario);
    json_text(j, "framework", r->result.framework->name);
    json_bool(j, "framework_guessed", r->result.guessed);
    json_text(j, "alloc_settings", r->change.settings);
    json_text(j, "allocator", r->change.allocator);
    json_text(j, "device", r->change.device);
    json_array(j, "devices");
}

/* One device, into text (NULL: not wanted) and JSON (likewise). */
static bool write_device(const struct replayed *r, const struct replay_device_result *d,
                         struct text *text, struct json *j, struct error *err) {
    struct pair_report pair;
    struct room_report moments[PAIR_SIDES];
    size_t count;
    if (!make_pair(r, d, &pair, err))
        return false;
    bool ok = make_moments(r, d->device, &pair, moments, &count, err);
    if (ok && text) {
        pair_report_text(&pair, cli_width(), r->reproduce ? 0 : CHART_HEIGHT, text);
        if (r->reproduce)
            write_reproduced(r, d, text);
        write_notes(r, d, &pair, text);
        write_moments(r, moments, count, text, NULL);
    }
    if (ok && j) {
        json_object(j, NULL);
        json_device(r, d, &pair, j);
        write_moments(r, moments, count, NULL, j);
        json_end(j);
    }
    for (size_t i = 0; i < count; i++)
        room_report_fini(&moments[i]);
    pair_report_fini(&pair);
    return ok;
}

static bool write_text(const struct replayed *r, struct error *err) {
    struct text out = {0};
    write_head(r, &out);
    for (size_t i = 0; i < r->result.devices.count; i++)
        if (!write_device(r, &r->result.devices.at[i], &out, NULL, err)) {
            text_fini(&out);
            return false;
        }
    return cli_write("-", &out, err);
}

static bool write_json(const struct replayed *r, struct error *err) {
    struct text out = {0};
    struct json j;
    json_begin(&j, &out);
    json_head(r, &j);
    for (size_t i = 0; i < r->result.devices.count; i++)
        if (!write_device(r, &r->result.devices.at[i], NULL, &j, err)) {
            text_fini(&out);
            return false;
        }
    json_end(&j);
    json_end(&j);
    json_finish(&j);
    return cli_write(r->cli->json, &out, err);
}

/* Of the first device. */
static bool write_csv(const struct replayed *r, struct error *err) {
    struct pair_report pair;
    struct text out = {0};
    if (r->result.devices.count == 0)
        return error_set(err, ERROR_BAD_INPUT, "%s: no device has memory", r->cli->files[0]);
    if (!make_pair(r, &r->result.devices.at[0], &pair, err))
        return false;
    bool ok = pair_report_csv(&pair, &out, err);
    pair_report_fini(&pair);
    if (ok)
        return cli_write(r->cli->csv, &out, err);
    text_fini(&out);
    return false;
}

static bool write_all(const struct replayed *r, struct error *err) {
    const struct cli *cli = r->cli;
    return (!cli_reports(cli) || write_text(r, err)) && (!cli->json || write_json(r, err)) &&
           (!cli->csv || write_csv(r, err)) &&
           cli_write_picture(cli, r->base->timeline, r->result.timeline, err);
}

/* --- the command --- */

static bool fits(const struct replayed *r) {
    for (size_t i = 0; i < r->result.devices.count; i++)
        if (model_ran_out(r, &r->result.devices.at[i]))
            return false;
    return true;
}

static int replay_one(struct cli *cli, const struct source_result *base) {
    struct error err = {0};
    struct progress progress = {.what = "replaying", .interrupted = cli->interrupted};
    struct source_options options = cli->source;
    options.user = &progress;
    struct replayed r = {.cli = cli,
                         .base = base,
                         .change = {cli->source.alloc_settings, cli->source.allocator,
                                    cli->source.device, cli->memory_fraction}};
    r.reproduce = !r.change.settings && !r.change.allocator &&
                  (!r.change.device || r.change.memory_fraction > 0);
    if (r.reproduce && !cli_has_history(cli->files[0], base->timeline, &err))
        return cli_fail(&err);
    bool ok = r.reproduce ? what_if_reproduce(&options, base, &r.change, &r.result, &err)
                          : what_if_run(cli->files[0], &options, base, &r.change, &r.result, &err);
    progress_clear(&progress);
    if (!ok)
        return cli_fail(&err);
    bool good = r.reproduce ? r.result.equal : fits(&r);
    bool wrote = write_all(&r, &err);
    replay_result_fini(&r.result);
    if (!wrote)
        return cli_fail(&err);
    cli->shows_replay = !r.reproduce;
    return view_after(cli, good ? EXIT_FITS : EXIT_NOT);
}

/* Options that would be left without effect. */
static bool check_options(const struct cli *cli, struct error *err) {
    const char *picture = cli->png    ? "--png"
                          : cli->svg  ? "--svg"
                          : cli->html ? "--html"
                          : cli->csv  ? "--csv"
                                      : NULL;
    if (cli->all && (cli->source.alloc_settings || cli->source.allocator))
        return error_set(err, ERROR_USAGE, "--all tries settings of its own: without %s",
                         cli->source.alloc_settings ? "--alloc" : "--allocator");
    if (cli->all && (picture || moment_is_asked(cli)))
        return error_set(err, ERROR_USAGE, "--all writes a table: without %s",
                         picture   ? picture
                         : cli->at ? "--at"
                                   : "--need");
    if (cli->source.allocator && moment_is_asked(cli))
        return error_set(err, ERROR_USAGE,
                         "%s tells of PyTorch's own allocator: without --allocator",
                         cli->at ? "--at" : "--need");
    if (cli->memory_fraction > 0 && (cli->all || source_is_scenario(cli->files[0])))
        return error_set(err, ERROR_USAGE,
                         "--memory-fraction says what the program of a trace "
                         "had set: %s",
                         cli->all ? "without --all" : "a scenario sets it by itself");
    if (cli->source.set_count > 0 && !source_is_scenario(cli->files[0]))
        return error_set(err, ERROR_USAGE, "%s: a trace has no parameters to --set", cli->files[0]);
    return true;
}

int cmd_replay(struct cli *cli) {
    struct error err = {0};
    struct source_result base;
    struct progress progress = {.what = "reading", .interrupted = cli->interrupted};
    if (!check_options(cli, &err))
        return cli_fail(&err);
    cli->source.progress = progress_show;
    cli->source.user = &progress;
    struct source_options options = cli->source;
    /* The card alone is the change; beside other settings it is the one of both runs. */
    if (!cli->all && !options.alloc_settings && !options.allocator)
        options.device = NULL;
    bool ok = what_if_base(cli->files[0], &options, &base, &err);
    progress_clear(&progress);
    if (!ok)
        return cli_fail(&err);
    int code = cli->all ? replay_rank(cli, &base) : replay_one(cli, &base);
    source_result_fini(&base);
    return code;
}
