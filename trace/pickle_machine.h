/* pickle_machine.h: the moves of the stack machine that the opcode files share; private to
 * pickle*.c. All fallible ones set the error, with opcode and offset, and return false. */
#ifndef PICKLE_MACHINE_H
#define PICKLE_MACHINE_H

#include "error.h"
#include "pickle.h"

typedef bool pickle_op(struct pickle *p);

struct pickle_opcode {
    const char *name;
    pickle_op *run; /* NULL: known and refused */
};

extern const struct pickle_opcode pickle_opcodes[256];

/* "opcode NAME at byte N: text" */
bool pickle_fail(struct pickle *p, enum error_code code, const char *format, ...) ATTR_PRINTF(3, 4);

/* Host memory beyond the budget is wanted. */
bool pickle_fail_budget(struct pickle *p);
/* Room for `need` items of an array, within the budget. */
bool pickle_grow(struct pickle *p, void *at, size_t *capacity, size_t need, size_t item);
#define PICKLE_RESERVE(p, array, need)                                                             \
    ((need) <= (array)->capacity ||                                                                \
     pickle_grow((p), (void *)&(array)->at, &(array)->capacity, (need), sizeof *(array)->at))

bool pickle_push_double(struct pickle *p, double value);
bool pickle_push_string(struct pickle *p, const void *text, uint64_t length);
bool pickle_push_container(struct pickle *p, enum pickle_tag kind);
/* Removes the last mark; *height is where its values begin. */
bool pickle_pop_mark(struct pickle *p, size_t *height);
bool pickle_memo_put(struct pickle *p, uint64_t index);
bool pickle_memo_get(struct pickle *p, uint64_t index);
/* The top values [height..] become one new container on the stack. */
bool pickle_wrap(struct pickle *p, enum pickle_tag kind, size_t height);

static inline struct pickle_value pickle_make(enum pickle_tag tag, uint64_t payload) {
    return (struct pickle_value){payload << 4 | (uint64_t)tag};
}

/* `count` (at most 8) bytes as a number; compilers make one load of a constant count. */
static inline uint64_t pickle_little(const uint8_t *bytes, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

bool pickle_fail_truncated(struct pickle *p, uint64_t count);
bool pickle_fail_underflow(struct pickle *p, size_t count);
bool pickle_push_wide(struct pickle *p, uint64_t bits, bool negative);

/* The next bytes of the file. */
static inline bool pickle_take(struct pickle *p, uint64_t count, const uint8_t **bytes) {
    if (count > p->length - p->at) {
        pickle_fail_truncated(p, count);
        return false;
    }
    *bytes = p->data + p->at;
    p->at += (size_t)count;
    return true;
}

static inline bool pickle_push(struct pickle *p, struct pickle_value v) {
    if (!PICKLE_RESERVE(p, &p->stack, p->stack.count + 1))
        return false;
    p->stack.at[p->stack.count++] = v;
    return true;
}

static inline bool pickle_push_integer(struct pickle *p, uint64_t bits, bool negative) {
    const uint64_t limit = UINT64_C(1) << 59;
    if (negative ? ~bits < limit : bits < limit)
        return pickle_push(p, pickle_make(PICKLE_INT, bits & (UINT64_MAX >> 4)));
    return pickle_push_wide(p, bits, negative);
}

static inline size_t pickle_fence(const struct pickle *p) {
    return p->marks.count > 0 ? p->marks.at[p->marks.count - 1] : 0;
}

/* At least `count` values above the last mark? */
static inline bool pickle_need(struct pickle *p, size_t count) {
    return p->stack.count - pickle_fence(p) >= count || pickle_fail_underflow(p, count);
}

/* Text opcodes of protocols 0 and 1, pickle_text.c. */
pickle_op pickle_op_int, pickle_op_long, pickle_op_float, pickle_op_string, pickle_op_unicode,
    pickle_op_put, pickle_op_get;

#endif
