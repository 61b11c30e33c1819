/* walk.h: the tensors and lists that a Lua value holds: itself, or what plain tables and closures
 * within it contain. */
#ifndef WALK_H
#define WALK_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

struct frame;
struct host;
struct tensor;
struct tensor_list;

/* What a walk over a value does with each tensor and list it finds. */
struct visit {
    struct host *host;
    struct frame *frame;
    void (*found)(struct visit *visit, struct tensor *tensor, struct tensor_list *list);
    const char *name;
    uint32_t slot;
    size_t next;   /* where in the frame's holdings the next one found most likely is */
    size_t left;   /* at most so many of those of earlier scans have not been found yet */
    bool indirect; /* others can change what is found: it is in a table, a closure or an upvalue */
    bool upvalues; /* among the running function's */
    bool in_loop;  /* in the registers of a `for` */
};

/* Visits the value on top of the stack. */
void walk_value(lua_State *L, struct visit *visit);
bool walk_is_environment(const char *upvalue);
/* An upvalue that is worth another look: anything but a function or a library's, class' or module's
 * table. A function that names no other is read once a call. */
void walk_note_upvalue(lua_State *L, struct visit *visit);

#endif
