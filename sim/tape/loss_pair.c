/* loss_pair.c: losses of two tensors of one shape, as one value or one an element
 * (ATen/native/Loss.cpp, cuda/Loss.cu). */
#include <string.h>

#include "op.h"

/* saved[0] = self, [1] = target: zeros_like(self, contiguous), written over */
static void backward_pair(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    (void)grads;
    for (unsigned i = 0; i < 2; i++)
        if (node_wants(node, i)) {
            out[i] = tape_new(tape, node->saved[0]->dtype, &node->saved[0]->shape);
            tape_kernel(tape, node->op->name, (uint64_t)shape_numel(&out[i]->shape),
                        3 * tensor_nbytes(out[i]), out[i]->dtype);
        }
}

static const struct backward_op mse_loss_backward = {"MseLossBackward0", backward_pair};
static const struct backward_op smooth_l1_backward = {"SmoothL1LossBackward0", backward_pair};
static const struct backward_op huber_backward = {"HuberLossBackward0", backward_pair};

/* "none": one value an element; else their mean or sum, which ask for the same */
static bool is_each(struct tape *tape, const struct op_call *call, unsigned index) {
    const char *text = call->arg[index].given ? call->arg[index].text : "mean";
    bool each = strcmp(text, "none") == 0;
    if (!each && strcmp(text, "mean") != 0 && strcmp(text, "sum") != 0)
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: reduction '%s', expected mean, sum or none",
                  call->op->name, text);
    return each;
}

static struct node *record(struct tape *tape, struct op_call *call,
                           const struct backward_op *backward) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    struct node *node = node_create(tape, backward, in, 2, 1);
    node_save(tape, node, 0, in[0]);
    node_save(tape, node, 1, in[1]);
    return node;
}

static uint32_t all_dims(const struct tensor *t) {
    return (UINT32_C(1) << t->shape.ndim) - 1;
}

/* A scalar over the memory of a tensor of the operands' size. */
static struct tensor *shrunk(struct tape *tape, struct tensor *full) {
    struct shape scalar = {.ndim = 0};
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    return tape_alias(tape, full, &scalar, stride);
}

/* The result is made as large as the operands and then made a scalar, its memory staying; a tensor
 * of their size is there while it is summed (structured mse_loss and smooth_l1_loss). */
static void structured(struct tape *tape, struct op_call *call,
                       const struct backward_op *backward) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    enum dtype dtype = dtype_promote(in[0]->dtype, in[1]->dtype);
    bool each = is_each(tape, call, 2);
    struct node *node = record(tape, call, backward);
    struct tensor *full = elementwise(tape, call->op->name, dtype, in, 2);
    if (each) {
        op_give_recorded(tape, call, node, full);
        return;
    }
    struct tensor *out = shrunk(tape, full);
    struct tensor *values = elementwise(tape, call->op->name, dtype, in, 2);
    reduce_into(tape, "mean", out, values, all_dims(values));
    tensor_unref(tape, values);
    tensor_unref(tape, full);
    op_give_recorded(tape, call, node, out);
}

static void run_mse_loss(struct tape *tape, struct op_call *call) {
    structured(tape, call, &mse_loss_backward);
}

static void run_smooth_l1_loss(struct tape *tape, struct op_call *call) {
    structured(tape, call, &smooth_l1_backward);
}

static void run_huber_loss(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    bool each = is_each(tape, call, 2);
    struct node *node = record(tape, call, &huber_backward);
    struct tensor *out =
        elementwise(tape, call->op->name, dtype_promote(in[0]->dtype, in[1]->dtype), in, 2);
    if (!each) {
        struct tensor *values = out;
        out = reduce(tape, "mean", values, all_dims(values), false, values->dtype);
        tensor_unref(tape, values);
    }
    op_give_recorded(tape, call, node, out);
}

/* ---- binary cross entropy ---- */

/* saved: [0] self, [1] target, [2] weight, [3] pos_weight; args: [0] pos_weight. With one:
 * pos_weight * target, of it what sigmoid(self) multiplies, that sigmoid. */
static void backward_bce(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *self = node->saved[0], *target = node->saved[1];
    (void)grads;
    if (node_wants(node, 1))
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: a gradient of its target is not modelled",
                  node->op->name);
    if (!node_wants(node, 0))
        return;
    if (!node->saved[3]) {
        out[0] = elementwise(tape, node->op->name, self->dtype, &self, 1);
        return;
    }
    struct tensor *in[2] = {node->saved[3], target};
    struct tensor *scaled = elementwise(tape, "mul", self->dtype, in, 2);
    out[0] = elementwise(tape, "add", self->dtype, &scaled, 1);
    struct tensor *sigmoid = elementwise(tape, "sigmoid", self->dtype, &self, 1);
    tensor_unref(tape, sigmoid);
    tensor_unref(tape, scaled);
}

static const struct backward_op bce_backward = {"BinaryCrossEntropyBackward0", backward_bce};
static const struct backward_op bce_logits_backward = {"BinaryCrossEntropyWithLogitsBackward0",
                                                       backward_bce};

/* The losses' memory becomes that of their mean (Loss.cu binary_cross_entropy_out_cuda). */
static void run_bce(struct tape *tape, struct op_call *call) {
    struct tensor *self = call->arg[0].tensor;
    bool each = is_each(tape, call, 3);
    struct node *node = record(tape, call, &bce_backward);
    node_save(tape, node, 2, call->arg[2].tensor);
    struct tensor *full = elementwise(tape, call->op->name, self->dtype, &self, 1);
    if (each) {
        op_give_recorded(tape, call, node, full);
        return;
    }
    tensor_unref(tape, reduce(tape, "mean", full, all_dims(full), false, full->dtype));
    struct tensor *out = shrunk(tape, full);
    tensor_unref(tape, full);
    op_give_recorded(tape, call, node, out);
}

/* (1 - target) * self - log_sigmoid(self), the last scaled by (pos_weight - 1) * target + 1 */
static void run_bce_logits(struct tape *tape, struct op_call *call) {
    struct tensor *self = call->arg[0].tensor, *target = call->arg[1].tensor,
                  *pos_weight = call->arg[3].tensor;
    bool each = is_each(tape, call, 4);
    struct node *node = record(tape, call, &bce_logits_backward);
    node_save(tape, node, 2, call->arg[2].tensor);
    node_save(tape, node, 3, pos_weight);
    struct tensor *log = elementwise(tape, "log_sigmoid", self->dtype, &self, 1);
    if (pos_weight) {
        struct tensor *in[2] = {NULL, target};
        in[0] = elementwise(tape, "sub", pos_weight->dtype, &pos_weight, 1);
        struct tensor *factor = elementwise(tape, "mul", self->dtype, in, 2);
        elementwise_(tape, "mul", log, &factor, 1);
        tensor_unref(tape, factor);
        tensor_unref(tape, in[0]);
    }
    struct tensor *out = elementwise(tape, "rsub", self->dtype, &target, 1);
    elementwise_(tape, "sub", out, &log, 1);
    if (!each) {
        struct tensor *values = out;
        out = reduce(tape, "mean", values, all_dims(values), false, values->dtype);
        tensor_unref(tape, values);
    }
    tensor_unref(tape, log);
    op_give_recorded(tape, call, node, out);
}

const struct op ops_loss_pair[] = {
    {"mse_loss", "input:T target:T reduction:s?", AUTOCAST_FP32, "mean of squared differences",
     run_mse_loss, NULL},
    {"smooth_l1_loss", "self:T target:T reduction:s? beta:f=1", AUTOCAST_FP32,
     "squares of small differences, others as they are", run_smooth_l1_loss, NULL},
    {"huber_loss", "self:T target:T reduction:s? delta:f=1", AUTOCAST_FP32,
     "smooth_l1_loss, scaled", run_huber_loss, NULL},
    {"binary_cross_entropy", "self:T target:T weight:T? reduction:s?", AUTOCAST_NONE,
     "cross entropy of probabilities", run_bce, NULL},
    {"binary_cross_entropy_with_logits", "self:T target:T weight:T? pos_weight:T? reduction:s?",
     AUTOCAST_FP32, "cross entropy of probabilities given as logits", run_bce_logits, NULL},
    {0},
};
