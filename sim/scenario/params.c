/* params.c: parameters { {"hidden", 4096, "width", min = 1}, ... }: declared, checked, overridden
 * by --set. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "nearest.h"

static const char *keep(struct host *host, const char *text) {
    char *copy = arena_strdup(&host->info->arena, text);
    if (!copy)
        tape_fail_memory(host->tape);
    return copy ? copy : "";
}

static bool name_is(const char *set, const char *name) {
    size_t n = strlen(name);
    return strncmp(set, name, n) == 0 && set[n] == '=';
}

static const char *find_set(const struct host *host, const char *name) {
    for (size_t i = host->options->set_count; i-- > 0;)
        if (name_is(host->options->sets[i], name))
            return strchr(host->options->sets[i], '=') + 1;
    return NULL;
}

/* "784,1024,10" as a table of integers, pushed. */
static void push_integers(lua_State *L, const char *name, const char *text) {
    lua_newtable(L);
    const char *p = text;
    for (lua_Integer i = 1; *p; i++) {
        char *end;
        errno = 0;
        long long v = strtoll(p, &end, 10);
        if (end == p || errno == ERANGE || (*end != ',' && *end != '\0') ||
            (*end == ',' && end[1] == '\0'))
            luaL_error(L, "parameter %s=%s: expected integers with commas between them", name,
                       text);
        lua_pushinteger(L, v);
        lua_rawseti(L, -2, i);
        p = *end ? end + 1 : end;
    }
}

/* The text of the value on top of the stack; a table of integers with commas. */
static const char *value_text(lua_State *L, struct host *host) {
    if (!lua_istable(L, -1)) {
        luaL_tolstring(L, -1, NULL);
        const char *kept = keep(host, host_text(L, lua_gettop(L)));
        lua_pop(L, 1);
        return kept;
    }
    struct text joined = {0};
    size_t n = lua_rawlen(L, -1);
    host_charge(L, host, n);
    bool integers = true;
    for (size_t i = 1; i <= n; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i);
        integers = integers && lua_isinteger(L, -1);
        text_format(&joined, "%s%lld", i > 1 ? "," : "", (long long)lua_tointeger(L, -1));
        lua_pop(L, 1);
    }
    const char *kept = keep(host, text_get(&joined));
    text_fini(&joined);
    if (!integers)
        luaL_error(L, "parameters: a list as default must hold integers");
    return kept;
}

/* Pushes the value of a --set text as the type of the default, or fails naming what was expected.
 */
static void push_value(lua_State *L, const struct scenario_param *p, const char *text) {
    char *end;
    if (p->type == PARAM_TEXT) {
        lua_pushstring(L, text);
    } else if (p->type == PARAM_INTEGERS) {
        push_integers(L, p->name, text);
    } else if (p->type == PARAM_BOOLEAN) {
        bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || strcmp(text, "yes") == 0;
        bool no = strcmp(text, "false") == 0 || strcmp(text, "0") == 0 || strcmp(text, "no") == 0;
        if (!yes && !no)
            luaL_error(L, "parameter %s=%s: expected true or false", p->name, text);
        lua_pushboolean(L, yes);
    } else if (p->type == PARAM_INTEGER) {
        errno = 0;
        long long v = strtoll(text, &end, 10);
        if (*text == '\0' || *end != '\0')
            luaL_error(L, "parameter %s=%s: expected an integer", p->name, text);
        if (errno == ERANGE)
            luaL_error(L, "parameter %s=%s: expected an integer of 64 bits", p->name, text);
        lua_pushinteger(L, v);
    } else {
        double v = strtod(text, &end);
        if (*text == '\0' || *end != '\0' || !isfinite(v))
            luaL_error(L, "parameter %s=%s: expected a number", p->name, text);
        lua_pushnumber(L, v);
    }
}

static void check_bound(lua_State *L, const struct scenario_param *p, bool is_kept,
                        const char *word, double bound) {
    char text[40];
    if (is_kept)
        return;
    snprintf(text, sizeof text, "%.14g", bound);
    luaL_error(L, "parameter %s=%s: expected %s %s", p->name, p->value_text, word, text);
}

static void check_range(lua_State *L, const struct scenario_param *p) {
    if (p->type == PARAM_INTEGER || p->type == PARAM_NUMBER) {
        double v = lua_tonumber(L, -1);
        check_bound(L, p, !p->has_min || v >= p->min, "at least", p->min);
        check_bound(L, p, !p->has_max || v <= p->max, "at most", p->max);
    }
    if (!p->choices)
        return;
    const char *value = p->value_text;
    for (const char *c = p->choices; *c;) {
        size_t n = strcspn(c, "|");
        if (strlen(value) == n && strncmp(c, value, n) == 0)
            return;
        c += c[n] ? n + 1 : n;
    }
    luaL_error(L, "parameter %s=%s: expected one of %s", p->name, value, p->choices);
}

static const char *read_choices(lua_State *L, struct host *host, int row) {
    if (lua_getfield(L, row, "one_of") != LUA_TTABLE)
        return NULL;
    char joined[256] = "";
    size_t used = 0, n = lua_rawlen(L, -1);
    for (size_t i = 1; i <= n; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i);
        int wrote = snprintf(joined + used, sizeof joined - used, "%s%s", i > 1 ? "|" : "",
                             luaL_checkstring(L, -1));
        used += wrote > 0 ? (size_t)wrote : 0;
        if (used >= sizeof joined)
            luaL_error(L, "parameters: too many choices");
        lua_pop(L, 1);
    }
    return keep(host, joined);
}

static enum param_type type_of(lua_State *L, int index) {
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        return PARAM_BOOLEAN;
    case LUA_TNUMBER:
        return lua_isinteger(L, index) ? PARAM_INTEGER : PARAM_NUMBER;
    case LUA_TSTRING:
        return PARAM_TEXT;
    case LUA_TTABLE:
        return PARAM_INTEGERS;
    default:
        luaL_error(
            L, "parameters: a default must be a number, a text, a boolean or a list of integers");
        return PARAM_TEXT;
    }
}

/* One row {name, default, help, min =, max =, one_of =}; pushes the value of this run. */
static void declare(lua_State *L, struct host *host, int row) {
    int base = lua_gettop(L);
    struct scenario_param p = {0};
    if (!lua_istable(L, row))
        luaL_error(L, "parameters: each row is {name, default, help}");
    lua_rawgeti(L, row, 1);
    lua_rawgeti(L, row, 2);
    lua_rawgeti(L, row, 3);
    p.name = keep(host, host_text(L, base + 1));
    p.type = type_of(L, base + 2);
    lua_pushvalue(L, base + 2);
    p.default_text = value_text(L, host);
    p.help = lua_isnil(L, base + 3) ? "" : keep(host, host_text(L, base + 3));
    p.has_min = lua_getfield(L, row, "min") == LUA_TNUMBER;
    p.min = lua_tonumber(L, -1);
    p.has_max = lua_getfield(L, row, "max") == LUA_TNUMBER;
    p.max = lua_tonumber(L, -1);
    p.choices = read_choices(L, host, row);
    const char *set = find_set(host, p.name);
    lua_settop(L, base + 2);
    if (set)
        push_value(L, &p, set);
    p.value_text = value_text(L, host);
    if (!array_push(&host->info->params, p))
        tape_fail_memory(host->tape);
    check_range(L, &p);
    lua_replace(L, base + 1);
    lua_settop(L, base + 1);
}

static void refuse_set(lua_State *L, const struct host *host, const char *set) {
    struct nearest nearest = {.word = set, .length = strcspn(set, "=")};
    char hint[NEAREST_HINT_BYTES];
    luaL_Buffer names;
    luaL_buffinit(L, &names);
    for (size_t i = 0; i < host->info->params.count; i++) {
        nearest_offer(&nearest, host->info->params.at[i].name);
        luaL_addchar(&names, ' ');
        luaL_addstring(&names, host->info->params.at[i].name);
    }
    luaL_pushresult(&names);
    lua_pushlstring(L, set, nearest.length);
    luaL_error(L, "unknown parameter '%s'%s; known:%s", lua_tostring(L, -1),
               nearest_hint(&nearest, hint), lua_tostring(L, -2));
}

static void refuse_unknown_sets(lua_State *L, struct host *host) {
    for (size_t i = 0; i < host->options->set_count; i++) {
        const char *set = host->options->sets[i];
        bool known = false;
        for (size_t j = 0; j < host->info->params.count; j++)
            known = known || name_is(set, host->info->params.at[j].name);
        if (!known)
            refuse_set(L, host, set);
    }
}

/* A parameter that was not declared, read by the scenario itself: a word mistyped. The library looks
 * for what not every scenario has. */
static int unknown_parameter(lua_State *L) {
    struct host *host = host_of(L);
    lua_Debug ar;
    bool own = lua_type(L, 2) == LUA_TSTRING && lua_getstack(L, 1, &ar) &&
               lua_getinfo(L, "S", &ar) && strcmp(ar.source + 1, host->path) == 0;
    if (!own)
        return 0;
    const char *word = lua_tostring(L, 2);
    struct nearest nearest = {.word = word};
    char hint[NEAREST_HINT_BYTES];
    for (size_t i = 0; i < host->info->params.count; i++)
        nearest_offer(&nearest, host->info->params.at[i].name);
    return luaL_error(L, "the scenario has no parameter '%s'%s", word,
                      nearest_hint(&nearest, hint));
}

/* As sandbox_close_table: not looked through for tensors. */
static void close_parameters(lua_State *L) {
    if (luaL_newmetatable(L, "vramsim.parameters")) {
        lua_pushliteral(L, "parameters");
        lua_setfield(L, -2, "__name");
        lua_pushcfunction(L, unknown_parameter);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
}

static int parameters(lua_State *L) {
    struct host *host = host_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    size_t n = lua_rawlen(L, 1);
    lua_newtable(L);
    for (size_t i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i);
        declare(L, host, 3);
        host_check(L, host);
        lua_setfield(L, 2, host->info->params.at[host->info->params.count - 1].name);
        lua_settop(L, 2);
    }
    refuse_unknown_sets(L, host);
    host_check(L, host);
    if (host->options->only_parameters) {
        host->stopped = true;
        return luaL_error(L, "stop");
    }
    close_parameters(L);
    return 1;
}

static int note(lua_State *L) {
    struct host *host = host_of(L);
    const char *text = keep(host, host_text(L, 1));
    if (!array_push(&host->info->notes, text))
        tape_fail_memory(host->tape);
    return 0;
}

static int compare_with_estimate(lua_State *L) {
    struct host *host = host_of(L);
    host->info->estimate = keep(host, host_text(L, 1));
    return 0;
}

void params_open(lua_State *L) {
    lua_register(L, "parameters", parameters);
    lua_register(L, "note", note);
    lua_register(L, "compare_with_estimate", compare_with_estimate);
}
