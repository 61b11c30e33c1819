/* checked.h: arithmetic on sizes that reports overflow instead of wrapping. Each returns false on overflow and then
 * leaves *out untouched. */
#ifndef CHECKED_H
#define CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *out) {
    if (a > UINT64_MAX - b)
        return false;
    *out = a + b;
    return true;
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *out) {
    if (b != 0 && a > UINT64_MAX / b)
        return false;
    *out = a * b;
    return true;
}

/* `value` rounded up to a multiple of `unit` (> 0). */
static inline bool checked_round_up(uint64_t value, uint64_t unit, uint64_t *out) {
    uint64_t rest = value % unit;
    if (rest == 0) {
        *out = value;
        return true;
    }
    return checked_add(value, unit - rest, out);
}

#endif
