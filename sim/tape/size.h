/* size.h: arithmetic on sizes that a scenario gave: the largest number when the result is more,
 * which is refused where it becomes a tensor. A product with a negative size is -1 unless it is 0. */
#ifndef SIZE_H
#define SIZE_H

#include <stdint.h>

static inline int64_t size_mul(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return 0;
    if (a < 0 || b < 0)
        return -1;
    return b > INT64_MAX / a ? INT64_MAX : a * b;
}

static inline int64_t size_add(int64_t a, int64_t b) {
    if (b > 0)
        return a > INT64_MAX - b ? INT64_MAX : a + b;
    return a < INT64_MIN - b ? INT64_MIN : a + b;
}

static inline int64_t size_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t size_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The highest power of two that is not more; 1 at least. */
static inline int64_t size_last_pow2(int64_t n) {
    int64_t p = 1;
    while (p <= n / 2)
        p *= 2;
    return p;
}

/* Of numbers that are not negative; 0 when the unit is none. */
static inline int64_t size_div_up(int64_t n, int64_t unit) {
    return unit > 0 ? n / unit + (n % unit != 0) : 0;
}

/* The lowest multiple of the unit that is not less. */
static inline int64_t size_round_up(int64_t n, int64_t unit) {
    return size_mul(size_div_up(n, unit), unit);
}

#endif
