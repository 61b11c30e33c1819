/* walk.c: see walk.h. */
#include "walk.h"

#include <stdlib.h>

#include "host.h"

enum {
    HELD_WORK = 3,     /* a tensor's share of the limit of work; any other entry's is 1 */
    VALUE_DEPTH = 100, /* tables and closures within each other, as deep as C's stack allows */
};

static size_t visited_slot(const struct names *names, const void *value) {
    size_t at = ((uintptr_t)value >> 4) * UINT32_C(2654435761) & (names->visited_capacity - 1);
    while (names->visited[at].visit == names->visit && names->visited[at].value != value)
        at = (at + 1) & (names->visited_capacity - 1);
    return at;
}

static bool grow_visited(struct names *names) {
    struct visited *old = names->visited;
    size_t count = names->visited_capacity;
    struct visited *fresh = xcalloc(count ? 2 * count : 64, sizeof *fresh);
    if (!fresh)
        return false;
    names->visited = fresh;
    names->visited_capacity = count ? 2 * count : 64;
    for (size_t i = 0; i < count; i++)
        if (old[i].visit == names->visit)
            fresh[visited_slot(names, old[i].value)] = old[i];
    xfree(old);
    return true;
}

/* Whether this walk comes to the table or closure on top of the stack for the first time: they may
 * contain each other. */
static bool first_visit(lua_State *L, struct host *host) {
    struct names *names = &host->names;
    const void *value = lua_topointer(L, -1);
    if (2 * (names->visited_count + 1) > names->visited_capacity && !grow_visited(names)) {
        tape_fail_memory(host->tape);
        return false;
    }
    size_t at = visited_slot(names, value);
    if (names->visited[at].visit == names->visit)
        return false;
    names->visited[at] = (struct visited){value, names->visit};
    names->visited_count++;
    return true;
}

static void visit_inside(lua_State *L, struct visit *visit, int depth);

static void visit_table(lua_State *L, struct visit *visit, int depth) {
    visit->frame->has_tables = true;
    visit->frame->has_upvalues = visit->frame->has_upvalues || visit->upvalues;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        visit->host->instructions++;
        if (lua_type(L, -1) >= LUA_TTABLE) /* or a function, or userdata */
            visit_inside(L, visit, depth + 1);
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TUSERDATA)
            visit_inside(L, visit, depth + 1);
    }
}

bool walk_is_environment(const char *upvalue) {
    return upvalue[0] == '_' && strcmp(upvalue, "_ENV") == 0;
}

void walk_note_upvalue(lua_State *L, struct visit *visit) {
    int type = lua_type(L, -1);
    if (type != LUA_TFUNCTION && type != LUA_TTABLE) /* a plain table tells by itself */
        visit->frame->has_upvalues = true;
}

/* A closure holds the variables of its makers that it names. */
static void visit_closure(lua_State *L, struct visit *visit, int depth) {
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, -1, i)); i++) {
        if (!walk_is_environment(name)) {
            walk_note_upvalue(L, visit);
            visit_inside(L, visit, depth + 1);
        }
        lua_pop(L, 1);
    }
}

/* Tables with a metatable are modules, classes, libraries, which hold their own. C functions hold
 * nothing, nor do functions that name only globals. */
static bool is_container(lua_State *L, int type) {
    if (type == LUA_TTABLE) {
        bool plain = !lua_getmetatable(L, -1);
        if (!plain)
            lua_pop(L, 1);
        return plain;
    }
    const char *name =
        type != LUA_TFUNCTION || lua_iscfunction(L, -1) ? NULL : lua_getupvalue(L, -1, 1);
    if (!name)
        return false;
    lua_pop(L, 1);
    if (!walk_is_environment(name))
        return true;
    if (!lua_getupvalue(L, -1, 2))
        return false;
    lua_pop(L, 1);
    return true;
}

/* The value on top of the stack and, for a plain table or closure, what it contains. */
static void visit_inside(lua_State *L, struct visit *visit, int depth) {
    int type = lua_type(L, -1);
    if (type == LUA_TUSERDATA) {
        visit->host->instructions += HELD_WORK;
        struct tensor *tensor = tensors_test(L, -1);
        struct tensor_list *list = tensor ? NULL : lists_test(L, -1);
        if (tensor || list)
            visit->found(visit, tensor, list);
        return;
    }
    if (!is_container(L, type) || depth >= VALUE_DEPTH || !lua_checkstack(L, 4) ||
        !first_visit(L, visit->host))
        return;
    bool outer = visit->indirect;
    visit->indirect = true;
    if (type == LUA_TTABLE)
        visit_table(L, visit, depth);
    else
        visit_closure(L, visit, depth);
    visit->indirect = outer;
}

/* By age; a list is as old as its first member. */
static int compare_age(const void *x, const void *y) {
    const struct holding *a = x, *b = y;
    const struct tensor *first = a->list && a->list->items.count ? a->list->items.at[0] : a->tensor;
    const struct tensor *second =
        b->list && b->list->items.count ? b->list->items.at[0] : b->tensor;
    uint32_t age = first ? first->id : 0, other = second ? second->id : 0;
    return (age > other) - (age < other);
}

static void sort_from(struct holdings *list, size_t first) {
    if (list->count > first + 1)
        qsort(&list->at[first], list->count - first, sizeof *list->at, compare_age);
}

/* Lua goes over a table in an order that differs from run to run; what is found there is held, and let go, by age. */
void walk_value(lua_State *L, struct visit *visit) {
    size_t held = visit->frame->held.count, floats = visit->frame->floats.count;
    visit->host->names.visit++;
    visit->host->names.visited_count = 0;
    visit_inside(L, visit, 0);
    sort_from(&visit->frame->held, held);
    sort_from(&visit->frame->floats, floats);
}
