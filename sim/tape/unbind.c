/* unbind.c: a tensor seen as the slices of a dim, and slices stacked to a tensor: each the gradient
 * of the other. */
#include "op.h"

/* The slice of one index: the strides stay, the dim goes. */
static struct tensor *slice_of(struct tape *tape, struct tensor *t, unsigned dim) {
    struct shape shape = {.ndim = 0};
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    for (unsigned i = 0; i < t->shape.ndim; i++)
        if (i != dim) {
            stride[shape.ndim] = t->stride[i];
            shape.size[shape.ndim++] = t->shape.size[i];
        }
    struct tensor *out = tape_alias(tape, t, &shape, stride);
    out->is_view = true;
    return out;
}

static struct tensor *stack_plain(struct tape *tape, const struct shape *slice, int64_t count,
                                  unsigned dim, enum dtype dtype) {
    struct shape shape = {.ndim = slice->ndim + 1};
    for (unsigned i = 0, from = 0; i < shape.ndim; i++)
        shape.size[i] = i == dim ? count : slice->size[from++];
    struct tensor *out = tape_new(tape, dtype, &shape);
    tape_kernel(tape, "stack", 0, 2 * tensor_nbytes(out), dtype);
    return out;
}

/* unbind_backward: slices without a gradient are zeros, made first; then one stack. args: [0] dim
 */
static void backward_unbind(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    unsigned dim = (unsigned)node->args[0];
    struct shape slice = node->edges[0].shape;
    for (unsigned i = dim; i + 1 < slice.ndim; i++)
        slice.size[i] = slice.size[i + 1];
    slice.ndim--;
    struct tensor **zeros = xcalloc(node->output_count, sizeof(struct tensor *));
    if (!zeros) {
        tape_fail_memory(tape);
        return;
    }
    for (unsigned i = 0; i < node->output_count; i++)
        if (!grads[i])
            zeros[i] = aten_full(tape, &slice, node->edges[0].dtype);
    out[0] = stack_plain(tape, &slice, node->output_count, dim, node->edges[0].dtype);
    for (unsigned i = 0; i < node->output_count; i++)
        tensor_unref(tape, zeros[i]);
    xfree(zeros);
}

/* args: [0] dim */
static void backward_stack(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    for (unsigned i = 0; i < node->edge_count; i++)
        if (node_wants(node, i))
            out[i] = slice_of(tape, grads[0], (unsigned)node->args[0]);
}

static const struct backward_op unbind_backward = {"UnbindBackward0", backward_unbind};
static const struct backward_op stack_backward = {"StackBackward0", backward_stack};

static void run_unbind(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = 0;
    if (t->shape.ndim == 0 || !shape_wrap_dim(&t->shape, call->arg[1].integer, &dim) ||
        t->shape.size[dim] > UINT16_MAX) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "unbind: dim %lld of a tensor of %u dims",
                  (long long)call->arg[1].integer, t->shape.ndim);
        return;
    }
    size_t count = (size_t)t->shape.size[dim];
    call->out_list = xcalloc(count ? count : 1, sizeof(struct tensor *));
    if (!call->out_list) {
        tape_fail_memory(tape);
        return;
    }
    struct node *node = node_create(tape, &unbind_backward, &t, 1, (unsigned)count);
    if (node)
        node->args[0] = dim;
    for (size_t i = 0; i < count; i++) {
        call->out_list[i] = slice_of(tape, t, dim);
        node_set_output(node, call->out_list[i], (unsigned)i);
    }
    call->out_list_count = count;
    node_finish(tape, node);
}

static void run_stack(struct tape *tape, struct op_call *call) {
    struct tensor **list = call->arg[0].list;
    size_t count = call->arg[0].list_count;
    struct shape empty = {.ndim = 1}, wider = count ? list[0]->shape : empty;
    unsigned dim = 0;
    wider.ndim++;
    bool fits = count > 0 && count <= UINT16_MAX && wider.ndim <= TENSOR_MAX_DIMS &&
                shape_wrap_dim(&wider, call->arg[1].integer, &dim);
    for (size_t i = 1; fits && i < count; i++)
        fits = shape_equal(&list[i]->shape, &list[0]->shape);
    if (!fits) {
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "stack: needs tensors of one shape and a dim of the result");
        call->out[call->out_count++] = tape_new(tape, DTYPE_FLOAT32, &empty);
        return;
    }
    struct node *node = node_create(tape, &stack_backward, list, (unsigned)count, 1);
    if (node)
        node->args[0] = dim;
    struct tensor *out = stack_plain(tape, &list[0]->shape, (int64_t)count, dim, list[0]->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

const struct op ops_unbind[] = {
    {"unbind", "self:T dim:i=0", AUTOCAST_NONE, "the slices along a dim", run_unbind, NULL},
    {"stack", "tensors:L dim:i=0", AUTOCAST_NONE, "tensors along a new dim", run_stack, NULL},
    {0},
};
