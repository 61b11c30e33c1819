/* tensors.c: the tensor handle: x.shape, x.dtype, x:view(...), x + y. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

static struct tensor_handle *test_handle(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA)
        return NULL;
    struct tensor_handle *h = lua_touserdata(L, index);
    return h->kind == HANDLE_TENSOR ? h : NULL;
}

static bool is_live(const struct tensor_handle *h) {
    return h->tensor->refs > 0 && h->tensor->id == h->id;
}

struct tensor *tensors_test(lua_State *L, int index) {
    struct tensor_handle *h = test_handle(L, index);
    return h && is_live(h) ? h->tensor : NULL;
}

struct tensor *tensors_check(lua_State *L, int index) {
    struct tensor_handle *h = test_handle(L, index);
    if (!h) {
        luaL_error(L, "argument %d: expected a tensor, found %s", index, luaL_typename(L, index));
        return NULL;
    }
    if (!is_live(h)) {
        luaL_error(L,
                   "argument %d: this tensor was released: no name of a running function, plain "
                   "table or list held it "
                   "(a module keeps a tensor with nn.Buffer or nn.Parameter)",
                   index);
        return NULL;
    }
    return h->tensor;
}

void tensors_push(lua_State *L, struct tensor *t) {
    struct tensor_handle *h = lua_newuserdatauv(L, sizeof *h, 0);
    h->kind = HANDLE_TENSOR;
    h->id = t->id;
    h->tensor = t;
    lua_rawgetp(L, LUA_REGISTRYINDEX, TENSOR_TYPE);
    lua_setmetatable(L, -2);
}

void tensors_push_owned(lua_State *L, struct tensor *t) {
    names_float(L, t, NULL);
    tensors_push(L, t);
}

static void push_shape(lua_State *L, const struct tensor *t) {
    lua_createtable(L, (int)t->shape.ndim, 0);
    for (unsigned i = 0; i < t->shape.ndim; i++) {
        lua_pushinteger(L, t->shape.size[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    luaL_setmetatable(L, SHAPE_TYPE);
}

/* What a shape lacks: PyTorch's indices count from 0 and from the end, Lua's do not. */
static int shape_index(lua_State *L) {
    if (lua_isinteger(L, 2) && lua_tointeger(L, 2) < 1)
        return luaL_error(L, "shape[%d]: shape counts from 1; x:size(%d) counts as PyTorch does",
                          (int)lua_tointeger(L, 2), (int)lua_tointeger(L, 2));
    return 0;
}

/* upvalue 1: the methods. Attributes are few; a string compare each. */
static int tensor_index(lua_State *L) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    struct tensor *t = tensors_check(L, 1);
    const char *key = lua_tostring(L, 2);
    if (!key)
        return luaL_error(L, "a tensor has no index; use select, slice or narrow");
    if (strcmp(key, "shape") == 0)
        push_shape(L, t);
    else if (strcmp(key, "dtype") == 0)
        lua_pushstring(L, dtype_name(t->dtype));
    else if (strcmp(key, "ndim") == 0)
        lua_pushinteger(L, t->shape.ndim);
    else if (strcmp(key, "requires_grad") == 0)
        lua_pushboolean(L, t->requires_grad);
    else if (strcmp(key, "is_buffer") == 0)
        lua_pushboolean(L, t->is_buffer);
    else if (strcmp(key, "grad") == 0) {
        if (t->grad)
            tensors_push(L, t->grad);
        else
            lua_pushnil(L);
    } else
        return luaL_error(L, "a tensor has no attribute or method '%s'", key);
    return 1;
}

static int tensor_newindex(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor *t = tensors_check(L, 1);
    const char *key = luaL_checkstring(L, 2);
    if (strcmp(key, "grad") == 0 && lua_isnil(L, 3)) {
        tensor_unref(host->tape, t->grad);
        t->grad = NULL;
    } else if (strcmp(key, "requires_grad") == 0) {
        t->requires_grad = lua_toboolean(L, 3) != 0;
    } else {
        return luaL_error(L, "cannot set '%s' of a tensor (grad = nil and requires_grad can be)",
                          key);
    }
    return 0;
}

static int tensor_tostring(lua_State *L) {
    struct tensor_handle *h = test_handle(L, 1);
    char shape[128];
    if (!h || !is_live(h))
        lua_pushliteral(L, "tensor (released)");
    else
        lua_pushfstring(L, "tensor %s %s", shape_format(&h->tensor->shape, shape, sizeof shape),
                        dtype_name(h->tensor->dtype));
    return 1;
}

static int tensor_size(lua_State *L) {
    struct tensor *t = tensors_check(L, 1);
    unsigned dim;
    if (!shape_wrap_dim(&t->shape, luaL_checkinteger(L, 2), &dim) || t->shape.ndim == 0)
        return luaL_error(L, "size: dim %d of a tensor of %d dims", (int)lua_tointeger(L, 2),
                          (int)t->shape.ndim);
    lua_pushinteger(L, t->shape.size[dim]);
    return 1;
}

static int tensor_numel(lua_State *L) {
    lua_pushinteger(L, shape_numel(&tensors_check(L, 1)->shape));
    return 1;
}

/* x:as("input"): what the tensor is for, where a scenario knows better than the simulator. Returns
 * x. */
static int tensor_as(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor *t = tensors_check(L, 1);
    const char *key = host_text(L, 2), *name = host_optional_text(L, 3);
    enum category category = category_find(key);
    if (category == CATEGORY_UNKNOWN)
        return luaL_error(L, "unknown category '%s'", key);
    tape_set_category(host->tape, t, category, true);
    if (name)
        tape_set_name(host->tape, t, NULL, name);
    lua_settop(L, 1);
    return 1;
}

/* x:storage(): a number for what the tensor lies in, its bytes, what it is for (category.h) */
static int tensor_storage(lua_State *L) {
    struct tensor *t = tensors_check(L, 1);
    lua_pushinteger(L, (lua_Integer)t->storage->block);
    lua_pushinteger(L, (lua_Integer)t->storage->bytes);
    lua_pushstring(L, category_key(t->storage->category));
    return 3;
}

/* x:backward(), x:backward(gradient or nil, retain_graph) */
static int tensor_backward(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor *gradient = lua_isnoneornil(L, 2) ? NULL : tensors_check(L, 2);
    backward_run(host->tape, tensors_check(L, 1), gradient, lua_toboolean(L, 3));
    host_check(L, host);
    return 0;
}

/* x:item(): the host waits for the device and reads a number; the simulator knows none, so 0. */
static int tensor_item(lua_State *L) {
    struct host *host = host_of(L);
    tensors_check(L, 1);
    if (host->tape->status == TAPE_OK)
        host->tape->sink.synchronize(host->tape->sink.user);
    lua_pushinteger(L, 0);
    return 1;
}

static const luaL_Reg methods[] = {
    {"size", tensor_size},
    {"numel", tensor_numel},
    {"as", tensor_as},
    {"storage", tensor_storage},
    {"backward", tensor_backward},
    {"item", tensor_item},
    {NULL, NULL},
};

static const char *const operators[][2] = {
    {"__add", "add"}, {"__sub", "sub"}, {"__mul", "mul"},
    {"__div", "div"}, {"__pow", "pow"}, {"__unm", "neg"},
};

/* The `torch` table is on top of the stack: its ops become methods. */
void tensors_open(lua_State *L) {
    int torch = lua_gettop(L);
    names_watch(L, tensor_backward);
    names_watch(L, tensor_as);
    names_watch(L, tensor_newindex);
    names_watch(L, tensor_item);
    lua_newtable(L); /* methods */
    luaL_setfuncs(L, methods, 0);
    for (size_t i = 0; op_row(i); i++) {
        lua_getfield(L, torch, op_row(i)->name);
        lua_setfield(L, -2, op_row(i)->name);
    }
    lua_newtable(L); /* metatable */
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, tensor_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, tensor_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, tensor_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "tensor");
    lua_setfield(L, -2, "__name");
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        lua_getfield(L, torch, operators[i][1]);
        lua_setfield(L, -2, operators[i][0]);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, TENSOR_TYPE);
    lua_pop(L, 1);
    luaL_newmetatable(L, SHAPE_TYPE);
    lua_pushcfunction(L, shape_index);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
