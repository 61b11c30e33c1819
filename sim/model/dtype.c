/* dtype.c: see dtype.h. */
#include "dtype.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *short_name;
    uint32_t bytes;
    bool is_float;
} dtypes[DTYPE_COUNT] = {
#define X(id, torch_name, short_name, bytes, is_float) {torch_name, short_name, bytes, is_float},
    DTYPES(X)
#undef X
};

uint32_t dtype_bytes(enum dtype dtype) {
    return dtypes[dtype].bytes;
}

const char *dtype_name(enum dtype dtype) {
    return dtypes[dtype].name;
}

const char *dtype_short_name(enum dtype dtype) {
    return dtypes[dtype].short_name;
}

bool dtype_is_float(enum dtype dtype) {
    return dtypes[dtype].is_float;
}

enum dtype dtype_find(const char *name) {
    for (unsigned i = 1; i < DTYPE_COUNT; i++)
        if (strcmp(name, dtypes[i].name) == 0 || strcmp(name, dtypes[i].short_name) == 0)
            return (enum dtype)i;
    return DTYPE_NONE;
}

/* bool < integers < floats; among the 16-bit floats the result of two different ones is float32. */
enum dtype dtype_promote(enum dtype a, enum dtype b) {
    if (a == b)
        return a;
    if (a == DTYPE_BOOL)
        return b;
    if (b == DTYPE_BOOL)
        return a;
    if (a == DTYPE_COMPLEX64 || b == DTYPE_COMPLEX64)
        return DTYPE_COMPLEX64;
    bool fa = dtype_is_float(a), fb = dtype_is_float(b);
    if (fa != fb)
        return fa ? a : b;
    if (fa) {
        if (dtype_bytes(a) == dtype_bytes(b))
            return DTYPE_FLOAT32;
        return dtype_bytes(a) > dtype_bytes(b) ? a : b;
    }
    if (dtype_bytes(a) == dtype_bytes(b)) /* uint8 and int8 */
        return DTYPE_INT16;
    return dtype_bytes(a) > dtype_bytes(b) ? a : b;
}
