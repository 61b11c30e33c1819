/* math.c: functions of one number and tests of one, with gradients composed of further kernels
 * (derivatives.yaml). What a formula makes on its way lives to its end. */
#include "unary.h"

/* So many intermediate results of self's size, then the gradient. args: [0] how many */
static void backward_composed(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    enum { MOST = 8 };
    struct tensor *made[MOST], *in[2] = {grads[0], NULL};
    unsigned count = (unsigned)node->args[0];
    for (unsigned i = 0; i < count; i++)
        made[i] = elementwise(tape, node->op->name, node->saved[0]->dtype, node->saved, 1);
    in[1] = count > 0 ? made[count - 1] : NULL;
    out[0] = elementwise(tape, node->op->name, grads[0]->dtype, in, count > 0 ? 2 : 1);
    while (count > 0)
        tensor_unref(tape, made[--count]);
}

/* zeros_like(grad) */
static void backward_flat(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    out[0] = elementwise(tape, node->op->name, grads[0]->dtype, grads, 1);
}

static void backward_pass(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    (void)tape;
    (void)node;
    out[0] = tensor_ref(grads[0]);
}

/* grad * (self.isfinite()): isfinite is (self == self) * (self.abs() != inf), the right side first
 */
static struct tensor *isfinite(struct tape *tape, struct tensor *t) {
    struct tensor *magnitude = elementwise(tape, "abs", t->dtype, &t, 1);
    struct tensor *in[2];
    in[1] = elementwise(tape, "ne", DTYPE_BOOL, &magnitude, 1);
    in[0] = elementwise(tape, "eq", DTYPE_BOOL, &t, 1);
    struct tensor *out = elementwise(tape, "mul", DTYPE_BOOL, in, 2);
    tensor_unref(tape, in[0]);
    tensor_unref(tape, in[1]);
    tensor_unref(tape, magnitude);
    return out;
}

static void backward_nan_to_num(struct tape *tape, struct node *node, struct tensor **grads,
                                struct tensor **out) {
    struct tensor *in[2] = {grads[0], isfinite(tape, node->saved[0])};
    out[0] = elementwise(tape, "mul", grads[0]->dtype, in, 2);
    tensor_unref(tape, in[1]);
}

/* A formula with `temporaries` intermediate results. */
static void composed(struct tape *tape, struct op_call *call, const struct backward_op *backward,
                     enum saves saves, unsigned temporaries) {
    unary(tape, call, backward, saves);
    struct node *node = call->out[0]->grad_fn;
    if (node && node->op == backward)
        node->args[0] = temporaries;
}

#define COMPOSED(name, title, saves, temporaries)                                                  \
    static const struct backward_op name##_backward = {title "Backward0", backward_composed};      \
    static void run_##name(struct tape *tape, struct op_call *call) {                              \
        composed(tape, call, &name##_backward, saves, temporaries);                                \
    }
COMPOSED(erf, "Erf", SAVES_INPUT, 4)      /* 2/sqrt(pi) * exp(-(self.pow(2))) * grad */
COMPOSED(log1p, "Log1P", SAVES_INPUT, 1)  /* grad / (self + 1) */
COMPOSED(log2, "Log2", SAVES_INPUT, 1)    /* grad / (self * ln 2) */
COMPOSED(log10, "Log10", SAVES_INPUT, 1)  /* grad / (self * ln 10) */
COMPOSED(expm1, "Expm1", SAVES_OUTPUT, 1) /* grad * (result + 1) */
COMPOSED(tan, "Tan", SAVES_OUTPUT, 2)     /* grad * (1 + result.pow(2)) */
COMPOSED(sinh, "Sinh", SAVES_INPUT, 1)    /* grad * self.cosh() */
COMPOSED(cosh, "Cosh", SAVES_INPUT, 1)    /* grad * self.sinh() */
COMPOSED(atan, "Atan", SAVES_INPUT, 2)    /* grad / (self * self + 1) */
COMPOSED(asin, "Asin", SAVES_INPUT, 4)    /* grad * (-self * self + 1).rsqrt() */
COMPOSED(acos, "Acos", SAVES_INPUT, 5)    /* grad * -((-self * self + 1).rsqrt()) */
COMPOSED(square, "Pow", SAVES_INPUT, 2)   /* of pow(2): grad * (2 * self.pow(1)) */
COMPOSED(logit, "Logit", SAVES_INPUT, 0)
#undef COMPOSED

static const struct backward_op flat_backward = {"RoundBackward0", backward_flat};
static const struct backward_op frac_backward = {"FracBackward0", backward_pass};
static const struct backward_op remainder_backward = {"RemainderBackward0", backward_pass};
static const struct backward_op nan_to_num_backward = {"NanToNumBackward0", backward_nan_to_num};

/* sign, floor, ceil, round, trunc: an integer keeps its type */
static void run_flat(struct tape *tape, struct op_call *call) {
    unary(tape, call, &flat_backward, SAVES_NOTHING);
}

static void run_frac(struct tape *tape, struct op_call *call) {
    unary(tape, call, &frac_backward, SAVES_NOTHING);
}

static void run_nan_to_num(struct tape *tape, struct op_call *call) {
    unary(tape, call, &nan_to_num_backward, SAVES_INPUT);
}

/* self % number, fmod(self, number): the gradient passes */
static void run_remainder(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    if (in[1]) {
        op_refuse_gradient(tape, call);
        op_give(call, elementwise(tape, call->op->name, aten_result_type(in[0], in[1]), in, 2));
        return;
    }
    unary(tape, call, &remainder_backward, SAVES_NOTHING);
}

/* self != self */
static void run_isnan(struct tape *tape, struct op_call *call) {
    op_give(call, elementwise(tape, "ne", DTYPE_BOOL, &call->arg[0].tensor, 1));
}

/* self.abs() == inf */
static void run_isinf(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    struct tensor *magnitude = elementwise(tape, "abs", t->dtype, &t, 1);
    op_give(call, elementwise(tape, "eq", DTYPE_BOOL, &magnitude, 1));
    tensor_unref(tape, magnitude);
}

static void run_isfinite(struct tape *tape, struct op_call *call) {
    op_give(call, isfinite(tape, call->arg[0].tensor));
}

static void run_logical(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    op_give(call, elementwise(tape, call->op->name, DTYPE_BOOL, in, in[1] ? 2 : 1));
}

const struct op ops_math[] = {
    {"erf", "self:T", AUTOCAST_NONE, "error function", run_erf, NULL},
    {"log1p", "self:T", AUTOCAST_FP32, "log(1 + self)", run_log1p, NULL},
    {"log2", "self:T", AUTOCAST_FP32, "logarithm to base 2", run_log2, NULL},
    {"log10", "self:T", AUTOCAST_FP32, "logarithm to base 10", run_log10, NULL},
    {"expm1", "self:T", AUTOCAST_FP32, "exp(self) - 1", run_expm1, NULL},
    {"tan", "self:T", AUTOCAST_FP32, "tangent", run_tan, NULL},
    {"sinh", "self:T", AUTOCAST_FP32, "hyperbolic sine", run_sinh, NULL},
    {"cosh", "self:T", AUTOCAST_FP32, "hyperbolic cosine", run_cosh, NULL},
    {"atan", "self:T", AUTOCAST_NONE, "arc tangent", run_atan, NULL},
    {"asin", "self:T", AUTOCAST_FP32, "arc sine", run_asin, NULL},
    {"acos", "self:T", AUTOCAST_FP32, "arc cosine", run_acos, NULL},
    {"square", "self:T", AUTOCAST_FP32, "self * self", run_square, "aten::pow"},
    {"logit", "self:T", AUTOCAST_NONE, "log(self / (1 - self))", run_logit, NULL},
    {"sign", "self:T", AUTOCAST_NONE, "-1, 0 or 1", run_flat, NULL},
    {"floor", "self:T", AUTOCAST_NONE, "rounded down", run_flat, NULL},
    {"ceil", "self:T", AUTOCAST_NONE, "rounded up", run_flat, NULL},
    {"round", "self:T", AUTOCAST_NONE, "rounded to even", run_flat, NULL},
    {"trunc", "self:T", AUTOCAST_NONE, "rounded to 0", run_flat, NULL},
    {"frac", "self:T", AUTOCAST_NONE, "self - trunc(self)", run_frac, NULL},
    {"remainder", "self:T other:X", AUTOCAST_NONE, "self % other", run_remainder, NULL},
    {"fmod", "self:T other:X", AUTOCAST_NONE, "remainder with the sign of self", run_remainder,
     NULL},
    {"nan_to_num", "self:T", AUTOCAST_NONE, "finite numbers in place of others", run_nan_to_num,
     NULL},
    {"isnan", "self:T", AUTOCAST_NONE, "whether not a number", run_isnan, NULL},
    {"isinf", "self:T", AUTOCAST_NONE, "whether infinite", run_isinf, NULL},
    {"isfinite", "self:T", AUTOCAST_NONE, "whether neither", run_isfinite, NULL},
    {"logical_not", "self:T", AUTOCAST_NONE, "whether 0", run_logical, NULL},
    {"logical_and", "self:T other:T", AUTOCAST_NONE, "both are not 0", run_logical, NULL},
    {"logical_or", "self:T other:T", AUTOCAST_NONE, "one is not 0", run_logical, NULL},
    {"logical_xor", "self:T other:T", AUTOCAST_NONE, "one of both is not 0", run_logical, NULL},
    {0},
};
