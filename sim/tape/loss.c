/* loss.c: nll_loss over rows or images of classes (ATen/native/LossNLL.cpp, LossNLL2d.cpp).
 * cross_entropy is log_softmax in the input's own type and nll_loss, composed in scenarios/lib. */
#include <string.h>

#include "op.h"

/* saved[0] = self (log-probabilities), [1] = target, [2] = total_weight, [3] = weight: a
 * zero-filled gradient, then one kernel. */
static void backward_nll_loss(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    (void)grads;
    out[0] = aten_full(tape, &node->saved[0]->shape, node->saved[0]->dtype);
    tape_kernel(tape, "nll_loss_backward", 0, tensor_nbytes(node->saved[1]), node->saved[0]->dtype);
}

static const struct backward_op nll_loss_backward = {"NllLossBackward0", backward_nll_loss};

/* [N, C] and [N]; [N, C, d1, ...] and [N, d1, ...] */
static bool fits(const struct tensor *self, const struct tensor *target) {
    if (self->shape.ndim < 2 || target->shape.ndim + 1 != self->shape.ndim)
        return false;
    for (unsigned i = 0; i < target->shape.ndim; i++)
        if (target->shape.size[i] != self->shape.size[i == 0 ? 0 : i + 1])
            return false;
    return true;
}

static void run_nll_loss(struct tape *tape, struct op_call *call) {
    struct tensor *self = call->arg[0].tensor, *target = call->arg[1].tensor;
    if (!fits(self, target)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "nll_loss: wants [N, C] and [N], or [N, C, d1, ...] and [N, d1, ...], found %s "
                  "and %s",
                  shape_format(&self->shape, a, sizeof a),
                  shape_format(&target->shape, b, sizeof b));
    }
    bool each = call->arg[3].given && strcmp(call->arg[3].text, "none") == 0;
    struct node *node = node_create(tape, &nll_loss_backward, &self, 1, 1);
    struct shape scalar = {.ndim = 0};
    struct tensor *first = self->shape.ndim > 2 ? tape_new(tape, self->dtype, &scalar) : NULL;
    struct tensor *out = tape_new(tape, self->dtype, each ? &target->shape : &scalar);
    struct tensor *total_weight = first ? first : tape_new(tape, self->dtype, &scalar);
    tape_kernel(tape, "nll_loss", 0, tensor_nbytes(target), self->dtype);
    node_save(tape, node, 0, self);
    node_save(tape, node, 1, target);
    node_save(tape, node, 2, total_weight);
    node_save(tape, node, 3, call->arg[2].tensor);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, total_weight);
    op_give(call, out);
}

const struct op ops_loss[] = {
    {"nll_loss", "self:T target:T weight:T? reduction:s?", AUTOCAST_FP32,
     "negative log-likelihood, mean over rows", run_nll_loss, "aten::nll_loss_forward"},
    {0},
};
