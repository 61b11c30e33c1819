/* pickle.c: see pickle.h. The loop, and the moves of the stack machine. */
#include "pickle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pickle_machine.h"
#include "pickle_runs.h"
#include "xalloc.h"

enum {
    OP_MARK = '(',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_BININT1 = 'K',
    OP_BININT = 'J',
    OP_LONG1 = 0x8a,
    OP_MEMOIZE = 0x94,
    CHECK_BYTES = 64 * 1024
};

bool pickle_fail(struct pickle *p, enum error_code code, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    uint8_t opcode = p->op_at < p->length ? p->data[p->op_at] : 0;
    const char *name = pickle_opcode_name(opcode);
    return error_set(p->err, code, "opcode %s (0x%02x) at byte %zu: %s", name ? name : "unknown",
                     opcode, p->op_at, text);
}

const char *pickle_opcode_name(uint8_t opcode) {
    return pickle_opcodes[opcode].name;
}

bool pickle_init(struct pickle *p, const void *data, size_t length,
                 const struct pickle_handler *handler, size_t budget, struct error *err) {
    memset(p, 0, sizeof *p);
    p->handler = *handler;
    p->budget = budget;
    p->data = data;
    p->length = length;
    p->err = err;
    if (!strtab_init(&p->strings))
        return error_host_memory(err);
    return pickle_runs_init(p);
}

void pickle_drop_memo(struct pickle *p) {
    array_fini(&p->stack);
    array_fini(&p->marks);
    array_fini(&p->memo);
    pickle_runs_fini(p);
}

void pickle_fini(struct pickle *p) {
    pickle_drop_memo(p);
    array_fini(&p->containers);
    array_fini(&p->wides);
    strtab_fini(&p->strings);
}

size_t pickle_memory(const struct pickle *p) {
    size_t bytes = p->strings.arena.total_bytes + p->strings.slot_count * sizeof *p->strings.slots +
                   p->strings.entries.capacity * sizeof *p->strings.entries.at;
    bytes += p->stack.capacity * sizeof *p->stack.at + p->marks.capacity * sizeof *p->marks.at +
             p->memo.capacity * sizeof *p->memo.at + p->runs.capacity * sizeof *p->runs.at +
             p->run_slots.capacity * sizeof *p->run_slots.at;
    bytes +=
        p->containers.capacity * sizeof *p->containers.at + p->wides.capacity * sizeof *p->wides.at;
    return bytes + (p->handler.memory ? p->handler.memory(p->handler.user) : 0);
}

static bool fail_budget(struct pickle *p) {
    return pickle_fail(p, ERROR_LIMIT,
                       "needs more than %zu bytes of host memory, the limit for this file",
                       p->budget);
}

bool pickle_grow(struct pickle *p, void *at, size_t *capacity, size_t need, size_t item) {
    size_t doubled = *capacity < 4 ? 8 : *capacity * 2;
    size_t grown = (doubled > need ? doubled : need) - *capacity;
    if (grown > p->budget / item || pickle_memory(p) + grown * item > p->budget)
        return fail_budget(p);
    return array_grow(at, capacity, need, item) || error_host_memory(p->err);
}

bool pickle_fail_truncated(struct pickle *p, uint64_t count) {
    return pickle_fail(p, ERROR_BAD_INPUT,
                       "needs %llu more bytes, the file has %zu: truncated or damaged",
                       (unsigned long long)count, p->length - p->at);
}

bool pickle_fail_underflow(struct pickle *p, size_t count) {
    return pickle_fail(p, ERROR_BAD_INPUT, "stack underflow: %zu values wanted, %zu there", count,
                       p->stack.count - pickle_fence(p));
}

bool pickle_push_wide(struct pickle *p, uint64_t bits, bool negative) {
    if (!PICKLE_RESERVE(p, &p->wides, p->wides.count + 1))
        return false;
    p->wides.at[p->wides.count++] = (struct pickle_wide){.bits = bits, .negative = negative};
    return pickle_push(p, pickle_make(PICKLE_WIDE, p->wides.count - 1));
}

bool pickle_push_double(struct pickle *p, double value) {
    struct pickle_wide wide = {.negative = value < 0};
    memcpy(&wide.bits, &value, sizeof value);
    if (!PICKLE_RESERVE(p, &p->wides, p->wides.count + 1))
        return false;
    p->wides.at[p->wides.count++] = wide;
    return pickle_push(p, pickle_make(PICKLE_FLOAT, p->wides.count - 1));
}

bool pickle_push_string(struct pickle *p, const void *text, uint64_t length) {
    uint32_t id;
    if (length > UINT32_MAX)
        return pickle_fail(p, ERROR_LIMIT, "a string of %llu bytes", (unsigned long long)length);
    if (length > p->budget)
        return fail_budget(p);
    if (!strtab_add(&p->strings, text, (size_t)length, &id))
        return error_host_memory(p->err);
    return pickle_push(p, pickle_make(PICKLE_STRING, id));
}

bool pickle_push_container(struct pickle *p, enum pickle_tag kind) {
    if (p->containers.count >= UINT32_MAX - 1)
        return pickle_fail(p, ERROR_LIMIT, "more than 2^32 containers");
    if (!PICKLE_RESERVE(p, &p->containers, p->containers.count + 1))
        return false;
    p->containers.at[p->containers.count++] = (struct pickle_container){.kind = (uint8_t)kind};
    return pickle_push(p, pickle_make(kind, p->containers.count - 1));
}

bool pickle_pop_mark(struct pickle *p, size_t *height) {
    if (p->marks.count == 0)
        return pickle_fail(p, ERROR_BAD_INPUT, "no MARK before it");
    *height = p->marks.at[--p->marks.count];
    return true;
}

/* The index is the file's; since it may not exceed the number of opcodes read, the table stays
 * linear in the file. */
bool pickle_memo_put(struct pickle *p, uint64_t index) {
    if (!pickle_need(p, 1))
        return false;
    if (index > p->opcode_count)
        return pickle_fail(p, ERROR_BAD_INPUT, "memo index %llu after %llu opcodes",
                           (unsigned long long)index, (unsigned long long)p->opcode_count);
    if (index >= p->memo.count) {
        size_t count = (size_t)index + 1;
        if (!PICKLE_RESERVE(p, &p->memo, count))
            return false;
        memset(p->memo.at + p->memo.count, 0, (count - p->memo.count) * sizeof *p->memo.at);
        p->memo.count = count;
    }
    const struct pickle_value old = p->memo.at[index], top = p->stack.at[p->stack.count - 1];
    p->memo_set += pickle_tag(old) == PICKLE_UNSET;
    if (pickle_tag(old) != PICKLE_UNSET && old.bits != top.bits)
        pickle_runs_fini(p);
    p->memo.at[index] = top;
    return true;
}

bool pickle_memo_get(struct pickle *p, uint64_t index) {
    if (index >= p->memo.count || pickle_tag(p->memo.at[index]) == PICKLE_UNSET)
        return pickle_fail(p, ERROR_BAD_INPUT, "memo index %llu was never set",
                           (unsigned long long)index);
    return pickle_push(p, p->memo.at[index]);
}

bool pickle_wrap(struct pickle *p, enum pickle_tag kind, size_t height) {
    size_t items = p->stack.count - height;
    if (!pickle_push_container(p, kind))
        return false;
    struct pickle_value made = p->stack.at[p->stack.count - 1];
    uint32_t handle = (uint32_t)pickle_payload(made);
    size_t count = kind == PICKLE_DICT ? items / 2 : items;
    if (items > UINT32_MAX)
        return pickle_fail(p, ERROR_LIMIT, "more than 2^32 items");
    const struct pickle_value *first = p->stack.at + height;
    struct pickle_handler *h = &p->handler;
    bool ok = true;
    if (count > 0 && kind == PICKLE_TUPLE)
        ok = h->fill_tuple(h->user, p, handle, first, count, p->err);
    else if (count > 0 && kind == PICKLE_LIST)
        ok = h->append(h->user, p, handle, first, count, p->err);
    else if (count > 0 && kind == PICKLE_DICT)
        ok = h->set_items(h->user, p, handle, first, count, p->err);
    p->containers.at[handle].count = (uint32_t)count;
    p->stack.at[height] = made;
    p->stack.count = height + 1;
    return ok;
}

enum pickle_integer pickle_get_integer(const struct pickle *p, struct pickle_value v,
                                       uint64_t *bits) {
    const uint64_t sign = UINT64_C(1) << 59;
    enum pickle_tag tag = pickle_tag(v);
    uint64_t payload = pickle_payload(v);
    if (tag == PICKLE_INT) {
        *bits = (payload ^ sign) - sign;
        return payload & sign ? PICKLE_NEGATIVE : PICKLE_NON_NEGATIVE;
    }
    if (tag == PICKLE_BOOL) {
        *bits = payload;
        return PICKLE_NON_NEGATIVE;
    }
    if (tag != PICKLE_WIDE)
        return PICKLE_NOT_INTEGER;
    const struct pickle_wide *wide = array_at(&p->wides, payload);
    *bits = wide->bits;
    return wide->negative ? PICKLE_NEGATIVE : PICKLE_NON_NEGATIVE;
}

bool pickle_get_double(const struct pickle *p, struct pickle_value v, double *value) {
    uint64_t bits;
    switch (pickle_get_integer(p, v, &bits)) {
    case PICKLE_NEGATIVE:
        *value = -(double)(~bits + 1);
        return true;
    case PICKLE_NON_NEGATIVE:
        *value = (double)bits;
        return true;
    case PICKLE_NOT_INTEGER:
        break;
    }
    if (pickle_tag(v) != PICKLE_FLOAT)
        return false;
    memcpy(value, &array_at(&p->wides, pickle_payload(v))->bits, sizeof *value);
    return true;
}

static bool check_progress(struct pickle *p) {
    if (pickle_memory(p) > p->budget)
        return fail_budget(p);
    if (p->handler.progress && !p->handler.progress(p->handler.user, p->at, p->length))
        return error_set(p->err, ERROR_INTERRUPTED, "cancelled");
    return true;
}

static bool run_table_op(struct pickle *p, uint8_t opcode) {
    const struct pickle_opcode *op = &pickle_opcodes[opcode];
    if (op->run)
        return op->run(p);
    return pickle_fail(
        p, ERROR_BAD_INPUT,
        op->name ? "refused: not plain data, the file could run code in a program that loads it"
                 : "refused: there is no such opcode");
}

/* One value that needs no more than the memo: a get, or an integer of at most 7 bytes. Its length in
 * the file; 0: something else, or something that is not plain success. `left` > 0. */
static inline size_t plain_value(const struct pickle *p, const uint8_t *at, size_t left,
                                 struct pickle_value *value) {
    uint64_t bits;
    switch (*at) {
    case OP_BINGET:
        if (left < 2 || at[1] >= p->memo.count)
            return 0;
        *value = p->memo.at[at[1]];
        return pickle_tag(*value) == PICKLE_UNSET ? 0 : 2;
    case OP_LONG_BINGET:
        if (left < 5 || (bits = pickle_little(at + 1, 4)) >= p->memo.count)
            return 0;
        *value = p->memo.at[bits];
        return pickle_tag(*value) == PICKLE_UNSET ? 0 : 5;
    case OP_BININT1:
        if (left < 2)
            return 0;
        *value = pickle_make(PICKLE_INT, at[1]);
        return 2;
    case OP_BININT:
        if (left < 5)
            return 0;
        bits = (pickle_little(at + 1, 4) ^ UINT64_C(1) << 31) - (UINT64_C(1) << 31);
        *value = pickle_make(PICKLE_INT, bits & UINT64_MAX >> 4);
        return 5;
    case OP_LONG1: {
        if (left < 2 + sizeof bits || at[1] == 0 || at[1] > 7)
            return 0;
        const unsigned unused = 64 - 8U * at[1];
        const uint64_t sign = UINT64_C(1) << 63 >> unused;
        bits = ((pickle_little(at + 2, 8) << unused >> unused) ^ sign) - sign;
        *value = pickle_make(PICKLE_INT, bits & UINT64_MAX >> 4);
        return 2U + at[1];
    }
    default:
        return 0;
    }
}

/* A row of such values: nearly all opcodes in a real file, the frames of stacks and the pairs of
 * entries. Stops before anything else, for the table's functions to do or to refuse. False: not even
 * one. */
static bool run_values(struct pickle *p) {
    if (p->stack.capacity == 0)
        return false;
    const uint8_t *const begin = p->data + p->at, *const end = p->data + p->length;
    const uint8_t *at = begin;
    struct pickle_value *top = p->stack.at + p->stack.count;
    struct pickle_value *const limit = p->stack.at + p->stack.capacity;
    bool only_gets = true;
    while (top < limit && at < end) {
        size_t bytes = plain_value(p, at, (size_t)(end - at), top);
        if (bytes == 0)
            break;
        only_gets = only_gets && (*at == OP_BINGET || *at == OP_LONG_BINGET);
        p->seen[*at] = true;
        at += bytes;
        top++;
    }
    p->opcode_count += (size_t)(top - p->stack.at) - p->stack.count;
    p->stack.count = (size_t)(top - p->stack.at);
    if (only_gets && p->at > 0 && p->op_at == p->at - 1 && p->data[p->op_at] == OP_MARK) {
        p->gets_begin = p->at;
        p->gets_end = (size_t)(at - p->data);
    }
    p->at = (size_t)(at - p->data);
    return at > begin;
}

/* MEMOIZE of the next free slot, the only kind that Python writes; false: not so simple. */
static bool run_memoize(struct pickle *p) {
    if (p->memo_set != p->memo.count || p->memo.count >= p->memo.capacity ||
        p->stack.count == pickle_fence(p))
        return false;
    p->memo.at[p->memo.count++] = p->stack.at[p->stack.count - 1];
    p->memo_set++;
    return true;
}

/* The opcodes of plain_value. */
static const bool is_plain[256] = {[OP_BINGET] = true,
                                   [OP_LONG_BINGET] = true,
                                   [OP_BININT1] = true,
                                   [OP_BININT] = true,
                                   [OP_LONG1] = true};

static bool run(struct pickle *p) {
    size_t next_check = 0;
    while (!p->stopped) {
        if (p->at >= next_check) {
            if (!check_progress(p))
                return false;
            next_check = p->at + CHECK_BYTES;
        }
        if (p->at >= p->length)
            return error_set(p->err, ERROR_BAD_INPUT, "ends at byte %zu without STOP: truncated",
                             p->length);
        uint8_t opcode = p->data[p->at];
        if (is_plain[opcode] && run_values(p))
            continue;
        if (opcode == OP_MARK && pickle_runs_again(p))
            continue;
        p->op_at = p->at++;
        p->opcode_count++;
        p->seen[opcode] = true;
        if ((opcode != OP_MEMOIZE || !run_memoize(p)) && !run_table_op(p, opcode))
            return false;
    }
    return true;
}

bool pickle_read(struct pickle *p, struct pickle_value *root) {
    if (!run(p))
        return false;
    if (p->stack.count != 1 || p->marks.count != 0)
        return pickle_fail(p, ERROR_BAD_INPUT, "%zu values on the stack, expected one",
                           p->stack.count);
    p->warnings += p->at < p->length; /* bytes after STOP */
    *root = p->stack.at[0];
    return true;
}
