/* scenario.c: one Lua state from file to end. See scenario.h. */
#include "scenario.h"

#include <assert.h>
#include <string.h>

#include "config.h"
#include "host.h"

static const uint64_t default_max_instructions = UINT64_C(500000000);
static const size_t default_max_memory_bytes = (size_t)2 << 30;
enum { LUA_SHARE = 4 }; /* one part in so many of the memory may be Lua's */

void scenario_info_fini(struct scenario_info *info) {
    array_fini(&info->params);
    array_fini(&info->notes);
    arena_fini(&info->arena);
    info->estimate = NULL;
}

static void *counted_alloc(void *user, void *old, size_t old_bytes, size_t bytes) {
    struct host *host = user;
    size_t before = old ? old_bytes : 0;
    if (bytes == 0) {
        host->lua_bytes -= before;
        xfree(old);
        return NULL;
    }
    host->exhausted = false;
    if (bytes > before && host->lua_bytes + (bytes - before) > host->max_lua_bytes)
        return NULL;
    void *p = xrealloc(old, bytes);
    host->exhausted = p == NULL;
    if (p)
        host->lua_bytes += bytes - before;
    return p;
}

static void hook(lua_State *L, lua_Debug *ar) {
    if (ar->event == LUA_HOOKCOUNT)
        limits_count_hook(L, host_of(L));
    else
        names_event(L, ar);
}

/* Lua cuts long paths in its messages at the start ("...ong/path.lua:3: "): the text on top of the
 * stack with the path as it was given. */
static void restore_path(lua_State *L) {
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "S", &ar);
        const char *text = lua_tostring(L, -1);
        size_t cut = strlen(ar.short_src);
        if (*ar.source != '@' || strncmp(text, ar.short_src, cut) != 0 || text[cut] != ':')
            continue;
        lua_pushfstring(L, "%s%s", ar.source + 1, text + cut);
        return;
    }
}

/* Runs below the failed function: adds where the scenario was when the error came from a library
 * file. */
static int add_place(lua_State *L) {
    struct host *host = host_of(L);
    lua_Debug ar;
    if (lua_isstring(L, 1))
        lua_pushvalue(L, 1);
    else if (luaL_callmeta(L, 1, "__tostring") && lua_isstring(L, -1))
        lua_settop(L, lua_gettop(L)); /* its own words */
    else
        lua_pushfstring(L, "the scenario raised an error that is a %s", luaL_typename(L, 1));
    restore_path(L);
    const char *text = lua_tostring(L, -1);
    if (host->stopped)
        return 1;
    bool in_library = false;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline < 0)
            continue;
        bool library = host->library_dir &&
                       strncmp(ar.source + 1, host->library_dir, strlen(host->library_dir)) == 0;
        if (library) {
            in_library = true;
            continue;
        }
        if (in_library)
            lua_pushfstring(L, "%s (called from %s:%d)", text, ar.source + 1, ar.currentline);
        break;
    }
    return 1;
}

static void open_all(lua_State *L) {
    sandbox_open(L);
    lua_newtable(L);
    ops_open(L);
    lists_open(L);
    phases_open(L);
    run_facts_open(L);
    catch_open(L);
    hooks_open(L);
    leaf_hooks_open(L);
    tensors_open(L);
    sandbox_name_table(L, "torch");
    lua_setglobal(L, "torch");
    modules_open(L);
    params_open(L);
    sandbox_close_globals(L);
}

static int protected_run(lua_State *L) {
    struct host *host = host_of(L);
    open_all(L);
    struct error err = {0};
    bool is_config = scenario_is_config(host->path);
    if (!is_config && !sandbox_load(L, host->path, &err)) {
        host->error = err;
        host->stopped = true;
        return luaL_error(L, "%s", err.text);
    }
    lua_sethook(L, hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, LIMITS_HOOK_COUNT);
    if (is_config)
        config_run(L, host);
    else
        lua_call(L, 0, 0);
    lua_sethook(L, NULL, 0, 0);
    phases_close(L, host);
    host_check(L, host);
    return 0;
}

static bool find_directory(struct host *host, const char *path, struct error *err) {
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof host->directory || strlen(path) >= HOST_PATH_BYTES)
        return error_set(err, ERROR_LIMIT, "%.200s...: a path of more than %zu bytes", path,
                         sizeof host->directory);
    memcpy(host->directory, path, n);
    host->directory[n] = '\0';
    if (!slash)
        memcpy(host->directory, ".", 2);
    return true;
}

/* A run may end in three ways that are no Lua error: the device is full, a limit was hit, only
 * parameters were wanted. */
static bool finish(lua_State *L, struct host *host, int status, struct error *err) {
    struct tape *tape = host->tape;
    if (status == LUA_OK && host->options->set_count > 0 && host->info->params.count == 0)
        return error_set(err, ERROR_BAD_SCENARIO,
                         "%s: takes no parameters (it never calls parameters { ... }), so --set %s "
                         "has no effect",
                         host->path, host->options->sets[0]);
    if (status == LUA_OK || (host->stopped && tape->status == TAPE_OUT_OF_MEMORY))
        return true;
    if (host->stopped && host->options->only_parameters && host->error.code == ERROR_NONE)
        return true;
    if (host->error.code != ERROR_NONE) {
        *err = host->error;
        return false;
    }
    if (status == LUA_ERRMEM)
        return host_memory_error(host, err);
    enum error_code code = tape->status == TAPE_FAILED ? tape->error.code : ERROR_BAD_SCENARIO;
    return error_set(err, code, "%s", lua_tostring(L, -1) ? lua_tostring(L, -1) : "unknown error");
}

bool scenario_run(const char *path, const struct scenario_options *options, struct tape *tape,
                  struct scenario_info *info, struct error *err) {
    struct host *host = xcalloc(1, sizeof *host);
    if (!host)
        return error_host_memory(err);
    host->tape = tape;
    host->options = options;
    host->info = info;
    host->library_dir = options->library_dir;
    host->path = path;
    host->max_instructions =
        options->max_instructions ? options->max_instructions : default_max_instructions;
    host->max_memory_bytes =
        options->max_memory_bytes ? options->max_memory_bytes : default_max_memory_bytes;
    host->max_lua_bytes =
        options->max_lua_bytes ? options->max_lua_bytes : host->max_memory_bytes / LUA_SHARE;
    bool started = find_directory(host, path, err) &&
                   ((host->lua = lua_newstate(counted_alloc, host)) || error_host_memory(err));
    if (!started) {
        xfree(host);
        return false;
    }
    lua_State *L = host->lua;
    assert(L);
    memcpy(lua_getextraspace(L), &host, sizeof host);
    lua_pushcfunction(L, add_place);
    lua_pushcfunction(L, protected_run);
    int status = lua_pcall(L, 0, 0, 1); /* nothing is made outside of it: it may lack memory */
    bool ok = finish(L, host, status, err);
    lua_sethook(L, NULL, 0, 0);
    names_fini(&host->names, tape);
    names_release(tape, &host->traceback);
    array_fini(&host->traceback);
    lists_fini(host);
    config_fini(host);
    lua_close(L);
    xfree(host);
    return ok;
}
