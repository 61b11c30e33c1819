/* loss.c: nll_loss for rows of classes and mse_loss (ATen/native/cuda/Loss.cu, native/Loss.cpp).
 * cross_entropy is log_softmax in the input's own type and nll_loss, composed in scenarios/lib. */
#include "op.h"

/* saved[0] = self (log-probabilities), [1] = target, [2] = total_weight: a zero-filled gradient,
 * then one kernel. */
static void backward_nll_loss(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    (void)grads;
    out[0] = aten_full(tape, &node->saved[0]->shape, node->saved[0]->dtype);
    tape_kernel(tape, "nll_loss_backward", 0, tensor_nbytes(node->saved[1]), node->saved[0]->dtype);
}

static const struct backward_op nll_loss_backward = {"NllLossBackward0", backward_nll_loss};

static void run_nll_loss(struct tape *tape, struct op_call *call) {
    struct tensor *self = call->arg[0].tensor, *target = call->arg[1].tensor;
    if (self->shape.ndim != 2 || target->shape.ndim != 1 ||
        self->shape.size[0] != target->shape.size[0]) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "nll_loss: wants [N, C] and [N], found %s and %s",
                  shape_format(&self->shape, a, sizeof a),
                  shape_format(&target->shape, b, sizeof b));
    }
    struct node *node = node_create(tape, &nll_loss_backward, &self, 1, 1);
    struct shape scalar = {.ndim = 0};
    struct tensor *out = tape_new(tape, self->dtype, &scalar);
    struct tensor *total_weight = tape_new(tape, self->dtype, &scalar);
    tape_kernel(tape, "nll_loss", 0, tensor_nbytes(target), self->dtype);
    node_save(tape, node, 0, self);
    node_save(tape, node, 1, target);
    node_save(tape, node, 2, total_weight);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, total_weight);
    call->out[call->out_count++] = out;
}

/* saved[0] = self, [1] = target */
static void backward_mse_loss(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    (void)grads;
    for (unsigned i = 0; i < 2; i++)
        if (node_wants(node, i)) { /* zeros_like(input, contiguous), written over */
            out[i] = tape_new(tape, node->saved[0]->dtype, &node->saved[0]->shape);
            tape_kernel(tape, "mse_loss_backward", (uint64_t)shape_numel(&out[i]->shape),
                        3 * tensor_nbytes(out[i]), out[i]->dtype);
        }
}

static const struct backward_op mse_loss_backward = {"MseLossBackward0", backward_mse_loss};

/* Mean of squares. The result is made as large as the operands and then made a scalar, its memory
 * staying; a tensor of their size is there while it is summed (native/Loss.cpp: structured
 * mse_loss). */
static void run_mse_loss(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    struct node *node = node_create(tape, &mse_loss_backward, in, 2, 1);
    struct shape scalar = {.ndim = 0};
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    enum dtype dtype = dtype_promote(in[0]->dtype, in[1]->dtype);
    struct tensor *full = elementwise(tape, "mse_loss", dtype, in, 2);
    struct tensor *out = tape_alias(tape, full, &scalar, stride);
    struct tensor *squares = elementwise(tape, "mse_loss", dtype, in, 2);
    reduce_into(tape, "mean", out, squares, (UINT32_C(1) << squares->shape.ndim) - 1);
    tensor_unref(tape, squares);
    tensor_unref(tape, full);
    node_save(tape, node, 0, in[0]);
    node_save(tape, node, 1, in[1]);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

const struct op ops_loss[] = {
    {"mse_loss", "input:T target:T", AUTOCAST_FP32, "mean of squared differences", run_mse_loss,
     NULL},
    {"nll_loss", "self:T target:T", AUTOCAST_FP32, "negative log-likelihood, mean over rows",
     run_nll_loss, "aten::nll_loss_forward"},
    {0},
};
