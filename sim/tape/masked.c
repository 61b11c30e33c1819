/* masked.c: elements chosen by a mask or by indices: masked_fill, minimum, gather, tril, triu. */
#include "op.h"

/* saved[0] = mask; one kernel: the gradient with zeros where the mask is set */
static void backward_masked_fill(struct tape *tape, struct node *node, struct tensor **grads,
                                 struct tensor **out) {
    struct tensor *in[2] = {grads[0], node->saved[0]};
    out[0] = elementwise(tape, "masked_fill", grads[0]->dtype, in, 2);
}

static const struct backward_op masked_fill_backward = {"MaskedFillBackward0",
                                                        backward_masked_fill};

/* The value is a number. The result is a copy of self with the values in it: the mask is read as it
 * is. */
static void run_masked_fill(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    if (in[1]->dtype != DTYPE_BOOL)
        tape_fail(tape, ERROR_BAD_SCENARIO, "masked_fill: the mask is %s, expected bool",
                  dtype_name(in[1]->dtype));
    struct node *node = node_create(tape, &masked_fill_backward, in, 1, 1);
    node_save(tape, node, 0, in[1]);
    struct tensor *out = elementwise(tape, "masked_fill", in[0]->dtype, in, 2);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

/* The mask is read again by the gradient; nothing of self is. */
static void run_masked_fill_(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    struct node *node = node_create(tape, &masked_fill_backward, in, 1, 1);
    node_save(tape, node, 0, in[1]);
    elementwise_(tape, "masked_fill", in[0], &in[1], 1);
    node_rebase(tape, node, in[0]);
    node_finish(tape, node);
    op_give(call, tensor_ref(in[0]));
}

/* saved[0] = self, of which the shape is used; [1] = index: zeros of self, filled by scatter_add */
static void backward_gather(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    out[0] = aten_full(tape, &node->edges[0].shape, grads[0]->dtype);
    tape_kernel(tape, "scatter_add", 0, 2 * tensor_nbytes(grads[0]), grads[0]->dtype);
}

static const struct backward_op gather_backward = {"GatherBackward0", backward_gather};

static void run_gather(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *index = call->arg[2].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    bool fits = index->shape.ndim == t->shape.ndim && !dtype_is_float(index->dtype);
    for (unsigned i = 0; fits && i < t->shape.ndim; i++)
        fits = i == dim || index->shape.size[i] <= t->shape.size[i];
    if (!fits) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "gather: %s indices %s do not fit %s along dim %u",
                  dtype_name(index->dtype), shape_format(&index->shape, a, sizeof a),
                  shape_format(&t->shape, b, sizeof b), dim);
    }
    struct node *node = node_create(tape, &gather_backward, &t, 1, 1);
    node_save(tape, node, 0, t);
    node_save(tape, node, 1, index);
    struct tensor *out = tape_new(tape, t->dtype, &index->shape);
    tape_kernel(tape, "gather", 0, 2 * tensor_nbytes(out) + tensor_nbytes(index), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

/* tril, triu: a copy with the other triangle zeroed; so is the gradient */
static void backward_triangle(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    (void)node;
    out[0] = tape_new(tape, grads[0]->dtype, &grads[0]->shape);
    tape_kernel(tape, "triangle", 0, 2 * tensor_nbytes(grads[0]), grads[0]->dtype);
}

static const struct backward_op tril_backward = {"TrilBackward0", backward_triangle};
static const struct backward_op triu_backward = {"TriuBackward0", backward_triangle};

static void triangle(struct tape *tape, struct op_call *call, const struct backward_op *backward) {
    struct tensor *t = call->arg[0].tensor;
    struct node *node = node_create(tape, backward, &t, 1, 1);
    struct tensor *out =
        t->host ? tape_new_host(tape, t->dtype, &t->shape) : tape_new(tape, t->dtype, &t->shape);
    if (!out->host)
        tape_kernel(tape, "triangle", 0, 2 * tensor_nbytes(t), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

static void run_tril(struct tape *tape, struct op_call *call) {
    triangle(tape, call, &tril_backward);
}

static void run_triu(struct tape *tape, struct op_call *call) {
    triangle(tape, call, &triu_backward);
}

const struct op ops_masked[] = {
    {"masked_fill", "self:T mask:T value:f", AUTOCAST_NONE, "a number where the mask is set",
     run_masked_fill, NULL},
    {"masked_fill_", "self:T mask:T value:f", AUTOCAST_NONE, "masked_fill in place",
     run_masked_fill_, NULL},
    {"gather", "self:T dim:i index:T", AUTOCAST_NONE, "elements along a dim by index", run_gather,
     NULL},
    {"tril", "self:T diagonal:i=0", AUTOCAST_NONE, "the lower triangle", run_tril, NULL},
    {"triu", "self:T diagonal:i=0", AUTOCAST_NONE, "the upper triangle", run_triu, NULL},
    {0},
};
