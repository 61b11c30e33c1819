/* pickle.h: a reader of pickles as plain data. It executes nothing: an opcode that would import,
 * call or build an object is refused by name and offset.
 *
 * The reader is a stack machine without recursion. Values are 8 bytes; a container is a handle
 * whose contents go to the handler at the moment they are put in (SETITEMS, APPENDS, TUPLE...), so
 * no tree is kept. A container may be filled in several batches, after it was stored elsewhere: the
 * handler keeps what it learns in the container's role and record. Shared and cyclic containers are
 * only handles that come again; nothing here walks them.
 *
 * Source of the format: Python's pickletools (protocols 0 to 5); its data opcodes, and the text
 * opcodes of protocols 0 and 1; which ones is in docs/formats.md. Ownership: the reader owns everything but the bytes,
 * which must outlive it. One thread. */
#ifndef PICKLE_H
#define PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "strtab.h"

struct error;
struct pickle;
struct pickle_opcode;

enum pickle_tag {
    PICKLE_UNSET, /* a memo slot never written */
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,   /* fits 60 bits */
    PICKLE_WIDE,  /* a larger integer, by index */
    PICKLE_FLOAT, /* by index */
    PICKLE_STRING,
    PICKLE_BYTES,   /* content dropped */
    PICKLE_UNKNOWN, /* an integer of more than 64 bits */
    PICKLE_LIST,    /* from here on: handles of containers */
    PICKLE_DICT,
    PICKLE_TUPLE,
    PICKLE_SET
};

struct pickle_value {
    uint64_t bits; /* payload << 4 | tag */
};

struct pickle_container {
    uint32_t record; /* the handler's; 0 at first */
    uint32_t count;  /* items (lists, tuples) or pairs put in so far */
    uint8_t kind;    /* enum pickle_tag */
    uint8_t role;    /* the handler's; 0 at first */
};

struct pickle_wide {
    uint64_t bits; /* of an integer or a double */
    bool negative;
};

/* Each hook may fail, with the error set. `items` are valid only during the call. */
struct pickle_handler {
    void *user;
    /* SETITEM, SETITEMS, DICT: `count` pairs key, value, key, value... into a dict. */
    bool (*set_items)(void *user, struct pickle *p, uint32_t dict, const struct pickle_value *items,
                      size_t count, struct error *err);
    /* APPEND, APPENDS, LIST: into a list. */
    bool (*append)(void *user, struct pickle *p, uint32_t list, const struct pickle_value *items,
                   size_t count, struct error *err);
    /* (optional) an empty list gets what one APPENDS put into the empty list `like`: `count` items, all
     * made by memo gets. False: it can't be shared, nothing was done; they come as usual. */
    bool (*append_same)(void *user, struct pickle *p, uint32_t list, uint32_t like, uint32_t count);
    /* TUPLE, TUPLE1..3: once for each tuple that is not empty. */
    bool (*fill_tuple)(void *user, struct pickle *p, uint32_t tuple,
                       const struct pickle_value *items, size_t count, struct error *err);
    /* (optional) now and then; false cancels. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    /* (optional) bytes that the handler holds; counted against the budget. */
    size_t (*memory)(const void *user);
};

/* The gets between a MARK and an APPENDS, see pickle_runs.h. */
enum { PICKLE_RUNS_AFTER = 8 };
struct pickle_run {
    size_t at; /* of the first get */
    uint32_t bytes, count;
    uint32_t list;                     /* where the items went */
    uint16_t after[PICKLE_RUNS_AFTER]; /* runs that followed, the last one first; 0: no more */
};

struct pickle {
    const uint8_t *data;
    size_t length, at;                   /* `at`: the next byte to read */
    size_t op_at;                        /* offset of the opcode that is being run */
    const struct pickle_opcode *opcodes; /* the table */
    struct pickle_handler handler;
    size_t budget; /* bytes of host memory at most */
    struct strtab strings;
    ARRAY(struct pickle_value) stack;
    ARRAY(uint32_t) marks; /* stack heights */
    ARRAY(struct pickle_value) memo;
    size_t memo_set;               /* slots written */
    ARRAY(struct pickle_run) runs; /* at[0]: before the first; empty: not in use */
    ARRAY(uint16_t) run_slots;     /* runs by content: open addressing */
    uint16_t last_run;
    size_t gets_begin, gets_end; /* the last row of gets that followed a MARK */
    ARRAY(struct pickle_container) containers;
    ARRAY(struct pickle_wide) wides;
    const uint8_t *last_text; /* the last string of the file, see push_text */
    uint64_t last_length;     /* 0: none */
    struct pickle_value last_string;
    struct pickle_value last_pair[2], last_tuple; /* of TUPLE2, see there; unset at first */
    uint64_t opcode_count;
    bool seen[256]; /* opcodes met */
    uint8_t protocol;
    bool stopped;
    uint32_t warnings;
    struct error *err;
};

/* `budget`: bytes of host memory at most, the handler's included. `err` is kept for all that
 * follows. The caller may fill `strings` between init and read: texts then have the ids of their
 * order. Fini is to be called even when init fails. */
bool pickle_init(struct pickle *p, const void *data, size_t length,
                 const struct pickle_handler *handler, size_t budget, struct error *err);
void pickle_fini(struct pickle *p);
/* Runs to STOP. The value left on the stack is *root. */
bool pickle_read(struct pickle *p, struct pickle_value *root);
/* Frees what only reading needs: value stack, marks, memo. */
void pickle_drop_memo(struct pickle *p);
/* The name of an opcode as Python's pickletools has it; NULL: there is no such opcode. */
const char *pickle_opcode_name(uint8_t opcode);
/* Host memory held, the handler's included. */
size_t pickle_memory(const struct pickle *p);

static inline enum pickle_tag pickle_tag(struct pickle_value v) {
    return (enum pickle_tag)(v.bits & 15);
}

static inline uint64_t pickle_payload(struct pickle_value v) {
    return v.bits >> 4;
}

static inline bool pickle_is_container(struct pickle_value v) {
    return (v.bits & 15) >= PICKLE_LIST;
}

static inline struct pickle_container *pickle_container(struct pickle *p, uint32_t handle) {
    return array_at(&p->containers, handle);
}

/* The sign of an integer, with its two's complement in *bits; NOT_INTEGER leaves *bits alone.
 * Booleans are 0 and 1. */
enum pickle_integer { PICKLE_NOT_INTEGER, PICKLE_NEGATIVE, PICKLE_NON_NEGATIVE };
enum pickle_integer pickle_get_integer(const struct pickle *p, struct pickle_value v,
                                       uint64_t *bits);
bool pickle_get_double(const struct pickle *p, struct pickle_value v, double *value);

#endif
