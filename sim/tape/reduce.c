/* reduce.c: sums, means and their like as ops, and their gradients. */
#include "op.h"

/* args: [0] mask, [1] keepdim */
static struct tensor *expand_gradient(struct tape *tape, struct node *node, struct tensor *grad) {
    struct shape kept = node->edges[0].shape;
    for (unsigned i = 0; i < kept.ndim; i++)
        if ((node->args[0] >> i) & 1)
            kept.size[i] = 1;
    struct tensor *view = aten_view(tape, grad, &kept);
    struct tensor *out = aten_expand(tape, view, &node->edges[0].shape);
    tensor_unref(tape, view);
    return out;
}

static void backward_sum(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    out[0] = expand_gradient(tape, node, grads[0]);
}

static void backward_mean(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    struct tensor *expanded = expand_gradient(tape, node, grads[0]);
    out[0] = elementwise(tape, "div", expanded->dtype, &expanded, 1);
    tensor_unref(tape, expanded);
}

static const struct backward_op sum_backward = {"SumBackward1", backward_sum};
static const struct backward_op mean_backward = {"MeanBackward1", backward_mean};

struct tensor *aten_with_dims(struct tape *tape, const struct node *node, struct tensor *t) {
    struct shape shape = reduced_shape(&node->edges[0].shape, (uint32_t)node->args[0], true);
    return aten_view(tape, t, &shape);
}

static struct tensor *reduce_recorded(struct tape *tape, const struct backward_op *backward,
                                      const char *name, struct tensor *t, uint32_t mask,
                                      bool keepdim) {
    struct node *node = node_create(tape, backward, &t, 1, 1);
    if (node) {
        node->args[0] = mask;
        node->args[1] = keepdim;
    }
    struct tensor *out = reduce(tape, name, t, mask, keepdim, t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

struct tensor *aten_sum_dims(struct tape *tape, struct tensor *t, uint32_t mask, bool keepdim) {
    return reduce_recorded(tape, &sum_backward, "sum", t, mask, keepdim);
}

struct tensor *aten_mean_dims(struct tape *tape, struct tensor *t, uint32_t mask, bool keepdim) {
    return reduce_recorded(tape, &mean_backward, "mean", t, mask, keepdim);
}

/* Node, output, then, where the kernel does not read the input's type, a copy in the output's. */
static void run_reduction(struct tape *tape, struct op_call *call,
                          const struct backward_op *backward, enum dtype dtype, bool casts) {
    struct tensor *t = call->arg[0].tensor;
    uint32_t mask = op_dims(tape, call, &call->arg[1]);
    bool keepdim = call->arg[2].integer != 0, grad = tape->grad_enabled;
    struct node *node = backward ? node_create(tape, backward, &t, 1, 1) : NULL;
    if (node) {
        node->args[0] = mask;
        node->args[1] = keepdim;
    }
    struct shape shape = reduced_shape(&t->shape, mask, keepdim);
    struct tensor *out = tape_new(tape, dtype, &shape);
    tape->grad_enabled = false; /* the cast is below autograd */
    struct tensor *input = casts ? aten_to(tape, t, dtype) : tensor_ref(t);
    tape->grad_enabled = grad;
    reduce_into(tape, call->op->name, out, input, mask);
    tensor_unref(tape, input);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

/* sum(dtype): 16-bit floats are read as they are for a float32 result
 * (ReduceOpsUtils.h make_reduction_from_out_ty). */
static void run_sum(struct tape *tape, struct op_call *call) {
    enum dtype own = call->arg[0].tensor->dtype;
    enum dtype dtype = call->arg[3].given    ? (enum dtype)call->arg[3].integer
                       : dtype_is_float(own) ? own
                                             : DTYPE_INT64;
    bool reads = dtype == DTYPE_FLOAT32 && (own == DTYPE_FLOAT16 || own == DTYPE_BFLOAT16);
    run_reduction(tape, call, &sum_backward, dtype, own != dtype && !reads);
}

static void run_mean(struct tape *tape, struct op_call *call) {
    enum dtype dtype = call->arg[0].tensor->dtype;
    if (!dtype_is_float(dtype))
        tape_fail(tape, ERROR_BAD_SCENARIO, "mean: needs a floating type, found %s",
                  dtype_name(dtype));
    run_reduction(tape, call, &mean_backward, dtype, false);
}

static void run_all(struct tape *tape, struct op_call *call) {
    run_reduction(tape, call, NULL, DTYPE_BOOL, false);
}

/* argmax(dim): indices in int64, found with their values (ReduceArgMaxKernel.cu) */
static void run_argmax(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    uint32_t mask = op_dims(tape, call, &call->arg[1]);
    struct shape shape = reduced_shape(&t->shape, mask, call->arg[2].integer != 0);
    struct tensor *out = tape_new(tape, DTYPE_INT64, &shape);
    reduce_with_index_into(tape, call->op->name, out, t, mask);
    op_give(call, out);
}

const struct op ops_reduce[] = {
    {"sum", "self:T dim:I? keepdim:b=0 dtype:d?", AUTOCAST_FP32_DTYPE, "sum over dims or all",
     run_sum, NULL},
    {"mean", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "mean over dims or all", run_mean, NULL},
    {"all", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "whether all are true", run_all, NULL},
    {"any", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "whether one is true", run_all, NULL},
    {"argmax", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "where the largest of a dim is",
     run_argmax, NULL},
    {"argmin", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "where the smallest of a dim is",
     run_argmax, NULL},
    {0},
};
