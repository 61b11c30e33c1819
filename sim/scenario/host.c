/* host.c: a scenario's host, from Lua, and how it ends a run. See host.h. */
#include "host.h"

#include <string.h>

struct host *host_of(lua_State *L) {
    struct host *host;
    memcpy(&host, lua_getextraspace(L), sizeof host);
    return host;
}

void host_check(lua_State *L, struct host *host) {
    if (host->tape->status == TAPE_OK)
        return;
    if (host->tape->status == TAPE_OUT_OF_MEMORY)
        host->stopped = true;
    if (host->tape->status == TAPE_UNWINDING)
        luaL_error(L, "torch.stop() that no torch.catch_stop() catches");
    luaL_error(L, "%s", host->tape->error.text);
}

int host_fail_memory(lua_State *L, struct host *host) {
    tape_fail_memory(host->tape);
    host_check(L, host);
    return 0;
}
