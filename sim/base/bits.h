/* bits.h: positions of the outermost set bits. Both want a value that is not 0. */
#ifndef BITS_H
#define BITS_H

#include <stdint.h>

static inline uint32_t bits_highest(uint64_t value) {
#if defined(__GNUC__)
    return 63 - (uint32_t)__builtin_clzll(value);
#else
    uint32_t at = 0;
    while (value >>= 1)
        at++;
    return at;
#endif
}

static inline uint32_t bits_lowest(uint64_t value) {
    return bits_highest(value & (~value + 1));
}

#endif
