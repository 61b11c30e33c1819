/* names.h: tensors live as long as the scenario's names hold them, as in Python (CPython 3.11).
 *
 *   a name         holds its tensor until it is rebound or its function returns; blocks do not
 *                  end names, and shadowed `local x` are one name
 *   an argument    is a name of the callee, and of the caller if the caller names it
 *   a C call       (an op, a module call) holds its arguments until it returns
 *   a temporary    (an unnamed result) lives until the call that takes it as an argument has
 *                  returned; a plain function's parameter takes it over, so rebinding the
 *                  parameter ends it
 *   a plain table  holds what it contains, keys and values, for as long as a name or a temporary
 *                  holds the table
 *   a closure      holds the variables of outer functions that it names; rebinding one there
 *                  rebinds it for all
 *   a tail call    keeps the caller's names until the call returns
 *
 * Where Lua shows less than Python knows: a result that a statement drops may be let go one
 * operator late when the next thing is an operator; a local that shadows one of an enclosing block
 * is a second variable to Lua (give it another name); a table or closure whose name's block has
 * ended holds what it held then.
 *
 * Lua's collector plays no part. The names are read off Lua's own frames: at every call of a Lua
 * function, an op or a module the caller's active locals and live temporaries are compared with
 * what the frame held before. What the debug interface cannot see (a name bound by the last
 * statement of a block, names before a tail call) is made visible by marks.c, which puts a call of
 * `__mark` before such an end when a chunk is loaded. */
#ifndef NAMES_H
#define NAMES_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct tape;
struct tensor;
struct tensor_list;

/* One reference held for the scenario: of a tensor or of a list. */
struct holding {
    const char *name; /* Lua's own pointer, or names.c's word for an argument */
    struct tensor *tensor;
    struct tensor_list *list;
    uint32_t scan; /* number of the scan that last found it under its name, */
    uint32_t slot; /* and the local that held it then */
    uint32_t seen_scan,
        seen_slot; /* the last scan and the last local of this name, whatever that held */
    bool indirect; /* found in a table, a closure or an upvalue, which others may change */
    bool in_loop;  /* by the registers of a running `for`, which have no name */
};

struct holdings {
    struct holding *at;
    size_t count, capacity;
};

struct frame {
    struct holdings held;   /* names and arguments */
    struct holdings floats; /* results that no name has yet */
    uint32_t scan;          /* number of its last scan */
    uint32_t slots;         /* its registers in use then */
    unsigned ghosts;        /* frames below that ended in a tail call to this one */
    bool is_c;
    /* of a C call: a Python function in the model, whose arguments a traceback keeps */
    bool passes;
    bool has_upvalues, has_tables; /* what others may see the function change */
    bool changed;                  /* it did, since outer frames were read */
};

/* A table or closure that a walk has come to; the number of the walk. */
struct visited {
    const void *value;
    uint64_t visit;
};

struct watched {
    lua_CFunction function;
    bool passes;
};

struct names {
    ARRAY(struct frame) frames; /* [0, depth) are live; the rest keeps its arrays for reuse */
    size_t depth;
    uint32_t scan;
    ARRAY(struct watched) watched;
    bool may_be_watched[256]; /* by a byte of the function's address: most calls are of others */
    struct visited *visited;  /* open addressing; entries of other walks are free */
    size_t visited_count, visited_capacity;
    uint64_t visit;
};

void names_fini(struct names *names, struct tape *tape);
size_t names_bytes(const struct names *names); /* of this machine's memory */
/* The hook's part: `ar->event` is a call, tail call or return. */
void names_event(lua_State *L, lua_Debug *ar);
/* A reference (taken over) held as a temporary of the running frame, for a result on its way to the
 * caller. */
void names_float(lua_State *L, struct tensor *tensor, struct tensor_list *list);
/* Makes a C function one whose calls hold their arguments and may ask for memory; calls of others
 * are not looked at. */
void names_watch(lua_State *L, lua_CFunction function);
/* The same for what is a function of Python in the model: it calls others, and an error's traceback
 * keeps its arguments. */
void names_watch_python(lua_State *L, lua_CFunction function);
/* Frames from `depth` on were left by an error. Their temporaries are let go; what their
 * names hold, as a traceback does, passes to `to`. */
void names_take(struct names *names, struct tape *tape, size_t depth, struct holdings *to);
void names_release(struct tape *tape, struct holdings *held);
/* Lets go what floats in the running frame: the results of a call from C, which has taken what it
 * wants. */
void names_drop_floats(struct names *names, struct tape *tape);

#endif
