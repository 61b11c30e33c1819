/* ops.c: torch.NAME for every row of the op table. A row's signature is read once; a call then
 * fills struct op_call from Lua's arguments: by position, or by name from a last table argument
 * ({dim = -1, keepdim = true}). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

struct argument {
    char name[24];
    char kind; /* T X L i f b d s I */
    bool optional, has_default;
    double fallback;
};

struct bound_op {
    enum handle_kind kind; /* other */
    const struct op *op;
    char trace_name[48];
    unsigned count;
    struct argument argument[OP_MAX_ARGS];
};

/* "name:kind=default" or "name:kind?" */
static const char *parse_argument(const char *p, struct argument *a) {
    size_t n = strcspn(p, ":");
    assert(n < sizeof a->name);
    memcpy(a->name, p, n);
    a->name[n] = '\0';
    a->kind = p[n + 1];
    p += n + 2;
    if (*p == '?') {
        a->optional = true;
        p++;
    } else if (*p == '=') {
        a->has_default = true;
        p++;
        bool negative = *p == '-';
        for (p += negative; *p >= '0' && *p <= '9'; p++)
            a->fallback = a->fallback * 10 + (*p - '0');
        a->fallback = negative ? -a->fallback : a->fallback;
    }
    return *p == ' ' ? p + 1 : p;
}

static void parse_signature(const struct op *op, struct bound_op *bound) {
    *bound = (struct bound_op){.kind = HANDLE_OTHER, .op = op};
    snprintf(bound->trace_name, sizeof bound->trace_name, "%s%s",
             op->trace_name ? "" : "aten::", op->trace_name ? op->trace_name : op->name);
    for (const char *p = op->signature; *p;) {
        assert(bound->count < OP_MAX_ARGS);
        p = parse_argument(p, &bound->argument[bound->count++]);
    }
}

static int bad_argument(lua_State *L, const struct bound_op *b, unsigned i, int index,
                        const char *wanted) {
    return luaL_error(L, "%s: %s: expected %s, found %s", b->op->name, b->argument[i].name, wanted,
                      luaL_typename(L, index));
}

static void read_sizes(lua_State *L, const struct bound_op *b, unsigned i, int index, int top,
                       struct op_arg *arg) {
    struct shape shape = {.ndim = 0};
    bool table = lua_istable(L, index) != 0;
    lua_Integer n = table ? (lua_Integer)lua_rawlen(L, index) : 0;
    if (!table)
        while (index + n <= top && lua_isinteger(L, index + (int)n))
            n++;
    if (n > TENSOR_MAX_DIMS)
        luaL_error(L, "%s: at most %d dims, found %d", b->op->name, TENSOR_MAX_DIMS, (int)n);
    for (lua_Integer k = 0; k < n; k++) {
        int integer = 0;
        if (table)
            lua_rawgeti(L, index, k + 1);
        else
            lua_pushvalue(L, index + (int)k);
        shape.size[shape.ndim++] = lua_tointegerx(L, -1, &integer);
        if (!integer)
            luaL_error(L, "%s: %s: size %d is %s, expected an integer", b->op->name,
                       b->argument[i].name, (int)k + 1, luaL_typename(L, -1));
        if (shape.size[shape.ndim - 1] > INT64_C(1) << 60 ||
            shape.size[shape.ndim - 1] < -(INT64_C(1) << 60))
            luaL_error(L, "%s: %s: size %d is beyond 2^60", b->op->name, b->argument[i].name,
                       (int)k + 1);
        lua_pop(L, 1);
    }
    arg->shape = shape;
}

/* A list handle, or a plain table of tensors copied into memory that Lua collects. */
static void read_list(lua_State *L, const struct bound_op *b, unsigned i, int index,
                      struct op_arg *arg) {
    struct tensor_list *list = lists_test(L, index);
    if (list) {
        arg->list = list->items.at;
        arg->list_count = list->items.count;
        for (size_t k = 0; k < arg->list_count; k++)
            if (!arg->list[k])
                luaL_error(L, "%s: %s: entry %d is nil", b->op->name, b->argument[i].name,
                           (int)k + 1);
        return;
    }
    if (!lua_istable(L, index)) {
        bad_argument(L, b, i, index, "a list of tensors");
        return;
    }
    size_t n = lua_rawlen(L, index);
    /* stays on this call's stack, where no scan of names looks */
    struct tensor **items = lua_newuserdatauv(L, (n ? n : 1) * sizeof(struct tensor *), 0);
    for (size_t k = 0; k < n; k++) {
        lua_rawgeti(L, index, (lua_Integer)k + 1);
        items[k] = tensors_test(L, -1);
        if (!items[k])
            luaL_error(L, "%s: %s: entry %d is %s, expected a tensor", b->op->name,
                       b->argument[i].name, (int)k + 1, luaL_typename(L, -1));
        lua_pop(L, 1);
    }
    arg->list = items;
    arg->list_count = n;
}

static void read_number(lua_State *L, const struct bound_op *b, unsigned i, int index,
                        struct op_arg *arg) {
    if (lua_type(L, index) != LUA_TNUMBER) {
        bad_argument(L, b, i, index,
                     b->argument[i].kind == 'X' ? "a tensor or a number" : "a number");
        return;
    }
    arg->number = lua_tonumber(L, index);
    arg->floating = !lua_isinteger(L, index);
    if (!arg->floating)
        arg->integer = lua_tointeger(L, index);
    else if (b->argument[i].kind == 'i')
        bad_argument(L, b, i, index, "an integer");
    else if (arg->number >= -9e18 && arg->number <= 9e18)
        arg->integer = (int64_t)arg->number;
}

static void read_argument(lua_State *L, const struct bound_op *b, unsigned i, int index, int top,
                          struct op_arg *arg) {
    const struct argument *a = &b->argument[i];
    arg->given = true;
    switch (a->kind) {
    case 'T':
        arg->tensor = tensors_check(L, index);
        break;
    case 'X':
        if (lua_type(L, index) == LUA_TUSERDATA)
            arg->tensor = tensors_check(L, index);
        else
            read_number(L, b, i, index, arg);
        break;
    case 'L':
        read_list(L, b, i, index, arg);
        break;
    case 'I':
        read_sizes(L, b, i, index, top, arg);
        break;
    case 'b':
        arg->integer = lua_toboolean(L, index);
        break;
    case 'd': {
        const char *name = lua_tostring(L, index);
        enum dtype dtype = name ? dtype_find(name) : DTYPE_NONE;
        if (dtype == DTYPE_NONE)
            luaL_error(L, "%s: %s: unknown type '%s'", b->op->name, a->name,
                       name ? name : luaL_typename(L, index));
        arg->integer = dtype;
        arg->text = op_dtype_marker;
        break;
    }
    case 's':
        arg->text = luaL_checkstring(L, index);
        break;
    default:
        read_number(L, b, i, index, arg);
    }
}

/* A last argument that is a table with string keys names arguments. */
static bool has_named(lua_State *L, int top) {
    if (top == 0 || !lua_istable(L, top) || lua_getmetatable(L, top)) {
        if (top > 0 && lua_istable(L, top))
            lua_pop(L, 1);
        return false;
    }
    lua_pushnil(L);
    if (!lua_next(L, top))
        return false;
    bool named = lua_type(L, -2) == LUA_TSTRING;
    lua_pop(L, 2);
    return named;
}

static void check_names(lua_State *L, const struct bound_op *b, int table) {
    lua_pushnil(L);
    while (lua_next(L, table)) {
        bool known = false;
        for (unsigned i = 0; i < b->count; i++)
            known = known || (lua_type(L, -2) == LUA_TSTRING &&
                              strcmp(lua_tostring(L, -2), b->argument[i].name) == 0);
        if (!known)
            luaL_error(L, "%s: unknown argument '%s'; it takes: %s", b->op->name,
                       lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?",
                       b->op->signature);
        lua_pop(L, 1);
    }
}

static void read_call(lua_State *L, const struct bound_op *b, struct op_call *call) {
    int top = lua_gettop(L), named = has_named(L, top) ? top : 0, index = 1;
    int last = named ? top - 1 : top;
    luaL_checkstack(L, 2 * OP_MAX_ARGS, "too many arguments");
    if (named)
        check_names(L, b, named);
    for (unsigned i = 0; i < b->count; i++) {
        const struct argument *a = &b->argument[i];
        struct op_arg *arg = &call->arg[i];
        if (index <= last && !lua_isnil(L, index)) {
            read_argument(L, b, i, index, last, arg);
            bool spread = a->kind == 'I' && !lua_istable(L, index);
            index += spread ? (int)arg->shape.ndim : 1;
            if (spread && arg->shape.ndim == 0)
                bad_argument(L, b, i, index, "sizes");
            continue;
        }
        index++;
        if (named && lua_getfield(L, named, a->name) != LUA_TNIL) {
            /* the value stays on the stack */
            read_argument(L, b, i, lua_gettop(L), lua_gettop(L), arg);
            continue;
        }
        if (!a->optional && !a->has_default)
            luaL_error(L, "%s: %s is missing; it takes: %s", b->op->name, a->name,
                       b->op->signature);
        arg->integer = (int64_t)a->fallback;
        arg->number = a->fallback;
    }
    if (index <= last)
        luaL_error(L, "%s: %d arguments too many; it takes: %s", b->op->name, last - index + 1,
                   b->op->signature);
}

/* At least one tensor among "tensor or number" arguments. */
static void check_operands(lua_State *L, const struct bound_op *b, const struct op_call *call) {
    bool wants = false, found = false;
    for (unsigned i = 0; i < b->count; i++) {
        wants = wants || b->argument[i].kind == 'X';
        found = found || call->arg[i].tensor;
    }
    if (wants && !found)
        luaL_error(L, "%s: needs a tensor", b->op->name);
}

static int push_results(lua_State *L, struct host *host, struct op_call *call) {
    for (unsigned i = 0; i < call->out_count; i++)
        names_float(L, call->out[i], NULL); /* before anything can fail */
    struct tensor_list *list = NULL;
    if (call->out_list) {
        list = lists_new(host);
        for (size_t i = 0; i < call->out_list_count; i++)
            if (!list || !list_append(list, call->out_list[i]))
                tape_fail_memory(host->tape);
        for (size_t i = 0; i < call->out_list_count; i++) /* the list has its own references */
            tensor_unref(host->tape, call->out_list[i]);
        xfree(call->out_list);
        if (list)
            names_float(L, NULL, list);
    }
    host_check(L, host);
    luaL_checkstack(L, OP_MAX_OUTPUTS, "too many results");
    for (unsigned i = 0; i < call->out_count; i++)
        tensors_push(L, call->out[i]);
    if (list)
        lists_push(L, list);
    return (int)call->out_count + (list ? 1 : 0);
}

static int call_op(lua_State *L) {
    const struct bound_op *b = lua_touserdata(L, lua_upvalueindex(1));
    struct host *host = host_of(L);
    struct op_call call = {.op = b->op, .trace_name = b->trace_name};
    read_call(L, b, &call);
    check_operands(L, b, &call);
    op_run(host->tape, &call);
    return push_results(L, host, &call);
}

/* __unm is called with the operand twice */
static int call_neg(lua_State *L) {
    lua_settop(L, 1);
    return call_op(L);
}

/* The `torch` table is on top of the stack. */
void ops_open(lua_State *L) {
    names_watch(L, call_op);
    names_watch(L, call_neg);
    for (size_t i = 0; op_row(i); i++) {
        struct bound_op *bound = lua_newuserdatauv(L, sizeof *bound, 0);
        parse_signature(op_row(i), bound);
        lua_pushcclosure(L, strcmp(op_row(i)->name, "neg") == 0 ? call_neg : call_op, 1);
        lua_setfield(L, -2, op_row(i)->name);
    }
    for (unsigned i = 1; i < DTYPE_COUNT; i++) {
        lua_pushstring(L, dtype_name((enum dtype)i));
        lua_setfield(L, -2, dtype_name((enum dtype)i));
    }
}
