/* cmd_info.c: what a trace holds, for people and as JSON with the keys of the facts
 * (docs/formats.md). */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "facts.h"
#include "format.h"
#include "importer.h"
#include "json_out.h"
#include "moment.h"
#include "peak.h"
#include "replay.h"
#include "source_note.h"
#include "text.h"
#include "timeline.h"
#include "units.h"

static void json_counts(struct json *j, const char *key, const struct trace_counts *counts) {
    json_object(j, key);
    for (size_t i = 0; i < counts->list.count; i++)
        json_u64(j, counts->list.at[i].name, counts->list.at[i].count);
    json_end(j);
}

static void json_names(struct json *j, const char *key, const struct trace_counts *counts) {
    json_array(j, key);
    for (size_t i = 0; i < counts->list.count; i++)
        json_text(j, NULL, counts->list.at[i].name);
    json_end(j);
}

/* The device's figures of a replay that reproduces; NULL: none could be made. */
static const struct replay_device_result *find_device(const struct replay_result *replay,
                                                      uint32_t device) {
    for (size_t i = 0; replay && i < replay->devices.count; i++)
        if (replay->devices.at[i].device == device)
            return &replay->devices.at[i];
    return NULL;
}

static void json_replay(struct json *j, const struct replay_device_result *r) {
    if (r->allocs > 0) {
        json_u64(j, "addr_ok", r->addr_ok);
        json_u64(j, "cache_hits", r->cache_hits);
    }
    if (r->segments > 0)
        json_u64(j, "segments_ok", r->segments_ok);
    json_u64(j, "layout_equal", r->layout_equal);
}

static void json_device(struct json *j, const struct trace_device_facts *d,
                        const struct replay_result *replay) {
    char name[16];
    snprintf(name, sizeof name, "%u", d->device);
    json_object(j, name);
    json_counts(j, "actions", &d->actions);
    if (trace_counts_get(&d->actions, "alloc") > 0) {
        json_u64(j, "alloc_bytes_largest", d->alloc_bytes_largest);
        json_u64(j, "alloc_bytes_total", d->alloc_bytes_total);
    }
    json_u64(j, "events", d->events);
    json_object(j, "replay");
    if (find_device(replay, d->device))
        json_replay(j, find_device(replay, d->device));
    json_u64(j, "end_active", d->end_active);
    json_u64(j, "end_reserved", d->end_reserved);
    json_u64(j, "peak_active", d->peak_active);
    json_u64(j, "peak_reserved", d->peak_reserved);
    json_u64(j, "start_active", d->start_active);
    json_u64(j, "start_blocks", d->start_blocks);
    json_u64(j, "start_reserved", d->start_reserved);
    json_end(j);
    json_end(j);
}

/* --- fragmentation --- */

/* One report a device, as --at and --need ask. */
struct moments {
    ARRAY(struct room_report) list;
};

static bool find_moments(const struct cli *cli, const struct timeline *tl, struct moments *out,
                         struct error *err) {
    bool has_memory[UINT8_MAX + 1] = {false};
    for (size_t i = 0; i < tl->segments.count; i++)
        has_memory[tl->segments.at[i].device] = true;
    for (unsigned d = 0; moment_is_asked(cli) && d <= UINT8_MAX; d++) {
        struct room_report room;
        if (!has_memory[d])
            continue;
        if (!moment_report(cli, tl, (uint8_t)d, NULL, &room, err))
            return false;
        if (!array_push(&out->list, room)) {
            room_report_fini(&room);
            return error_host_memory(err);
        }
    }
    return true;
}

static void moments_fini(struct moments *m) {
    for (size_t i = 0; i < m->list.count; i++)
        room_report_fini(&m->list.at[i]);
    array_fini(&m->list);
}

/* --- JSON --- */

static void json_moments(struct json *j, const struct moments *m) {
    if (m->list.count == 0)
        return;
    json_array(j, "fragmentation");
    for (size_t i = 0; i < m->list.count; i++)
        room_report_json(&m->list.at[i], NULL, j);
    json_end(j);
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void json_figure(struct json *j, const struct trace_figure *f) {
    switch (f->kind) {
    case TRACE_FIGURE_COUNT:
    case TRACE_FIGURE_BYTES:
        json_u64(j, f->name, f->value);
        break;
    case TRACE_FIGURE_BOOL:
        json_bool(j, f->name, f->value != 0);
        break;
    case TRACE_FIGURE_TEXT:
        json_text(j, f->name, f->text);
        break;
    }
}

/* Figures of one object stand together. */
static void json_figures(struct json *j, const struct trace_facts *f) {
    const char *group = NULL, *sub = NULL;
    for (size_t i = 0; i < f->figures.count; i++) {
        const struct trace_figure *now = &f->figures.at[i];
        bool is_new_group = !is_same(group, now->group);
        if (sub && (is_new_group || !is_same(sub, now->sub)))
            json_end(j);
        if (group && is_new_group)
            json_end(j);
        if (now->group && is_new_group)
            json_object(j, now->group);
        if (now->sub && (is_new_group || !is_same(sub, now->sub)))
            json_object(j, now->sub);
        group = now->group;
        sub = now->sub;
        json_figure(j, now);
    }
    if (sub)
        json_end(j);
    if (group)
        json_end(j);
}

/* What sources without figures of their own have: stacks, annotations, devices. */
static void json_snapshot(struct json *j, const struct trace_facts *f,
                          const struct replay_result *replay) {
    json_u64(j, "stack_depth_max", f->stack_depth_max);
    if (f->has & TRACE_FACTS_HOST) {
        json_u64(j, "host_segments", f->host_segments);
        json_u64(j, "host_reserved", f->host_reserved);
        json_u64(j, "host_events", f->host_events);
    }
    if (f->has & TRACE_FACTS_ANNOTATIONS)
        json_u64(j, "external_annotations", f->external_annotations);
    json_object(j, "devices");
    for (size_t i = 0; i < f->devices.count; i++)
        json_device(j, &f->devices.at[i], replay);
    json_end(j);
}

static void write_json(const struct trace_facts *f, const struct replay_result *replay,
                       const struct moments *m, struct text *out) {
    struct json j;
    json_begin(&j, out);
    json_object(&j, NULL);
    json_text(&j, "kind", f->kind);
    json_u64(&j, "bytes", f->bytes);
    if (f->packing) {
        json_text(&j, "packing", f->packing);
        json_u64(&j, "bytes_unpacked", f->bytes_unpacked);
    }
    if (f->has & TRACE_FACTS_SHA256) {
        char hex[2 * SHA256_BYTES + 1];
        for (unsigned i = 0; i < SHA256_BYTES; i++)
            snprintf(hex + 2 * i, 3, "%02x", f->sha256[i]);
        json_text(&j, "sha256", hex);
    }
    if (f->has & TRACE_FACTS_PICKLE) {
        json_u64(&j, "protocol", f->protocol);
        json_names(&j, "opcodes", &f->opcodes);
    }
    if (f->top_keys.list.count > 0 || (f->has & TRACE_FACTS_PICKLE))
        json_names(&j, "top_keys", &f->top_keys);
    if (f->has & TRACE_FACTS_STATE) {
        json_u64(&j, "segments", f->segments);
        json_u64(&j, "blocks", f->blocks);
        json_counts(&j, "blocks_by_state", &f->blocks_by_state);
        json_counts(&j, "segments_by_type", &f->segments_by_type);
        json_u64(&j, "streams", f->streams);
        json_u64(&j, "expandable", f->expandable);
        json_u64(&j, "reserved", f->reserved);
        json_u64(&j, "allocated", f->allocated);
        json_u64(&j, "active", f->active);
        if (f->has & TRACE_FACTS_REQUESTED)
            json_u64(&j, "requested", f->requested);
        json_u64(&j, "largest_free_block", f->largest_free_block);
    }
    if (f->has & TRACE_FACTS_TIME) {
        json_u64(&j, "time_us_first", f->time_us_first);
        json_u64(&j, "time_us_last", f->time_us_last);
    }
    if (f->figures.count > 0)
        json_figures(&j, f);
    else
        json_snapshot(&j, f, replay);
    json_moments(&j, m);
    json_end(&j);
    json_finish(&j);
}

static void line_bytes(struct text *out, const char *name, uint64_t bytes) {
    char grouped[UNITS_TEXT_BYTES], short_form[UNITS_TEXT_BYTES];
    text_format(out, "  %-22s %20s B  %s\n", name, units_format_grouped(bytes, grouped),
                units_format_bytes(bytes, short_form));
}

static void line_text(struct text *out, const char *name, const char *said) {
    text_add(out, name);
    format_safe(out, said);
    text_add(out, "\n");
}

static void line_counts(struct text *out, const char *name, const struct trace_counts *counts) {
    text_format(out, "  %-22s", name);
    for (size_t i = 0; i < counts->list.count; i++) {
        text_add(out, i ? ", " : " ");
        format_safe(out, counts->list.at[i].name);
        text_format(out, " %llu", (unsigned long long)counts->list.at[i].count);
    }
    text_add(out, "\n");
}

static void write_device(const struct trace_device_facts *d, struct text *out) {
    text_format(out, "device %u: %llu events\n", d->device, (unsigned long long)d->events);
    line_counts(out, "actions", &d->actions);
    line_bytes(out, "active at the start", d->start_active);
    line_bytes(out, "reserved at the start", d->start_reserved);
    line_bytes(out, "peak allocated", d->peak_allocated);
    line_bytes(out, "peak active", d->peak_active);
    line_bytes(out, "peak reserved", d->peak_reserved);
    line_bytes(out, "active at the end", d->end_active);
    line_bytes(out, "reserved at the end", d->end_reserved);
}

/* --- other sources than snapshots --- */

static void add_label(const char *key, struct text *out) {
    for (; *key; key++)
        text_add_bytes(out, *key == '_' ? " " : key, 1);
}

static void write_figure(const struct trace_figure *f, struct text *out) {
    struct text raw = {0}, label = {0}, value = {0};
    add_label(f->name, &raw);
    format_safe(&label, text_get(&raw));
    if (f->kind == TRACE_FIGURE_TEXT)
        format_safe(&value, f->text);
    if (f->kind == TRACE_FIGURE_BYTES)
        line_bytes(out, text_get(&label), f->value);
    else if (f->kind == TRACE_FIGURE_COUNT)
        text_format(out, "  %-22s %20llu\n", text_get(&label), (unsigned long long)f->value);
    else
        text_format(out, "  %-22s %20s\n", text_get(&label),
                    f->kind == TRACE_FIGURE_TEXT ? text_get(&value)
                    : f->value                   ? "yes"
                                                 : "no");
    text_fini(&raw);
    text_fini(&label);
    text_fini(&value);
}

static void write_group(const struct trace_figure *f, struct text *out) {
    format_safe(out, f->group);
    text_add(out, f->sub ? " " : "");
    line_text(out, "", f->sub ? f->sub : "");
}

static void write_figures(const struct trace_facts *f, struct text *out) {
    const char *group = NULL, *sub = NULL;
    for (size_t i = 0; i < f->figures.count; i++) {
        const struct trace_figure *now = &f->figures.at[i];
        if (now->group && (!is_same(group, now->group) || !is_same(sub, now->sub)))
            write_group(now, out);
        else if (!now->group && (group || i == 0))
            text_add(out, "the file\n");
        group = now->group;
        sub = now->sub;
        write_figure(now, out);
    }
}

static void line_figure(struct text *out, const char *name, bool is_known, uint64_t bytes) {
    if (is_known)
        line_bytes(out, name, bytes);
    else
        text_format(out, "  %-22s %20s\n", name, "unknown");
}

/* What the timeline that came of it says of a device, as far as the source knows. */
static void write_timeline_device(const struct timeline *tl, uint8_t device, struct text *out) {
    struct peaks peaks;
    peak_find(tl, device, &peaks);
    text_format(out, "timeline of device %u\n", device);
    if (timeline_knows(tl, FIGURE_DEVICE_USE)) {
        line_bytes(out, "peak of the device", peaks.reserved.bytes);
        line_bytes(out, "at the end", peaks.at_end.reserved);
    }
    line_figure(out, "peak allocated", timeline_knows(tl, FIGURE_ALLOCATED), peaks.allocated.bytes);
    line_figure(out, "peak active", timeline_knows(tl, FIGURE_ACTIVE), peaks.active.bytes);
    line_figure(out, "peak requested", timeline_knows(tl, FIGURE_REQUESTED), peaks.requested.bytes);
    line_figure(out, "peak reserved", timeline_knows(tl, FIGURE_RESERVED), peaks.reserved.bytes);
    line_figure(out, "allocated at the end", timeline_knows(tl, FIGURE_ALLOCATED),
                peaks.at_end.allocated);
}

static void write_timeline(const struct timeline *tl, struct text *out) {
    bool has_memory[UINT8_MAX + 1] = {false};
    for (size_t i = 0; i < tl->blocks.count; i++)
        has_memory[tl->blocks.at[i].device] = true;
    for (size_t i = 0; i < tl->segments.count; i++)
        has_memory[tl->segments.at[i].device] = true;
    for (unsigned d = 0; d <= UINT8_MAX; d++)
        if (has_memory[d])
            write_timeline_device(tl, (uint8_t)d, out);
    if (tl->blocks.count + tl->segments.count == 0)
        text_add(out, "no memory of a device is recorded in it\n");
    source_note(tl, out);
}

static void write_report(const char *path, const struct trace_facts *f, const struct timeline *tl,
                         struct text *out) {
    format_safe(out, path);
    text_format(out, ": %s, %llu bytes", f->kind, (unsigned long long)f->bytes);
    if (f->packing)
        text_format(out, " (%s; %llu unpacked)", f->packing, (unsigned long long)f->bytes_unpacked);
    text_add(out, "\n");
    if (f->has & TRACE_FACTS_STATE) {
        text_format(out, "state at the end: %llu segments, %llu blocks, %llu stream%s\n",
                    (unsigned long long)f->segments, (unsigned long long)f->blocks,
                    (unsigned long long)f->streams, f->streams == 1 ? "" : "s");
        line_counts(out, "blocks", &f->blocks_by_state);
        line_bytes(out, "reserved", f->reserved);
        line_bytes(out, "allocated", f->allocated);
        if (f->has & TRACE_FACTS_REQUESTED)
            line_bytes(out, "requested", f->requested);
        line_bytes(out, "largest free block", f->largest_free_block);
        if (f->has & TRACE_FACTS_HOST)
            line_bytes(out, "pinned host memory", f->host_reserved);
    }
    for (size_t i = 0; i < f->devices.count; i++)
        write_device(&f->devices.at[i], out);
    if (f->figures.count > 0) {
        write_figures(f, out);
        write_timeline(tl, out);
    } else if (f->devices.count == 0)
        text_add(out, "no events were recorded: the state is all there is; "
                      "torch.cuda.memory._record_memory_history() before the model is built\n"
                      "records them\n");
    if (tl->alloc_settings)
        line_text(out, "allocator settings: ", timeline_text(tl, tl->alloc_settings));
    if (tl->warnings) {
        text_format(out, "warnings: %u, ", tl->warnings);
        line_text(out, "the first: ", timeline_text(tl, tl->first_warning));
    }
}

/* A trace that cannot be replayed has no figures of a replay. False: interrupted. */
static bool print_json(const struct cli *cli, const struct trace_facts *facts,
                       const struct timeline *tl, const struct moments *m, struct error *err) {
    struct replay_result replay;
    struct text out = {0};
    struct progress progress = {.what = "replaying", .interrupted = cli->interrupted};
    const struct replay_config config = {
        .reproduce = true, .progress = progress_show, .progress_user = &progress};
    bool replayed = replay_run(tl, &config, &replay, err);
    progress_clear(&progress);
    if (!replayed && err->code == ERROR_INTERRUPTED)
        return false;
    write_json(facts, replayed ? &replay : NULL, m, &out);
    if (replayed)
        replay_result_fini(&replay);
    return cli_write(cli->json, &out, err);
}

static int print_facts(const struct cli *cli, const struct trace_facts *facts,
                       const struct timeline *tl) {
    struct error err = {0};
    struct text out = {0};
    struct moments m = {0};
    bool ok = find_moments(cli, tl, &m, &err);
    if (ok && cli_reports(cli)) {
        write_report(cli->files[0], facts, tl, &out);
        for (size_t i = 0; i < m.list.count; i++)
            room_report_text(&m.list.at[i], &out);
        ok = cli_write("-", &out, &err);
    }
    ok = ok && (!cli->json || print_json(cli, facts, tl, &m, &err));
    moments_fini(&m);
    return ok ? EXIT_FITS : cli_fail(&err);
}

int cmd_info(struct cli *cli) {
    struct error err = {0};
    struct timeline *tl;
    struct trace_facts facts;
    struct progress progress = {.what = "reading", .interrupted = cli->interrupted};
    struct trace_options options = {.max_file_bytes = cli->source.max_memory_bytes,
                                    .max_memory_bytes = cli->source.max_memory_bytes,
                                    .progress = progress_show,
                                    .user = &progress,
                                    .want_sha256 = cli->json != NULL};
    if (cli->file_count > 1)
        return info_ranks(cli);
    if (source_is_scenario(cli->files[0])) {
        error_set(&err, ERROR_USAGE,
                  "%s: a scenario, not a trace: vramsim run %s reports on it, with --help-scenario "
                  "its parameters",
                  cli->files[0], cli->files[0]);
        return cli_fail(&err);
    }
    bool ok = trace_import(cli->files[0], &options, &tl, &facts, &err);
    progress_clear(&progress);
    if (!ok)
        return cli_fail(&err);
    int code = print_facts(cli, &facts, tl);
    timeline_destroy(tl);
    trace_facts_fini(&facts);
    return code;
}
