/* pickle_read.c: see pickle.h. The loop over the opcodes. */
#include "pickle.h"

#include <string.h>

#include "pickle_machine.h"
#include "pickle_runs.h"

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

const char *pickle_opcode_name(uint8_t opcode) {
    return pickle_opcodes[opcode].name;
}

bool pickle_init(struct pickle *p, const void *data, size_t length,
                 const struct pickle_handler *handler, size_t budget, struct error *err) {
    memset(p, 0, sizeof *p);
    p->opcodes = pickle_opcodes;
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

static bool check_progress(struct pickle *p) {
    if (pickle_memory(p) > p->budget)
        return pickle_fail_budget(p);
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
