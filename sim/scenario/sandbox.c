/* sandbox.c: what a scenario may use of Lua, and `use`, its only way to other files.
 *
 * Left out, with the reason: pcall, xpcall, coroutine (they would catch limits), load*, dofile,
 * require, io, os, package, debug, collectgarbage, getmetatable; string.find, match, gmatch, gsub,
 * dump (patterns run in C, uncounted); math.random (a run is the same every time), next, addresses
 * in texts, __gc and __mode. `pairs` visits keys in sorted order, since Lua's own order is by
 * address. */
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "host.h"
#include "nearest.h"

enum { MAX_SOURCE_BYTES = 4 * 1024 * 1024 };

static const char *const removed_globals[] = {
    "pcall",          "xpcall",       "load", "loadfile", "dofile", "require",
    "collectgarbage", "getmetatable", "next", "warn",     NULL};
static const char *const removed_string[] = {"find", "match", "gmatch", "gsub", "dump", NULL};
static const char *const removed_math[] = {"random", "randomseed", NULL};

static void remove_all(lua_State *L, const char *const *names) {
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

/* Numbers before texts before booleans; nothing else has an order that is the same in every run. */
static int compare_keys(lua_State *L, int a, int b) {
    int ta = lua_type(L, a), tb = lua_type(L, b);
    if (ta != tb)
        return ta == LUA_TNUMBER ? -1 : tb == LUA_TNUMBER ? 1 : tb - ta;
    if (ta == LUA_TBOOLEAN)
        return lua_toboolean(L, a) - lua_toboolean(L, b);
    return lua_compare(L, a, b, LUA_OPLT) ? -1 : lua_compare(L, b, a, LUA_OPLT);
}

/* Merges [begin, middle) and [middle, end) of the table at `from` into the one at `to`. */
static void merge_keys(lua_State *L, int from, int to, lua_Integer begin, lua_Integer middle,
                       lua_Integer end) {
    lua_Integer left = begin, right = middle;
    for (lua_Integer at = begin; at < end; at++) {
        lua_rawgeti(L, from, left);
        lua_rawgeti(L, from, right);
        bool take_left = right >= end || (left < middle && compare_keys(L, -2, -1) <= 0);
        lua_pop(L, take_left ? 1 : 0);
        lua_rawseti(L, to, at);
        lua_settop(L, 3);
        left += take_left;
        right += !take_left;
    }
}

/* Sorts the keys 1..n of the table at 2 with the help of the one at 3; returns the index of the one
 * that is sorted. */
static int sort_keys(lua_State *L, lua_Integer n) {
    int from = 2, to = 3;
    for (lua_Integer width = 1; width < n; width *= 2) {
        for (lua_Integer begin = 1; begin <= n; begin += 2 * width) {
            lua_Integer middle = begin + width, end = begin + 2 * width;
            merge_keys(L, from, to, begin, middle < n + 1 ? middle : n + 1,
                       end < n + 1 ? end : n + 1);
        }
        int swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static int sorted_pairs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_newtable(L);
    lua_Integer n = 0;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TNUMBER && lua_type(L, -1) != LUA_TSTRING &&
            lua_type(L, -1) != LUA_TBOOLEAN)
            return luaL_error(
                L, "pairs: a key is a %s; only numbers, texts and booleans have an order",
                luaL_typename(L, -1));
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, ++n);
    }
    host_of(L)->instructions += (uint64_t)n;
    lua_pushvalue(L, sort_keys(L, n));
    lua_replace(L, 2);
    lua_settop(L, 2);
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

/* Pushes the text of a value. Addresses differ from run to run: of what has no text of its own only
 * the type is told. */
static void push_text(lua_State *L, int index) {
    int type = lua_type(L, index);
    bool has_text =
        type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING;
    if (!has_text && luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
        lua_pop(L, 1);
        has_text = true;
    }
    if (has_text)
        luaL_tolstring(L, index, NULL);
    else
        lua_pushstring(L, luaL_typename(L, index));
}

static int to_text(lua_State *L) {
    luaL_checkany(L, 1);
    push_text(L, 1);
    return 1;
}

/* string.format without addresses; upvalue 1: Lua's */
static int format_text(lua_State *L) {
    const char *format = luaL_checkstring(L, 1);
    for (const char *p = strchr(format, '%'); p; p = strchr(p + 1, '%')) {
        p += 1 + strspn(p + 1, "-+ #0123456789.");
        if (*p == 'p')
            return luaL_error(L, "format: addresses (%%p) differ from run to run");
        if (*p == '\0')
            break;
    }
    for (int i = 2; i <= lua_gettop(L); i++) {
        if (lua_type(L, i) < LUA_TTABLE && lua_type(L, i) != LUA_TLIGHTUSERDATA)
            continue;
        push_text(L, i);
        lua_replace(L, i);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* print tells the caller of scenario_run at once, also of a run that fails later. */
static int print(lua_State *L) {
    struct host *host = host_of(L);
    int count = lua_gettop(L);
    luaL_checkstack(L, 2 * count + 2, "too many values");
    for (int i = 1; i <= count; i++) {
        if (i > 1)
            lua_pushliteral(L, "\t");
        push_text(L, i);
    }
    lua_concat(L, lua_gettop(L) - count);
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    host_charge(L, host, length);
    if (host->options->print)
        host->options->print(host->options->print_user, text, length);
    return 0;
}

/* setmetatable without what Lua's collector would decide: finalizers, which no limit stops, and
 * weak tables. */
static int set_metatable(lua_State *L) {
    static const char *const refused[] = {"__gc", "__mode"};
    for (size_t i = 0; lua_istable(L, 2) && i < sizeof refused / sizeof refused[0]; i++) {
        lua_pushstring(L, refused[i]);
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_error(L, "setmetatable: %s is left to no scenario", refused[i]);
        lua_pop(L, 1);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* Lua's functions that go over a range or a length that the scenario says, in C and uncounted; upvalue 1: Lua's own. */
static int call_counted(lua_State *L, lua_Integer steps) {
    if (steps > 0)
        host_charge(L, host_of(L), (uint64_t)steps);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    if (lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0) == LUA_OK)
        return lua_gettop(L);
    if (lua_type(L, -1) == LUA_TSTRING && !strstr(lua_tostring(L, -1), ".lua:")) {
        luaL_where(L, 1); /* Lua's own function finds no line in this one, its caller */
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int counted_sort(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    return call_counted(L, luaL_len(L, 1));
}

/* insert and remove at a place move what lies behind it; at the end they move nothing. */
static int counted_insert(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    return call_counted(L, lua_gettop(L) > 2 ? luaL_len(L, 1) : 0);
}

static int counted_remove(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    return call_counted(L, lua_gettop(L) > 1 ? luaL_len(L, 1) : 0);
}

static int over_range(lua_State *L, lua_Integer from, lua_Integer to) {
    if (from > to)
        return call_counted(L, 0);
    uint64_t steps = (uint64_t)to - (uint64_t)from;
    return call_counted(L, steps < INT64_MAX ? (lua_Integer)steps + 1 : INT64_MAX);
}

static int counted_move(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    return over_range(L, luaL_checkinteger(L, 2), luaL_checkinteger(L, 3));
}

static int counted_concat(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    return over_range(L, luaL_optinteger(L, 3, 1),
                      lua_isnoneornil(L, 4) ? luaL_len(L, 1) : luaL_checkinteger(L, 4));
}

static int counted_rep(lua_State *L) {
    size_t a = 0, b = 0;
    luaL_checklstring(L, 1, &a);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &b);
    if (n > 0 && a + b == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    return call_counted(L, 0); /* the limit of memory bounds the rest */
}

/* The table on top of the stack. */
static void wrap(lua_State *L, const char *name, lua_CFunction counted) {
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, counted, 1);
    lua_setfield(L, -2, name);
}

static bool is_plain_name(const char *name) {
    if (*name == '/' || strstr(name, "..") || strlen(name) > 128)
        return false;
    for (const char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '_' || *p == '-' || *p == '/'))
            return false;
    return *name != '\0';
}

/* Takes the message of a chunk that is none off the stack. Always false. */
static bool load_failed(lua_State *L, int status, const char *path, struct error *err) {
    if (status == LUA_ERRMEM) {
        lua_pop(L, 1);
        return host_memory_error(host_of(L), err);
    }
    const char *text = lua_tostring(L, -1);
    size_t cut = strlen(path) < LUA_IDSIZE - 1 ? 0 : strlen(path) - (LUA_IDSIZE - 1 - 3);
    if (cut > 0 && strncmp(text, "...", 3) == 0 && /* Lua cuts a long path at the start */
        strncmp(text + 3, path + cut, strlen(path) - cut) == 0) {
        lua_pushfstring(L, "%s%s", path, text + 3 + strlen(path) - cut);
        lua_replace(L, -2);
        text = lua_tostring(L, -1);
    }
    bool has_place = strncmp(text, path, strlen(path)) == 0; /* a binary chunk's message has none */
    error_set(err, ERROR_BAD_SCENARIO, "%s%s%s", has_place ? "" : path, has_place ? "" : ": ",
              text);
    lua_pop(L, 1);
    return false;
}

/* Loads a chunk with its marks; its name in messages is the path as given. */
bool sandbox_load(lua_State *L, const char *path, struct error *err) {
    char *source, chunk[HOST_PATH_BYTES + 1];
    size_t length;
    if (strlen(path) >= HOST_PATH_BYTES)
        return error_set(err, ERROR_LIMIT, "%.200s...: a path of more than %d bytes", path,
                         HOST_PATH_BYTES);
    if (!file_read(path, MAX_SOURCE_BYTES, &source, &length, err))
        return false;
    size_t start = 0;
    if (length > 0 && source[0] == '#') /* a script line for the shell */
        while (start < length && source[start] != '\n')
            start++;
    struct text marked = {0};
    bool ok = marks_insert(source + start, length - start, &marked);
    snprintf(chunk, sizeof chunk, "@%s", path);
    int status = LUA_OK;
    if (ok)
        status = luaL_loadbufferx(L, text_get(&marked), marked.length, chunk, "t");
    if (ok && status == LUA_ERRSYNTAX) { /* said again without marks, which the message may name */
        lua_pop(L, 1);
        int plain = luaL_loadbufferx(L, source + start, length - start, chunk, "t");
        status = plain == LUA_OK ? LUA_ERRSYNTAX : plain;
        if (plain == LUA_OK) { /* but it is fine: the mistake is marks_insert's */
            lua_pop(L, 1);
            luaL_loadbufferx(L, text_get(&marked), marked.length, chunk, "t");
        }
    }
    text_fini(&marked);
    xfree(source);
    if (!ok)
        return error_host_memory(err);
    if (status == LUA_OK)
        return true;
    return load_failed(L, status, path, err);
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

/* Where `use` finds NAME: beside the scenario (true), in the library, in `lib` beside it. */
static bool find_file(const struct host *host, const char *name, char path[HOST_PATH_BYTES]) {
    snprintf(path, HOST_PATH_BYTES, "%s/%s.lua", host->directory, name);
    if (file_exists(path))
        return true;
    int n = host->library_dir
                ? snprintf(path, HOST_PATH_BYTES, "%s/%s.lua", host->library_dir, name)
                : -1;
    if (n < 0 || n >= HOST_PATH_BYTES || !file_exists(path))
        snprintf(path, HOST_PATH_BYTES, "%s/lib/%s.lua", host->directory, name);
    return false;
}

static int use_failed(lua_State *L, struct host *host, const char *name, struct error *err) {
    if (err->code == ERROR_HOST_MEMORY)
        return host_fail_memory(L, host);
    return luaL_error(L, "use '%s': %s", name, err->text);
}

/* upvalue 1: what the table is called */
static int unknown_member(lua_State *L) {
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    const char *key = luaL_tolstring(L, 2, NULL);
    struct nearest nearest = {.word = key};
    char hint[NEAREST_HINT_BYTES];
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING)
            nearest_offer(&nearest, lua_tostring(L, -2));
        lua_pop(L, 1);
    }
    return luaL_error(L, "%s has no '%s'%s", name, key, nearest_hint(&nearest, hint));
}

void sandbox_name_table(lua_State *L, const char *name) {
    lua_createtable(L, 0, 2);
    lua_pushliteral(L, "library");
    lua_setfield(L, -2, "__name");
    lua_pushstring(L, name);
    lua_pushcclosure(L, unknown_member, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* Libraries that scenarios name members of by hand: one that is lacking is a mistake there. Others
 * ask themselves whether a member is there. */
static bool has_all(const char *name) {
    static const char *const names[] = {"nn", "functional", "optim"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        found = found || strcmp(name, names[i]) == 0;
    return found;
}

/* What a file returned, the value on top of the stack. */
static void close_library(lua_State *L, const char *name, bool is_own) {
    if (is_own || !has_all(name) || !lua_istable(L, -1))
        sandbox_close_table(L);
    else if (lua_getmetatable(L, -1))
        lua_pop(L, 1);
    else
        sandbox_name_table(L, name);
}

/* use "nn": the value of NAME.lua beside the scenario or in the library, run once. */
static int use(lua_State *L) {
    struct host *host = host_of(L);
    const char *name = luaL_checkstring(L, 1);
    if (!is_plain_name(name))
        return luaL_error(
            L, "use '%s': a name of letters, digits, '_' and '/' is expected, without '..'", name);
    lua_getfield(L, LUA_REGISTRYINDEX, "vramsim.used");
    int type = lua_getfield(L, -1, name);
    if (type == LUA_TBOOLEAN)
        return luaL_error(L, "use '%s': the file is being run already: it uses itself", name);
    if (type != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    lua_pushboolean(L, false); /* being run; files that use each other never end */
    lua_setfield(L, -2, name);
    char path[HOST_PATH_BYTES];
    bool beside = find_file(host, name, path);
    struct error err;
    if (!sandbox_load(L, path, &err))
        return use_failed(L, host, name, &err);
    lua_call(L, 0, 1);
    if (lua_isnoneornil(L, -1) || lua_isboolean(L, -1))
        return luaL_error(L, "use '%s': the file returned nothing", name);
    close_library(L, name, beside);
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
    wrap(L, "rep", counted_rep);
    luaL_requiref(L, "table", luaopen_table, 1);
    wrap(L, "insert", counted_insert);
    wrap(L, "remove", counted_remove);
    wrap(L, "sort", counted_sort);
    wrap(L, "move", counted_move);
    wrap(L, "concat", counted_concat);
    luaL_requiref(L, "math", luaopen_math, 1);
    remove_all(L, removed_math);
    lua_pop(L, 4);
    lua_pushcfunction(L, pairs_next);
    lua_setfield(L, LUA_REGISTRYINDEX, "vramsim.pairs_next");
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, "vramsim.used");
    lua_register(L, "pairs", sorted_pairs);
    lua_register(L, "print", print);
    lua_register(L, "use", use);
    lua_register(L, "tostring", to_text);
    lua_getglobal(L, "setmetatable");
    lua_pushcclosure(L, set_metatable, 1);
    lua_setglobal(L, "setmetatable");
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, format_text, 1);
    lua_setfield(L, -2, "format");
    lua_pop(L, 1);
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
