/* sandbox.c: what a scenario may use of Lua, and `use`, its only way to other files.
 *
 * Left out, with the reason: pcall, xpcall, coroutine (they would catch limits), load*, dofile, require, io, os, package,
 * debug, collectgarbage, getmetatable; string.find, match, gmatch, gsub, dump (patterns run in C, uncounted);
 * math.random (a run is the same every time). `pairs` visits keys in sorted order, since Lua's own order is by address. */
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "host.h"

enum { MAX_SOURCE_BYTES = 4 * 1024 * 1024 };

static const char *const removed_globals[] = {"pcall",      "xpcall", "load",    "loadfile",     "dofile",
                                              "require",    "collectgarbage", "getmetatable", "warn", NULL};
static const char *const removed_string[] = {"find", "match", "gmatch", "gsub", "dump", NULL};
static const char *const removed_math[] = {"random", "randomseed", NULL};

static void remove_all(lua_State *L, const char *const *names) {
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

static int compare_keys(lua_State *L, int a, int b) {
    int ta = lua_type(L, a), tb = lua_type(L, b);
    if (ta != tb)
        return ta == LUA_TNUMBER ? -1 : tb == LUA_TNUMBER ? 1 : ta - tb;
    if (ta == LUA_TNUMBER)
        return lua_compare(L, a, b, LUA_OPLT) ? -1 : 1;
    if (ta == LUA_TSTRING)
        return strcmp(lua_tostring(L, a), lua_tostring(L, b));
    return 0;
}

/* Insertion sort of the keys: tables of a scenario are small. */
static int sorted_pairs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_Integer n = 0;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        lua_Integer at = n++;
        for (; at > 0; at--) {
            lua_rawgeti(L, 2, at);
            if (compare_keys(L, lua_gettop(L), lua_gettop(L) - 1) <= 0) {
                lua_pop(L, 1);
                break;
            }
            lua_rawseti(L, 2, at + 1);
        }
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, at + 1);
    }
    lua_getfield(L, LUA_REGISTRYINDEX, "vramsim.pairs_next");
    lua_newtable(L);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, 2);
    lua_pushinteger(L, 0);
    lua_rawseti(L, -2, 3);
    lua_pushnil(L);
    return 3;
}

/* state = {table, keys, index} */
static int pairs_next(lua_State *L) {
    lua_rawgeti(L, 1, 3);
    lua_Integer i = lua_tointeger(L, -1) + 1;
    lua_rawgeti(L, 1, 1);
    lua_rawgeti(L, 1, 2);
    for (;; i++) {
        if (lua_rawgeti(L, -1, i) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, -4) != LUA_TNIL)
            break;
        lua_pop(L, 2); /* removed on the way */
    }
    lua_pushinteger(L, i);
    lua_rawseti(L, 1, 3);
    return 2;
}

/* print goes to standard error of the program through the report's notes: a scenario has no output of its own. */
static int print_note(lua_State *L) {
    struct host *host = host_of(L);
    struct text line = {0};
    for (int i = 1; i <= lua_gettop(L); i++) {
        text_format(&line, "%s%s", i > 1 ? "\t" : "", luaL_tolstring(L, i, NULL));
        lua_pop(L, 1);
    }
    const char *kept = arena_strdup(&host->info->arena, text_get(&line));
    text_fini(&line);
    if (!kept || !array_push(&host->info->notes, kept))
        tape_fail_memory(host->tape);
    return 0;
}

static bool is_plain_name(const char *name) {
    if (*name == '/' || strstr(name, "..") || strlen(name) > 128)
        return false;
    for (const char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_' ||
              *p == '-' || *p == '/'))
            return false;
    return *name != '\0';
}

/* Loads a chunk with its marks; its name in messages is the path as given. */
bool sandbox_load(lua_State *L, const char *path, struct error *err) {
    char *source;
    size_t length;
    if (!file_read(path, MAX_SOURCE_BYTES, &source, &length, err))
        return false;
    size_t start = 0;
    if (length > 0 && source[0] == '#') /* a script line for the shell */
        while (start < length && source[start] != '\n')
            start++;
    struct text marked = {0};
    bool ok = marks_insert(source + start, length - start, &marked);
    xfree(source);
    if (!ok) {
        text_fini(&marked);
        return error_host_memory(err);
    }
    char chunk[560];
    snprintf(chunk, sizeof chunk, "@%s", path);
    int status = luaL_loadbufferx(L, text_get(&marked), marked.length, chunk, "t");
    text_fini(&marked);
    if (status == LUA_OK)
        return true;
    const char *text = lua_tostring(L, -1);
    bool has_place = strncmp(text, path, strlen(path)) == 0; /* a binary chunk's message has none */
    error_set(err, status == LUA_ERRMEM ? ERROR_LIMIT : ERROR_BAD_SCENARIO, "%s%s%s", has_place ? "" : path,
              has_place ? "" : ": ", text);
    lua_pop(L, 1);
    return false;
}

static bool file_exists(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f)
        fclose(f);
    return f != NULL;
}

/* The table on top of the stack holds no tensors: names need not look into it. */
void sandbox_close_table(lua_State *L) {
    if (!lua_istable(L, -1))
        return;
    if (lua_getmetatable(L, -1)) {
        lua_pop(L, 1);
        return;
    }
    if (luaL_newmetatable(L, "vramsim.closed")) {
        lua_pushliteral(L, "library");
        lua_setfield(L, -2, "__name");
    }
    lua_setmetatable(L, -2);
}

/* use "nn": the value of NAME.lua beside the scenario or in the library, run once. */
static int use(lua_State *L) {
    struct host *host = host_of(L);
    const char *name = luaL_checkstring(L, 1);
    if (!is_plain_name(name))
        return luaL_error(L, "use '%s': a name of letters, digits, '_' and '/' is expected, without '..'", name);
    lua_getfield(L, LUA_REGISTRYINDEX, "vramsim.used");
    if (lua_getfield(L, -1, name) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    char path[700];
    snprintf(path, sizeof path, "%s/%s.lua", host->directory, name);
    if (!file_exists(path) && host->library_dir)
        snprintf(path, sizeof path, "%s/%s.lua", host->library_dir, name);
    if (!file_exists(path))
        snprintf(path, sizeof path, "%s/lib/%s.lua", host->directory, name);
    struct error err;
    if (!sandbox_load(L, path, &err))
        return luaL_error(L, "use '%s': %s", name, err.text);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1))
        return luaL_error(L, "use '%s': the file returned nothing", name);
    sandbox_close_table(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
    return 1;
}

/* An unknown global is a mistake, not nil; a new one too. */
static int unknown_global(lua_State *L) {
    return luaL_error(L, "unknown name '%s'", luaL_tolstring(L, 2, NULL));
}

static int new_global(lua_State *L) {
    return luaL_error(L, "'%s' would be a global: write `local %s`", luaL_tolstring(L, 2, NULL),
                      luaL_tolstring(L, 2, NULL));
}

void sandbox_open(lua_State *L) {
    luaL_requiref(L, "_G", luaopen_base, 1);
    remove_all(L, removed_globals);
    luaL_requiref(L, "string", luaopen_string, 1);
    remove_all(L, removed_string);
    luaL_requiref(L, "table", luaopen_table, 1);
    luaL_requiref(L, "math", luaopen_math, 1);
    remove_all(L, removed_math);
    lua_pop(L, 4);
    lua_pushcfunction(L, pairs_next);
    lua_setfield(L, LUA_REGISTRYINDEX, "vramsim.pairs_next");
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, "vramsim.used");
    lua_register(L, "pairs", sorted_pairs);
    lua_register(L, "print", print_note);
    lua_register(L, "use", use);
}

/* After everything is registered. */
void sandbox_close_globals(lua_State *L) {
    lua_pushglobaltable(L);
    lua_newtable(L);
    lua_pushcfunction(L, unknown_global);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, new_global);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
