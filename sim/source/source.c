/* source.c: see source.h. */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"
#include "error.h"
#include "framework.h"
#include "importer.h"
#include "live_sum.h"
#include "packing.h"
#include "tape.h"
#include "timeline.h"
#include "units.h"

bool source_is_scenario(const char *path) {
    size_t n = strlen(path);
    struct stat st;
    if (n >= 4 && strcmp(path + n - 4, ".lua") == 0)
        return true;
    bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode); /* a pipe is read once */
    return is_file && scenario_is_config(path);
}

void source_result_fini(struct source_result *result) {
    timeline_destroy(result->timeline);
    scenario_info_fini(&result->info);
    trace_facts_fini(&result->facts);
    memset(result, 0, sizeof *result);
}

/* Shares of it (memory fractions) are without end too. */
#define UNLIMITED_BYTES (UINT64_C(1) << 50)

/* What the options name, looked up. */
static bool resolve(const struct source_options *options, struct source_result *out,
                    struct error *err) {
    out->framework =
        options->framework ? framework_find(options->framework, err) : framework_row(0);
    if (!out->framework)
        return false;
    out->cudnn = out->framework->cudnn;
    if (options->cudnn && !framework_parse_cudnn(options->cudnn, &out->cudnn, err))
        return false;
    if (!device_parse(options->device ? options->device : "A100-80GB", &out->device, err))
        return false;
    const char *settings = options->alloc_settings ? options->alloc_settings : "";
    if (options->unlimited_device)
        out->device.total_bytes = UNLIMITED_BYTES;
    if (alloc_settings_parse(settings, out->framework, &out->settings, err))
        return true;
    if (err->code == ERROR_BAD_INPUT)
        err->code = ERROR_USAGE;
    return false;
}

static struct scenario_options scenario_options_of(const struct source_options *options) {
    return (struct scenario_options){.sets = options->sets,
                                     .set_count = options->set_count,
                                     .library_dir = options->library_dir,
                                     .max_instructions = options->max_instructions,
                                     .max_memory_bytes = options->max_memory_bytes,
                                     .print = options->print,
                                     .print_user = options->print_user,
                                     .interrupted = options->interrupted};
}

static bool simulate(const char *path, const struct source_options *options, struct engine *engine,
                     struct source_result *out, struct error *err) {
    struct tape_sink sink = engine_sink(engine);
    struct tape tape;
    if (!tape_init(&tape, &sink, out->framework, &out->device)) {
        tape_fini(&tape);
        return error_host_memory(err);
    }
    tape.cudnn = out->cudnn;
    struct scenario_options scenario = scenario_options_of(options);
    bool ok = scenario_run(path, &scenario, &tape, &out->info, err);
    out->ran_out = tape.status == TAPE_OUT_OF_MEMORY;
    out->cudnn_attention = tape.cudnn_attention_ran;
    if (ok && tape.caveat && !array_push(&out->info.notes, tape.caveat))
        ok = error_host_memory(err);
    tape_fini(&tape);
    const struct error *swallowed = engine_error(engine);
    if (swallowed->code != ERROR_NONE) {
        *err = *swallowed;
        return false;
    }
    return ok;
}

const struct alloc_ops *source_find_allocator(const char *name, enum alloc_backend backend,
                                              struct error *err) {
    const struct alloc_ops *row = name ? alloc_find(name) : alloc_of_backend(backend);
    if (row)
        return row;
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; alloc_row(i) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", alloc_row(i)->name);
    error_set(err, ERROR_USAGE, "unknown allocator '%s'; known:%s", name, names);
    return NULL;
}

static bool run_engine(const char *path, const struct source_options *options,
                       const struct engine_config *config, struct source_result *out,
                       struct error *err) {
    struct engine *engine = engine_create(config, err);
    if (!engine)
        return false;
    bool ok = simulate(path, options, engine, out, err);
    out->stats = *engine_stats(engine);
    out->memory_fraction = engine_memory_fraction(engine);
    if (ok)
        out->timeline = engine_finish(engine);
    engine_destroy(engine);
    return ok;
}

static bool is_not_interrupted(void *user) {
    const struct source_options *options = user;
    return !options->interrupted || !*options->interrupted;
}

/* Where the blocks of a run go best is known only after it: it is made once before, without a limit,
 * for its lifetimes. */
static bool pack(const char *path, const struct source_options *options,
                 const struct source_result *resolved, const struct engine_config *config,
                 struct packing *packing, struct error *err) {
    struct lifetimes lifetimes = {0};
    struct device device = resolved->device;
    struct engine_config first = *config;
    struct source_result result = {
        .framework = resolved->framework, .cudnn = resolved->cudnn, .device = device};
    device.total_bytes = UNLIMITED_BYTES;
    first.device = &device;
    first.allocator = &live_sum_ops;
    first.lifetimes = &lifetimes;
    struct source_options asked = *options;
    const struct packing_watch watch = {.goes_on = is_not_interrupted, .user = &asked};
    bool ok = run_engine(path, options, &first, &result, err) &&
              packing_make(&lifetimes, &watch, packing, err);
    source_result_fini(&result);
    lifetimes_fini(&lifetimes);
    return ok;
}

static bool run_scenario(const char *path, const struct source_options *options,
                         struct source_result *out, struct error *err) {
    if (!resolve(options, out, err))
        return false;
    const struct alloc_ops *allocator =
        source_find_allocator(options->allocator, out->settings.backend, err);
    if (!allocator)
        return false;
    struct engine_config config = {.framework = out->framework,
                                   .allocator = allocator,
                                   .device = &out->device,
                                   .settings = out->settings,
                                   .max_requests = options->max_requests};
    struct packing packing = {0};
    bool ok = !allocator->packs || pack(path, options, out, &config, &packing, err);
    config.packing = allocator->packs ? &packing : NULL;
    config.tape_dump = options->tape_dump;
    config.schedule_dump = options->schedule_dump;
    ok = ok && run_engine(path, options, &config, out, err);
    packing_fini(&packing);
    if (!ok)
        return false;
    if (out->timeline->blocks.count == 0 && out->timeline->ooms.count == 0)
        return error_set(err, ERROR_BAD_SCENARIO, "%s: the scenario asks for no device memory",
                         path);
    out->timeline->title = timeline_string(out->timeline, path);
    if (options->alloc_settings)
        out->timeline->alloc_settings = timeline_string(out->timeline, options->alloc_settings);
    return true;
}

static bool import_trace(const char *path, const struct source_options *options,
                         struct source_result *out, struct error *err) {
    struct trace_options trace = {.max_file_bytes = options->max_memory_bytes,
                                  .max_memory_bytes = options->max_memory_bytes,
                                  .progress = options->progress,
                                  .user = options->user};
    return trace_import(path, &trace, &out->timeline, &out->facts, err);
}

bool source_parse_count(const char *option, const char *text, uint64_t *out, struct error *err) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || v == 0 || errno == ERANGE)
        return error_set(err, ERROR_USAGE, "%s '%s': expected a count", option, text);
    *out = v;
    return true;
}

bool source_parse_memory(const char *text, struct source_options *options, struct error *err) {
    uint64_t bytes;
    if (!units_parse_bytes(text, &bytes) || bytes < MIB || bytes > SIZE_MAX / 2)
        return error_set(err, ERROR_USAGE,
                         "--max-memory '%s': expected a size such as 4GiB, at least 1MiB", text);
    options->max_memory_bytes = (size_t)bytes;
    return true;
}

bool source_check_options(const char *const *paths, size_t count,
                          const struct source_options *options, struct error *err) {
    for (size_t i = 0; i < count; i++)
        if (source_is_scenario(paths[i]))
            return true;
    const char *given = options->alloc_settings ? "--alloc"
                        : options->allocator    ? "--allocator"
                        : options->device       ? "--device"
                        : options->framework    ? "--framework"
                                                : NULL;
    if (given)
        return error_set(err, ERROR_USAGE,
                         "%s: %s does not apply to a trace, which is shown as recorded; vramsim "
                         "replay %s %s ... asks that",
                         paths[0], given, paths[0], given);
    return options->set_count == 0 ||
           error_set(err, ERROR_USAGE, "%s: a trace has no parameters to --set", paths[0]);
}

/* So that a front end needs one table of exit codes: what fails in a scenario is a bad scenario,
 * what a trace passes is a limit. */
static void blame(bool is_scenario, struct error *err) {
    if (is_scenario && (err->code == ERROR_IO_READ || err->code == ERROR_LIMIT))
        err->code = ERROR_BAD_SCENARIO;
}

bool source_run(const char *path, const struct source_options *options, struct source_result *out,
                struct error *err) {
    bool is_scenario = source_is_scenario(path);
    memset(out, 0, sizeof *out);
    out->is_scenario = is_scenario;
    bool ok =
        is_scenario ? run_scenario(path, options, out, err) : import_trace(path, options, out, err);
    if (!ok) {
        source_result_fini(out);
        blame(is_scenario, err);
    }
    return ok;
}

/* A scenario that is only asked for its parameters has made no tensor yet; a sink that refuses one
 * ends it. */
static bool refuse_request(void *user, const struct tape_request *request, uint32_t *block) {
    (void)user;
    (void)request;
    (void)block;
    return false;
}

static void ignore_release(void *user, uint32_t block) {
    (void)user;
    (void)block;
}

static void ignore_kernel(void *user, const struct tape_kernel *kernel) {
    (void)user;
    (void)kernel;
}

static void ignore_phase(void *user, const char *name, bool begin) {
    (void)user;
    (void)name;
    (void)begin;
}

static void ignore_synchronize(void *user) {
    (void)user;
}

/* The scenario's own code alone: it is left before it makes a tensor. */
static bool run_without_device(const char *path, const struct source_options *options,
                               const struct scenario_options *scenario, struct scenario_info *info,
                               struct error *err) {
    struct source_result resolved = {0};
    if (!resolve(options, &resolved, err))
        return false;
    struct tape_sink sink = {.request = refuse_request,
                             .release = ignore_release,
                             .kernel = ignore_kernel,
                             .phase = ignore_phase,
                             .synchronize = ignore_synchronize};
    struct tape tape;
    bool ok = tape_init(&tape, &sink, resolved.framework, &resolved.device);
    tape.cudnn = resolved.cudnn;
    memset(info, 0, sizeof *info);
    ok = ok ? scenario_run(path, scenario, &tape, info, err) : error_host_memory(err);
    tape_fini(&tape);
    if (!ok) {
        scenario_info_fini(info);
        blame(true, err);
    }
    return ok;
}

bool source_parameters(const char *path, const struct source_options *options,
                       struct scenario_info *info, struct error *err) {
    struct scenario_options scenario = scenario_options_of(options);
    scenario.only_parameters = true;
    scenario.print = NULL;
    return run_without_device(path, options, &scenario, info, err);
}

bool source_write_scenario(const char *path, const struct source_options *options, struct text *out,
                           struct error *err) {
    if (access(path, R_OK) != 0)
        return error_set(err, ERROR_USAGE, "%s: %s", path, strerror(errno));
    struct stat st; /* a pipe is never looked into: it would wait for whoever writes to it */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !scenario_is_config(path))
        return error_set(err, ERROR_USAGE,
                         "%s: expected a config of Transformers: JSON with a model_type", path);
    struct scenario_options scenario = scenario_options_of(options);
    scenario.as_lua = out;
    struct scenario_info info;
    if (!run_without_device(path, options, &scenario, &info, err))
        return false;
    scenario_info_fini(&info);
    return true;
}

bool source_open(const char *path, const struct source_options *options, struct timeline **tl,
                 struct error *err) {
    struct source_result result;
    if (!source_run(path, options, &result, err))
        return false;
    *tl = result.timeline;
    result.timeline = NULL;
    source_result_fini(&result);
    return true;
}
