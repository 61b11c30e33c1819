/* linear.c: matmul and linear, which fold, broadcast and flatten their operands for the products of
 * matmul.c (ATen/native/LinearAlgebra.cpp, Linear.cpp). */
#include "op.h"

/* LinearAlgebra.cpp should_fold: a batch times a matrix becomes one mm when the matrix needs a
 * gradient or the batch dims lie contiguously. */
static bool should_fold(const struct tensor *batch, const struct tensor *matrix) {
    if (matrix->requires_grad)
        return true;
    if (batch->shape.ndim == 2 || shape_numel(&batch->shape) == 0)
        return batch->shape.ndim != 2;
    for (unsigned i = 0; i + 2 < batch->shape.ndim; i++)
        if (batch->stride[i] != batch->stride[i + 1] * batch->shape.size[i + 1])
            return false;
    return true;
}

static struct tensor *fold(struct tape *tape, struct tensor *a, struct tensor *b) {
    unsigned n = a->shape.ndim;
    struct shape folded = aten_matrix_shape(&a->shape);
    struct shape shape = a->shape;
    shape.size[n - 1] = b->shape.size[1];
    struct tensor *flat = aten_reshape(tape, a, &folded);
    struct tensor *p = aten_mm(tape, flat, b);
    struct tensor *out =
        tape->status == TAPE_OK ? aten_unsafe_view(tape, p, &shape) : tensor_ref(p);
    tensor_unref(tape, flat);
    tensor_unref(tape, p);
    return out;
}

/* Both operands are expanded to the common batch and handed to bmm as 3-D; a copy where the strides
 * do not allow it. */
static struct tensor *flatten_batch(struct tape *tape, struct tensor *t,
                                    const struct shape *batch) {
    struct shape expanded = *batch;
    unsigned n = t->shape.ndim;
    expanded.size[expanded.ndim++] = t->shape.size[n - 2];
    expanded.size[expanded.ndim++] = t->shape.size[n - 1];
    struct shape flat = {.ndim = 3,
                         .size = {shape_numel(batch), t->shape.size[n - 2], t->shape.size[n - 1]}};
    struct tensor *view = aten_expand(tape, t, &expanded);
    struct tensor *out = aten_reshape(tape, view, &flat);
    tensor_unref(tape, view);
    return out;
}

static struct tensor *batched(struct tape *tape, struct tensor *a, struct tensor *b) {
    struct shape batch_a = a->shape, batch_b = b->shape, batch;
    batch_a.ndim -= 2;
    batch_b.ndim -= 2;
    if (!shape_broadcast(&batch_a, &batch_b, &batch) || batch.ndim + 2 > TENSOR_MAX_DIMS) {
        char x[128], y[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "matmul: shapes %s and %s do not fit",
                  shape_format(&a->shape, x, sizeof x), shape_format(&b->shape, y, sizeof y));
        return tensor_ref(a);
    }
    struct tensor *fa = flatten_batch(tape, a, &batch);
    struct tensor *fb = flatten_batch(tape, b, &batch);
    struct tensor *p = aten_bmm(tape, fa, fb);
    struct shape shape = batch;
    shape.size[shape.ndim++] = a->shape.size[a->shape.ndim - 2];
    shape.size[shape.ndim++] = b->shape.size[b->shape.ndim - 1];
    struct tensor *out =
        tape->status == TAPE_OK ? aten_unsafe_view(tape, p, &shape) : tensor_ref(p);
    tensor_unref(tape, fa);
    tensor_unref(tape, fb);
    tensor_unref(tape, p);
    return out;
}

/* A vector left of a matrix is a matrix of one row; right of a batch, the rows of all are one
 * matrix. */
static struct tensor *with_vector(struct tape *tape, struct tensor *a, struct tensor *b) {
    unsigned m = a->shape.ndim, n = b->shape.ndim;
    if (m == 1 && n == 1)
        return aten_dot(tape, a, b);
    if (m == 2 && n == 1)
        return aten_mv(tape, a, b);
    if (m == 1 && n == 2) {
        struct shape shape = {.ndim = 1, .size = {b->shape.size[1]}};
        struct tensor *row = aten_unsqueeze(tape, a, 0);
        struct tensor *p = aten_mm(tape, row, b);
        struct tensor *out = tape->status == TAPE_OK ? aten_view(tape, p, &shape) : tensor_ref(p);
        tensor_unref(tape, p);
        tensor_unref(tape, row);
        return out;
    }
    if (m > 2 && n == 1) {
        struct shape rows = aten_matrix_shape(&a->shape), shape = a->shape;
        shape.ndim--;
        struct tensor *flat = aten_reshape(tape, a, &rows);
        struct tensor *p = aten_mv(tape, flat, b);
        struct tensor *out =
            tape->status == TAPE_OK ? aten_unsafe_view(tape, p, &shape) : tensor_ref(p);
        tensor_unref(tape, p);
        tensor_unref(tape, flat);
        return out;
    }
    tape_fail(tape, ERROR_BAD_SCENARIO, "matmul: %u and %u dims are not modelled", m, n);
    return tensor_ref(a);
}

struct tensor *aten_matmul(struct tape *tape, struct tensor *a, struct tensor *b) {
    if (a->shape.ndim < 2 || b->shape.ndim < 2)
        return with_vector(tape, a, b);
    if (a->shape.ndim == 2 && b->shape.ndim == 2)
        return aten_mm(tape, a, b);
    if (b->shape.ndim == 2 && should_fold(a, b))
        return fold(tape, a, b);
    return batched(tape, a, b);
}

/* linear: a fused addmm for 2-D inputs and (flattened) for contiguous 3-D ones, else matmul and an
 * in-place add. */
static struct tensor *linear(struct tape *tape, struct tensor *x, struct tensor *weight,
                             struct tensor *bias) {
    unsigned n = x->shape.ndim;
    if (weight->shape.ndim != 2 || n < 2 || x->shape.size[n - 1] != weight->shape.size[1] ||
        x->dtype != weight->dtype) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "linear: input %s (%s) does not fit weight %s (%s)",
                  shape_format(&x->shape, a, sizeof a), dtype_name(x->dtype),
                  shape_format(&weight->shape, b, sizeof b), dtype_name(weight->dtype));
        return tensor_ref(x);
    }
    struct tensor *flat = NULL, *out;
    if (bias && n == 2) {
        struct tensor *wt = aten_t(tape, weight);
        out = aten_addmm(tape, bias, x, wt, 1, 1);
        tensor_unref(tape, wt);
        return out;
    }
    if (bias && n > 2 && tensor_is_contiguous(x)) {
        struct shape folded = aten_matrix_shape(&x->shape);
        struct shape shape = x->shape;
        shape.size[n - 1] = weight->shape.size[0];
        flat = aten_reshape(tape, x, &folded);
        struct tensor *wt = aten_t(tape, weight);
        struct tensor *p = aten_addmm(tape, bias, flat, wt, 1, 1);
        out = tape->status == TAPE_OK ? aten_view(tape, p, &shape) : tensor_ref(p);
        tensor_unref(tape, flat);
        tensor_unref(tape, wt);
        tensor_unref(tape, p);
        return out;
    }
    struct tensor *wt = aten_t(tape, weight);
    out = aten_matmul(tape, x, wt);
    tensor_unref(tape, wt);
    if (bias)
        aten_add_recorded_(tape, out, bias);
    return out;
}

static void run_matmul(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] = aten_matmul(tape, call->arg[0].tensor, call->arg[1].tensor);
}

static void run_linear(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] =
        linear(tape, call->arg[0].tensor, call->arg[1].tensor, call->arg[2].tensor);
}

const struct op ops_linear[] = {
    {"matmul", "self:T other:T", AUTOCAST_LOW, "matrix product with broadcast batches", run_matmul,
     NULL},
    {"linear", "input:T weight:T bias:T?", AUTOCAST_LOW, "input @ weight.t() + bias", run_linear,
     NULL},
    {0},
};
