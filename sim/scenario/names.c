/* names.c: see names.h.
 *
 * Frames are pushed by call events and popped by return events. A frame is only scanned while it is the top one (its
 * callee's event has just come), so scans are cheap: a dozen locals. C functions that neither ask for memory nor keep
 * tensors are ignored altogether. */
#include "names.h"

#include "host.h"

enum { TABLE_DEPTH = 3 };

static void release(struct host *host, struct holding *h) {
    struct tensor *tensor = h->tensor;
    struct tensor_list *list = h->list;
    h->tensor = NULL;
    h->list = NULL;
    tensor_unref(host->tape, tensor);
    if (list)
        list_unref(host->tape, list);
}

static void clear_holdings(struct host *host, struct holdings *list) {
    for (size_t i = 0; i < list->count; i++)
        release(host, &list->at[i]);
    list->count = 0;
}

void names_fini(struct names *names, struct tape *tape) {
    for (size_t i = 0; i < names->frames.count; i++) { /* frames beyond depth hold nothing */
        struct frame *frame = &names->frames.at[i];
        struct holdings *lists[] = {&frame->held, &frame->floats};
        for (size_t k = 0; k < 2; k++) {
            for (size_t j = 0; j < lists[k]->count; j++) {
                tensor_unref(tape, lists[k]->at[j].tensor);
                if (lists[k]->at[j].list)
                    list_unref(tape, lists[k]->at[j].list);
            }
            array_fini(lists[k]);
        }
    }
    array_fini(&names->frames);
    array_fini(&names->watched);
}

static struct frame *push_frame(struct host *host, bool is_c, unsigned ghosts) {
    struct names *names = &host->names;
    if (names->depth == names->frames.count) {
        struct frame fresh = {.ghosts = 0};
        if (!array_push(&names->frames, fresh)) {
            tape_fail_memory(host->tape);
            return NULL;
        }
    }
    struct frame *frame = &names->frames.at[names->depth++];
    frame->is_c = is_c;
    frame->ghosts = ghosts;
    return frame;
}

/* What a walk over a value does with each tensor and list it finds. */
struct visit {
    struct host *host;
    struct frame *frame;
    void (*found)(struct visit *visit, struct tensor *tensor, struct tensor_list *list);
    const char *name;
    uint32_t slot;
};

static void visit_value(lua_State *L, struct visit *visit, int depth);

static void visit_table(lua_State *L, struct visit *visit, int depth) {
    if (depth >= TABLE_DEPTH || !lua_checkstack(L, 4))
        return;
    if (lua_getmetatable(L, -1)) { /* modules and libraries hold their own */
        lua_pop(L, 1);
        return;
    }
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        visit_value(L, visit, depth + 1);
        lua_pop(L, 1);
    }
}

/* The value on top of the stack and, for a plain table, what it contains. */
static void visit_value(lua_State *L, struct visit *visit, int depth) {
    int type = lua_type(L, -1);
    if (type == LUA_TTABLE) {
        visit_table(L, visit, depth);
    } else if (type == LUA_TUSERDATA) {
        struct tensor *tensor = tensors_test(L, -1);
        struct tensor_list *list = tensor ? NULL : lists_test(L, -1);
        if (tensor || list)
            visit->found(visit, tensor, list);
    }
}

static void add(struct host *host, struct holdings *to, struct holding h) {
    tensor_ref(h.tensor);
    if (h.list)
        h.list->refs++;
    if (!array_push(to, h)) {
        release(host, &h);
        tape_fail_memory(host->tape);
    }
}

/* Goes on holding what the frame held under this name, or begins to. */
static void hold(struct visit *visit, struct tensor *tensor, struct tensor_list *list) {
    struct frame *frame = visit->frame;
    for (size_t i = 0; i < frame->held.count; i++) {
        struct holding *h = &frame->held.at[i];
        if (h->scan != frame->scan && h->tensor == tensor && h->list == list && h->name == visit->name) {
            h->scan = frame->scan;
            h->slot = visit->slot;
            return;
        }
    }
    add(visit->host, &frame->held,
        (struct holding){.name = visit->name, .tensor = tensor, .list = list, .scan = frame->scan, .slot = visit->slot,
                         .seen_scan = frame->scan, .seen_slot = visit->slot});
}

static void float_result(struct visit *visit, struct tensor *tensor, struct tensor_list *list) {
    add(visit->host, &visit->frame->floats, (struct holding){.tensor = tensor, .list = list});
}

/* A float that a temporary still holds is kept for one more scan. */
static void keep_float(struct visit *visit, struct tensor *tensor, struct tensor_list *list) {
    for (size_t i = 0; i < visit->frame->floats.count; i++) {
        struct holding *h = &visit->frame->floats.at[i];
        if (h->tensor == tensor && h->list == list)
            h->scan = visit->frame->scan;
    }
}

/* A local of this name is there, in `slot`: what the name held before is out of date unless it is found again. Lua interns
 * short strings, so a name is its pointer. */
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

/* The names of a Lua frame. */
static void scan_names(lua_State *L, struct host *host, lua_Debug *ar, struct frame *frame) {
    struct visit visit = {.host = host, .frame = frame, .found = hold};
    const char *name;
    frame->scan = ++host->names.scan;
    for (int i = 1; (name = lua_getlocal(L, ar, i)); i++) {
        if (name[0] != '(') {
            see(frame, name, (uint32_t)i);
            visit.name = name;
            visit.slot = (uint32_t)i;
            visit_value(L, &visit, 0);
        }
        lua_pop(L, 1);
    }
}

/* The arguments of a C call, or a Lua function's `...`. */
static void scan_arguments(lua_State *L, struct host *host, lua_Debug *ar, struct frame *frame) {
    struct visit visit = {.host = host, .frame = frame, .found = hold, .name = argument_name};
    int step = frame->is_c ? 1 : -1;
    for (int i = step; lua_getlocal(L, ar, i); i += step) {
        visit.slot++;
        visit_value(L, &visit, 0);
        lua_pop(L, 1);
    }
}

/* Rebound, or shadowed by a later local of the same name. A name out of scope keeps what it held: Python's names outlive
 * their block. */
static bool is_stale(const struct frame *frame, const struct holding *h) {
    return h->seen_scan == frame->scan && (h->scan != frame->scan || h->slot != h->seen_slot);
}

/* Lets go what names were rebound from. */
static void drop_stale(struct host *host, struct frame *frame) {
    size_t to = 0;
    for (size_t i = 0; i < frame->held.count; i++) {
        struct holding h = frame->held.at[i];
        if (is_stale(frame, &h))
            release(host, &h);
        else
            frame->held.at[to++] = h;
    }
    frame->held.count = to;
}

static bool holds(const struct frame *frame, const struct holding *f) {
    for (size_t i = 0; i < frame->held.count; i++)
        if (frame->held.at[i].tensor == f->tensor && frame->held.at[i].list == f->list)
            return true;
    return false;
}

/* Results that a name or the callee has taken over, or that no register holds any more, float no longer. Registers above
 * the live ones may be stale in a metamethod's call; they only matter for results nobody has taken. */
static void settle_floats(lua_State *L, struct host *host, lua_Debug *ar, struct frame *caller,
                          const struct frame *callee) {
    struct holdings *floats = &caller->floats;
    size_t to = 0;
    for (size_t i = 0; i < floats->count; i++) {
        struct holding h = floats->at[i];
        if (holds(caller, &h) || holds(callee, &h))
            release(host, &h);
        else
            floats->at[to++] = h;
    }
    floats->count = to;
    if (to == 0)
        return;
    struct visit visit = {.host = host, .frame = caller, .found = keep_float};
    const char *name;
    for (int i = 1; ar && (name = lua_getlocal(L, ar, i)); i++) {
        if (name[0] == '(')
            visit_value(L, &visit, 0);
        lua_pop(L, 1);
    }
    to = 0;
    for (size_t i = 0; i < floats->count; i++) {
        struct holding h = floats->at[i];
        if (h.scan != caller->scan)
            release(host, &h);
        else
            floats->at[to++] = h;
    }
    floats->count = to;
}

void names_watch(lua_State *L, lua_CFunction function) {
    struct host *host = host_of(L);
    if (!array_push(&host->names.watched, function))
        tape_fail_memory(host->tape);
}

static bool is_watched(const struct names *names, lua_CFunction function) {
    for (size_t i = 0; i < names->watched.count; i++)
        if (names->watched.at[i] == function)
            return true;
    return false;
}

static bool is_active_call(lua_State *L, lua_Debug *ar, bool *is_c) {
    lua_getinfo(L, "f", ar);
    *is_c = lua_iscfunction(L, -1) != 0;
    bool active = !*is_c || is_watched(&host_of(L)->names, lua_tocfunction(L, -1));
    lua_pop(L, 1);
    return active;
}

static void on_call(lua_State *L, lua_Debug *ar, struct host *host, bool is_c) {
    struct names *names = &host->names;
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
    if (!is_c)
        scan_names(L, host, ar, callee);
    scan_arguments(L, host, ar, callee);
    if (!lua_caller)
        return;
    caller = &names->frames.at[caller_index]; /* the array may have moved */
    settle_floats(L, host, scan ? &caller_ar : NULL, caller, callee);
    if (scan)
        drop_stale(host, caller);
}

/* Results on their way float in the caller until its next scan finds who has them. */
static void on_return(lua_State *L, lua_Debug *ar, struct host *host) {
    struct names *names = &host->names;
    if (names->depth == 0)
        return;
    size_t pops = names->frames.at[names->depth - 1].ghosts + 1;
    lua_getinfo(L, "r", ar);
    if (names->depth > pops) {
        struct visit visit = {.host = host, .frame = &names->frames.at[names->depth - pops - 1], .found = float_result};
        for (unsigned i = 0; i < ar->ntransfer && lua_getlocal(L, ar, ar->ftransfer + (int)i); i++) {
            visit_value(L, &visit, 0);
            lua_pop(L, 1);
        }
    }
    for (size_t i = 0; i < pops && names->depth > 0; i++) {
        struct frame *frame = &names->frames.at[--names->depth];
        clear_holdings(host, &frame->held);
        clear_holdings(host, &frame->floats);
    }
}

void names_event(lua_State *L, lua_Debug *ar) {
    struct host *host = host_of(L);
    bool is_c;
    if (!is_active_call(L, ar, &is_c))
        return;
    if (ar->event == LUA_HOOKRET)
        on_return(L, ar, host);
    else
        on_call(L, ar, host, is_c);
}

void names_float(lua_State *L, struct tensor *tensor, struct tensor_list *list) {
    struct host *host = host_of(L);
    struct names *names = &host->names;
    struct holding h = {.tensor = tensor, .list = list};
    if (names->depth == 0 || !array_push(&names->frames.at[names->depth - 1].floats, h)) {
        release(host, &h);
        if (names->depth > 0)
            tape_fail_memory(host->tape);
    }
}
