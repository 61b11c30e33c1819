/* extreme.c: numbers limited, the smaller or larger of two, the largest or smallest of many, with
 * gradients that go to where a value came from (derivatives.yaml; FunctionsManual.cpp
 * clamp_backward, evenly_distribute_backward, scale_grad_by_count). */
#include "unary.h"

/* ---- clamp ---- */

static struct tensor *compare(struct tape *tape, const char *name, struct tensor *a,
                              struct tensor *b) {
    struct tensor *in[2] = {a, b};
    return elementwise(tape, name, DTYPE_BOOL, in, b ? 2 : 1);
}

/* where(mask, grad, 0): the zero first, then the masks of both limits, which become one.
 * saved[0] = self; args: [0] limits */
static void backward_clamp(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct shape scalar = {.ndim = 0};
    struct tensor *zero = aten_full(tape, &scalar, grads[0]->dtype);
    struct tensor *mask = compare(tape, "ge", node->saved[0], NULL);
    struct tensor *other = node->args[0] > 1 ? compare(tape, "le", node->saved[0], NULL) : NULL;
    struct tensor *in[3] = {mask, grads[0], zero};
    out[0] = elementwise(tape, "where", grads[0]->dtype, in, 3);
    tensor_unref(tape, other);
    tensor_unref(tape, mask);
    tensor_unref(tape, zero);
}

static const struct backward_op clamp_backward = {"ClampBackward1", backward_clamp};

static void note_limits(struct op_call *call) {
    struct node *node = call->out[0]->grad_fn;
    if (node && node->op == &clamp_backward)
        node->args[0] = call->arg[1].given && call->arg[2].given ? 2 : 1;
}

/* clamp(min, max), each a number: an integer stays one */
static void run_clamp(struct tape *tape, struct op_call *call) {
    unary(tape, call, &clamp_backward,
          dtype_is_float(call->arg[0].tensor->dtype) ? SAVES_INPUT : SAVES_NOTHING);
    note_limits(call);
}

static void run_clamp_(struct tape *tape, struct op_call *call) {
    unary_(tape, call, &clamp_backward, SAVES_INPUT);
    note_limits(call);
}

/* ---- two tensors ---- */

/* masked_fill(where(self == other, grad / 2, grad), self > other, 0) for each, other's first; what
 * stands right in the formula is made first. saved: [0] other, [1] self */
static void backward_choice(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    for (unsigned i = 2; i-- > 0;) {
        if (!node_wants(node, i))
            continue;
        struct tensor *loses = compare(tape, "gt", node->saved[1], node->saved[0]);
        struct tensor *half = elementwise(tape, "div", grads[0]->dtype, grads, 1);
        struct tensor *tie = compare(tape, "eq", node->saved[1], node->saved[0]);
        struct tensor *in[3] = {tie, half, grads[0]};
        out[i] = elementwise(tape, "where", grads[0]->dtype, in, 3);
        tensor_unref(tape, tie);
        tensor_unref(tape, half);
        elementwise_(tape, "masked_fill", out[i], &loses, 1);
        tensor_unref(tape, loses);
    }
}

static const struct backward_op minimum_backward = {"MinimumBackward0", backward_choice};
static const struct backward_op maximum_backward = {"MaximumBackward0", backward_choice};

static void choice(struct tape *tape, struct op_call *call, const struct backward_op *backward) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    struct node *node = node_create(tape, backward, in, 2, 1);
    node_save(tape, node, 0, in[1]);
    node_save(tape, node, 1, in[0]);
    struct tensor *out = elementwise(tape, call->op->name, aten_result_type(in[0], in[1]), in, 2);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

static void run_minimum(struct tape *tape, struct op_call *call) {
    choice(tape, call, &minimum_backward);
}

static void run_maximum(struct tape *tape, struct op_call *call) {
    choice(tape, call, &maximum_backward);
}

/* ---- of many ---- */

/* How many of `mask` are set along the dims of `reduced`, kept as size 1: counted in int64. */
static struct tensor *count_set(struct tape *tape, struct tensor *mask, uint32_t reduced) {
    struct shape shape = reduced_shape(&mask->shape, reduced, true);
    struct tensor *out = tape_new(tape, DTYPE_INT64, &shape);
    struct tensor *numbers = aten_to(tape, mask, DTYPE_INT64);
    reduce_into(tape, "sum", out, numbers, reduced);
    tensor_unref(tape, numbers);
    return out;
}

/* (grad / count) * mask */
static struct tensor *share(struct tape *tape, struct tensor *grad, struct tensor *mask,
                            struct tensor *count) {
    struct tensor *in[2] = {grad, count};
    struct tensor *part = elementwise(tape, "div", grad->dtype, in, 2);
    in[0] = part;
    in[1] = mask;
    struct tensor *out = elementwise(tape, "mul", grad->dtype, in, 2);
    tensor_unref(tape, part);
    return out;
}

/* amax, amin: evenly to all that are the largest. saved: [0] self, [1] result; args: [0] dims */
static void backward_of_many(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    struct tensor *grad = aten_with_dims(tape, node, grads[0]);
    struct tensor *result = aten_with_dims(tape, node, node->saved[1]);
    struct tensor *mask = compare(tape, "eq", node->saved[0], result);
    struct tensor *count = count_set(tape, mask, (uint32_t)node->args[0]);
    out[0] = share(tape, grad, mask, count);
    tensor_unref(tape, count);
    tensor_unref(tape, mask);
    tensor_unref(tape, result);
    tensor_unref(tape, grad);
}

static const struct backward_op amax_backward = {"AmaxBackward0", backward_of_many};
static const struct backward_op amin_backward = {"AminBackward0", backward_of_many};

static void run_of_many(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    uint32_t mask = op_dims(tape, call, &call->arg[1]);
    bool largest = call->op->name[2] == 'a';
    struct node *node = node_create(tape, largest ? &amax_backward : &amin_backward, &t, 1, 1);
    if (node)
        node->args[0] = mask;
    struct tensor *out = reduce_extreme(tape, call->op->name, t, mask, call->arg[2].integer != 0);
    node_save(tape, node, 0, t);
    node_save(tape, node, 1, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

/* max(), min(): evenly to all that are it; not a number is looked for too. saved: [0] self,
 * [1] result */
static void backward_of_all(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    struct tensor *self = node->saved[0];
    struct tensor *mask = compare(tape, "eq", self, NULL);
    struct tensor *unordered = compare(tape, "isnan", node->saved[1], NULL);
    struct tensor *both = compare(tape, "logical_or", mask, unordered);
    uint32_t all = (UINT32_C(1) << self->shape.ndim) - 1;
    struct shape scalar = {.ndim = 0};
    struct tensor *count = tape_new(tape, DTYPE_INT64, &scalar);
    struct tensor *numbers = aten_to(tape, both, DTYPE_INT64);
    reduce_into(tape, "sum", count, numbers, all);
    tensor_unref(tape, numbers);
    out[0] = share(tape, grads[0], both, count);
    tensor_unref(tape, count);
    tensor_unref(tape, both);
    tensor_unref(tape, unordered);
    tensor_unref(tape, mask);
}

static const struct backward_op all_backward = {"MaxBackward1", backward_of_all};

struct tensor *aten_extreme_all(struct tape *tape, struct tensor *t) {
    struct node *node = node_create(tape, &all_backward, &t, 1, 1);
    struct tensor *out = aten_max_all(tape, t);
    node_save(tape, node, 0, t);
    node_save(tape, node, 1, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

const struct op ops_extreme[] = {
    {"clamp", "self:T min:f? max:f?", AUTOCAST_NONE, "self limited to [min, max]", run_clamp, NULL},
    {"clamp_", "self:T min:f? max:f?", AUTOCAST_NONE, "clamp in place", run_clamp_, NULL},
    {"minimum", "self:T other:T", AUTOCAST_NONE, "the smaller of two", run_minimum, NULL},
    {"maximum", "self:T other:T", AUTOCAST_NONE, "the larger of two", run_maximum, NULL},
    {"amax", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "the largest over dims or all",
     run_of_many, NULL},
    {"amin", "self:T dim:I? keepdim:b=0", AUTOCAST_NONE, "the smallest over dims or all",
     run_of_many, NULL},
    {0},
};
