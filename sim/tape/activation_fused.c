/* activation_fused.c: activations whose gradient is one kernel (ATen/native/cuda/Activation*.cu),
 * from the input or, in place, from what derivatives.yaml names: the result for leaky_relu_ and
 * elu_, a copy of the input made before for the others. */
#include "unary.h"

#define FUSED(name, title)                                                                         \
    static const struct backward_op name##_backward = {title "Backward0", unary_backward};         \
    static void run_##name(struct tape *tape, struct op_call *call) {                              \
        unary(tape, call, &name##_backward, SAVES_INPUT);                                          \
    }
FUSED(leaky_relu, "LeakyRelu")
FUSED(elu, "Elu")
FUSED(selu, "Elu")
FUSED(celu, "Celu")
FUSED(softplus, "Softplus")
FUSED(hardswish, "Hardswish")
FUSED(hardsigmoid, "Hardsigmoid")
FUSED(hardshrink, "Hardshrink")
FUSED(softshrink, "Softshrink")
FUSED(logsigmoid, "LogSigmoid")
#undef FUSED

/* mish_backward (Activation.cpp): outside of another gradient one kernel too. */
static const struct backward_op mish_backward = {"MishBackward0", unary_backward};
static void run_mish(struct tape *tape, struct op_call *call) {
    unary(tape, call, &mish_backward, SAVES_INPUT);
}

static const struct backward_op silu_backward = {"SiluBackward0", unary_backward};
static const struct backward_op sigmoid_backward = {"SigmoidBackward0", unary_backward};
static const struct backward_op tanh_backward = {"TanhBackward0", unary_backward};
static const struct backward_op exp_backward = {"ExpBackward0", unary_backward};
static const struct backward_op neg_backward = {"NegBackward0", unary_backward};

#define IN_PLACE(name, saves)                                                                      \
    static void run_##name##_(struct tape *tape, struct op_call *call) {                           \
        unary_(tape, call, &name##_backward, saves);                                               \
    }
IN_PLACE(leaky_relu, SAVES_OUTPUT)
IN_PLACE(elu, SAVES_OUTPUT)
IN_PLACE(silu, SAVES_INPUT)
IN_PLACE(mish, SAVES_INPUT)
IN_PLACE(hardswish, SAVES_INPUT)
IN_PLACE(hardsigmoid, SAVES_INPUT)
IN_PLACE(sigmoid, SAVES_OUTPUT)
IN_PLACE(tanh, SAVES_OUTPUT)
IN_PLACE(exp, SAVES_OUTPUT)
IN_PLACE(neg, SAVES_NOTHING)
#undef IN_PLACE

/* glu: the halves of a dim, one the gate of the other; the gradient is as large as the input
 * (GatedLinearUnit.cpp). saved[0] = self */
static void backward_glu(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    out[0] = tape_new(tape, grads[0]->dtype, &node->saved[0]->shape);
    tape_kernel(tape, "glu_backward", 4 * (uint64_t)shape_numel(&grads[0]->shape),
                2 * tensor_nbytes(out[0]) + tensor_nbytes(grads[0]), grads[0]->dtype);
}

static const struct backward_op glu_backward = {"GluBackward0", backward_glu};

static void run_glu(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    struct shape shape = t->shape;
    if (shape.ndim == 0 || shape.size[dim] % 2 != 0) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "glu: dim %u of %s cannot be halved", dim,
                  shape_format(&shape, a, sizeof a));
        op_give(call, tensor_ref(t));
        return;
    }
    shape.size[dim] /= 2;
    struct node *node = node_create(tape, &glu_backward, &t, 1, 1);
    node_save(tape, node, 0, t);
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    tape_kernel(tape, "glu", 3 * (uint64_t)shape_numel(&shape),
                tensor_nbytes(t) + tensor_nbytes(out), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

/* prelu: the weight's gradient first lies beside the input's, as large, and is then summed
 * (Activation.cpp _prelu_kernel_backward). saved: [0] self, [1] weight, seen along dim 1 */
static void backward_prelu(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *in[3] = {grads[0], node->saved[0], node->saved[1]};
    struct tensor *both[2];
    for (unsigned i = 0; i < 2; i++)
        both[i] = elementwise(tape, "prelu_backward", node->saved[0]->dtype, in, 3);
    for (unsigned i = 0; i < 2; i++)
        if (node_wants(node, i))
            out[i] = both[i];
        else
            tensor_unref(tape, both[i]);
}

static const struct backward_op prelu_backward = {"PreluKernelBackward0", backward_prelu};

static void run_prelu(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *weight = call->arg[1].tensor;
    struct shape along = {.ndim = t->shape.ndim};
    for (unsigned i = 0; i < along.ndim; i++)
        along.size[i] = i == 1 || along.ndim == 1 ? shape_numel(&weight->shape) : 1;
    struct tensor *seen = aten_view(tape, weight, &along);
    struct tensor *in[2] = {t, seen};
    struct node *node = node_create(tape, &prelu_backward, in, 2, 1);
    node_save(tape, node, 0, t);
    node_save(tape, node, 1, seen);
    struct tensor *out = elementwise(tape, "prelu", t->dtype, in, 2);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, seen);
    op_give(call, out);
}

const struct op ops_activation_fused[] = {
    {"leaky_relu", "self:T negative_slope:f?", AUTOCAST_NONE, "self, scaled where negative",
     run_leaky_relu, NULL},
    {"leaky_relu_", "self:T negative_slope:f?", AUTOCAST_NONE, "leaky_relu in place",
     run_leaky_relu_, NULL},
    {"elu", "self:T alpha:f=1", AUTOCAST_NONE, "self, exp(self) - 1 where negative", run_elu, NULL},
    {"elu_", "self:T alpha:f=1", AUTOCAST_NONE, "elu in place", run_elu_, NULL},
    {"selu", "self:T", AUTOCAST_NONE, "scaled elu", run_selu, NULL},
    {"celu", "self:T alpha:f=1", AUTOCAST_NONE, "elu with a smooth scale", run_celu, NULL},
    {"softplus", "self:T", AUTOCAST_FP32, "log(1 + exp(self))", run_softplus, NULL},
    {"hardswish", "self:T", AUTOCAST_NONE, "self * relu6(self + 3) / 6", run_hardswish, NULL},
    {"hardswish_", "self:T", AUTOCAST_NONE, "hardswish in place", run_hardswish_, NULL},
    {"hardsigmoid", "self:T", AUTOCAST_NONE, "relu6(self + 3) / 6", run_hardsigmoid, NULL},
    {"hardsigmoid_", "self:T", AUTOCAST_NONE, "hardsigmoid in place", run_hardsigmoid_, NULL},
    {"hardshrink", "self:T", AUTOCAST_NONE, "self, 0 near 0", run_hardshrink, NULL},
    {"softshrink", "self:T", AUTOCAST_NONE, "self moved towards 0", run_softshrink, NULL},
    {"mish", "self:T", AUTOCAST_NONE, "self * tanh(softplus(self))", run_mish, NULL},
    {"mish_", "self:T", AUTOCAST_NONE, "mish in place", run_mish_, NULL},
    {"logsigmoid", "self:T", AUTOCAST_NONE, "logarithm of the logistic function", run_logsigmoid,
     "aten::log_sigmoid"},
    {"silu_", "self:T", AUTOCAST_NONE, "silu in place", run_silu_, NULL},
    {"sigmoid_", "self:T", AUTOCAST_NONE, "sigmoid in place", run_sigmoid_, NULL},
    {"tanh_", "self:T", AUTOCAST_NONE, "tanh in place", run_tanh_, NULL},
    {"exp_", "self:T", AUTOCAST_NONE, "exp in place", run_exp_, NULL},
    {"neg_", "self:T", AUTOCAST_NONE, "-self in place", run_neg_, NULL},
    {"glu", "self:T dim:i=-1", AUTOCAST_NONE, "one half of a dim times sigmoid of the other",
     run_glu, NULL},
    {"prelu", "self:T weight:T", AUTOCAST_LOW, "self, times a weight where negative", run_prelu,
     NULL},
    {0},
};
