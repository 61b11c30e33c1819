/* dims.c: views that reorder, drop or part dims: permute, squeeze, unflatten; and repeat and roll,
 * which copy. */
#include "op.h"

static void give_view(struct tape *tape, struct op_call *call, struct node *node,
                      const struct shape *shape, const int64_t *stride) {
    struct tensor *out = tape_alias(tape, call->arg[0].tensor, shape, stride);
    out->is_view = true;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

/* args: [i] which dim of the input is dim i of the output; the gradient is turned back */
static void backward_permute(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    struct shape shape = grads[0]->shape;
    int64_t stride[TENSOR_MAX_DIMS];
    for (unsigned i = 0; i < shape.ndim; i++) {
        shape.size[node->args[i]] = grads[0]->shape.size[i];
        stride[node->args[i]] = grads[0]->stride[i];
    }
    out[0] = tape_alias(tape, grads[0], &shape, stride);
    out[0]->is_view = true;
}

static const struct backward_op permute_backward = {"PermuteBackward0", backward_permute};

struct tensor *aten_permute(struct tape *tape, struct tensor *t, const unsigned *from) {
    struct shape shape = t->shape;
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    struct node *node = node_create(tape, &permute_backward, &t, 1, 1);
    for (unsigned i = 0; i < shape.ndim; i++) {
        shape.size[i] = t->shape.size[from[i]];
        stride[i] = t->stride[from[i]];
        if (node)
            node->args[i] = from[i];
    }
    struct tensor *out = tape_alias(tape, t, &shape, stride);
    out->is_view = true;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

static void run_permute(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    const struct shape *dims = &call->arg[1].shape;
    unsigned from[TENSOR_MAX_DIMS] = {0}, seen = 0;
    bool fits = dims->ndim == t->shape.ndim;
    for (unsigned i = 0; fits && i < t->shape.ndim; i++) {
        fits = shape_wrap_dim(&t->shape, dims->size[i], &from[i]) && !((seen >> from[i]) & 1);
        seen |= 1u << from[i];
    }
    if (!fits) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "permute: %s is no order of %u dims",
                  shape_format(dims, a, sizeof a), t->shape.ndim);
        op_give(call, tensor_ref(t));
        return;
    }
    op_give(call, aten_permute(tape, t, from));
}

static void backward_reshape(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    out[0] = aten_reshape(tape, grads[0], &node->edges[0].shape);
}

static const struct backward_op squeeze_backward = {"SqueezeBackward1", backward_reshape};

/* One dim, dropped when it is 1; without a dim all of size 1. */
static void run_squeeze(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = call->arg[1].given ? op_dim(tape, call, &call->arg[1]) : 0;
    struct shape shape = {.ndim = 0};
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    for (unsigned i = 0; i < t->shape.ndim; i++) {
        if (t->shape.size[i] == 1 && (!call->arg[1].given || i == dim))
            continue;
        stride[shape.ndim] = t->stride[i];
        shape.size[shape.ndim++] = t->shape.size[i];
    }
    give_view(tape, call, node_create(tape, &squeeze_backward, &t, 1, 1), &shape, stride);
}

/* One dim as several: a view. */
static void run_unflatten(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    const struct shape *sizes = &call->arg[2].shape;
    unsigned dim = 0;
    if (!shape_wrap_dim(&t->shape, call->arg[1].integer, &dim) ||
        t->shape.ndim + sizes->ndim > TENSOR_MAX_DIMS) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "unflatten: dim %lld of a tensor of %u dims",
                  (long long)call->arg[1].integer, t->shape.ndim);
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    struct shape shape = {.ndim = 0};
    for (unsigned i = 0; i < t->shape.ndim; i++)
        if (i == dim)
            for (unsigned k = 0; k < sizes->ndim; k++)
                shape.size[shape.ndim++] = sizes->size[k];
        else
            shape.size[shape.ndim++] = t->shape.size[i];
    call->out[call->out_count++] = aten_view(tape, t, &shape);
}

/* The gradient is summed over the repeats (FunctionsManual.cpp repeat_backward): seen as [r0, s0,
 * r1, s1, ...]. Without a repeat it is passed on. */
static void backward_repeat(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    const struct shape *own = &node->edges[0].shape;
    unsigned leading = grads[0]->shape.ndim - own->ndim;
    struct shape split = {.ndim = 0};
    uint32_t mask = 0;
    for (unsigned i = 0; i < grads[0]->shape.ndim; i++) {
        int64_t size = i < leading ? 1 : own->size[i - leading],
                times = grads[0]->shape.size[i] / (size ? size : 1);
        if (times != 1) {
            mask |= UINT32_C(1) << split.ndim;
            split.size[split.ndim++] = times;
        }
        if (i >= leading)
            split.size[split.ndim++] = size;
    }
    struct tensor *view = aten_reshape(tape, grads[0], &split);
    out[0] = mask ? reduce(tape, "sum", view, mask, false, view->dtype) : tensor_ref(view);
    tensor_unref(tape, view);
}

static const struct backward_op repeat_backward = {"RepeatBackward0", backward_repeat};

/* A copy, each dim so many times. */
static void run_repeat(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    const struct shape *times = &call->arg[1].shape;
    struct shape shape = *times;
    if (times->ndim < t->shape.ndim || times->ndim + t->shape.ndim > TENSOR_MAX_DIMS) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "repeat: %u numbers for a tensor of %u dims",
                  times->ndim, t->shape.ndim);
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    for (unsigned i = 0; i < t->shape.ndim; i++) {
        int64_t *size = &shape.size[times->ndim - t->shape.ndim + i];
        *size = size_mul(*size, t->shape.size[i]);
    }
    struct node *node = node_create(tape, &repeat_backward, &t, 1, 1);
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    tape_kernel(tape, "repeat", 0, tensor_nbytes(t) + tensor_nbytes(out), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

/* roll along one dim (ATen/native/cuda/TensorTransformations.cu roll_cuda): a new contiguous tensor
 */
static struct tensor *rolled(struct tape *tape, struct tensor *t) {
    struct tensor *source = aten_contiguous(tape, t);
    struct tensor *out = tape_new(tape, t->dtype, &t->shape);
    tape_kernel(tape, "roll", 0, 2 * tensor_nbytes(out), t->dtype);
    tensor_unref(tape, source);
    return out;
}

static void backward_roll(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    (void)node;
    out[0] = rolled(tape, grads[0]);
}

static const struct backward_op roll_backward = {"RollBackward0", backward_roll};

static void run_roll(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    op_dim(tape, call, &call->arg[2]);
    struct node *node = node_create(tape, &roll_backward, &t, 1, 1);
    struct tensor *out = rolled(tape, t);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

const struct op ops_dims[] = {
    {"permute", "self:T dims:I", AUTOCAST_NONE, "the dims in another order", run_permute, NULL},
    {"squeeze", "self:T dim:i?", AUTOCAST_NONE, "without a dim of size 1, or all of them",
     run_squeeze, NULL},
    {"repeat", "self:T repeats:I", AUTOCAST_NONE, "a copy, each dim so many times", run_repeat,
     NULL},
    {"roll", "self:T shifts:i dim:i", AUTOCAST_NONE, "elements of a dim, moved around", run_roll,
     NULL},
    {"unflatten", "self:T dim:i sizes:I", AUTOCAST_NONE, "one dim as several", run_unflatten, NULL},
    {0},
};
