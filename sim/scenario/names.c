/* names.c: see names.h.
 *
 * Frames are pushed by call events and popped by return events. A frame is only scanned while it is
 * the top one (its callee's event has just come), so scans are cheap: a dozen locals. C functions
 * that neither ask for memory nor keep tensors are ignored altogether. */
#include "names.h"

#include "host.h"
#include "walk.h"

enum {
    /* as many calls as Lua's own stack allows; tail calls would have no limit */
    MAX_FRAMES = 200000,
    CALL_WORK = 20, /* a call's share of the limit of work: about what it costs beside Lua's own */
};

static void release(struct tape *tape, struct holding *h) {
    struct tensor *tensor = h->tensor;
    struct tensor_list *list = h->list;
    h->tensor = NULL;
    h->list = NULL;
    tensor_unref(tape, tensor);
    if (list)
        list_unref(tape, list);
}

void names_release(struct tape *tape, struct holdings *held) {
    for (size_t i = 0; i < held->count; i++)
        release(tape, &held->at[i]);
    held->count = 0;
}

void names_take(struct names *names, struct tape *tape, size_t depth, struct holdings *to) {
    for (size_t i = depth; i < names->depth; i++) {
        struct frame *frame = &names->frames.at[i];
        names_release(tape, &frame->floats);
        if (!frame->is_c || frame->passes)
            for (size_t k = 0; k < frame->held.count; k++)
                if (array_push(to, frame->held.at[k]))
                    frame->held.at[k] = (struct holding){.tensor = NULL};
        names_release(tape, &frame->held);
    }
    if (names->depth > depth)
        names->depth = depth;
}

void names_drop_floats(struct names *names, struct tape *tape) {
    if (names->depth > 0)
        names_release(tape, &names->frames.at[names->depth - 1].floats);
}

void names_fini(struct names *names, struct tape *tape) {
    for (size_t i = 0; i < names->frames.count; i++) { /* frames beyond depth hold nothing */
        struct frame *frame = &names->frames.at[i];
        struct holdings *lists[] = {&frame->held, &frame->floats};
        for (size_t k = 0; k < 2; k++) {
            names_release(tape, lists[k]);
            array_fini(lists[k]);
        }
    }
    array_fini(&names->frames);
    array_fini(&names->watched);
    xfree(names->visited);
}

size_t names_bytes(const struct names *names) {
    size_t bytes = array_bytes(&names->frames) + names->visited_capacity * sizeof *names->visited;
    for (size_t i = 0; i < names->frames.count; i++)
        bytes += array_bytes(&names->frames.at[i].held) + array_bytes(&names->frames.at[i].floats);
    return bytes;
}

/* ---- frames ---- */

static struct frame *push_frame(struct host *host, bool is_c, unsigned ghosts) {
    struct names *names = &host->names;
    assert(names->frames.capacity == 0 || names->frames.at);
    if (names->depth == names->frames.count) {
        struct frame fresh = {.ghosts = 0};
        if (!array_push(&names->frames, fresh)) { /* NOLINT(clang-analyzer-core.NullDereference) */
            tape_fail_memory(host->tape);
            return NULL;
        }
    }
    assert(names->frames.at);
    struct frame *frame = &names->frames.at[names->depth++];
    frame->is_c = is_c;
    frame->ghosts = ghosts;
    frame->changed = frame->has_tables = false;
    frame->has_upvalues = true; /* until its first scan has seen them */
    frame->slots = 0;
    return frame;
}

static void add(struct host *host, struct holdings *to, struct holding h) {
    tensor_ref(h.tensor);
    if (h.list)
        h.list->refs++;
    if (!array_push(to, h)) {
        release(host->tape, &h);
        tape_fail_memory(host->tape);
    }
}

/* Goes on holding what the frame held under this name, or begins to. */
static void hold(struct visit *visit, struct tensor *tensor, struct tensor_list *list) {
    struct frame *frame = visit->frame;
    size_t count = visit->left ? frame->held.count : 0, at = visit->next < count ? visit->next : 0;
    for (size_t i = 0; i < count; i++, at = at + 1 < count ? at + 1 : 0) {
        struct holding *h = &frame->held.at[at];
        if (h->scan != frame->scan && h->tensor == tensor && h->list == list &&
            h->name == visit->name) {
            h->scan = frame->scan;
            h->slot = visit->slot;
            visit->next = at + 1;
            visit->left--;
            visit->host->instructions += i / 8; /* a scan of many names in another order */
            return;
        }
    }
    visit->host->instructions += count / 8;
    add(visit->host, &frame->held,
        (struct holding){.name = visit->name,
                         .tensor = tensor,
                         .list = list,
                         .scan = frame->scan,
                         .slot = visit->slot,
                         .seen_scan = frame->scan,
                         .seen_slot = visit->slot,
                         .indirect = visit->indirect,
                         .in_loop = visit->in_loop});
    frame->changed = frame->changed || visit->indirect;
}

static void float_result(struct visit *visit, struct tensor *tensor, struct tensor_list *list) {
    add(visit->host, &visit->frame->floats,
        (struct holding){.tensor = tensor, .list = list, .slot = visit->slot});
}

/* A float that a temporary still holds is kept for one more scan. A call leaves its result in the
 * register of the called function (a method call then moves it up by one); elsewhere its handle is
 * a leftover. An operator's result may be in any register: its slot lies beyond all of them. */
static void keep_float(struct visit *visit, struct tensor *tensor, struct tensor_list *list) {
    struct frame *frame = visit->frame;
    for (size_t i = 0; i < frame->floats.count; i++) {
        struct holding *h = &frame->floats.at[i];
        bool in_place = h->slot > frame->slots || visit->indirect || h->slot == visit->slot ||
                        h->slot + 1 == visit->slot;
        if (h->tensor == tensor && h->list == list && in_place)
            h->scan = frame->scan;
    }
}

/* A local of this name is there, in `slot`: what the name held before is out of date unless it is
 * found again. Lua interns short strings, so a name is its pointer. */
static void see(struct frame *frame, const char *name, uint32_t slot) {
    for (size_t i = 0; i < frame->held.count; i++) {
        struct holding *h = &frame->held.at[i];
        if (h->name == name) {
            h->seen_scan = frame->scan;
            h->seen_slot = slot;
        }
    }
}

static const char argument_name[] = "(argument)"; /* of a C call, or in `...` */

/* What is bound to a name: the value on top of the stack. A handle whose tensor is gone means that
 * the name was shadowed and is visible again; in Python it is one name, and what it was bound to
 * last stays. */
static void scan_name(lua_State *L, struct visit *visit, const char *name, uint32_t slot) {
    int type = lua_type(L, -1);
    struct tensor *tensor = type == LUA_TUSERDATA ? tensors_test(L, -1) : NULL;
    struct tensor_list *list = type == LUA_TUSERDATA && !tensor ? lists_test(L, -1) : NULL;
    if (type == LUA_TUSERDATA && !tensor && !list)
        return;
    visit->name = name;
    visit->slot = slot;
    see(visit->frame, name, slot);
    if (tensor || list)
        hold(visit, tensor, list);
    else if (type == LUA_TTABLE || type == LUA_TFUNCTION)
        walk_value(L, visit);
}

/* The variables of outer functions that the running one names, each under its own identity. */
static void scan_upvalues(lua_State *L, struct visit *visit, lua_Debug *ar) {
    const char *name;
    visit->frame->has_upvalues = false;
    lua_getinfo(L, "f", ar);
    visit->indirect = visit->upvalues = true;
    for (int i = 1; (name = lua_getupvalue(L, -1, i)); i++) {
        if (!walk_is_environment(name)) {
            walk_note_upvalue(L, visit);
            scan_name(L, visit, lua_upvalueid(L, -2, i), 0);
        }
        lua_pop(L, 1);
    }
    visit->indirect = visit->upvalues = false;
    lua_pop(L, 1);
}

/* What a running `for` goes over: held until the loop ends. Loops within each other differ by their
 * register. */
static void scan_loop(lua_State *L, struct visit *visit, uint32_t slot) {
    static const char keys[256];
    int type = lua_type(L, -1);
    if (slot >= sizeof keys || (type != LUA_TTABLE && type != LUA_TFUNCTION))
        return;
    visit->name = &keys[slot];
    visit->slot = slot;
    visit->in_loop = true;
    walk_value(L, visit);
    visit->in_loop = false;
}

/* The names of a Lua frame. */
static void scan_names(lua_State *L, struct host *host, lua_Debug *ar, struct frame *frame) {
    struct visit visit = {.host = host, .frame = frame, .found = hold, .left = frame->held.count};
    const char *name;
    frame->scan = ++host->names.scan;
    int slots = 0, base = lua_gettop(L);
    for (; (name = lua_getlocal(L, ar, slots + 1)); slots++) {
        if (name[0] != '(')
            scan_name(L, &visit, name, (uint32_t)slots + 1);
        else if (name[1] == 'f') /* "(for state)" */
            scan_loop(L, &visit, (uint32_t)slots + 1);
        lua_settop(L, base);
    }
    frame->slots = (uint32_t)slots;
    if (frame->has_upvalues)
        scan_upvalues(L, &visit, ar);
}

/* The arguments of a C call, or a Lua function's `...`. */
static void scan_arguments(lua_State *L, struct host *host, lua_Debug *ar, struct frame *frame) {
    struct visit visit = {.host = host,
                          .frame = frame,
                          .found = hold,
                          .left = frame->held.count,
                          .name = argument_name};
    int step = frame->is_c ? 1 : -1;
    for (int i = step; lua_getlocal(L, ar, i); i += step) {
        visit.slot++;
        walk_value(L, &visit);
        lua_pop(L, 1);
    }
}

/* A function with `...` runs above its arguments, which lie between its register and its frame; its
 * results come back to that register. How many registers that is. */
static uint32_t vararg_shift(lua_State *L, lua_Debug *ar) {
    uint32_t extra = 0;
    lua_getinfo(L, "u", ar);
    if (!ar->isvararg)
        return 0;
    while (lua_getlocal(L, ar, -(int)extra - 1)) {
        lua_pop(L, 1);
        extra++;
    }
    return extra + ar->nparams + 1;
}

/* Rebound, or shadowed by a later local of the same name. A name out of scope keeps what it held:
 * Python's names outlive their block. */
static bool is_stale(const struct frame *frame, const struct holding *h) {
    if (h->in_loop)
        return h->scan != frame->scan;
    return h->seen_scan == frame->scan && (h->scan != frame->scan || h->slot != h->seen_slot);
}

/* The register in which an unfinished expression still has the value, or 0. */
static uint32_t find_pending(lua_State *L, lua_Debug *ar, const struct holding *h) {
    const char *name;
    uint32_t found = 0;
    for (int i = 1; !found && (name = lua_getlocal(L, ar, i)); i++) {
        if (name[0] == '(' && lua_type(L, -1) == LUA_TUSERDATA &&
            (h->tensor ? tensors_test(L, -1) == h->tensor : lists_test(L, -1) == h->list))
            found = (uint32_t)i;
        lua_pop(L, 1);
    }
    return found;
}

/* An operator's call leaves all registers of its caller to be seen, those of finished expressions
 * too. */
static bool is_operator(lua_State *L, lua_Debug *callee) {
    lua_getinfo(L, "n", callee);
    return strcmp(callee->namewhat, "metamethod") == 0;
}

/* Lets go what names were rebound from. What was taken out of a table, or rebound by a callee
 * (NULL), may have been read before by an expression that is not done. */
static void drop_stale(lua_State *L, struct host *host, lua_Debug *ar, struct frame *frame,
                       lua_Debug *callee) {
    size_t to = 0;
    for (size_t i = 0; i < frame->held.count; i++) {
        struct holding h = frame->held.at[i];
        if (is_stale(frame, &h)) {
            frame->changed = frame->changed || h.indirect;
            bool pending = !callee || (h.indirect && !is_operator(L, callee));
            h.slot = pending ? find_pending(L, ar, &h) : 0;
            if (h.slot == 0 || !array_push(&frame->floats, h))
                release(host->tape, &h);
        } else {
            frame->held.at[to++] = h;
        }
    }
    frame->held.count = to;
}

static size_t address_byte(lua_CFunction function) {
    return (uintptr_t)function >> 4 & 255;
}

static void watch(lua_State *L, lua_CFunction function, bool passes) {
    struct host *host = host_of(L);
    struct watched watched = {function, passes};
    if (!array_push(&host->names.watched, watched))
        tape_fail_memory(host->tape);
    host->names.may_be_watched[address_byte(function)] = true;
}

void names_watch(lua_State *L, lua_CFunction function) {
    watch(L, function, false);
}

void names_watch_python(lua_State *L, lua_CFunction function) {
    watch(L, function, true);
}

static const struct watched *find_watched(const struct names *names, lua_CFunction function) {
    for (size_t i = 0; names->may_be_watched[address_byte(function)] && i < names->watched.count;
         i++)
        if (names->watched.at[i].function == function)
            return &names->watched.at[i];
    return NULL;
}

static bool is_active_call(lua_State *L, lua_Debug *ar, bool *is_c, bool *passes) {
    lua_getinfo(L, "f", ar);
    *is_c = lua_iscfunction(L, -1) != 0;
    const struct watched *watched =
        *is_c ? find_watched(&host_of(L)->names, lua_tocfunction(L, -1)) : NULL;
    bool active = !*is_c || watched;
    if (passes)
        *passes = watched && watched->passes;
    lua_pop(L, 1);
    return active;
}

/* When a function has changed a table or a variable that outer functions may name too, they are
 * read again, from the frame below `level` and `index` to the bottom. Ghosts keep what they had. */
static void scan_outer(lua_State *L, struct host *host, int level, size_t index) {
    struct names *names = &host->names;
    lua_Debug ar;
    while (index > names->frames.at[index].ghosts && lua_getstack(L, ++level, &ar)) {
        bool is_c;
        if (!is_active_call(L, &ar, &is_c, NULL))
            continue;
        index -= 1 + names->frames.at[index].ghosts;
        struct frame *frame = &names->frames.at[index];
        assert(frame->is_c == is_c);
        if (is_c)
            continue;
        uint32_t slots = frame->slots;
        scan_names(L, host, &ar, frame);
        frame->slots = slots;
        drop_stale(L, host, &ar, frame, NULL);
        frame->changed = false;
    }
}

static bool holds(const struct frame *frame, const struct holding *f) {
    for (size_t i = 0; i < frame->held.count; i++)
        if (frame->held.at[i].tensor == f->tensor && frame->held.at[i].list == f->list)
            return true;
    return false;
}

/* Results that a name or the callee has taken over, or that no register holds any more, float no
 * longer. Registers above the live ones may be stale in a metamethod's call; they only matter for
 * results nobody has taken. */
static void settle_floats(lua_State *L, struct host *host, lua_Debug *ar, struct frame *caller,
                          const struct frame *callee) {
    struct holdings *floats = &caller->floats;
    size_t to = 0;
    for (size_t i = 0; i < floats->count; i++) {
        struct holding h = floats->at[i];
        if (holds(caller, &h) || holds(callee, &h))
            release(host->tape, &h);
        else
            floats->at[to++] = h;
    }
    floats->count = to;
    if (to == 0)
        return;
    struct visit visit = {.host = host, .frame = caller, .found = keep_float};
    const char *name;
    for (int i = 1; ar && (name = lua_getlocal(L, ar, i)); i++) {
        visit.slot = (uint32_t)i;
        if (name[0] == '(')
            walk_value(L, &visit);
        lua_pop(L, 1);
    }
    to = 0;
    for (size_t i = 0; i < floats->count; i++) {
        struct holding h = floats->at[i];
        if (h.scan != caller->scan)
            release(host->tape, &h);
        else
            floats->at[to++] = h;
    }
    floats->count = to;
}

/* Walking tables and nesting tail calls cost the host something too. */
static void check_limits(lua_State *L, struct host *host) {
    if (host->names.depth >= MAX_FRAMES)
        luaL_error(L, "more than %d calls within each other (an endless recursion?)", MAX_FRAMES);
    host->instructions += CALL_WORK;
    if (limits_are_due(host))
        limits_check(L, host);
}

static void on_call(lua_State *L, lua_Debug *ar, struct host *host, bool is_c, bool passes) {
    struct names *names = &host->names;
    check_limits(L, host);
    lua_Debug caller_ar;
    struct frame *caller = names->depth > 0 ? &names->frames.at[names->depth - 1] : NULL;
    bool tail = ar->event == LUA_HOOKTAILCALL;
    bool lua_caller = caller && !caller->is_c;
    bool scan = lua_caller && !tail && lua_getstack(L, 1, &caller_ar);
    size_t caller_index = names->depth - 1;
    if (scan)
        scan_names(L, host, &caller_ar, caller);
    struct frame *callee = push_frame(host, is_c, tail && caller ? caller->ghosts + 1 : 0);
    if (!callee)
        return;
    callee->passes = passes;
    if (!is_c)
        scan_names(L, host, ar, callee);
    scan_arguments(L, host, ar, callee);
    callee->changed = false;
    if (!lua_caller)
        return;
    caller = &names->frames.at[caller_index]; /* the array may have moved */
    if (scan && !is_c)
        caller->slots -= vararg_shift(L, ar);
    settle_floats(L, host, scan ? &caller_ar : NULL, caller, callee);
    if (!scan)
        return;
    drop_stale(L, host, &caller_ar, caller, ar);
    if (caller->changed)
        scan_outer(L, host, 1, caller_index);
    names->frames.at[caller_index].changed = false;
}

/* What the function put where outer ones can see it, after its last call. */
static void scan_last_changes(lua_State *L, lua_Debug *ar, struct host *host) {
    struct names *names = &host->names;
    struct frame *frame = &names->frames.at[names->depth - 1];
    if (frame->is_c || (!frame->has_upvalues && !frame->has_tables))
        return;
    scan_names(L, host, ar, frame);
    drop_stale(L, host, ar, frame, ar);
    if (frame->changed)
        scan_outer(L, host, 0, names->depth - 1);
}

/* Results on their way float in the caller until its next scan finds who has them. */
static void on_return(lua_State *L, lua_Debug *ar, struct host *host) {
    struct names *names = &host->names;
    if (names->depth == 0)
        return;
    scan_last_changes(L, ar, host);
    size_t pops = names->frames.at[names->depth - 1].ghosts + 1;
    lua_getinfo(L, "r", ar);
    if (names->depth > pops) {
        struct visit visit = {.host = host,
                              .frame = &names->frames.at[names->depth - pops - 1],
                              .found = float_result};
        for (unsigned i = 0; i < ar->ntransfer && lua_getlocal(L, ar, ar->ftransfer + (int)i);
             i++) {
            visit.slot = visit.frame->slots + 1 + i;
            walk_value(L, &visit);
            lua_pop(L, 1);
        }
    }
    for (size_t i = 0; i < pops && names->depth > 0; i++) {
        struct frame *frame = &names->frames.at[--names->depth];
        names_release(host->tape, &frame->held);
        names_release(host->tape, &frame->floats);
    }
}

void names_event(lua_State *L, lua_Debug *ar) {
    struct host *host = host_of(L);
    bool is_c, passes;
    if (!is_active_call(L, ar, &is_c, &passes))
        return;
    if (ar->event == LUA_HOOKRET)
        on_return(L, ar, host);
    else
        on_call(L, ar, host, is_c, passes);
}

void names_float(lua_State *L, struct tensor *tensor, struct tensor_list *list) {
    struct host *host = host_of(L);
    struct names *names = &host->names;
    struct holding h = {.tensor = tensor, .list = list};
    if (names->depth == 0 || !array_push(&names->frames.at[names->depth - 1].floats, h)) {
        release(host->tape, &h);
        if (names->depth > 0)
            tape_fail_memory(host->tape);
    }
}
