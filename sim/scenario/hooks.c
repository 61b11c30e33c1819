/* hooks.c: what a scenario may put into autograd: hooks on saved tensors
 * (torch.autograd.graph.saved_tensors_hooks) and functions with a backward of their own
 * (torch.autograd.Function). Both are Lua functions that are called from within the tape; what they
 * keep of tensors is counted here, as Lua's collector plays no part. */
#include <string.h>

#include "host.h"

static int no_memory(lua_State *L) {
    return host_fail_memory(L, host_of(L));
}

/* ---- hooks on saved tensors ---- */

struct lua_hooks {
    struct saved_hooks hooks;
    struct host *host;
    uint32_t refs; /* the running call and every packed value */
    int pack, unpack;
    struct tensor_list *holds; /* what the hooks' functions hold; NULL: nothing */
};

/* What a pack hook returned: a tensor, a list, or any other value. */
struct packed {
    struct tensor *tensor;
    struct tensor_list *list;
    int reference;
};

static void unref_hooks(struct lua_hooks *h) {
    if (--h->refs > 0)
        return;
    luaL_unref(h->host->lua, LUA_REGISTRYINDEX, h->pack);
    luaL_unref(h->host->lua, LUA_REGISTRYINDEX, h->unpack);
    if (h->holds)
        list_unref(h->host->tape, h->holds);
}

/* Takes the value on top of the stack. */
static void take_packed(struct lua_hooks *h, struct packed *p) {
    lua_State *L = h->host->lua;
    p->tensor = tensor_ref(tensors_test(L, -1));
    p->list = p->tensor ? NULL : lists_test(L, -1);
    p->reference = LUA_NOREF;
    if (p->list)
        p->list->refs++;
    if (p->tensor || p->list)
        lua_pop(L, 1);
    else
        p->reference = luaL_ref(L, LUA_REGISTRYINDEX);
    names_drop_floats(&h->host->names, h->host->tape);
}

static void *pack(void *user, struct tensor *t) {
    struct lua_hooks *h = user;
    lua_State *L = h->host->lua;
    struct packed *p = arena_alloc(&h->host->tape->arena, sizeof *p);
    if (!p || !lua_checkstack(L, 8)) {
        tape_fail_memory(h->host->tape);
        return NULL;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->pack);
    tensors_push(L, t);
    if (!catch_call(h->host, 1, 1))
        return NULL;
    take_packed(h, p);
    h->refs++;
    return p;
}

static void push_packed(lua_State *L, const struct packed *p) {
    if (p->tensor)
        tensors_push(L, p->tensor);
    else if (p->list)
        lists_push(L, p->list);
    else
        lua_rawgeti(L, LUA_REGISTRYINDEX, p->reference);
}

static struct tensor *unpack(void *user, void *packed) {
    struct lua_hooks *h = user;
    struct host *host = h->host;
    lua_State *L = host->lua;
    if (!lua_checkstack(L, 8)) {
        tape_fail_memory(host->tape);
        return NULL;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->unpack);
    push_packed(L, packed);
    if (!catch_call(host, 1, 1))
        return NULL;
    struct tensor *t = tensor_ref(tensors_test(L, -1));
    if (!t)
        tape_fail(host->tape, ERROR_BAD_SCENARIO,
                  "saved_tensors_hooks: unpack returned %s, not a tensor", luaL_typename(L, -1));
    lua_pop(L, 1);
    names_drop_floats(&host->names, host->tape);
    return t;
}

static void drop(void *user, void *packed) {
    struct lua_hooks *h = user;
    struct packed *p = packed;
    struct tensor *tensor = p->tensor;
    p->tensor = NULL;
    tensor_unref(h->host->tape, tensor);
    if (p->list)
        list_unref(h->host->tape, p->list);
    luaL_unref(h->host->lua, LUA_REGISTRYINDEX, p->reference);
    unref_hooks(h);
}

static int field_function(lua_State *L, const char *name) {
    if (lua_getfield(L, 1, name) != LUA_TFUNCTION)
        luaL_error(L, "saved_tensors_hooks: '%s' must be a function", name);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* What an error's traceback goes on holding. */
static void hold_in_traceback(struct host *host, struct tensor_list *list) {
    struct holding h = {.list = list};
    if (!list)
        return;
    list->refs++;
    if (!array_push(&host->traceback, h))
        list_unref(host->tape, list);
}

/* torch.saved_tensors_hooks({pack = , unpack = , holds = list or nil}, f, ...): f(...) with the
 * hooks on. `holds`: tensors that the hooks' functions hold, as long as the hooks or anything
 * packed by them lives. */
static int saved_tensors_hooks(lua_State *L) {
    struct host *host = host_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    struct lua_hooks *h = arena_calloc(&host->tape->arena, 1, sizeof *h);
    if (!h)
        return no_memory(L);
    *h = (struct lua_hooks){.hooks = {h, pack, unpack, drop}, .host = host, .refs = 1};
    h->pack = field_function(L, "pack");
    h->unpack = field_function(L, "unpack");
    lua_getfield(L, 1, "holds");
    h->holds = lists_test(L, -1);
    if (h->holds)
        h->holds->refs++;
    lua_pop(L, 1);
    struct host_state state = catch_begin(host);
    host->tape->saved_hooks = &h->hooks;
    int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
    host->tape->saved_hooks = state.saved_hooks;
    if (status != LUA_OK)
        hold_in_traceback(host, h->holds);
    unref_hooks(h);
    return status == LUA_OK ? lua_gettop(L) - 1 : lua_error(L);
}

/* ---- autograd functions ---- */

enum { FUNCTION_OUTPUTS = 8, FUNCTION_WORK = 50 };

struct lua_function { /* of one node */
    struct host *host;
    int backward, context;
    struct tensor_list *holds; /* NULL: nothing */
    struct tensor *to_save[NODE_MAX_SAVED];
    unsigned to_save_count;
};

static void drop_to_save(struct lua_function *f) {
    while (f->to_save_count > 0)
        tensor_unref(f->host->tape, f->to_save[--f->to_save_count]);
}

static void drop_function(void *user) {
    struct lua_function *f = user;
    drop_to_save(f);
    luaL_unref(f->host->lua, LUA_REGISTRYINDEX, f->backward);
    luaL_unref(f->host->lua, LUA_REGISTRYINDEX, f->context);
    if (f->holds)
        list_unref(f->host->tape, f->holds);
}

static void push_saved(lua_State *L, const struct node *node) {
    lua_createtable(L, NODE_MAX_SAVED, 0);
    for (unsigned i = 0; i < NODE_MAX_SAVED && node->saved[i]; i++) {
        tensors_push(L, node->saved[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* backward(ctx, saved tensors, gradients ...): a gradient, or nil, for every tensor that apply was
 * given. */
static void run_function(void *user, struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct lua_function *f = user;
    lua_State *L = f->host->lua;
    if (!lua_checkstack(L, FUNCTION_OUTPUTS + 16 + node->edge_count)) {
        tape_fail_memory(tape);
        return;
    }
    int top = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->backward);
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->context);
    push_saved(L, node);
    for (unsigned i = 0; i < node->output_count; i++) {
        if (grads[i])
            tensors_push(L, grads[i]);
        else
            lua_pushnil(L);
    }
    if (!catch_call(f->host, 2 + node->output_count, node->edge_count))
        return;
    for (unsigned i = 0; i < node->edge_count; i++) {
        int at = top + 1 + (int)i;
        struct tensor *t = tensors_test(L, at);
        if (!t && !lua_isnil(L, at))
            tape_fail(tape, ERROR_BAD_SCENARIO, "%s: gradient %u is %s, not a tensor or nil",
                      node->op->name, i + 1, luaL_typename(L, at));
        if (node_wants(node, i))
            out[i] = tensor_ref(t);
    }
    lua_settop(L, top);
    names_drop_floats(&f->host->names, tape);
}

/* The node of a call with the tensors among arguments 1 .. n; NULL: no gradient is wanted. */
static struct node *make_node(lua_State *L, struct host *host, struct lua_function *f, int n) {
    struct tensor **inputs = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof(struct tensor *), 0);
    unsigned count = 0;
    for (int i = 1; i <= n; i++)
        if (tensors_test(L, i))
            inputs[count++] = tensors_test(L, i);
    const struct node_function function = {f, run_function, drop_function};
    struct node *node = node_create_function(host->tape, lua_touserdata(L, lua_upvalueindex(1)),
                                             &function, inputs, count, FUNCTION_OUTPUTS);
    lua_pop(L, 1);
    return node;
}

/* ctx.save_for_backward(tensors ...): held from here on, saved when the forward has ended. */
static int save_for_backward(lua_State *L) {
    struct lua_function *f = lua_touserdata(L, lua_upvalueindex(1));
    int n = lua_gettop(L);
    if (n > NODE_MAX_SAVED)
        return luaL_error(L, "save_for_backward: at most %d tensors, found %d", NODE_MAX_SAVED, n);
    for (int i = 1; i <= n; i++)
        tensors_check(L, i);
    drop_to_save(f);
    for (int i = 1; i <= n; i++)
        f->to_save[f->to_save_count++] = tensor_ref(tensors_check(L, i));
    return 0;
}

/* ctx.hold(tensors ...): ctx holds them from here on, as its attributes do in Python: to the end of the
 * node, beyond its backward. */
static int hold(lua_State *L) {
    struct lua_function *f = lua_touserdata(L, lua_upvalueindex(1));
    int n = lua_gettop(L);
    for (int i = 1; i <= n; i++)
        if (!lua_isnil(L, i))
            tensors_check(L, i);
    if (!f->holds)
        f->holds = lists_new(f->host);
    for (int i = 1; f->holds && i <= n; i++)
        if (!lua_isnil(L, i) && !list_append(f->holds, tensors_test(L, i)))
            return host_fail_memory(L, f->host);
    return f->holds ? 0 : host_fail_memory(L, f->host);
}

/* What the forward gave ctx to save: with the call above, or as ctx.saved, a table of tensors that
 * somebody holds beside. */
static void save_all(lua_State *L, struct host *host, struct node *node, struct lua_function *f,
                     int ctx) {
    unsigned given = f->to_save_count;
    for (unsigned i = 0; i < given; i++)
        node_save(host->tape, node, i, f->to_save[i]);
    drop_to_save(f);
    lua_getfield(L, ctx, "saved");
    int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
    if (n + (int)given > NODE_MAX_SAVED)
        luaL_error(L, "an autograd function saves at most %d tensors", NODE_MAX_SAVED);
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(L, -1, i);
        node_save(host->tape, node, given + (unsigned)i - 1, tensors_check(L, -1));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_setfield(L, ctx, "saved");
    lua_pushnil(L);
    lua_setfield(L, ctx, "save_for_backward");
    lua_pushnil(L);
    lua_setfield(L, ctx, "hold");
}

static void take_holds(lua_State *L, struct lua_function *f, int ctx) {
    lua_getfield(L, ctx, "holds");
    struct tensor_list *list = lists_test(L, -1);
    if (list && f->holds)
        luaL_error(L, "an autograd function: ctx.holds and ctx.hold() exclude each other");
    if (list) {
        f->holds = list;
        list->refs++;
    }
    lua_pop(L, 1);
}

/* An input that is returned is returned as another tensor: it gets a history of its own. */
static void set_outputs(lua_State *L, struct host *host, struct node *node, int first, int last) {
    for (int i = first; i <= last; i++) {
        struct tensor *t = tensors_test(L, i);
        if (!t)
            continue;
        if (i - first >= FUNCTION_OUTPUTS)
            luaL_error(L, "an autograd function returns at most %d tensors", FUNCTION_OUTPUTS);
        if (t->requires_grad) {
            tensors_push_owned(L, tape_detach(host->tape, t));
            lua_replace(L, i);
            t = tensors_test(L, i);
        }
        node_set_output(node, t, (unsigned)(i - first));
    }
}

/* What saving calls (hooks that pack) lets go of results without a name: those of this call live on. */
static void save_beside_outputs(lua_State *L, struct host *host, struct node *node,
                                struct lua_function *f, int ctx) {
    struct tensor *kept[FUNCTION_OUTPUTS];
    unsigned count = 0;
    for (int i = ctx + 1, last = lua_gettop(L); i <= last && count < FUNCTION_OUTPUTS; i++)
        if (tensors_test(L, i))
            kept[count++] = tensor_ref(tensors_test(L, i));
    save_all(L, host, node, f, ctx);
    for (unsigned i = 0; i < count; i++)
        names_float(L, kept[i], NULL);
}

/* apply(...): upvalues: the backward_op, forward, backward */
static int apply(lua_State *L) {
    struct host *host = host_of(L);
    struct tape *tape = host->tape;
    int n = lua_gettop(L);
    struct lua_function *f = arena_calloc(&tape->arena, 1, sizeof *f);
    if (!f)
        return no_memory(L);
    luaL_checkstack(L, n + 16, "too many arguments");
    lua_newtable(L); /* ctx, which no walk of names enters */
    int ctx = lua_gettop(L);
    lua_newtable(L);
    lua_setmetatable(L, ctx);
    lua_pushvalue(L, lua_upvalueindex(3));
    *f = (struct lua_function){.host = host, .backward = luaL_ref(L, LUA_REGISTRYINDEX)};
    lua_pushlightuserdata(L, f);
    lua_pushcclosure(L, save_for_backward, 1);
    lua_setfield(L, ctx, "save_for_backward");
    lua_pushlightuserdata(L, f);
    lua_pushcclosure(L, hold, 1);
    lua_setfield(L, ctx, "hold");
    lua_pushvalue(L, ctx);
    f->context = luaL_ref(L, LUA_REGISTRYINDEX);
    struct node *node = make_node(L, host, f, n);
    bool grad_enabled = tape->grad_enabled;
    tape->grad_enabled = false;
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, ctx);
    for (int i = 1; i <= n; i++)
        lua_pushvalue(L, i);
    int status = lua_pcall(L, n + 1, LUA_MULTRET, 0);
    tape->grad_enabled = grad_enabled;
    if (status == LUA_OK && node) {
        set_outputs(L, host, node, ctx + 1, lua_gettop(L));
        save_beside_outputs(L, host, node, f, ctx);
        take_holds(L, f, ctx);
    }
    if (node)
        node_finish(tape, node);
    else
        drop_function(f);
    return status == LUA_OK ? lua_gettop(L) - ctx : lua_error(L);
}

/* torch.autograd_function{name = "CheckpointFunction", forward = function(ctx, ...), backward =
 * function(ctx, saved, gradients ...)}: a function that is recorded as one node. forward runs
 * without recording; it may set ctx.saved (a table of tensors to save for backward) and ctx.holds
 * (a list of what ctx itself holds), and other fields. */
static int autograd_function(lua_State *L) {
    struct host *host = host_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    host_charge(L, host, FUNCTION_WORK);
    struct backward_op *op = arena_calloc(&host->tape->arena, 1, sizeof *op);
    if (!op)
        return no_memory(L);
    lua_getfield(L, 1, "name");
    const char *name = lua_pushfstring(L, "%sBackward", host_text(L, lua_gettop(L)));
    *op = (struct backward_op){.name = arena_strdup(&host->tape->arena, name),
                               .run = backward_function};
    if (!op->name)
        return no_memory(L);
    lua_pushlightuserdata(L, op);
    if (lua_getfield(L, 1, "forward") != LUA_TFUNCTION ||
        lua_getfield(L, 1, "backward") != LUA_TFUNCTION)
        return luaL_error(L, "autograd_function: needs the functions forward and backward");
    lua_pushcclosure(L, apply, 3);
    return 1;
}

/* The `torch` table is on top of the stack. */
void hooks_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"saved_tensors_hooks", saved_tensors_hooks},
                                         {"autograd_function", autograd_function},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    names_watch_python(L, saved_tensors_hooks);
    names_watch_python(L, apply);
    names_watch(L, save_for_backward);
    names_watch(L, hold);
}
