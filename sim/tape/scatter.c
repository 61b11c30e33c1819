/* scatter.c: copies of a tensor with elements put in, added or taken by index
 * (ATen/native/cuda/Indexing.cu, ScatterGatherKernel.cu; derivatives.yaml). What an op asks for does
 * not depend on the indices' values. */
#include "op.h"

static struct tensor *copy_of(struct tape *tape, const char *name, struct tensor *t) {
    return elementwise(tape, name, t->dtype, &t, 1);
}

static bool is_index(struct tape *tape, const struct op_call *call, const struct tensor *index) {
    if (!dtype_is_float(index->dtype))
        return true;
    tape_fail(tape, ERROR_BAD_SCENARIO, "%s: the index is %s, expected integers", call->op->name,
              dtype_name(index->dtype));
    return false;
}

/* args: [0] dim */
static struct node *begin(struct tape *tape, const struct op_call *call,
                          const struct backward_op *backward, struct tensor *const *in,
                          unsigned count) {
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    struct node *node = node_create(tape, backward, in, count, 1);
    if (node)
        node->args[0] = dim;
    return node;
}

/* ---- index_select ---- */

/* zeros of self, index_add'ed. saved[0] = index */
static void backward_index_select(struct tape *tape, struct node *node, struct tensor **grads,
                                  struct tensor **out) {
    out[0] = aten_full(tape, &node->edges[0].shape, grads[0]->dtype);
    tape_kernel(tape, "index_add", 0, 3 * tensor_nbytes(grads[0]), grads[0]->dtype);
}

static const struct backward_op index_select_backward = {"IndexSelectBackward0",
                                                         backward_index_select};

static void run_index_select(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *index = call->arg[2].tensor;
    struct node *node = begin(tape, call, &index_select_backward, &t, 1);
    is_index(tape, call, index);
    node_save(tape, node, 0, index);
    struct shape shape = t->shape;
    if (shape.ndim > 0)
        shape.size[op_dim(tape, call, &call->arg[1])] = shape_numel(&index->shape);
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    tape_kernel(tape, "index_select", 0, 2 * tensor_nbytes(out) + tensor_nbytes(index), t->dtype);
    op_give_recorded(tape, call, node, out);
}

/* ---- scatter, scatter_add, index_copy, index_fill ---- */

/* A gradient of the source's shape, by index. */
static struct tensor *gathered(struct tape *tape, struct node *node, struct tensor *grad) {
    struct tensor *out = tape_new(tape, grad->dtype, &node->edges[1].shape);
    tape_kernel(tape, "gather", 0, 2 * tensor_nbytes(out), out->dtype);
    return out;
}

/* self: grad with zeros put in; source: of grad by index. saved[0] = index */
static void backward_scatter(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    if (node_wants(node, 0))
        out[0] = copy_of(tape, node->op->name, grads[0]);
    if (node->edge_count > 1 && node_wants(node, 1))
        out[1] = gathered(tape, node, grads[0]);
}

/* self: grad itself */
static void backward_scatter_add(struct tape *tape, struct node *node, struct tensor **grads,
                                 struct tensor **out) {
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
    if (node_wants(node, 1))
        out[1] = gathered(tape, node, grads[0]);
}

static const struct backward_op scatter_backward = {"ScatterBackward0", backward_scatter};
static const struct backward_op scatter_add_backward = {"ScatterAddBackward0",
                                                        backward_scatter_add};
static const struct backward_op index_copy_backward = {"IndexCopyBackward0", backward_scatter};
static const struct backward_op index_add_backward = {"IndexAddBackward0", backward_scatter_add};

/* self with what stands in a source, or a number, at the places of an index. */
static void put(struct tape *tape, struct op_call *call, const struct backward_op *backward) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[3].tensor};
    struct tensor *index = call->arg[2].tensor;
    struct node *node = begin(tape, call, backward, in, in[1] ? 2 : 1);
    is_index(tape, call, index);
    node_save(tape, node, 0, index);
    struct tensor *out = copy_of(tape, call->op->name, in[0]);
    op_give_recorded(tape, call, node, out);
}

static void run_scatter(struct tape *tape, struct op_call *call) {
    put(tape, call, &scatter_backward);
}

static void run_scatter_add(struct tape *tape, struct op_call *call) {
    put(tape, call, &scatter_add_backward);
}

static void run_index_copy(struct tape *tape, struct op_call *call) {
    put(tape, call, &index_copy_backward);
}

static void run_index_add(struct tape *tape, struct op_call *call) {
    put(tape, call, &index_add_backward);
}

/* ---- turned around ---- */

static void backward_flip(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    out[0] = copy_of(tape, node->op->name, grads[0]);
}

static const struct backward_op flip_backward = {"FlipBackward0", backward_flip};

static void run_flip(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    op_dims(tape, call, &call->arg[1]);
    struct node *node = node_create(tape, &flip_backward, &t, 1, 1);
    op_give_recorded(tape, call, node, copy_of(tape, "flip", t));
}

const struct op ops_scatter[] = {
    {"index_select", "self:T dim:i index:T", AUTOCAST_NONE, "what stands at the indices of a dim",
     run_index_select, NULL},
    {"scatter", "self:T dim:i index:T src:X", AUTOCAST_NONE,
     "self with src, or a number, at the indices of a dim", run_scatter, NULL},
    {"scatter_add", "self:T dim:i index:T src:T", AUTOCAST_NONE,
     "src added at the indices of a dim", run_scatter_add, NULL},
    {"index_copy", "self:T dim:i index:T source:T", AUTOCAST_NONE,
     "a copy with source at the indices of a dim", run_index_copy, NULL},
    {"index_add", "self:T dim:i index:T source:T", AUTOCAST_NONE,
     "a copy with source added at the indices of a dim", run_index_add, NULL},
    {"index_fill", "self:T dim:i index:T value:f", AUTOCAST_NONE,
     "a copy with a number at the indices of a dim", run_scatter, NULL},
    {"flip", "self:T dims:I", AUTOCAST_NONE, "dims turned around", run_flip, NULL},
    {0},
};
