/* scenario.h: runs a Lua scenario on a tape. A scenario is text that describes a model and a
 * training loop by running them on symbolic tensors; docs/scenario.md is its manual.
 *
 * The Lua state lives for one call; nothing of it is left but what the tape's sink was told. The
 * tape must be fresh. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "array.h"

struct error;
struct tape;
struct text;

enum param_type { PARAM_INTEGER, PARAM_NUMBER, PARAM_BOOLEAN, PARAM_TEXT, PARAM_INTEGERS };

/* A declared parameter with the value of this run. Texts live in the info's arena. */
struct scenario_param {
    const char *name, *help;
    enum param_type type;
    const char *default_text, *value_text;
    bool has_min, has_max;
    double min, max;
    const char *choices; /* "fp32|bf16|fp16", NULL: any */
};

struct scenario_info {
    struct arena arena;
    ARRAY(struct scenario_param) params;
    ARRAY(const char *) notes; /* lines the scenario wants in the report: note "..." */
    const char *estimate;      /* the textbook estimate that is for its defaults, or NULL */
};

struct scenario_options {
    const char *const *sets; /* "name=value", later ones win */
    size_t set_count;
    const char *library_dir;   /* scenarios/lib; NULL: `lib` beside the scenario */
    bool only_parameters;      /* stop once the parameters are declared: --help-scenario */
    struct text *as_lua;       /* (optional) a config is not run but written here as a scenario */
    uint64_t max_instructions; /* 0: the default */
    size_t max_memory_bytes;   /* of this machine, for all that the run makes; 0: the default */
    size_t max_lua_bytes;      /* of that, Lua's own; 0: a quarter */
    /* (optional) a line of print(...), which may hold any bytes */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
    const volatile sig_atomic_t *interrupted; /* polled; NULL: never */
};

/* Whether a file is a config of Transformers or PEFT (config.json, adapter_config.json), told by what
 * is in it: a JSON object with the keys of one. scenario_run runs such a file like a scenario. */
bool scenario_is_config(const char *path);

void scenario_info_fini(struct scenario_info *info);

/* False: *err says what (ERROR_BAD_SCENARIO with file:line, ERROR_IO_READ, ERROR_LIMIT,
 * ERROR_INTERRUPTED). A device out of memory is no failure: true, with tape->status ==
 * TAPE_OUT_OF_MEMORY. */
bool scenario_run(const char *path, const struct scenario_options *options, struct tape *tape,
                  struct scenario_info *info, struct error *err);

#endif
