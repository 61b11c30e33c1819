/* modules.c: the parts of nn.Module that the host must do: attributes in order of assignment, calls
 * that hold their arguments and name the module, parameters and buffers that the module holds for
 * good.
 *
 * A module is a table with the metatable that nn.class makes (scenarios/lib/nn.lua). Its list of
 * members is an array in the field `_members`; its place in the model the field `_path`. */
#include <stdio.h>
#include <string.h>

#include "host.h"

/* nn.Parameter(t, requires_grad = true), nn.Buffer(t): held by the module from now on. */
static int keep_for_good(lua_State *L, bool is_parameter) {
    struct host *host = host_of(L);
    struct tensor *t = tensors_check(L, 1);
    tensor_ref(t);
    t->kept++;
    tape_set_category(host->tape, t, CATEGORY_PARAMETER, true);
    t->is_buffer = !is_parameter;
    if (is_parameter)
        t->requires_grad = lua_isnoneornil(L, 2) || lua_toboolean(L, 2);
    lua_settop(L, 1);
    return 1;
}

static int new_parameter(lua_State *L) {
    return keep_for_good(L, true);
}

static int new_buffer(lua_State *L) {
    return keep_for_good(L, false);
}

static bool is_module(lua_State *L, int index) {
    if (!lua_istable(L, index))
        return false;
    lua_pushliteral(L, "_members");
    bool module = lua_rawget(L, index < 0 ? index - 1 : index) == LUA_TTABLE;
    lua_pop(L, 1);
    return module;
}

/* nn.replace(module, "weight", t): another tensor in place of a member, whose own is let go (tied
 * weights). */
static int replace_member(lua_State *L) {
    struct host *host = host_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    struct tensor *t = tensors_check(L, 3);
    lua_pushvalue(L, 2);
    lua_rawget(L, 1);
    struct tensor *old = tensors_test(L, -1);
    if (!old)
        return luaL_error(L, "replace: the module has no tensor '%s'", luaL_tolstring(L, 2, NULL));
    if (old->kept == 0)
        return luaL_error(L, "replace: '%s' is neither a parameter nor a buffer",
                          luaL_tolstring(L, 2, NULL));
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_rawset(L, 1);
    old->kept--;
    t->kept++;
    tensor_ref(t);
    tensor_unref(host->tape, old);
    return 0;
}

/* nn.set_data(t, data): t.data = data */
static int set_data(lua_State *L) {
    tape_set_data(host_of(L)->tape, tensors_check(L, 1), tensors_check(L, 2));
    host_check(L, host_of(L));
    return 0;
}

/* The first assignment of an attribute: modules and tensors are members, in this order. */
static int module_newindex(lua_State *L) {
    bool tensor = tensors_test(L, 3) != NULL;
    if (tensor || is_module(L, 3)) {
        lua_pushliteral(L, "_members");
        lua_rawget(L, 1);
        if (lua_istable(L, -1)) {
            lua_pushvalue(L, 2);
            lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        }
        lua_pop(L, 1);
    } else if (lua_istable(L, 3) && !lua_getmetatable(L, 3)) {
        lua_pushliteral(L, "_tables"); /* has plain ones: see refuse_hidden */
        lua_pushboolean(L, true);
        lua_rawset(L, 1);
    }
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 0;
}

/* Gives every module its path and every parameter its owner and name, depth first in order of
 * assignment. */
static void assign_paths(lua_State *L, struct host *host, int module, const char *path,
                         unsigned depth) {
    luaL_checkstack(L, 8, "modules nest too deep");
    if (depth > 64)
        luaL_error(L, "modules nest more than 64 deep (does a module contain itself?)");
    host_charge(L, host, strlen(path));
    lua_pushstring(L, path);
    lua_setfield(L, module, "_path");
    lua_getfield(L, module, "_members");
    int members = lua_gettop(L);
    lua_Integer n = (lua_Integer)lua_rawlen(L, members);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, members, i);
        luaL_tolstring(L, -1, NULL);
        const char *name = host_text(L, lua_gettop(L));
        lua_pushvalue(L, -2);
        lua_rawget(L, module);
        struct tensor *t = tensors_test(L, -1);
        if (t) {
            uint32_t owner = 0;
            t->name = arena_strdup(&host->tape->arena, name);
            if (!t->name || !strtab_add(&host->tape->strings, path, strlen(path), &owner))
                tape_fail_memory(host->tape);
            t->owner = owner;
            tape_set_name(host->tape, t, path, name);
        } else if (is_module(L, -1)) {
            lua_pushfstring(L, "%s%s%s", path, *path ? "." : "", name);
            assign_paths(L, host, lua_gettop(L) - 1, lua_tostring(L, -1), depth + 1);
            lua_pop(L, 1);
        }
        lua_pop(L, 3);
    }
    lua_pop(L, 1);
}

/* nn.name(module): also done at the first call of a module that has no place yet. */
static int name_modules(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    const char *path = host_optional_text(L, 2);
    assign_paths(L, host_of(L), 1, path ? path : "", 0);
    return 0;
}

enum { MODULE_DEPTH = 100 }; /* modules within each other, as deep as C's stack allows */

/* Whether the tensor comes for the first time; the table at index 2 holds those that came. */
static bool is_first(lua_State *L, const struct tensor *t) {
    bool first = lua_rawgetp(L, 2, t) == LUA_TNIL;
    lua_pop(L, 1);
    if (first) {
        lua_pushboolean(L, true);
        lua_rawsetp(L, 2, t);
    }
    return first;
}

/* Of the module on top of the stack: its own parameters, or those of the modules in it. */
static void collect(lua_State *L, struct host *host, struct tensor_list *list, int depth);

static void collect_members(lua_State *L, struct host *host, struct tensor_list *list, int depth,
                            bool own) {
    int module = lua_gettop(L);
    if (lua_getfield(L, module, "_members") != LUA_TTABLE)
        luaL_error(L, "nn.parameters: a module was expected (made by a class of nn.class)");
    lua_Integer count = luaL_len(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, module + 1, i);
        lua_gettable(L, module);
        struct tensor *t = own ? tensors_test(L, -1) : NULL;
        if (t && t->requires_grad && is_first(L, t) && !list_append(list, t))
            tape_fail_memory(host->tape);
        if (!own && lua_istable(L, -1))
            collect(L, host, list, depth + 1);
        lua_settop(L, module + 1);
    }
    lua_settop(L, module);
}

/* Modules in a plain table of a module are no members of it, in PyTorch as here: nobody means that. */
static void refuse_hidden(lua_State *L) {
    int module = lua_gettop(L);
    lua_pushliteral(L, "_tables");
    bool has_tables = lua_rawget(L, module) != LUA_TNIL;
    lua_settop(L, module);
    if (!has_tables)
        return;
    for (lua_pushnil(L); lua_next(L, module); lua_settop(L, module + 1)) {
        bool plain = lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1) &&
                     !lua_getmetatable(L, -1) &&
                     strcmp(lua_tostring(L, module + 1), "_members") != 0;
        if (!plain)
            continue;
        for (lua_pushnil(L); lua_next(L, module + 2); lua_pop(L, 1))
            if (is_module(L, -1))
                luaL_error(L,
                           "nn.parameters: '%s' is a plain table of modules, whose parameters no "
                           "optimizer would see: nn.ModuleList { ... } holds modules",
                           lua_tostring(L, module + 1));
    }
}

static void collect(lua_State *L, struct host *host, struct tensor_list *list, int depth) {
    if (depth >= MODULE_DEPTH || !lua_checkstack(L, 8))
        luaL_error(L, "nn.parameters: more than %d modules within each other", MODULE_DEPTH);
    collect_members(L, host, list, depth, true);
    collect_members(L, host, list, depth, false);
    refuse_hidden(L);
}

/* nn.parameters(module): a list of those that require a gradient, each once, in the order in which
 * PyTorch's parameters() gives them: a module's own before those of the modules in it */
static int parameters(lua_State *L) {
    struct host *host = host_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    struct tensor_list *list = lists_new(host);
    host_check(L, host);
    names_float(L, NULL, list);
    lua_newtable(L);
    lua_pushvalue(L, 1);
    collect(L, host, list, 0);
    host_check(L, host);
    lists_push(L, list);
    return 1;
}

/* module(...) runs module:forward(...). The arguments are this call's until it returns. */
static int call_module(lua_State *L) {
    struct host *host = host_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    if (lua_getfield(L, 1, "_path") != LUA_TSTRING) {
        assign_paths(L, host, 1, "", 0);
        lua_getfield(L, 1, "_path");
    }
    if (!tape_enter_module(host->tape, host_text(L, lua_gettop(L))))
        host_check(L, host);
    lua_pop(L, 1);
    if (lua_getfield(L, 1, "forward") != LUA_TFUNCTION)
        return luaL_error(L, "module '%s' has no forward", luaL_typename(L, 1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    tape_leave_module(host->tape);
    return lua_gettop(L);
}

static int next_item(lua_State *L) {
    lua_Integer i = luaL_checkinteger(L, 2) + 1;
    lua_pushinteger(L, i);
    return lua_geti(L, 1, i) == LUA_TNIL ? 1 : 2;
}

/* ipairs(t): from 1, as Lua's; of a ModuleList from 0, where its first one is */
static int ipairs(lua_State *L) {
    luaL_checkany(L, 1);
    bool from_0 = is_module(L, 1) && lua_getfield(L, 1, "is_module_list") != LUA_TNIL;
    lua_settop(L, 1);
    lua_pushcfunction(L, next_item);
    lua_insert(L, 1);
    lua_pushinteger(L, from_0 ? -1 : 0);
    return 3;
}

void modules_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"Parameter", new_parameter}, {"Buffer", new_buffer},         {"replace", replace_member},
        {"set_data", set_data},       {"name", name_modules},         {"_call", call_module},
        {"parameters", parameters},   {"_newindex", module_newindex}, {NULL, NULL}};
    static const lua_CFunction watched[] = {new_parameter, new_buffer, replace_member, set_data,
                                            parameters};
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        names_watch(L, watched[i]);
    names_watch_python(L, call_module);
    luaL_newlib(L, functions);
    lua_setglobal(L, "_nn"); /* nn.lua takes it over */
    lua_register(L, "ipairs", ipairs);
}
