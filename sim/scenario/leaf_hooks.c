/* leaf_hooks.c: functions that run when the gradient of a parameter is there
 * (Tensor.register_post_accumulate_grad_hook), as optimizers in the backward do. */
#include "host.h"

static const char registry_key[] = "vramsim.leaf_hooks"; /* tensor -> function */

static void accumulated(void *user, struct tensor *leaf) {
    struct host *host = user;
    lua_State *L = host->lua;
    if (!lua_checkstack(L, 8)) {
        tape_fail_memory(host->tape);
        return;
    }
    int top = lua_gettop(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, registry_key);
    if (lua_rawgetp(L, -1, leaf) == LUA_TFUNCTION) {
        tensors_push(L, leaf);
        catch_call(host, 1, 0);
    }
    lua_settop(L, top);
    names_drop_floats(&host->names, host->tape);
}

/* torch.register_post_accumulate_grad_hook(p, f): f(p) in each backward, when p.grad is there. One a
 * parameter; p must be held for good, as a model's parameters are. */
static int register_hook(lua_State *L) {
    struct host *host = host_of(L);
    struct tensor *leaf = tensors_check(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    luaL_argcheck(L, leaf->kept > 0 && leaf->requires_grad && !leaf->grad_fn, 1,
                  "a parameter that requires a gradient expected");
    luaL_argcheck(L, !leaf->has_hook, 1,
                  "the parameter has a hook already, and takes one: call both functions from it");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, registry_key);
    lua_pushvalue(L, 2);
    lua_rawsetp(L, -2, leaf);
    leaf->has_hook = true;
    host->tape->accumulated = accumulated;
    host->tape->accumulated_user = host;
    return 0;
}

/* The `torch` table is on top of the stack. */
void leaf_hooks_open(lua_State *L) {
    lua_pushcfunction(L, register_hook);
    lua_setfield(L, -2, "register_post_accumulate_grad_hook");
}
