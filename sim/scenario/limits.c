/* limits.c: what ends a scenario that would not end by itself or would fill this machine: a limit of
 * work, a limit of memory, and the user's interrupt. Work is Lua's instructions and, in the same
 * unit, what C does for a scenario: bytes of text, entries of tables, calls. */
#include <string.h>

#include "host.h"

/* Between two looks at the memory: what so much work can take at most is small. */
enum { WORK_BETWEEN_CHECKS = 100000 };

/* What the arrays and arenas of this run take; the parts that a scenario can make grow. */
static size_t count_bytes(const struct host *host) {
    const struct scenario_info *info = host->info;
    return host->lua_bytes + info->arena.total_bytes + array_bytes(&info->params) +
           array_bytes(&info->notes) + array_bytes(&host->lists) + array_bytes(&host->traceback) +
           host->list_bytes + names_bytes(&host->names) + tape_host_bytes(host->tape);
}

/* Pushes "file:line: " of the innermost Lua function. */
static void push_place(lua_State *L) {
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline < 0)
            continue;
        lua_pushfstring(L, "%s:%d: ", ar.source + 1, ar.currentline);
        return;
    }
    lua_pushliteral(L, "");
}

static void stop(lua_State *L, struct host *host, enum error_code code, const char *text) {
    host->stopped = true;
    error_set(&host->error, code, "%s", text);
    luaL_error(L, "%s", text);
}

static void check_work(lua_State *L, struct host *host) {
    if (host->instructions <= host->max_instructions)
        return;
    push_place(L);
    stop(L, host, ERROR_LIMIT,
         lua_pushfstring(L,
                         "%sstill running after %I million Lua instructions (an endless loop? if "
                         "not, --max-instructions allows more)",
                         lua_tostring(L, -1), (LUAI_UACINT)(host->max_instructions / 1000000)));
}

static void check_memory(lua_State *L, struct host *host) {
    if (count_bytes(host) <= host->max_memory_bytes)
        return;
    push_place(L);
    stop(L, host, ERROR_LIMIT,
         lua_pushfstring(L,
                         "%sthe scenario has filled %I MiB of this machine's memory (an endless "
                         "loop?); --max-memory raises the limit",
                         lua_tostring(L, -1), (LUAI_UACINT)(host->max_memory_bytes >> 20)));
}

void limits_check(lua_State *L, struct host *host) {
    host->checked_at = host->instructions;
    if (host->options->interrupted && *host->options->interrupted)
        stop(L, host, ERROR_INTERRUPTED, "interrupted");
    check_work(L, host);
    check_memory(L, host);
}

void limits_count_hook(lua_State *L, struct host *host) {
    host->instructions += LIMITS_HOOK_COUNT;
    limits_check(L, host);
}

bool limits_are_due(const struct host *host) {
    return host->instructions > host->max_instructions ||
           host->instructions - host->checked_at >= WORK_BETWEEN_CHECKS;
}

void host_charge(lua_State *L, struct host *host, uint64_t steps) {
    bool over =
        steps > host->max_instructions || host->instructions > host->max_instructions - steps;
    host->instructions = over ? host->max_instructions + 1 : host->instructions + steps;
    if (limits_are_due(host))
        limits_check(L, host);
}

const char *host_text(lua_State *L, int index) {
    size_t length;
    const char *text = luaL_checklstring(L, index, &length);
    if (strlen(text) != length)
        luaL_argerror(L, index, "a text without NUL bytes expected");
    host_charge(L, host_of(L), length);
    return text;
}

const char *host_optional_text(lua_State *L, int index) {
    return lua_isnoneornil(L, index) ? NULL : host_text(L, index);
}

bool host_memory_error(const struct host *host, struct error *err) {
    if (host->exhausted)
        return error_host_memory(err);
    return error_set(err, ERROR_LIMIT, "the scenario needs more than %zu MiB of Lua memory",
                     host->max_lua_bytes >> 20);
}
