/* host.h: what the parts of sim/scenario share about one running scenario. Private to the folder.
 */
#ifndef HOST_H
#define HOST_H

#include <lauxlib.h>
#include <lua.h>

#include "error.h"
#include "names.h"
#include "op.h"
#include "scenario.h"
#include "text.h"

struct json_t;

enum { HOST_PATH_BYTES = 4096 + 256 }; /* a folder and a name for `use` */

struct host {
    lua_State *lua;
    struct tape *tape;
    const struct scenario_options *options;
    struct scenario_info *info;
    struct names names;
    struct json_t *config;             /* while it is read: config.c */
    ARRAY(struct tensor_list *) lists; /* all that were made; some are kept to the end */
    size_t list_bytes;                 /* of what these hold */
    struct error error;                /* why the run was stopped, when `stopped` */
    /* by a limit, an interrupt, --help-scenario or the device's end: not a Lua error */
    bool stopped;
    uint64_t instructions, max_instructions;
    uint64_t checked_at; /* the instructions when the limits were looked at last */
    size_t lua_bytes, max_lua_bytes, max_memory_bytes;
    bool exhausted;       /* this machine refused memory to Lua, not the limit */
    const char *path;     /* of the scenario */
    char directory[4096]; /* its folder */
    const char *library_dir;
    /* what the frames of a raised error hold until it has been dealt with */
    struct holdings traceback;
    long long step; /* running step, 0: none */
    bool phase_open, step_open;
};

/* The host of a state (lua_getextraspace). */
struct host *host_of(lua_State *L);

/* Leaves the scenario when the tape has stopped: out of memory quietly, a failure as a Lua error
 * with its place. */
void host_check(lua_State *L, struct host *host);

/* limits.c */
enum { LIMITS_HOOK_COUNT = 100000 };
/* Counts `steps` of work that Lua does not count; a Lua error when a limit is passed or the user
 * interrupts. */
void host_charge(lua_State *L, struct host *host, uint64_t steps);
/* A Lua error when the scenario has done or taken too much, or the user interrupts. */
void limits_check(lua_State *L, struct host *host);
bool limits_are_due(const struct host *host); /* cheap; whether to look again */
void limits_count_hook(lua_State *L, struct host *host);
/* A text argument that is copied out of Lua: charged by its length, without NUL bytes. */
const char *host_text(lua_State *L, int index);
const char *host_optional_text(lua_State *L, int index); /* NULL: none or nil */

/* Ends the scenario: this machine's memory is exhausted. Returns only in name. */
int host_fail_memory(lua_State *L, struct host *host);
/* The error of a call that LUA_ERRMEM ended. Always false. */
bool host_memory_error(const struct host *host, struct error *err);

/* tensors.c */
/* What a full userdata is. A scenario can make none but these, so the first word tells. */
enum handle_kind { HANDLE_TENSOR = 0x7e4507, HANDLE_LIST, HANDLE_OTHER };

struct tensor_handle { /* a name for a tensor, which may have been released */
    enum handle_kind kind;
    uint32_t id;
    struct tensor *tensor;
};
#define TENSOR_TYPE "vramsim.tensor"
#define LIST_TYPE "vramsim.list"
#define SHAPE_TYPE "vramsim.shape"
#define MODULE_TYPE "vramsim.module"
void tensors_open(lua_State *L);
/* Pushes a handle for `t`; the caller's reference passes to the float of the running frame. */
void tensors_push_owned(lua_State *L, struct tensor *t);
void tensors_push(lua_State *L, struct tensor *t);
struct tensor *tensors_check(lua_State *L, int index); /* a live tensor, or a Lua error */
struct tensor *tensors_test(lua_State *L, int index);  /* NULL: not a tensor (or released) */

/* lists.c: lists of tensors that hold their members themselves */
struct tensor_list {
    uint32_t refs;       /* names and frames that hold the list */
    size_t *total_bytes; /* the host's count, of all lists */
    ARRAY(struct tensor *) items;
};
struct list_handle {
    enum handle_kind kind;
    struct tensor_list *list;
};
void lists_open(lua_State *L);
struct tensor_list *lists_test(lua_State *L, int index);
/* A new empty list with one reference, NULL when host memory is exhausted. */
struct tensor_list *lists_new(struct host *host);
/* Appends, with a reference of its own. False: host memory is exhausted. */
bool list_append(struct tensor_list *list, struct tensor *t);
void lists_fini(struct host *host);
void lists_push(lua_State *L, struct tensor_list *list);
void list_unref(struct tape *tape, struct tensor_list *list);

/* ops.c: torch.NAME for every row of the op table */
void ops_open(lua_State *L);
/* modules.c: nn.Module's call, attributes, parameters */
void modules_open(lua_State *L);
/* params.c: parameters{...}, note, compare_with_estimate */
void params_open(lua_State *L);
/* phases.c: phase, step, backward, autocast, no_grad ... */
void phases_open(lua_State *L);
void phases_end(lua_State *L, struct host *host); /* ends the open phase */
/* ends what is open at the end of the scenario */
void phases_close(lua_State *L, struct host *host);
/* catch.c: calls that survive what is raised in them */
/* What a call may leave changed when it is left by an error. */
struct host_state {
    size_t depth, modules; /* of names; of the tape's module paths */
    unsigned autocast_depth;
    enum dtype autocast;
    bool grad_enabled, inference_mode;
    const struct saved_hooks *saved_hooks;
};
struct host_state catch_begin(const struct host *host);
/* After an error: everything as it was. What the frames that were left hold passes to
 * host->traceback. */
void catch_restore(struct host *host, const struct host_state *state);
/* Calls the function below `arguments` values from within an op, for `results` values. False: an
 * error, which the tape has taken over (tape->status); nothing is on the stack then. */
bool catch_call(struct host *host, int arguments, int results);
void catch_open(lua_State *L);
/* run_facts.c: the card, its memory and the clock, to read */
void run_facts_open(lua_State *L);
/* hooks.c: saved-tensor hooks and autograd functions written in Lua */
void hooks_open(lua_State *L);
void leaf_hooks_open(lua_State *L);
/* sandbox.c: the globals that a scenario may use; `use` */
void sandbox_open(lua_State *L);
void sandbox_close_table(lua_State *L); /* a library or parameters: without tensors */
/* Likewise; a member that the table lacks raises "NAME has no 'x'". */
void sandbox_name_table(lua_State *L, const char *name);
void sandbox_close_globals(lua_State *L); /* after everything is registered: no new globals */
bool sandbox_load(lua_State *L, const char *path, struct error *err);
/* marks.c: see names.h */
bool marks_insert(const char *source, size_t length, struct text *out);

#endif
