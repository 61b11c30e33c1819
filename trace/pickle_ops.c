/* pickle_ops.c: the opcodes, one short function each, and their table. Names as in Python's
 * pickletools. */
#include <string.h>

#include "pickle_machine.h"
#include "pickle_runs.h"

/* The next `count` bytes as a number. */
static bool take_number(struct pickle *p, unsigned count, uint64_t *value) {
    const uint8_t *bytes;
    if (!pickle_take(p, count, &bytes))
        return false;
    *value = pickle_little(bytes, count);
    return true;
}

static bool op_proto(struct pickle *p) {
    uint64_t protocol;
    if (!take_number(p, 1, &protocol))
        return false;
    if (protocol < 2 || protocol > 5)
        return pickle_fail(p, ERROR_BAD_INPUT, "protocol %u, expected 2 to 5", (unsigned)protocol);
    p->protocol = (uint8_t)protocol;
    return true;
}

static bool op_frame(struct pickle *p) {
    uint64_t length;
    if (!take_number(p, 8, &length))
        return false;
    if (length > p->length - p->at)
        return pickle_fail(p, ERROR_BAD_INPUT,
                           "a frame of %llu bytes, the file has %zu: truncated or damaged",
                           (unsigned long long)length, p->length - p->at);
    return true;
}

static bool op_stop(struct pickle *p) {
    p->stopped = true;
    return pickle_need(p, 1);
}

static bool op_mark(struct pickle *p) {
    if (p->stack.count > UINT32_MAX)
        return pickle_fail(p, ERROR_LIMIT, "more than 2^32 values on the stack");
    if (!PICKLE_RESERVE(p, &p->marks, p->marks.count + 1))
        return false;
    p->marks.at[p->marks.count++] = (uint32_t)p->stack.count;
    return true;
}

static bool op_empty_dict(struct pickle *p) {
    return pickle_push_container(p, PICKLE_DICT);
}

static bool op_empty_list(struct pickle *p) {
    return pickle_push_container(p, PICKLE_LIST);
}

static bool op_empty_tuple(struct pickle *p) {
    return pickle_push_container(p, PICKLE_TUPLE);
}

static bool op_empty_set(struct pickle *p) {
    return pickle_push_container(p, PICKLE_SET);
}

/* The container below `height` into which the values above go; it must be on this side of the last
 * mark. */
static bool target_below(struct pickle *p, size_t height, enum pickle_tag kind, uint32_t *handle) {
    static const char *const names[] = {
        [PICKLE_LIST] = "list", [PICKLE_DICT] = "dict", [PICKLE_SET] = "set"};
    if (height < pickle_fence(p) + 1)
        return pickle_fail(p, ERROR_BAD_INPUT, "stack underflow: no %s below its items",
                           names[kind]);
    struct pickle_value v = p->stack.at[height - 1];
    if (pickle_tag(v) != kind)
        return pickle_fail(p, ERROR_BAD_INPUT, "the container below the items is not a %s",
                           names[kind]);
    *handle = (uint32_t)pickle_payload(v);
    return true;
}

static bool count_items(struct pickle *p, uint32_t handle, size_t count) {
    struct pickle_container *c = &p->containers.at[handle];
    if (count > UINT32_MAX - c->count)
        return pickle_fail(p, ERROR_LIMIT, "more than 2^32 items in a container");
    c->count += (uint32_t)count;
    return true;
}

static bool set_items(struct pickle *p, size_t height) {
    uint32_t dict = 0;
    size_t items = p->stack.count - height;
    if (items % 2 != 0)
        return pickle_fail(p, ERROR_BAD_INPUT, "%zu items, expected pairs of key and value", items);
    if (!target_below(p, height, PICKLE_DICT, &dict) || !count_items(p, dict, items / 2))
        return false;
    p->stack.count = height;
    return items == 0 ||
           p->handler.set_items(p->handler.user, p, dict, p->stack.at + height, items / 2, p->err);
}

static bool append_items(struct pickle *p, size_t height) {
    uint32_t list = 0;
    size_t items = p->stack.count - height;
    if (!target_below(p, height, PICKLE_LIST, &list) || !count_items(p, list, items))
        return false;
    p->stack.count = height;
    if (items == 0)
        return true;
    return p->handler.append(p->handler.user, p, list, p->stack.at + height, items, p->err) &&
           pickle_runs_keep(p, list, items);
}

static bool op_setitems(struct pickle *p) {
    size_t height;
    return pickle_pop_mark(p, &height) && set_items(p, height);
}

static bool op_setitem(struct pickle *p) {
    return pickle_need(p, 3) && set_items(p, p->stack.count - 2);
}

static bool op_appends(struct pickle *p) {
    size_t height;
    return pickle_pop_mark(p, &height) && append_items(p, height);
}

static bool op_append(struct pickle *p) {
    return pickle_need(p, 2) && append_items(p, p->stack.count - 1);
}

static bool op_additems(struct pickle *p) {
    size_t height;
    uint32_t set = 0;
    if (!pickle_pop_mark(p, &height) || !target_below(p, height, PICKLE_SET, &set))
        return false;
    p->stack.count = height;
    return true;
}

static bool op_tuple1(struct pickle *p) {
    return pickle_need(p, 1) && pickle_wrap(p, PICKLE_TUPLE, p->stack.count - 1);
}

/* Tuples cannot change, so an equal pair of numbers that follows is the same tuple: snapshots hold
 * one pool id for each entry, and nearly all are (0, 0). */
static bool op_tuple2(struct pickle *p) {
    if (!pickle_need(p, 2))
        return false;
    struct pickle_value *pair = p->stack.at + p->stack.count - 2;
    const struct pickle_value a = pair[0], b = pair[1];
    if (a.bits == p->last_pair[0].bits && b.bits == p->last_pair[1].bits) {
        pair[0] = p->last_tuple;
        p->stack.count--;
        return true;
    }
    if (!pickle_wrap(p, PICKLE_TUPLE, p->stack.count - 2))
        return false;
    if (pickle_tag(a) == PICKLE_INT && pickle_tag(b) == PICKLE_INT) {
        p->last_pair[0] = a;
        p->last_pair[1] = b;
        p->last_tuple = p->stack.at[p->stack.count - 1];
    }
    return true;
}

static bool op_tuple3(struct pickle *p) {
    return pickle_need(p, 3) && pickle_wrap(p, PICKLE_TUPLE, p->stack.count - 3);
}

static bool op_tuple(struct pickle *p) {
    size_t height;
    return pickle_pop_mark(p, &height) && pickle_wrap(p, PICKLE_TUPLE, height);
}

static bool op_list(struct pickle *p) {
    size_t height;
    return pickle_pop_mark(p, &height) && pickle_wrap(p, PICKLE_LIST, height);
}

static bool op_frozenset(struct pickle *p) {
    size_t height;
    return pickle_pop_mark(p, &height) && pickle_wrap(p, PICKLE_SET, height);
}

static bool op_dict(struct pickle *p) {
    size_t height;
    if (!pickle_pop_mark(p, &height))
        return false;
    if ((p->stack.count - height) % 2 != 0)
        return pickle_fail(p, ERROR_BAD_INPUT, "%zu items, expected pairs of key and value",
                           p->stack.count - height);
    return pickle_wrap(p, PICKLE_DICT, height);
}

static bool op_binint1(struct pickle *p) {
    uint64_t value;
    return take_number(p, 1, &value) && pickle_push_integer(p, value, false);
}

static bool op_binint2(struct pickle *p) {
    uint64_t value;
    return take_number(p, 2, &value) && pickle_push_integer(p, value, false);
}

static bool op_binint(struct pickle *p) {
    uint64_t value;
    if (!take_number(p, 4, &value))
        return false;
    const uint64_t sign = UINT64_C(1) << 31;
    return pickle_push_integer(p, (value ^ sign) - sign, (value & sign) != 0);
}

/* Two's complement, little-endian. A ninth byte that only holds the sign is what Python writes from
 * 2^63 on. */
static bool push_long(struct pickle *p, uint64_t count) {
    const uint8_t *bytes;
    if (!pickle_take(p, count, &bytes))
        return false;
    bool negative = count > 0 && (bytes[count - 1] & 0x80) != 0;
    if (count > 9 || (count == 9 && bytes[8] != (negative ? 0xff : 0))) {
        p->warnings++;
        return pickle_push(p, pickle_make(PICKLE_UNKNOWN, 0));
    }
    if (count == 9 && negative && (bytes[7] & 0x80) == 0) { /* below -2^63 */
        p->warnings++;
        return pickle_push(p, pickle_make(PICKLE_UNKNOWN, 0));
    }
    uint64_t value = pickle_little(bytes, count > 8 ? 8 : (unsigned)count);
    if (negative && count < 8)
        value |= UINT64_MAX << (8 * count);
    return pickle_push_integer(p, value, negative);
}

static bool op_long1(struct pickle *p) {
    uint64_t count;
    return take_number(p, 1, &count) && push_long(p, count);
}

static bool op_long4(struct pickle *p) {
    uint64_t count;
    if (!take_number(p, 4, &count))
        return false;
    if (count > INT32_MAX)
        return pickle_fail(p, ERROR_BAD_INPUT, "an integer of negative length");
    return push_long(p, count);
}

static bool op_binfloat(struct pickle *p) {
    const uint8_t *bytes;
    if (!pickle_take(p, 8, &bytes))
        return false;
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    double value;
    memcpy(&value, &bits, sizeof value);
    return pickle_push_double(p, value);
}

/* A string whose length stands before it in `size` bytes. Entries repeat a text without naming its
 * memo slot ("N/A"), often the one before. */
static bool push_text(struct pickle *p, unsigned size) {
    uint64_t length;
    const uint8_t *bytes;
    if (!take_number(p, size, &length) || !pickle_take(p, length, &bytes))
        return false;
    if (length > 0 && length == p->last_length && memcmp(bytes, p->last_text, length) == 0)
        return pickle_push(p, p->last_string);
    if (!pickle_push_string(p, bytes, length))
        return false;
    p->last_text = bytes;
    p->last_length = length;
    p->last_string = p->stack.at[p->stack.count - 1];
    return true;
}

static bool op_short_text(struct pickle *p) {
    return push_text(p, 1);
}

static bool op_text(struct pickle *p) {
    return push_text(p, 4);
}

static bool op_long_text(struct pickle *p) {
    return push_text(p, 8);
}

static bool skip_bytes(struct pickle *p, unsigned size) {
    uint64_t length;
    const uint8_t *bytes;
    return take_number(p, size, &length) && pickle_take(p, length, &bytes) &&
           pickle_push(p, pickle_make(PICKLE_BYTES, 0));
}

static bool op_short_bytes(struct pickle *p) {
    return skip_bytes(p, 1);
}

static bool op_bytes(struct pickle *p) {
    return skip_bytes(p, 4);
}

static bool op_long_bytes(struct pickle *p) {
    return skip_bytes(p, 8);
}

static bool op_true(struct pickle *p) {
    return pickle_push(p, pickle_make(PICKLE_BOOL, 1));
}

static bool op_false(struct pickle *p) {
    return pickle_push(p, pickle_make(PICKLE_BOOL, 0));
}

static bool op_none(struct pickle *p) {
    return pickle_push(p, pickle_make(PICKLE_NONE, 0));
}

static bool op_memoize(struct pickle *p) {
    return pickle_memo_put(p, p->memo_set);
}

static bool op_binput(struct pickle *p) {
    uint64_t index;
    return take_number(p, 1, &index) && pickle_memo_put(p, index);
}

static bool op_long_binput(struct pickle *p) {
    uint64_t index;
    return take_number(p, 4, &index) && pickle_memo_put(p, index);
}

static bool op_binget(struct pickle *p) {
    uint64_t index;
    return take_number(p, 1, &index) && pickle_memo_get(p, index);
}

static bool op_long_binget(struct pickle *p) {
    uint64_t index;
    return take_number(p, 4, &index) && pickle_memo_get(p, index);
}

/* Python's POP takes a mark away when nothing lies above it. */
static bool op_pop(struct pickle *p) {
    if (p->marks.count > 0 && pickle_fence(p) == p->stack.count) {
        p->marks.count--;
        return true;
    }
    if (!pickle_need(p, 1))
        return false;
    p->stack.count--;
    return true;
}

static bool op_pop_mark(struct pickle *p) {
    size_t height;
    if (!pickle_pop_mark(p, &height))
        return false;
    p->stack.count = height;
    return true;
}

static bool op_dup(struct pickle *p) {
    return pickle_need(p, 1) && pickle_push(p, p->stack.at[p->stack.count - 1]);
}

const struct pickle_opcode pickle_opcodes[256] = {
    [0x80] = {"PROTO", op_proto},
    [0x95] = {"FRAME", op_frame},
    ['.'] = {"STOP", op_stop},
    ['('] = {"MARK", op_mark},
    ['}'] = {"EMPTY_DICT", op_empty_dict},
    [']'] = {"EMPTY_LIST", op_empty_list},
    [')'] = {"EMPTY_TUPLE", op_empty_tuple},
    [0x8f] = {"EMPTY_SET", op_empty_set},
    ['u'] = {"SETITEMS", op_setitems},
    ['s'] = {"SETITEM", op_setitem},
    ['e'] = {"APPENDS", op_appends},
    ['a'] = {"APPEND", op_append},
    [0x90] = {"ADDITEMS", op_additems},
    [0x85] = {"TUPLE1", op_tuple1},
    [0x86] = {"TUPLE2", op_tuple2},
    [0x87] = {"TUPLE3", op_tuple3},
    ['t'] = {"TUPLE", op_tuple},
    ['l'] = {"LIST", op_list},
    ['d'] = {"DICT", op_dict},
    [0x91] = {"FROZENSET", op_frozenset},
    ['K'] = {"BININT1", op_binint1},
    ['M'] = {"BININT2", op_binint2},
    ['J'] = {"BININT", op_binint},
    [0x8a] = {"LONG1", op_long1},
    [0x8b] = {"LONG4", op_long4},
    ['G'] = {"BINFLOAT", op_binfloat},
    [0x8c] = {"SHORT_BINUNICODE", op_short_text},
    ['X'] = {"BINUNICODE", op_text},
    [0x8d] = {"BINUNICODE8", op_long_text},
    ['U'] = {"SHORT_BINSTRING", op_short_text},
    ['T'] = {"BINSTRING", op_text},
    ['C'] = {"SHORT_BINBYTES", op_short_bytes},
    ['B'] = {"BINBYTES", op_bytes},
    [0x8e] = {"BINBYTES8", op_long_bytes},
    [0x96] = {"BYTEARRAY8", op_long_bytes},
    [0x88] = {"NEWTRUE", op_true},
    [0x89] = {"NEWFALSE", op_false},
    ['N'] = {"NONE", op_none},
    [0x94] = {"MEMOIZE", op_memoize},
    ['q'] = {"BINPUT", op_binput},
    ['r'] = {"LONG_BINPUT", op_long_binput},
    ['h'] = {"BINGET", op_binget},
    ['j'] = {"LONG_BINGET", op_long_binget},
    ['0'] = {"POP", op_pop},
    ['1'] = {"POP_MARK", op_pop_mark},
    ['2'] = {"DUP", op_dup},
    ['I'] = {"INT", pickle_op_int},
    ['L'] = {"LONG", pickle_op_long},
    ['F'] = {"FLOAT", pickle_op_float},
    ['S'] = {"STRING", pickle_op_string},
    ['V'] = {"UNICODE", pickle_op_unicode},
    ['p'] = {"PUT", pickle_op_put},
    ['g'] = {"GET", pickle_op_get},
    /* known, and never run */
    ['c'] = {"GLOBAL", NULL},
    [0x93] = {"STACK_GLOBAL", NULL},
    ['R'] = {"REDUCE", NULL},
    ['b'] = {"BUILD", NULL},
    ['i'] = {"INST", NULL},
    ['o'] = {"OBJ", NULL},
    [0x81] = {"NEWOBJ", NULL},
    [0x92] = {"NEWOBJ_EX", NULL},
    [0x82] = {"EXT1", NULL},
    [0x83] = {"EXT2", NULL},
    [0x84] = {"EXT4", NULL},
    ['P'] = {"PERSID", NULL},
    ['Q'] = {"BINPERSID", NULL},
    [0x97] = {"NEXT_BUFFER", NULL},
    [0x98] = {"READONLY_BUFFER", NULL},
};
