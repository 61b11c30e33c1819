/* lists.c: torch.list(): a list of tensors that holds its members itself, for optimizers and output
 * lists of any length. A name holds the list, the list holds the tensors: nothing is walked at
 * every op. */
#include "host.h"

enum { LIST_WORK = 20 }; /* of the limit of work */

struct tensor_list *lists_test(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA)
        return NULL;
    struct list_handle *h = lua_touserdata(L, index);
    return h->kind == HANDLE_LIST && h->list->refs > 0 ? h->list : NULL;
}

/* Pushes a handle; the caller's reference is held otherwise. */
void lists_push(lua_State *L, struct tensor_list *list) {
    struct list_handle *h = lua_newuserdatauv(L, sizeof *h, 0);
    h->kind = HANDLE_LIST;
    h->list = list;
    lua_rawgetp(L, LUA_REGISTRYINDEX, LIST_TYPE);
    lua_setmetatable(L, -2);
}

void list_unref(struct tape *tape, struct tensor_list *list) {
    if (--list->refs > 0)
        return;
    for (size_t i = 0; i < list->items.count; i++)
        tensor_unref(tape, list->items.at[i]);
    *list->total_bytes -= array_bytes(&list->items);
    array_fini(&list->items);
}

bool list_append(struct tensor_list *list, struct tensor *t) {
    size_t before = array_bytes(&list->items);
    if (!array_push(&list->items, t))
        return false;
    *list->total_bytes += array_bytes(&list->items) - before;
    tensor_ref(t);
    return true;
}

struct tensor_list *lists_new(struct host *host) {
    struct tensor_list *list = arena_calloc(&host->tape->arena, 1, sizeof *list);
    if (!list || !array_push(&host->lists, list)) {
        tape_fail_memory(host->tape);
        return NULL;
    }
    list->refs = 1;
    list->total_bytes = &host->list_bytes;
    return list;
}

/* Lists that the scenario kept; what they hold ends with the tape. */
void lists_fini(struct host *host) {
    for (size_t i = 0; i < host->lists.count; i++)
        array_fini(&host->lists.at[i]->items);
    array_fini(&host->lists);
}

static struct tensor_list *check_list(lua_State *L, int index) {
    struct tensor_list *list = lists_test(L, index);
    if (!list)
        luaL_error(L, "argument %d: expected a list of tensors that is still held", index);
    return list;
}

static int list_new(lua_State *L) {
    struct host *host = host_of(L);
    host_charge(L, host, LIST_WORK);
    struct tensor_list *list = lists_new(host);
    if (!list)
        return host_fail_memory(L, host);
    names_float(L, NULL, list);
    lists_push(L, list);
    return 1;
}

static int append(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor_list *list = check_list(L, 1);
    struct tensor *t = lua_isnil(L, 2) ? NULL : tensors_check(L, 2);
    host_charge(L, host, LIST_WORK);
    if (!list_append(list, t))
        return host_fail_memory(L, host);
    return 0;
}

static int list_len(lua_State *L) {
    lua_pushinteger(L, (lua_Integer)check_list(L, 1)->items.count);
    return 1;
}

/* list[i], 1-based as Lua's; upvalue 1: the methods */
static int list_index(lua_State *L) {
    struct tensor_list *list = check_list(L, 1);
    if (!lua_isinteger(L, 2)) {
        lua_pushvalue(L, 2);
        lua_rawget(L, lua_upvalueindex(1));
        return 1;
    }
    lua_Integer i = lua_tointeger(L, 2);
    if (i < 1 || (size_t)i > list->items.count || !list->items.at[i - 1])
        lua_pushnil(L);
    else
        tensors_push(L, list->items.at[i - 1]);
    return 1;
}

static int list_newindex(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor_list *list = check_list(L, 1);
    lua_Integer i = luaL_checkinteger(L, 2);
    if (i > 0 && (size_t)i == list->items.count + 1 && !list_append(list, NULL))
        return host_fail_memory(L, host);
    if (i < 1 || (size_t)i > list->items.count)
        return luaL_error(L, "list index %d of %d", (int)i, (int)list->items.count);
    struct tensor *old = list->items.at[i - 1];
    list->items.at[i - 1] = lua_isnil(L, 3) ? NULL : tensor_ref(tensors_check(L, 3));
    tensor_unref(host->tape, old);
    return 0;
}

/* torch.is_held(x): a tensor or list that somebody still holds; what a table with a metatable keeps
 * is but a reference */
static int is_held(lua_State *L) {
    lua_pushboolean(L, tensors_test(L, 1) || lists_test(L, 1));
    return 1;
}

/* Adds the tensors in the value on top of the stack: itself, or in a plain table, or in a list. */
static void add_tensors(lua_State *L, struct host *host, struct tensor_list *to, int depth) {
    struct tensor *t = tensors_test(L, -1);
    struct tensor_list *list = t ? NULL : lists_test(L, -1);
    host_charge(L, host, 64 * (1 + (uint64_t)(list ? list->items.count : 0)));
    if (t && !array_push(&to->items, tensor_ref(t)))
        tape_fail_memory(host->tape);
    for (size_t i = 0; list && list != to && i < list->items.count; i++)
        if (!list_append(to, list->items.at[i]))
            tape_fail_memory(host->tape);
    if (!lua_istable(L, -1) || depth > 16 || !lua_checkstack(L, 8))
        return;
    if (lua_getmetatable(L, -1)) {
        lua_pop(L, 1);
        return;
    }
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        add_tensors(L, host, to, depth + 1);
        lua_pop(L, 1);
    }
}

/* torch.tensors_in(...): a list of the tensors among the arguments, in plain tables and lists among
 * them too */
static int tensors_in(lua_State *L) {
    struct host *host = host_of(L);
    int n = lua_gettop(L);
    host_charge(L, host, LIST_WORK);
    struct tensor_list *list = lists_new(host);
    if (!list)
        return host_fail_memory(L, host);
    names_float(L, NULL, list);
    for (int i = 1; i <= n; i++) {
        lua_pushvalue(L, i);
        add_tensors(L, host, list, 0);
        lua_pop(L, 1);
    }
    lists_push(L, list);
    return 1;
}

/* What `with_grad` takes of parameter i; the states' table, if any, is argument 2 and the name 3. */
static struct tensor *take_of(lua_State *L, struct tensor *param, size_t i) {
    if (lua_isnil(L, 2))
        return param;
    if (!lua_istable(L, 2))
        return param->grad;
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_pushvalue(L, 3);
    lua_rawget(L, -2);
    struct tensor *state = tensors_test(L, -1);
    lua_pop(L, 2);
    return state;
}

/* torch.with_grad(params), (params, "grad"), (params, states, name): a list of the parameters that
 * have a gradient, of their gradients, of their states of one name where they have it */
static int with_grad(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor_list *params = check_list(L, 1);
    lua_settop(L, 3);
    host_charge(L, host, LIST_WORK);
    struct tensor_list *list = lists_new(host);
    if (!list)
        return host_fail_memory(L, host);
    names_float(L, NULL, list);
    for (size_t i = 0; i < params->items.count; i++) {
        struct tensor *param = params->items.at[i];
        struct tensor *t = param && param->grad ? take_of(L, param, i) : NULL;
        if (t && !list_append(list, t))
            tape_fail_memory(host->tape);
    }
    host_check(L, host);
    lists_push(L, list);
    return 1;
}

/* torch.clear_grads(params): their gradients are let go, one after the other */
static int clear_grads(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor_list *params = check_list(L, 1);
    for (size_t i = 0; i < params->items.count; i++) {
        struct tensor *param = params->items.at[i], *grad = param ? param->grad : NULL;
        if (grad)
            param->grad = NULL;
        tensor_unref(host->tape, grad);
    }
    return 0;
}

/* torch.is_one_dtype(list) */
static int is_one_dtype(lua_State *L) {
    struct tensor_list *list = check_list(L, 1);
    const struct tensor *first = NULL;
    bool one = true;
    for (size_t i = 0; i < list->items.count; i++) {
        const struct tensor *t = list->items.at[i];
        first = first ? first : t;
        one = one && (!t || t->dtype == first->dtype);
    }
    lua_pushboolean(L, one);
    return 1;
}

static const luaL_Reg methods[] = {{"append", append}, {NULL, NULL}};

/* The `torch` table is on top of the stack. */
void lists_open(lua_State *L) {
    names_watch(L, list_new);
    names_watch(L, tensors_in);
    names_watch(L, with_grad);
    names_watch(L, clear_grads);
    names_watch(L, list_newindex);
    lua_pushcfunction(L, list_new);
    lua_setfield(L, -2, "list");
    lua_pushcfunction(L, clear_grads);
    lua_setfield(L, -2, "clear_grads");
    lua_pushcfunction(L, is_one_dtype);
    lua_setfield(L, -2, "is_one_dtype");
    lua_pushcfunction(L, with_grad);
    lua_setfield(L, -2, "with_grad");
    lua_pushcfunction(L, is_held);
    lua_setfield(L, -2, "is_held");
    lua_pushcfunction(L, tensors_in);
    lua_setfield(L, -2, "tensors_in");
    lua_newtable(L);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushcclosure(L, list_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, list_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, list_len);
    lua_setfield(L, -2, "__len");
    lua_pushliteral(L, "list of tensors");
    lua_setfield(L, -2, "__name");
    lua_rawsetp(L, LUA_REGISTRYINDEX, LIST_TYPE);
}
