/* factory.c: new tensors. Initialisers write in place and ask for nothing (normal_, uniform_,
 * fill_: no request). */
#include "op.h"

#include <math.h>

struct tensor *aten_empty(struct tape *tape, const struct shape *shape, enum dtype dtype) {
    return tape_new(tape, dtype, shape);
}

struct tensor *aten_new_int64s(struct tape *tape, int64_t count) {
    struct shape shape = {.ndim = 1, .size = {count}};
    return tape_new(tape, DTYPE_INT64, &shape);
}

struct tensor *aten_full(struct tape *tape, const struct shape *shape, enum dtype dtype) {
    struct tensor *t = tape_new(tape, dtype, shape);
    tape_kernel(tape, "fill", 0, tensor_nbytes(t), dtype);
    return t;
}

static struct tensor *like(struct tape *tape, struct tensor *t) {
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(t, stride);
    struct tensor *out = tape_new_strided(tape, t->dtype, &t->shape, stride);
    tape_kernel(tape, "fill", 0, tensor_nbytes(out), t->dtype);
    return out;
}

struct tensor *aten_ones_like(struct tape *tape, struct tensor *t) {
    return like(tape, t);
}

struct tensor *aten_zeros_like(struct tape *tape, struct tensor *t) {
    return like(tape, t);
}

static enum dtype dtype_or(const struct op_arg *arg, enum dtype fallback) {
    return arg->given ? (enum dtype)arg->integer : fallback;
}

/* What a scenario's factory makes: on the device, or on the host while a model is built there. */
static struct tensor *make(struct tape *tape, const struct op_call *call, bool filled) {
    enum dtype dtype = dtype_or(&call->arg[1], tape->default_dtype);
    if (tape->default_host)
        return tape_new_host(tape, dtype, &call->arg[0].shape);
    return filled ? aten_full(tape, &call->arg[0].shape, dtype)
                  : aten_empty(tape, &call->arg[0].shape, dtype);
}

static void run_empty(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] = make(tape, call, false);
}

static void run_full(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] = make(tape, call, true);
}

static void run_full_number(struct tape *tape, struct op_call *call) {
    struct op_call plain = *call;
    plain.arg[1] = call->arg[2];
    call->out[call->out_count++] = make(tape, &plain, true);
}

static void run_randint(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] = aten_full(tape, &call->arg[1].shape, DTYPE_INT64);
}

static void run_linspace(struct tape *tape, struct op_call *call) {
    struct shape shape = {.ndim = 1, .size = {call->arg[2].integer}};
    call->out[call->out_count++] = aten_full(tape, &shape, tape->default_dtype);
}

static void run_zeros_like(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] = aten_zeros_like(tape, call->arg[0].tensor);
}

/* arange(end) or arange(start, end, step): int64 unless a float or a dtype is given. */
static void run_arange(struct tape *tape, struct op_call *call) {
    double start = 0, end = call->arg[0].number, step = 1;
    if (call->arg[1].given) {
        start = end;
        end = call->arg[1].number;
    }
    if (call->arg[2].given)
        step = call->arg[2].number;
    if (!((end - start) / step >= 0 && (end - start) / step <= 1e15)) { /* not a number neither */
        tape_fail(tape, ERROR_BAD_SCENARIO, "arange: from %g to %g by %g has no size", start, end,
                  step);
        end = start;
        step = 1;
    }
    struct shape shape = {.ndim = 1, .size = {(int64_t)ceil((end - start) / step)}};
    enum dtype dtype = dtype_or(&call->arg[3], DTYPE_INT64);
    struct tensor *t =
        tape->default_host ? tape_new_host(tape, dtype, &shape) : tape_new(tape, dtype, &shape);
    if (!t->host)
        tape_kernel(tape, "arange", 0, tensor_nbytes(t), t->dtype);
    call->out[call->out_count++] = t;
}

/* A 0-dim tensor of a Python number on the device: filled there by a copy from the host. */
static void run_scalar_tensor(struct tape *tape, struct op_call *call) {
    struct shape shape = {.ndim = 0};
    call->out[call->out_count++] = aten_full(tape, &shape, dtype_or(&call->arg[0], DTYPE_FLOAT32));
}

/* eye(n): zeros, then the diagonal */
static void run_eye(struct tape *tape, struct op_call *call) {
    int64_t n = call->arg[0].integer;
    struct shape shape = {.ndim = 2, .size = {n, n}};
    struct tensor *t = tape_new(tape, dtype_or(&call->arg[1], tape->default_dtype), &shape);
    tape_kernel(tape, "eye", 0, tensor_nbytes(t), t->dtype);
    op_give(call, t);
}

static void run_host_scalar(struct tape *tape, struct op_call *call) {
    struct shape shape = {.ndim = 0};
    call->out[call->out_count++] =
        tape_new_host(tape, dtype_or(&call->arg[0], DTYPE_FLOAT32), &shape);
}

const struct op ops_factory[] = {
    {"empty", "size:I dtype:d?", AUTOCAST_NONE, "memory without values", run_empty, NULL},
    {"zeros", "size:I dtype:d?", AUTOCAST_NONE, "zeros", run_full, NULL},
    {"ones", "size:I dtype:d?", AUTOCAST_NONE, "ones", run_full, NULL},
    {"full", "size:I value:f=0 dtype:d?", AUTOCAST_NONE, "a number", run_full_number, NULL},
    {"rand", "size:I dtype:d?", AUTOCAST_NONE, "numbers from [0, 1)", run_full, NULL},
    {"randn", "size:I dtype:d?", AUTOCAST_NONE, "normal numbers", run_full, NULL},
    {"randint", "high:i size:I", AUTOCAST_NONE, "whole numbers below high", run_randint, NULL},
    {"linspace", "start:f end:f steps:i", AUTOCAST_NONE, "numbers from start to end, evenly",
     run_linspace, NULL},
    {"empty_like", "self:T", AUTOCAST_NONE, "memory with the layout of self", run_zeros_like, NULL},
    {"rand_like", "self:T", AUTOCAST_NONE, "numbers from [0, 1) with the layout of self",
     run_zeros_like, NULL},
    {"randn_like", "self:T", AUTOCAST_NONE, "normal numbers with the layout of self",
     run_zeros_like, NULL},
    {"bernoulli", "self:T", AUTOCAST_NONE, "0 or 1 with the probability that self says",
     run_zeros_like, NULL},
    {"zeros_like", "self:T", AUTOCAST_NONE, "zeros with the layout of self", run_zeros_like, NULL},
    {"full_like", "self:T value:f=0", AUTOCAST_NONE, "a number with the layout of self",
     run_zeros_like, NULL},
    {"ones_like", "self:T", AUTOCAST_NONE, "ones with the layout of self", run_zeros_like, NULL},
    {"eye", "n:i dtype:d?", AUTOCAST_NONE, "ones on the diagonal of a square of zeros", run_eye,
     NULL},
    {"arange", "start:f end:f? step:f? dtype:d?", AUTOCAST_NONE, "numbers from start to end",
     run_arange, NULL},
    {"scalar_tensor", "dtype:d?", AUTOCAST_NONE, "one number on the device", run_scalar_tensor,
     NULL},
    {"host_scalar", "dtype:d?", AUTOCAST_NONE, "one number in host memory", run_host_scalar, NULL},
    {0},
};
