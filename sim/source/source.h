/* source.h: any path to a timeline: a scenario is simulated, a trace is imported. Shared by the
 * program and the viewer, so both see the same run (a simulation is deterministic and takes
 * milliseconds).
 *
 * Ownership: results are the caller's; source_result_fini frees one whole. */
#ifndef SOURCE_H
#define SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "device.h"
#include "facts.h"
#include "scenario.h"

struct error;
struct framework;
struct text;
struct timeline;

/* Zero bytes are the defaults. Strings are borrowed. */
struct source_options {
    const char *framework;      /* NULL: the newest */
    const char *device;         /* NULL: A100-80GB */
    const char *alloc_settings; /* PYTORCH_ALLOC_CONF; NULL: none */
    const char *cudnn;          /* its version, or "none"; NULL: the framework's */
    const char *allocator;      /* a row of alloc.h's table; NULL: the native one */
    const char *const *sets;    /* "name=value" */
    size_t set_count;
    const char *library_dir;                 /* scenarios/lib; NULL: beside the scenario */
    bool unlimited_device;                   /* its memory never ends: what would a run take? */
    uint64_t max_requests, max_instructions; /* limits against endless scenarios; 0: the defaults */
    /* of this machine, for what a scenario makes or a trace unpacks to; 0: the defaults */
    size_t max_memory_bytes;
    const volatile sig_atomic_t *interrupted;
    /* (optional) a line that a scenario prints */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
    /* (optional) while a trace is read; false cancels */
    bool (*progress)(void *user, uint64_t bytes_done, uint64_t bytes_total);
    void *user;
    struct text *tape_dump, *schedule_dump; /* (optional) see engine.h */
};

struct source_result {
    struct timeline *timeline;
    bool is_scenario;
    /* scenarios only */
    const struct framework *framework;
    uint32_t cudnn; /* version of cuDNN: framework.h */
    struct device device;
    struct alloc_settings settings;
    struct scenario_info info;
    struct alloc_stats stats; /* of the allocator at the end */
    bool cudnn_attention;     /* attention went through cuDNN */
    double memory_fraction;   /* as the program has set it; 1: not */
    bool ran_out;             /* an out-of-memory that nothing caught ended the run */
    /* traces only */
    struct trace_facts facts;
};

/* Scenarios are Lua files, whose name ends in .lua, and configs of Transformers (scenario_is_config). */
bool source_is_scenario(const char *path);
bool source_run(const char *path, const struct source_options *options, struct source_result *out,
                struct error *err);
void source_result_fini(struct source_result *result);
/* Only the declared parameters of a scenario. `info` is the caller's (scenario_info_fini). */
bool source_parameters(const char *path, const struct source_options *options,
                       struct scenario_info *info, struct error *err);
/* The values of --max-requests and the like, for both programs. False: a usage error. */
bool source_parse_count(const char *option, const char *text, uint64_t *out, struct error *err);
bool source_parse_memory(const char *text, struct source_options *options, struct error *err);
/* The scenario that a config of Transformers stands for, as Lua text. */
bool source_write_scenario(const char *path, const struct source_options *options, struct text *out,
                           struct error *err);
/* False: none of the files is a scenario, and an option was given that only a simulation heeds. */
bool source_check_options(const char *const *paths, size_t count,
                          const struct source_options *options, struct error *err);
/* `name` NULL: the backend's. NULL: the error lists the known ones. */
const struct alloc_ops *source_find_allocator(const char *name, enum alloc_backend backend,
                                              struct error *err);
/* Only the timeline. */
bool source_open(const char *path, const struct source_options *options, struct timeline **tl,
                 struct error *err);

/* Where scenarios/lib lies for a program at `executable`: beside a build folder or an installation.
 * False: nowhere, and scenarios outside a folder with a `lib` cannot load it. */
bool source_find_library(const char *executable, char *out, size_t size);

#endif
