/* blend.c: functions of two or three tensors whose gradients are further products
 * (derivatives.yaml: lerp, addcmul, addcdiv, xlogy, atan2, logaddexp). */
#include "op.h"

static struct tensor *make(struct tape *tape, const char *name, struct tensor *a,
                           struct tensor *b) {
    struct tensor *in[2] = {a, b};
    return elementwise(tape, name, b ? aten_result_type(a, b) : a->dtype, in, b ? 2 : 1);
}

/* One intermediate result of `from`, then the gradient of it and grad. */
static struct tensor *through(struct tape *tape, const char *name, struct tensor *from,
                              struct tensor *with, struct tensor *grad) {
    struct tensor *factor = make(tape, name, from, with);
    struct tensor *out = make(tape, name, grad, factor);
    tensor_unref(tape, factor);
    return out;
}

/* saved: [0] weight (a tensor), [1] end, [2] self */
static void backward_lerp(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    if (node_wants(node, 1))
        out[1] = make(tape, "mul", grads[0], node->saved[0]);
    if (node_wants(node, 0)) {
        if (node->saved[0])
            out[0] = through(tape, "rsub", node->saved[0], NULL, grads[0]);
        else
            out[0] = make(tape, "mul", grads[0], NULL);
    }
    if (node->edge_count > 2 && node_wants(node, 2))
        out[2] = through(tape, "sub", node->saved[1], node->saved[2], grads[0]);
}

/* saved: [0] tensor1, [1] tensor2 */
static void backward_addcmul(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
    for (unsigned i = 1; i < 3; i++)
        if (node_wants(node, i))
            out[i] = through(tape, "mul", node->saved[2 - i], NULL, grads[0]);
}

/* tensor1: grad * (value / tensor2); tensor2: -grad * (value * tensor1 / (tensor2 * tensor2)), the
 * right side first. saved: as addcmul */
static void backward_addcdiv(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    struct tensor *first = node->saved[0], *second = node->saved[1];
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
    if (node_wants(node, 1))
        out[1] = through(tape, "div", second, NULL, grads[0]);
    if (!node_wants(node, 2))
        return;
    struct tensor *square = make(tape, "mul", second, second);
    struct tensor *scaled = make(tape, "mul", first, NULL);
    struct tensor *ratio = make(tape, "div", scaled, square);
    struct tensor *negative = make(tape, "neg", grads[0], NULL);
    out[2] = make(tape, "mul", negative, ratio);
    tensor_unref(tape, negative);
    tensor_unref(tape, ratio);
    tensor_unref(tape, scaled);
    tensor_unref(tape, square);
}

static const struct backward_op lerp_backward = {"LerpBackward0", backward_lerp};
static const struct backward_op addcmul_backward = {"AddcmulBackward0", backward_addcmul};
static const struct backward_op addcdiv_backward = {"AddcdivBackward0", backward_addcdiv};

static void finish(struct tape *tape, struct op_call *call, struct node *node,
                   struct tensor *const *in, unsigned count) {
    enum dtype dtype = in[0]->dtype;
    for (unsigned i = 1; i < count; i++)
        dtype = dtype_promote(dtype, in[i]->dtype);
    struct tensor *out = elementwise(tape, call->op->name, dtype, in, count);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

static void run_lerp(struct tape *tape, struct op_call *call) {
    struct tensor *in[3] = {call->arg[0].tensor, call->arg[1].tensor, call->arg[2].tensor};
    unsigned count = in[2] ? 3 : 2;
    struct node *node = node_create(tape, &lerp_backward, in, count, 1);
    node_save(tape, node, 0, in[2]);
    if (node && count > 2 && node_wants(node, 2)) {
        node_save(tape, node, 1, in[1]);
        node_save(tape, node, 2, in[0]);
    }
    finish(tape, call, node, in, count);
}

static void run_addc(struct tape *tape, struct op_call *call, const struct backward_op *backward,
                     bool divides) {
    struct tensor *in[3] = {call->arg[0].tensor, call->arg[1].tensor, call->arg[2].tensor};
    struct node *node = node_create(tape, backward, in, 3, 1);
    if (node && node_wants(node, 2))
        node_save(tape, node, 0, in[1]);
    if (node && (node_wants(node, 1) || (divides && node_wants(node, 2))))
        node_save(tape, node, 1, in[2]);
    finish(tape, call, node, in, 3);
}

static void run_addcmul(struct tape *tape, struct op_call *call) {
    run_addc(tape, call, &addcmul_backward, false);
}

static void run_addcdiv(struct tape *tape, struct op_call *call) {
    run_addc(tape, call, &addcdiv_backward, true);
}

/* self * log(other) */
static void run_xlogy(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    op_refuse_gradient(tape, call);
    op_give(call, elementwise(tape, "xlogy", aten_result_type(in[0], in[1]), in, 2));
}

/* self: grad / (1 + exp(other - self)); other: likewise, turned. saved: [0] self, [1] other */
static void backward_logaddexp(struct tape *tape, struct node *node, struct tensor **grads,
                               struct tensor **out) {
    for (unsigned i = 0; i < 2; i++) {
        if (!node_wants(node, i))
            continue;
        struct tensor *difference = make(tape, "sub", node->saved[1 - i], node->saved[i]);
        struct tensor *power = make(tape, "exp", difference, NULL);
        struct tensor *sum = make(tape, "add", power, NULL);
        out[i] = make(tape, "div", grads[0], sum);
        tensor_unref(tape, sum);
        tensor_unref(tape, power);
        tensor_unref(tape, difference);
    }
}

static const struct backward_op logaddexp_backward = {"LogaddexpBackward0", backward_logaddexp};

static void run_logaddexp(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    struct node *node = node_create(tape, &logaddexp_backward, in, 2, 1);
    node_save(tape, node, 0, in[0]);
    node_save(tape, node, 1, in[1]);
    finish(tape, call, node, in, 2);
}

const struct op ops_blend[] = {
    {"lerp", "self:T end:T weight:X", AUTOCAST_NONE, "self + weight * (end - self)", run_lerp,
     NULL},
    {"addcmul", "self:T tensor1:T tensor2:T value:f=1", AUTOCAST_NONE,
     "self + value * tensor1 * tensor2", run_addcmul, NULL},
    {"addcdiv", "self:T tensor1:T tensor2:T value:f=1", AUTOCAST_NONE,
     "self + value * tensor1 / tensor2", run_addcdiv, NULL},
    {"xlogy", "self:T other:T", AUTOCAST_NONE, "self * log(other)", run_xlogy, NULL},
    {"logaddexp", "self:T other:T", AUTOCAST_NONE, "log(exp(self) + exp(other))", run_logaddexp,
     NULL},
    {0},
};
