/* phases.c: what surrounds the ops: steps and phases, gradient mode, autocast, the optimizer's
 * state. */
#include <stdio.h>
#include <string.h>

#include "host.h"

static void emit(struct host *host, const char *name, bool begin) {
    if (host->tape->status == TAPE_OK)
        host->tape->sink.phase(host->tape->sink.user, name, begin);
}

static const char *kept_name(struct host *host, const char *name) {
    uint32_t id = 0;
    if (!strtab_add(&host->tape->strings, name, strlen(name), &id))
        tape_fail_memory(host->tape);
    return strtab_text(&host->tape->strings, id);
}

void phases_end(lua_State *L, struct host *host) {
    if (!host->phase_open)
        return;
    lua_getfield(L, LUA_REGISTRYINDEX, "vramsim.phase");
    emit(host, lua_tostring(L, -1), false);
    lua_pop(L, 1);
    host->phase_open = false;
}

static void close_step(struct host *host) {
    char name[32];
    if (!host->step_open)
        return;
    snprintf(name, sizeof name, "step %lld", host->step);
    emit(host, kept_name(host, name), false);
    host->step_open = false;
}

/* phase "forward": until the next phase, step or the end; phase() ends it */
static int phase(lua_State *L) {
    struct host *host = host_of(L);
    phases_end(L, host);
    if (lua_isnoneornil(L, 1))
        return 0;
    luaL_checktype(L, 1, LUA_TSTRING);
    const char *name = kept_name(host, host_text(L, 1));
    lua_pushstring(L, name);
    lua_setfield(L, LUA_REGISTRYINDEX, "vramsim.phase");
    emit(host, name, true);
    host->phase_open = true;
    return 0;
}

/* begin_step(i), from 1 */
static int begin_step(lua_State *L) {
    struct host *host = host_of(L);
    char name[32];
    phases_end(L, host);
    close_step(host);
    host->step = luaL_checkinteger(L, 1);
    snprintf(name, sizeof name, "step %lld", host->step);
    emit(host, kept_name(host, name), true);
    host->step_open = true;
    return 0;
}

void phases_close(lua_State *L, struct host *host) {
    phases_end(L, host);
    close_step(host);
}

/* end_step(): what follows, until the next begin_step, belongs to no step */
static int end_step(lua_State *L) {
    phases_close(L, host_of(L));
    return 0;
}

static int mark(lua_State *L) {
    (void)L;
    return 0;
}

/* torch.set_grad_enabled(on): returns what it was */
static int set_grad_enabled(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    lua_pushboolean(L, tape->grad_enabled);
    tape->grad_enabled = lua_toboolean(L, 1) != 0;
    return 1;
}

/* torch.set_default_dtype(dtype): returns what it was */
static int set_default_dtype(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    enum dtype dtype = dtype_find(luaL_checkstring(L, 1));
    if (!dtype_is_float(dtype))
        return luaL_error(L, "set_default_dtype: '%s' is no floating type", lua_tostring(L, 1));
    lua_pushstring(L, dtype_name(tape->default_dtype));
    tape->default_dtype = dtype;
    return 1;
}

/* torch.set_default_device("cpu" or "cuda"): where factories make tensors; returns what it was */
static int set_default_device(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    const char *name = luaL_checkstring(L, 1);
    luaL_argcheck(L, strcmp(name, "cpu") == 0 || strcmp(name, "cuda") == 0, 1,
                  "'cpu' or 'cuda' expected");
    lua_pushstring(L, tape->default_host ? "cpu" : "cuda");
    tape->default_host = strcmp(name, "cpu") == 0;
    return 1;
}

/* torch.set_cudnn_enabled(on): torch.backends.cudnn.enabled */
static int set_cudnn_enabled(lua_State *L) {
    host_of(L)->tape->cudnn_disabled = lua_toboolean(L, 1) == 0;
    return 0;
}

/* torch.enable_cudnn_sdp(on): torch.backends.cuda.enable_cudnn_sdp */
static int enable_cudnn_sdp(lua_State *L) {
    host_of(L)->tape->cudnn_attention_off = lua_toboolean(L, 1) == 0;
    return 0;
}

/* torch.set_cudnn_workspace("estimate" or "none"): whether convolutions ask for what cuDNN may take */
static int set_cudnn_workspace(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    luaL_argcheck(L, strcmp(name, "estimate") == 0 || strcmp(name, "none") == 0, 1,
                  "'estimate' or 'none' expected");
    host_of(L)->tape->cudnn_workspace_none = strcmp(name, "none") == 0;
    return 0;
}

/* torch.autocast_dtype(): of the region, as torch.autocast takes it */
static int autocast_dtype(lua_State *L) {
    enum dtype dtype = host_of(L)->tape->autocast;
    lua_pushstring(L, dtype == DTYPE_NONE ? "none" : dtype_name(dtype));
    return 1;
}

/* torch.set_per_process_memory_fraction(fraction) of torch.cuda */
static int set_per_process_memory_fraction(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    double fraction = luaL_checknumber(L, 1);
    luaL_argcheck(L, fraction >= 0 && fraction <= 1, 1, "a number from 0 to 1 expected");
    if (tape->sink.limit_memory)
        tape->sink.limit_memory(tape->sink.user, fraction);
    return 0;
}

/* torch.empty_cache(): segments without a block in use go back to the device */
static int empty_cache(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    if (tape->sink.empty_cache && tape->status == TAPE_OK)
        tape->sink.empty_cache(tape->sink.user);
    host_check(L, host_of(L));
    return 0;
}

static int is_grad_enabled(lua_State *L) {
    lua_pushboolean(L, host_of(L)->tape->grad_enabled);
    return 1;
}

/* torch.no_grad(f, ...): f(...) without recording */
static int no_grad(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    bool outer = tape->grad_enabled;
    luaL_argcheck(L, lua_isfunction(L, 1) || lua_istable(L, 1), 1, "a function or module expected");
    tape->grad_enabled = false;
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    tape->grad_enabled = outer;
    return lua_gettop(L);
}

/* torch.inference_mode(f, ...): f(...) in inference mode */
static int inference_mode(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    bool outer = tape->inference_mode;
    tape->inference_mode = true;
    int results = no_grad(L);
    tape->inference_mode = outer;
    return results;
}

/* The type of an autocast region that is argument 1; DTYPE_NONE: "none". */
static enum dtype check_autocast(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    enum dtype dtype = strcmp(name, "none") == 0 ? DTYPE_NONE : dtype_find(name);
    if (dtype == DTYPE_NONE && strcmp(name, "none") != 0)
        luaL_error(L, "autocast: unknown type '%s'", name);
    return dtype;
}

/* torch.autocast(dtype, f, ...): f(...) in an autocast region; dtype "none": plain */
static int autocast(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    enum dtype dtype = check_autocast(L), outer = tape->autocast;
    luaL_argcheck(L, lua_isfunction(L, 2) || lua_istable(L, 2), 2, "a function or module expected");
    tape_autocast_enter(tape, dtype);
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    tape_autocast_leave(tape, outer);
    return lua_gettop(L) - 1;
}

/* torch.autocast_enter(dtype) ... torch.autocast_leave(what enter returned): a region within a
 * function, whose names stay its own */
static int autocast_enter(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    enum dtype dtype = check_autocast(L), outer = tape->autocast;
    tape_autocast_enter(tape, dtype);
    lua_pushstring(L, outer == DTYPE_NONE ? "none" : dtype_name(outer));
    return 1;
}

static int autocast_leave(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    const char *name = luaL_checkstring(L, 1);
    luaL_argcheck(L, tape->autocast_depth > 0, 1, "no autocast region is open");
    tape_autocast_leave(tape, strcmp(name, "none") == 0 ? DTYPE_NONE : dtype_find(name));
    return 0;
}

/* torch.hold(t, category, name): the optimizer's state and the like; held to the end of the run */
static int hold(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor *t = tensors_check(L, 1), *of = tensors_test(L, 4);
    enum category category = category_find(host_text(L, 2));
    const char *name = host_optional_text(L, 3);
    if (category == CATEGORY_UNKNOWN)
        return luaL_error(L, "unknown category '%s'", lua_tostring(L, 2));
    tensor_ref(t);
    tape_set_category(host->tape, t, category, true);
    const char *owner = of ? strtab_text(&host->tape->strings, of->owner) : NULL;
    tape_set_name(host->tape, t, owner, name);
    lua_settop(L, 1);
    return 1;
}

/* torch.keep(x): a tensor or list that an object keeps to the end of the run, in a table that is
 * not walked */
static int keep(lua_State *L) {
    struct tensor_list *list = lists_test(L, 1);
    if (list)
        list->refs++;
    else
        tensor_ref(tensors_check(L, 1));
    lua_settop(L, 1);
    return 1;
}

static int synchronize(lua_State *L) {
    struct host *host = host_of(L);
    if (host->tape->status == TAPE_OK)
        host->tape->sink.synchronize(host->tape->sink.user);
    return 0;
}

/* The `torch` table is on top of the stack. */
void phases_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"set_default_dtype", set_default_dtype},
        {"set_default_device", set_default_device},
        {"set_cudnn_enabled", set_cudnn_enabled},
        {"enable_cudnn_sdp", enable_cudnn_sdp},
        {"set_cudnn_workspace", set_cudnn_workspace},
        {"set_grad_enabled", set_grad_enabled},
        {"is_grad_enabled", is_grad_enabled},
        {"set_per_process_memory_fraction", set_per_process_memory_fraction},
        {"empty_cache", empty_cache},
        {"autocast_dtype", autocast_dtype},
        {"no_grad", no_grad},
        {"inference_mode", inference_mode},
        {"autocast", autocast},
        {"autocast_enter", autocast_enter},
        {"autocast_leave", autocast_leave},
        {"hold", hold},
        {"keep", keep},
        {"synchronize", synchronize},
        {NULL, NULL}};
    static const lua_CFunction watched[] = {mark,           phase,      begin_step, end_step,
                                            synchronize,    hold,       keep,       autocast_enter,
                                            autocast_leave, empty_cache};
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        names_watch(L, watched[i]);
    names_watch_python(L, no_grad);
    names_watch_python(L, inference_mode);
    names_watch_python(L, autocast);
    luaL_setfuncs(L, functions, 0);
    lua_register(L, "phase", phase);
    lua_register(L, "begin_step", begin_step);
    lua_register(L, "end_step", end_step);
    lua_register(L, "__mark", mark);
}
