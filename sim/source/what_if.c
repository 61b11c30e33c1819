/* what_if.c: see what_if.h. */
#include "what_if.h"

#include <string.h>

#include "error.h"
#include "framework.h"
#include "text.h"
#include "timeline.h"

bool what_if_base(const char *path, const struct source_options *options,
                  struct source_result *base, struct error *err) {
    struct source_options plain = *options;
    plain.alloc_settings = plain.allocator = NULL;
    if (!source_is_scenario(path))
        plain.device = plain.framework = NULL;
    return source_run(path, &plain, base, err);
}

const struct framework *what_if_rules(const struct source_options *options,
                                      const struct timeline *tl) {
    const char *name = options->framework ? options->framework
                       : tl->framework    ? timeline_text(tl, tl->framework)
                                          : NULL;
    const struct framework *found = name ? framework_find(name, NULL) : NULL;
    return found ? found : framework_row(0);
}

/* --- a scenario, run again --- */

static bool run_again(const char *path, const struct source_options *options,
                      const struct source_result *base, const struct what_if *change,
                      struct replay_result *out, struct error *err) {
    struct source_options changed = *options;
    struct source_result result;
    changed.alloc_settings = change->settings;
    changed.allocator = change->allocator;
    if (change->device)
        changed.device = change->device;
    if (!source_run(path, &changed, &result, err))
        return false;
    memset(out, 0, sizeof *out);
    struct replay_device_result device = {.recorded = replay_figures_of(base->timeline, 0),
                                          .model = replay_figures_of(result.timeline, 0),
                                          .allocs = result.timeline->blocks.count,
                                          .retries = result.stats.num_alloc_retries,
                                          .ooms = result.timeline->ooms.count,
                                          .recorded_ooms = base->timeline->ooms.count,
                                          .stopped_at = TIMELINE_NONE};
    if (result.ran_out && result.timeline->ooms.count > 0)
        device.stopped_at = array_last(&result.timeline->ooms)->event;
    out->framework = result.framework;
    if (array_push(&out->devices, device)) {
        out->timeline = result.timeline;
        result.timeline = NULL;
    } else {
        error_host_memory(err);
    }
    source_result_fini(&result);
    return out->timeline != NULL;
}

/* --- a trace, replayed --- */

static bool resolve_device(const char *name, struct device *device, struct replay_config *config,
                           struct error *err) {
    if (!device_parse(name, device, err))
        return false;
    config->total_bytes = device->total_bytes;
    config->capacity_bytes = device->total_bytes - device->context_bytes;
    return true;
}

static bool resolve(const struct source_options *options, const struct timeline *tl,
                    const struct what_if *change, struct alloc_settings *settings,
                    struct device *device, struct replay_config *config, struct error *err) {
    memset(config, 0, sizeof *config);
    config->progress = options->progress;
    config->progress_user = options->user;
    if (options->framework && !(config->framework = framework_find(options->framework, err)))
        return false;
    if (change->allocator &&
        !(config->allocator = source_find_allocator(change->allocator, ALLOC_BACKEND_NATIVE, err)))
        return false;
    if (change->settings) {
        if (!alloc_settings_parse(change->settings, what_if_rules(options, tl), settings, err)) {
            err->code = ERROR_USAGE;
            return false;
        }
        config->settings = settings;
        config->settings_text = change->settings;
    }
    config->memory_fraction = change->memory_fraction;
    return !change->device || resolve_device(change->device, device, config, err);
}

/* The new timeline is on the card asked for. */
static bool name_device(const struct replay_result *result, const struct device *device) {
    struct timeline *tl = result->timeline;
    for (size_t i = 0; i < result->devices.count; i++)
        while (tl->devices.count <= result->devices.at[i].device)
            if (!array_push(&tl->devices, (struct timeline_device){0}))
                return false;
    for (size_t i = 0; i < tl->devices.count; i++) {
        struct timeline_device *d = &tl->devices.at[i];
        d->name = timeline_string(tl, device->name);
        d->total_bytes = device->total_bytes;
        d->context_bytes = device->context_bytes;
    }
    tl->has |= TIMELINE_HAS_DEVICE;
    return true;
}

static bool replay_again(const struct source_options *options, const struct source_result *base,
                         const struct what_if *change, struct replay_result *out,
                         struct error *err) {
    struct alloc_settings settings;
    struct device device;
    struct replay_config config;
    if (!resolve(options, base->timeline, change, &settings, &device, &config, err) ||
        !replay_run(base->timeline, &config, out, err))
        return false;
    if (!change->device || name_device(out, &device))
        return true;
    replay_result_fini(out);
    return error_host_memory(err);
}

/* "run.pickle with expandable_segments:True on H100", so that the two can be told apart. */
static void name_timeline(const struct source_result *base, const struct what_if *change,
                          struct timeline *tl) {
    struct text title = {0};
    const char *settings = change->settings && !*change->settings ? "default settings"
                           : change->settings                     ? change->settings
                                                                  : change->allocator;
    text_add(&title, timeline_text(base->timeline, base->timeline->title));
    if (settings)
        text_format(&title, " with %s", settings);
    if (change->device)
        text_format(&title, " on %s", change->device);
    tl->title = timeline_string(tl, text_get(&title));
    text_fini(&title);
}

bool what_if_run(const char *path, const struct source_options *options,
                 const struct source_result *base, const struct what_if *change,
                 struct replay_result *out, struct error *err) {
    bool ok = base->is_scenario ? run_again(path, options, base, change, out, err)
                                : replay_again(options, base, change, out, err);
    if (ok)
        name_timeline(base, change, out->timeline);
    return ok;
}

bool what_if_reproduce(const struct source_options *options, const struct source_result *base,
                       const struct what_if *was, struct replay_result *out, struct error *err) {
    struct device device;
    struct replay_config config = {.reproduce = true,
                                   .memory_fraction = was->memory_fraction,
                                   .progress = options->progress,
                                   .progress_user = options->user};
    if (base->memory_fraction < 1 && config.memory_fraction == 0) /* 0: of a trace */
        config.memory_fraction = base->memory_fraction;
    if (options->framework && !(config.framework = framework_find(options->framework, err)))
        return false;
    if (was->device && !resolve_device(was->device, &device, &config, err))
        return false;
    return replay_run(base->timeline, &config, out, err);
}
