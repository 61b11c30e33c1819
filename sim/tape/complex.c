/* complex.c: numbers of two parts, as rotary embeddings are written with them: views of pairs, polar
 * (torch/csrc/autograd/FunctionsManual.cpp). */
#include "op.h"

static struct tensor *seen_as(struct tape *tape, struct tensor *t, struct node *node,
                              enum dtype dtype, const struct shape *shape, const int64_t *stride) {
    struct tensor *out = tape_alias(tape, t, shape, stride);
    out->dtype = dtype;
    out->is_view = true;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

static struct tensor *as_complex(struct tape *tape, struct tensor *t, struct node *node) {
    struct shape shape = t->shape;
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    shape.ndim--;
    for (unsigned i = 0; i < shape.ndim; i++)
        stride[i] = t->stride[i] / 2;
    return seen_as(tape, t, node, DTYPE_COMPLEX64, &shape, stride);
}

static struct tensor *as_real(struct tape *tape, struct tensor *t, struct node *node) {
    struct shape shape = t->shape;
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    for (unsigned i = 0; i < shape.ndim; i++)
        stride[i] = 2 * t->stride[i];
    stride[shape.ndim] = 1;
    shape.size[shape.ndim++] = 2;
    return seen_as(tape, t, node, DTYPE_FLOAT32, &shape, stride);
}

static void backward_complex(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    (void)node;
    struct tensor *grad = aten_contiguous(tape, grads[0]);
    out[0] = as_real(tape, grad, NULL);
    tensor_unref(tape, grad);
}

static void backward_real(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    (void)node;
    struct tensor *grad = aten_contiguous(tape, grads[0]);
    out[0] = as_complex(tape, grad, NULL);
    tensor_unref(tape, grad);
}

static const struct backward_op complex_backward = {"ViewAsComplexBackward0", backward_complex};
static const struct backward_op real_backward = {"ViewAsRealBackward0", backward_real};

static bool check(struct tape *tape, struct op_call *call, bool fits, const char *wanted) {
    struct tensor *t = call->arg[0].tensor;
    char a[128];
    if (fits)
        return true;
    tape_fail(tape, ERROR_BAD_SCENARIO, "%s: wants %s, found %s %s", call->op->name, wanted,
              dtype_name(t->dtype), shape_format(&t->shape, a, sizeof a));
    op_give(call, tensor_ref(t));
    return false;
}

static void run_view_as_complex(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned n = t->shape.ndim;
    bool fits =
        t->dtype == DTYPE_FLOAT32 && n > 0 && t->shape.size[n - 1] == 2 && t->stride[n - 1] == 1;
    for (unsigned i = 0; fits && i + 1 < n; i++)
        fits = t->stride[i] % 2 == 0;
    if (check(tape, call, fits, "pairs of float32"))
        op_give(call, as_complex(tape, t, node_create(tape, &complex_backward, &t, 1, 1)));
}

static void run_view_as_real(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    bool fits = t->dtype == DTYPE_COMPLEX64 && t->shape.ndim < TENSOR_MAX_DIMS;
    if (check(tape, call, fits, "complex64"))
        op_give(call, as_real(tape, t, node_create(tape, &real_backward, &t, 1, 1)));
}

static void run_polar(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    op_refuse_gradient(tape, call);
    op_give(call, elementwise(tape, "polar", DTYPE_COMPLEX64, in, 2));
}

const struct op ops_complex[] = {
    {"view_as_complex", "self:T", AUTOCAST_NONE, "pairs of float32 seen as complex64",
     run_view_as_complex, NULL},
    {"view_as_real", "self:T", AUTOCAST_NONE, "complex64 seen as pairs of float32",
     run_view_as_real, NULL},
    {"polar", "abs:T angle:T", AUTOCAST_NONE, "complex numbers of this size and angle", run_polar,
     NULL},
    {0},
};
