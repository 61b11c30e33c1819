/* moments.c: variance, deviation, logsumexp (ATen/native/ReduceOps.cpp, FunctionsManual.cpp). */
#include "op.h"

/* var_backward: (2 / (n - correction) * grad) * (self - self.mean(dim, true)), the right side
 * first */
static struct tensor *variance_gradient(struct tape *tape, struct node *node, struct tensor *grad) {
    struct tensor *self = node->saved[0], *in[2];
    struct tensor *mean = reduce(tape, "mean", self, (uint32_t)node->args[0], true, self->dtype);
    in[0] = self;
    in[1] = mean;
    struct tensor *centred = elementwise(tape, "sub", self->dtype, in, 2);
    struct tensor *whole = aten_with_dims(tape, node, grad);
    struct tensor *scaled = elementwise(tape, "mul", grad->dtype, &whole, 1);
    in[0] = scaled;
    in[1] = centred;
    struct tensor *out = elementwise(tape, "mul", grad->dtype, in, 2);
    tensor_unref(tape, scaled);
    tensor_unref(tape, whole);
    tensor_unref(tape, centred);
    tensor_unref(tape, mean);
    return out;
}

static void backward_var(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    out[0] = variance_gradient(tape, node, grads[0]);
}

/* std_backward: of the variance by (grad / (result * 2)).masked_fill_(result == 0, 0) */
static void backward_std(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *result = node->saved[1], *in[2] = {grads[0], NULL};
    in[1] = elementwise(tape, "mul", result->dtype, &result, 1);
    struct tensor *grad = elementwise(tape, "div", result->dtype, in, 2);
    struct tensor *zero = elementwise(tape, "eq", DTYPE_BOOL, &result, 1);
    elementwise_(tape, "masked_fill", grad, &zero, 1);
    tensor_unref(tape, zero);
    tensor_unref(tape, in[1]);
    out[0] = variance_gradient(tape, node, grad);
    tensor_unref(tape, grad);
}

static const struct backward_op var_backward = {"VarBackward0", backward_var};
static const struct backward_op std_backward = {"StdBackward0", backward_std};

static void moment(struct tape *tape, struct op_call *call, const struct backward_op *backward,
                   bool saves_result) {
    struct tensor *t = call->arg[0].tensor;
    uint32_t mask = op_dims(tape, call, &call->arg[1]);
    struct node *node = node_create(tape, backward, &t, 1, 1);
    if (node)
        node->args[0] = mask;
    struct shape shape = reduced_shape(&t->shape, mask, call->arg[2].integer != 0);
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    reduce_moments_into(tape, call->op->name, out, t, mask);
    node_save(tape, node, 0, t);
    if (saves_result)
        node_save(tape, node, 1, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

static void run_var(struct tape *tape, struct op_call *call) {
    moment(tape, call, &var_backward, false);
}

static void run_std(struct tape *tape, struct op_call *call) {
    moment(tape, call, &std_backward, true);
}

/* logsumexp_backward: grad * (self - result).exp() */
static void backward_logsumexp(struct tape *tape, struct node *node, struct tensor **grads,
                               struct tensor **out) {
    struct tensor *self = node->saved[0], *in[2];
    struct tensor *grad = aten_with_dims(tape, node, grads[0]);
    struct tensor *result = aten_with_dims(tape, node, node->saved[1]);
    in[0] = self;
    in[1] = result;
    struct tensor *difference = elementwise(tape, "sub", self->dtype, in, 2);
    struct tensor *power = elementwise(tape, "exp", self->dtype, &difference, 1);
    in[0] = grad;
    in[1] = power;
    out[0] = elementwise(tape, "mul", self->dtype, in, 2);
    tensor_unref(tape, power);
    tensor_unref(tape, difference);
    tensor_unref(tape, result);
    tensor_unref(tape, grad);
}

static const struct backward_op logsumexp_backward = {"LogsumexpBackward0", backward_logsumexp};

/* logsumexp_out_impl: the largest, infinite ones taken as 0; exp(self - largest) in place, summed */
static void run_logsumexp(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *in[2];
    uint32_t mask = op_dims(tape, call, &call->arg[1]);
    struct node *node = node_create(tape, &logsumexp_backward, &t, 1, 1);
    if (node)
        node->args[0] = mask;
    struct tensor *largest = reduce_extreme(tape, "amax", t, mask, true);
    struct tensor *magnitude = elementwise(tape, "abs", t->dtype, &largest, 1);
    struct tensor *infinite = elementwise(tape, "eq", DTYPE_BOOL, &magnitude, 1);
    elementwise_(tape, "masked_fill", largest, &infinite, 1);
    tensor_unref(tape, infinite);
    tensor_unref(tape, magnitude);
    in[0] = t;
    in[1] = largest;
    struct tensor *power = elementwise(tape, "exp", t->dtype, in, 2);
    struct tensor *out = reduce(tape, "sum", power, mask, call->arg[2].integer != 0, t->dtype);
    tensor_unref(tape, power);
    tensor_unref(tape, largest);
    node_save(tape, node, 0, t);
    node_save(tape, node, 1, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

const struct op ops_moments[] = {
    {"var", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "variance over dims or all", run_var, NULL},
    {"std", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "standard deviation over dims or all",
     run_std, NULL},
    {"logsumexp", "self:T dim:I keepdim:b=0", AUTOCAST_FP32,
     "logarithm of the sum of exponentials over dims", run_logsumexp, NULL},
    {0},
};
