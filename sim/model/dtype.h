/* dtype.h: element types, by PyTorch's names. */
#ifndef DTYPE_H
#define DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/* name, torch name, short name, bytes, floating point */
#define DTYPES(X)                                                                                  \
    X(NONE, "none", "-", 0, false)                                                                 \
    X(FLOAT32, "float32", "fp32", 4, true)                                                         \
    X(FLOAT64, "float64", "fp64", 8, true)                                                         \
    X(FLOAT16, "float16", "fp16", 2, true)                                                         \
    X(BFLOAT16, "bfloat16", "bf16", 2, true)                                                       \
    X(INT64, "int64", "i64", 8, false)                                                             \
    X(INT32, "int32", "i32", 4, false)                                                             \
    X(INT16, "int16", "i16", 2, false)                                                             \
    X(INT8, "int8", "i8", 1, false)                                                                \
    X(UINT8, "uint8", "u8", 1, false)                                                              \
    X(BOOL, "bool", "bool", 1, false)                                                              \
    X(FLOAT8_E4M3FN, "float8_e4m3fn", "fp8", 1, true)                                              \
    X(FLOAT8_E5M2, "float8_e5m2", "fp8e5m2", 1, true)                                              \
    X(COMPLEX64, "complex64", "c64", 8, true)

enum dtype {
#define X(id, torch_name, short_name, bytes, is_float) DTYPE_##id,
    DTYPES(X)
#undef X
        DTYPE_COUNT
};

uint32_t dtype_bytes(enum dtype dtype);
const char *dtype_name(enum dtype dtype);       /* "bfloat16" */
const char *dtype_short_name(enum dtype dtype); /* "bf16" */
bool dtype_is_float(enum dtype dtype);
/* By either name; DTYPE_NONE when unknown. */
enum dtype dtype_find(const char *name);
/* The type of an operation on two tensors (not scalars): PyTorch's promotion lattice (c10/core/ScalarType.cpp). */
enum dtype dtype_promote(enum dtype a, enum dtype b);

#endif
