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

static void clear_frame(struct host *host, struct frame *frame) {
    for (size_t i = 0; i < frame->held.count; i++)
        release(host, &frame->held.at[i]);
    array_clear(&frame->held);
}

void names_fini(struct names *names, struct tape *tape) {
    for (size_t i = 0; i < names->frames.count; i++) {
        struct frame *frame = &names->frames.at[i];
        for (size_t j = 0; i < names->depth && j < frame->held.count; j++) { /* beyond depth: cleared */
            tensor_unref(tape, frame->held.at[j].tensor);
            if (frame->held.at[j].list)
                list_unref(tape, frame->held.at[j].list);
        }
        array_fini(&frame->held);
        array_fini(&frame->seen);
    }
    array_fini(&names->frames);
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
    array_clear(&frame->held);
    frame->is_c = is_c;
    frame->ghosts = ghosts;
    return frame;
}

static void add(struct host *host, struct frame *frame, const char *name, struct tensor *tensor,
                struct tensor_list *list, uint32_t slot) {
    struct holding h = {.name = name, .tensor = tensor_ref(tensor), .list = list,
                        .scan = frame->scan, .slot = slot};
    if (list)
        list->refs++;
    if (!array_push(&frame->held, h)) {
        release(host, &h);
        tape_fail_memory(host->tape);
    }
}

/* Whether the frame already holds this under `name`, found by this scan or an earlier one: then it goes on. */
static bool keep(struct frame *frame, const char *name, const struct tensor *tensor,
                 const struct tensor_list *list, uint32_t scan, uint32_t slot) {
    for (size_t i = 0; i < frame->held.count; i++) {
        struct holding *h = &frame->held.at[i];
        if (h->scan != scan && h->tensor == tensor && h->list == list &&
            h->name == name) {
            h->scan = scan;
            h->slot = slot;
            return true;
        }
    }
    return false;
}

static void hold_value(lua_State *L, struct host *host, struct frame *frame, const char *name,
                       uint32_t slot, int depth);

static void hold_table(lua_State *L, struct host *host, struct frame *frame, const char *name,
                       uint32_t slot, int depth) {
    if (depth >= TABLE_DEPTH || !lua_checkstack(L, 4))
        return;
    if (lua_getmetatable(L, -1)) { /* modules and libraries hold their own */
        lua_pop(L, 1);
        return;
    }
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        hold_value(L, host, frame, name, slot, depth + 1);
        lua_pop(L, 1);
    }
}

/* Holds what the value on top of the stack is or contains. */
static void hold_value(lua_State *L, struct host *host, struct frame *frame, const char *name,
                       uint32_t slot, int depth) {
    int type = lua_type(L, -1);
    if (type == LUA_TTABLE) {
        hold_table(L, host, frame, name, slot, depth);
        return;
    }
    if (type != LUA_TUSERDATA)
        return;
    struct tensor *tensor = tensors_test(L, -1);
    struct tensor_list *list = tensor ? NULL : lists_test(L, -1);
    if (!tensor && !list)
        return;
    if (!keep(frame, name, tensor, list, frame->scan, slot))
        add(host, frame, name, tensor, list, slot);
}

static void see(struct host *host, struct frame *frame, const char *name, uint32_t slot) {
    for (size_t i = 0; i < frame->seen.count; i++)
        if (frame->seen.at[i].name == name) {
            frame->seen.at[i].slot = slot;
            return;
        }
    struct seen_name seen = {name, slot};
    if (!array_push(&frame->seen, seen))
        tape_fail_memory(host->tape);
}

/* Lua interns short strings, so a name is its pointer. */
static bool is_stale(const struct frame *frame, const struct holding *h) {
    if (!h->name)
        return h->scan != frame->scan;
    for (size_t i = 0; i < frame->seen.count; i++)
        if (frame->seen.at[i].name == h->name)
            return h->scan != frame->scan || h->slot != frame->seen.at[i].slot;
    return false; /* out of scope: Python's names outlive their block */
}

/* Lets go what the frame's last scan did not find again. */
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

static void scan_frame(lua_State *L, struct host *host, lua_Debug *ar, struct frame *frame) {
    const char *name;
    frame->scan = ++host->names.scan;
    array_clear(&frame->seen);
    for (int i = 1; (name = lua_getlocal(L, ar, i)); i++) {
        bool temporary = name[0] == '(';
        if (!temporary)
            see(host, frame, name, (uint32_t)i);
        hold_value(L, host, frame, temporary ? NULL : name, (uint32_t)i, 0);
        lua_pop(L, 1);
    }
    for (int i = -1; !frame->is_c && (name = lua_getlocal(L, ar, i)); i--) { /* varargs */
        hold_value(L, host, frame, NULL, 0, 0);
        lua_pop(L, 1);
    }
}

static bool is_active_call(lua_State *L, lua_Debug *ar, bool *is_c) {
    lua_getinfo(L, "Sf", ar);
    *is_c = ar->what[0] == 'C';
    bool active = !*is_c || names_is_active(lua_tocfunction(L, -1));
    lua_pop(L, 1);
    return active;
}

static void on_call(lua_State *L, lua_Debug *ar, struct host *host, bool is_c) {
    struct names *names = &host->names;
    lua_Debug caller_ar;
    struct frame *caller = names->depth > 0 ? &names->frames.at[names->depth - 1] : NULL;
    bool tail = ar->event == LUA_HOOKTAILCALL;
    bool scan_caller = caller && !caller->is_c && !tail && lua_getstack(L, 1, &caller_ar);
    size_t caller_index = names->depth - 1;
    if (scan_caller)
        scan_frame(L, host, &caller_ar, caller);
    struct frame *callee = push_frame(host, is_c, tail && caller ? caller->ghosts + 1 : 0);
    if (!callee)
        return;
    scan_frame(L, host, ar, callee);
    if (scan_caller) /* only now: an argument of the call may be held by nobody else */
        drop_stale(host, &names->frames.at[caller_index]);
}

/* Results on their way are held as temporaries of the caller until its next scan finds who has them. */
static void on_return(lua_State *L, lua_Debug *ar, struct host *host) {
    struct names *names = &host->names;
    if (names->depth == 0)
        return;
    unsigned pops = names->frames.at[names->depth - 1].ghosts + 1;
    size_t caller = names->depth >= pops + 1 ? names->depth - pops - 1 : SIZE_MAX;
    lua_getinfo(L, "r", ar);
    for (unsigned i = 0; caller != SIZE_MAX && i < ar->ntransfer; i++) {
        if (!lua_getlocal(L, ar, ar->ftransfer + (int)i))
            break;
        hold_value(L, host, &names->frames.at[caller], NULL, 0, 0);
        lua_pop(L, 1);
    }
    for (unsigned i = 0; i < pops && names->depth > 0; i++)
        clear_frame(host, &names->frames.at[--names->depth]);
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
    struct holding h = {.tensor = tensor, .list = list, .scan = names->scan};
    if (names->depth == 0 || !array_push(&names->frames.at[names->depth - 1].held, h)) {
        release(host, &h);
        if (names->depth > 0)
            tape_fail_memory(host->tape);
    }
}
