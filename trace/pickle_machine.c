/* pickle_machine.c: the moves of the stack machine. */
#include "pickle_machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "xalloc.h"

bool pickle_fail(struct pickle *p, enum error_code code, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    uint8_t opcode = p->op_at < p->length ? p->data[p->op_at] : 0;
    const char *name = p->opcodes[opcode].name;
    return error_set(p->err, code, "opcode %s (0x%02x) at byte %zu: %s", name ? name : "unknown",
                     opcode, p->op_at, text);
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

bool pickle_fail_budget(struct pickle *p) {
    return pickle_fail(p, ERROR_LIMIT,
                       "needs more than %zu bytes of host memory, the limit for this file",
                       p->budget);
}

bool pickle_grow(struct pickle *p, void *at, size_t *capacity, size_t need, size_t item) {
    size_t doubled = *capacity < 4 ? 8 : *capacity * 2;
    size_t grown = (doubled > need ? doubled : need) - *capacity;
    if (grown > p->budget / item || pickle_memory(p) + grown * item > p->budget)
        return pickle_fail_budget(p);
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
        return pickle_fail_budget(p);
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
