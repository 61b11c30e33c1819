/* catch.c: calls that survive what is raised in them. Two things are raised: a device out of memory
 * while somebody catches it, and torch.stop(). Until it is caught the tape unwinds (tape.h): ops do
 * nothing, what is let go is released. */
#include "host.h"

struct host_state catch_begin(const struct host *host) {
    const struct tape *tape = host->tape;
    return (struct host_state){.depth = host->names.depth,
                               .modules = tape->modules.count,
                               .autocast_depth = tape->autocast_depth,
                               .autocast = tape->autocast,
                               .grad_enabled = tape->grad_enabled,
                               .inference_mode = tape->inference_mode,
                               .saved_hooks = tape->saved_hooks};
}

void catch_restore(struct host *host, const struct host_state *state) {
    struct tape *tape = host->tape;
    names_take(&host->names, tape, state->depth, &host->traceback);
    while (tape->autocast_depth > state->autocast_depth)
        tape_autocast_leave(tape, state->autocast);
    tape->autocast = state->autocast;
    tape->modules.count = state->modules;
    tape->grad_enabled = state->grad_enabled;
    tape->inference_mode = state->inference_mode;
    tape->saved_hooks = state->saved_hooks;
}

static bool is_raised(const struct host *host, enum tape_raised what) {
    return host->tape->status == TAPE_UNWINDING && host->tape->raised == what;
}

bool catch_call(struct host *host, int arguments, int results) {
    lua_State *L = host->lua;
    struct tape *tape = host->tape;
    struct host_state state = catch_begin(host);
    const char *op = tape->op, *owner = tape->backward_owner;
    tape->backward_owner = NULL;
    int status = lua_pcall(L, arguments, results, 0);
    tape->op = op;
    tape->backward_owner = owner;
    if (status == LUA_OK)
        return true;
    struct error err = {0};
    if (tape->status == TAPE_OK && status == LUA_ERRMEM && !host_memory_error(host, &err))
        tape_fail(tape, err.code, "%s", err.text);
    if (tape->status == TAPE_OK)
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s%s",
                  lua_type(L, -1) == LUA_TSTRING ? "" : "the scenario raised an error that is a ",
                  lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1));
    lua_settop(L, lua_gettop(L) - 1);
    catch_restore(host, &state);
    if (is_raised(host, RAISED_STOP))
        names_release(tape, &host->traceback);
    return false;
}

/* torch.stop(): leaves the innermost torch.catch_stop, like an exception of its own */
static int stop(lua_State *L) {
    struct host *host = host_of(L);
    tape_raise(host->tape, RAISED_STOP);
    host_check(L, host);
    return 0;
}

/* torch.catch_stop(f, ...): calls f(...); true when it was left by torch.stop() */
static int catch_stop(lua_State *L) {
    struct host *host = host_of(L);
    luaL_checkany(L, 1);
    struct host_state state = catch_begin(host);
    if (lua_pcall(L, lua_gettop(L) - 1, 0, 0) == LUA_OK) {
        lua_pushboolean(L, false);
        return 1;
    }
    if (!is_raised(host, RAISED_STOP))
        return lua_error(L);
    catch_restore(host, &state);
    host->tape->status = TAPE_OK;
    names_release(host->tape, &host->traceback);
    lua_pushboolean(L, true);
    return 1;
}

/* torch.catch_oom(f, handler): calls f(); when the device is out of memory calls handler(), as
 * Python's try: f() except torch.OutOfMemoryError: handler() The names of the functions that were
 * left hold what they held until the handler has returned. True: f ran through. */
static int catch_oom(lua_State *L) {
    struct host *host = host_of(L);
    struct tape *tape = host->tape;
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 2);
    struct host_state state = catch_begin(host);
    lua_pushvalue(L, 1);
    tape->catchers++;
    int status = lua_pcall(L, 0, 0, 0);
    tape->catchers--;
    if (status == LUA_OK) {
        lua_pushboolean(L, true);
        return 1;
    }
    if (!is_raised(host, RAISED_OUT_OF_MEMORY))
        return lua_error(L);
    tape->status = TAPE_OK;
    catch_restore(host, &state);
    phases_end(L, host);
    if (!lua_isnil(L, 2)) {
        lua_pushvalue(L, 2);
        lua_call(L, 0, 0);
    }
    names_release(tape, &host->traceback);
    lua_pushboolean(L, false);
    return 1;
}

/* The `torch` table is on top of the stack. */
void catch_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"stop", stop}, {"catch_stop", catch_stop}, {"catch_oom", catch_oom}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    names_watch_python(L, catch_stop);
    names_watch_python(L, catch_oom);
}
