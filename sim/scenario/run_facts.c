/* run_facts.c: what a scenario may read of the card and of the run: torch.get_device_properties(),
 * torch.memory_stats(), torch.simulated_time(); copies of which only the time counts. The same in every run of a
 * scenario; the times are estimates (clocks.h). */
#include "host.h"

static void set_integer(lua_State *L, const char *key, uint64_t value) {
    lua_pushinteger(L, value > INT64_MAX ? INT64_MAX : (lua_Integer)value);
    lua_setfield(L, -2, key);
}

/* name total_memory context multiprocessors compute_capability; rates in bytes a second:
 * memory_rate link_rate host_memory_rate transfer_rate */
static int get_device_properties(lua_State *L) {
    const struct device *d = host_of(L)->tape->device;
    lua_newtable(L);
    lua_pushstring(L, d->product);
    lua_setfield(L, -2, "name");
    set_integer(L, "total_memory", d->total_bytes);
    set_integer(L, "context", d->context_bytes);
    set_integer(L, "multiprocessors", d->multiprocessors);
    set_integer(L, "compute_capability", d->compute_capability);
    set_integer(L, "memory_rate", d->bandwidth_bytes_per_s);
    set_integer(L, "link_rate", d->link_bytes_per_s);
    set_integer(L, "host_memory_rate", d->host_memory_bytes_per_s);
    set_integer(L, "transfer_rate", device_transfer_rate(d));
    return 1;
}

/* allocated allocated_peak reserved reserved_peak free total, in bytes */
static int memory_stats(lua_State *L) {
    const struct tape *tape = host_of(L)->tape;
    struct tape_memory m = {.total = tape->device->total_bytes};
    if (tape->sink.memory)
        tape->sink.memory(tape->sink.user, &m);
    lua_newtable(L);
    set_integer(L, "allocated", m.allocated);
    set_integer(L, "allocated_peak", m.allocated_peak);
    set_integer(L, "reserved", m.reserved);
    set_integer(L, "reserved_peak", m.reserved_peak);
    set_integer(L, "free", m.free);
    set_integer(L, "total", m.total);
    return 1;
}

/* Seconds since the start on the host's simulated clock. */
static int simulated_time(lua_State *L) {
    const struct tape *tape = host_of(L)->tape;
    uint64_t ns = tape->sink.time_ns ? tape->sink.time_ns(tape->sink.user) : 0;
    lua_pushnumber(L, (double)ns * 1e-9);
    return 1;
}

/* torch.copy_over_link(bytes, to_host): the time of a copy whose memory is there already */
static int copy_over_link(lua_State *L) {
    struct tape *tape = host_of(L)->tape;
    lua_Integer bytes = luaL_checkinteger(L, 1);
    luaL_argcheck(L, bytes >= 0, 1, "a count of bytes expected");
    tape_transfer(tape, lua_toboolean(L, 2) ? "copy_to_host" : "copy_to_device", (uint64_t)bytes,
                  DTYPE_UINT8);
    return 0;
}

/* The `torch` table is on top of the stack. */
void run_facts_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"get_device_properties", get_device_properties},
                                         {"memory_stats", memory_stats},
                                         {"simulated_time", simulated_time},
                                         {"copy_over_link", copy_over_link},
                                         {NULL, NULL}};
    names_watch(L, memory_stats); /* what no name holds any more is gone */
    luaL_setfuncs(L, functions, 0);
}
