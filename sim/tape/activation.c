/* activation.c: functions of one tensor. What is saved and what the gradient asks for:
 * derivatives.yaml; on a GPU the gradients of silu, gelu, threshold, tanh and sigmoid are one
 * kernel. */
#include "unary.h"

/* threshold_backward is built with the saved result before the gradient, so the layout is the
 * result's. */
static void backward_relu(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    struct tensor *in[2] = {node->saved[0], grads[0]};
    out[0] = elementwise(tape, node->op->name, grads[0]->dtype, in, 2);
}

static void backward_neg(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    (void)node;
    out[0] = elementwise(tape, "neg", grads[0]->dtype, grads, 1);
}

/* rsqrt: -0.5 * grad * result.pow(3) */
static void backward_rsqrt(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *in[2];
    in[0] = elementwise(tape, "mul", grads[0]->dtype, grads, 1);
    in[1] = elementwise(tape, "pow", node->saved[0]->dtype, node->saved, 1);
    out[0] = elementwise(tape, "mul", in[0]->dtype, in, 2);
    tensor_unref(tape, in[0]);
    tensor_unref(tape, in[1]);
}

/* sqrt: grad / (2 * result) */
static void backward_sqrt(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    struct tensor *in[2] = {grads[0],
                            elementwise(tape, "mul", node->saved[0]->dtype, node->saved, 1)};
    out[0] = elementwise(tape, "div", grads[0]->dtype, in, 2);
    tensor_unref(tape, in[1]);
}

/* exp: grad * result */
static void backward_exp(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *in[2] = {grads[0], node->saved[0]};
    out[0] = elementwise(tape, "mul", grads[0]->dtype, in, 2);
}

/* log: grad / self */
static void backward_log(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *in[2] = {grads[0], node->saved[0]};
    out[0] = elementwise(tape, "div", grads[0]->dtype, in, 2);
}

/* abs: grad * self.sgn() */
static void backward_abs(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *in[2] = {grads[0],
                            elementwise(tape, "sgn", node->saved[0]->dtype, node->saved, 1)};
    out[0] = elementwise(tape, "mul", grads[0]->dtype, in, 2);
    tensor_unref(tape, in[1]);
}

/* sin: grad * self.cos(); cos: grad * -self.sin() */
static void backward_sin(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *in[2] = {grads[0],
                            elementwise(tape, "cos", node->saved[0]->dtype, node->saved, 1)};
    out[0] = elementwise(tape, "mul", grads[0]->dtype, in, 2);
    tensor_unref(tape, in[1]);
}

static void backward_cos(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *sine = elementwise(tape, "sin", node->saved[0]->dtype, node->saved, 1);
    struct tensor *in[2] = {grads[0], elementwise(tape, "neg", sine->dtype, &sine, 1)};
    out[0] = elementwise(tape, "mul", grads[0]->dtype, in, 2);
    tensor_unref(tape, sine);
    tensor_unref(tape, in[1]);
}

static const struct backward_op neg_backward = {"NegBackward0", backward_neg};
static const struct backward_op rsqrt_backward = {"RsqrtBackward0", backward_rsqrt};
static const struct backward_op sqrt_backward = {"SqrtBackward0", backward_sqrt};
static const struct backward_op exp_backward = {"ExpBackward0", backward_exp};
static const struct backward_op sin_backward = {"SinBackward0", backward_sin};
static const struct backward_op cos_backward = {"CosBackward0", backward_cos};
static const struct backward_op log_backward = {"LogBackward0", backward_log};
static const struct backward_op abs_backward = {"AbsBackward0", backward_abs};
static const struct backward_op tanh_backward = {"TanhBackward0", unary_backward};
static const struct backward_op sigmoid_backward = {"SigmoidBackward0", unary_backward};
static const struct backward_op relu_backward = {"ReluBackward0", backward_relu};
static const struct backward_op hardtanh_backward = {"HardtanhBackward0", unary_backward};
static const struct backward_op silu_backward = {"SiluBackward0", unary_backward};
static const struct backward_op gelu_backward = {"GeluBackward0", unary_backward};

#define UNARY(name, saves)                                                                         \
    static void run_##name(struct tape *tape, struct op_call *call) {                              \
        unary(tape, call, &name##_backward, saves);                                                \
    }
UNARY(neg, SAVES_NOTHING)
UNARY(rsqrt, SAVES_OUTPUT)
UNARY(sqrt, SAVES_OUTPUT)
UNARY(exp, SAVES_OUTPUT)
UNARY(sin, SAVES_INPUT)
UNARY(cos, SAVES_INPUT)
UNARY(log, SAVES_INPUT)
UNARY(tanh, SAVES_OUTPUT)
UNARY(sigmoid, SAVES_OUTPUT)
UNARY(relu, SAVES_OUTPUT)
UNARY(silu, SAVES_INPUT)
UNARY(gelu, SAVES_INPUT)
UNARY(hardtanh, SAVES_INPUT)
#undef UNARY

/* Keeps an integer type, as unary() does not. */
static void run_abs(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    if (dtype_is_float(t->dtype))
        unary(tape, call, &abs_backward, SAVES_INPUT);
    else
        call->out[call->out_count++] = elementwise(tape, "abs", t->dtype, &t, 1);
}

static void run_sqrt_(struct tape *tape, struct op_call *call) {
    unary_(tape, call, &sqrt_backward, SAVES_OUTPUT);
}

static void run_rsqrt_(struct tape *tape, struct op_call *call) {
    unary_(tape, call, &rsqrt_backward, SAVES_OUTPUT);
}

static void run_relu_(struct tape *tape, struct op_call *call) {
    unary_(tape, call, &relu_backward, SAVES_OUTPUT);
}

static void run_hardtanh_(struct tape *tape, struct op_call *call) {
    unary_(tape, call, &hardtanh_backward, SAVES_INPUT);
}

/* grad * (exponent * self.pow(exponent - 1)) */
static void backward_pow(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *power = elementwise(tape, "pow", node->saved[0]->dtype, node->saved, 1);
    struct tensor *in[2] = {grads[0], elementwise(tape, "mul", power->dtype, &power, 1)};
    out[0] = elementwise(tape, "mul", grads[0]->dtype, in, 2);
    tensor_unref(tape, power);
    tensor_unref(tape, in[1]);
}

static const struct backward_op pow_backward = {"PowBackward0", backward_pow};

/* A number to the power of a tensor: the number becomes a 0-dim double on the device for the
 * duration (ATen Pow.cpp, pow_Scalar_out: wrapped_scalar_tensor(base, exp.device())). */
static struct tensor *pow_of_number(struct tape *tape, struct tensor *exponent, bool floating) {
    struct tensor *out =
        elementwise(tape, "pow", aten_scalar_type(tape, exponent, floating), &exponent, 1);
    struct shape scalar = {.ndim = 0};
    if (!exponent->host)
        tensor_unref(tape, aten_full(tape, &scalar, floating ? DTYPE_FLOAT64 : DTYPE_INT64));
    return out;
}

static void run_pow(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    if (!t) {
        call->out[call->out_count++] =
            pow_of_number(tape, call->arg[1].tensor, call->arg[0].floating);
        return;
    }
    if (call->arg[1].tensor) {
        struct tensor *in[2] = {t, call->arg[1].tensor};
        op_refuse_gradient(tape, call);
        op_give(call, elementwise(tape, "pow", aten_result_type(t, in[1]), in, 2));
        return;
    }
    struct node *node = node_create(tape, &pow_backward, &t, 1, 1);
    node_save(tape, node, 0, t);
    enum dtype dtype = aten_scalar_type(tape, t, call->arg[1].floating);
    struct tensor *out = elementwise(tape, "pow", dtype, &t, 1);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

const struct op ops_activation[] = {
    {"neg", "self:T", AUTOCAST_NONE, "-self", run_neg, NULL},
    {"rsqrt", "self:T", AUTOCAST_FP32, "1 / sqrt(self)", run_rsqrt, NULL},
    {"sqrt", "self:T", AUTOCAST_NONE, "square root", run_sqrt, NULL},
    {"sqrt_", "self:T", AUTOCAST_NONE, "self = sqrt(self)", run_sqrt_, NULL},
    {"rsqrt_", "self:T", AUTOCAST_NONE, "self = 1 / sqrt(self)", run_rsqrt_, NULL},
    {"exp", "self:T", AUTOCAST_FP32, "e to the power of self", run_exp, NULL},
    {"sin", "self:T", AUTOCAST_NONE, "sine", run_sin, NULL},
    {"cos", "self:T", AUTOCAST_NONE, "cosine", run_cos, NULL},
    {"log", "self:T", AUTOCAST_FP32, "natural logarithm", run_log, NULL},
    {"abs", "self:T", AUTOCAST_NONE, "absolute value", run_abs, NULL},
    {"tanh", "self:T", AUTOCAST_NONE, "hyperbolic tangent", run_tanh, NULL},
    {"sigmoid", "self:T", AUTOCAST_NONE, "logistic function", run_sigmoid, NULL},
    {"relu", "self:T", AUTOCAST_NONE, "max(self, 0)", run_relu, NULL},
    {"relu_", "self:T", AUTOCAST_NONE, "relu in place", run_relu_, NULL},
    {"hardtanh", "self:T", AUTOCAST_NONE, "self limited to a range (relu6)", run_hardtanh, NULL},
    {"hardtanh_", "self:T", AUTOCAST_NONE, "hardtanh in place", run_hardtanh_, NULL},
    {"silu", "self:T", AUTOCAST_NONE, "self * sigmoid(self)", run_silu, NULL},
    {"gelu", "self:T", AUTOCAST_NONE, "Gaussian error linear unit", run_gelu, NULL},
    {"pow", "self:X exponent:X", AUTOCAST_FP32, "self to the power of exponent", run_pow, NULL},
    {0},
};
