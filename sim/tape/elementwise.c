/* elementwise.c: arithmetic on whole tensors. A result has the broadcast shape and follows the
 * operands' layout; mixed types are read as they are (no copies on a GPU). Saved tensors and order
 * of results: derivatives.yaml, where the gradient of `other` comes before that of `self`. */
#include <string.h>

#include "op.h"

enum { MAX_OPERANDS = 4 };

static uint64_t kernel_bytes(struct tensor *const *operands, unsigned count) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += tensor_nbytes(operands[i]);
    return bytes;
}

static bool broadcast_all(struct tape *tape, const char *name, struct tensor *const *operands,
                          unsigned count, struct shape *shape) {
    *shape = operands[0]->shape;
    for (unsigned i = 1; i < count; i++) {
        struct shape both;
        if (!shape_broadcast(shape, &operands[i]->shape, &both)) {
            char a[128], b[128];
            tape_fail(tape, ERROR_BAD_SCENARIO, "%s: shapes %s and %s do not broadcast", name,
                      shape_format(shape, a, sizeof a),
                      shape_format(&operands[i]->shape, b, sizeof b));
            return false;
        }
        *shape = both;
    }
    return true;
}

/* What is computed of host tensors alone is one, as while a model is built on the host. */
static bool are_host(struct tensor *const *operands, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (!operands[i]->host)
            return false;
    return count > 0;
}

struct tensor *elementwise(struct tape *tape, const char *name, enum dtype dtype,
                           struct tensor *const *operands, unsigned count) {
    struct shape shape;
    if (!broadcast_all(tape, name, operands, count, &shape))
        shape = operands[0]->shape;
    if (are_host(operands, count))
        return tape_new_host(tape, dtype, &shape);
    int64_t stride[TENSOR_MAX_DIMS];
    const struct tensor *read[MAX_OPERANDS] = {NULL};
    for (unsigned i = 0; i < count; i++)
        read[i] = operands[i];
    strides_elementwise(&shape, read, count, stride);
    struct tensor *out = tape_new_strided(tape, dtype, &shape, stride);
    tape_kernel(tape, name, (uint64_t)shape_numel(&shape),
                kernel_bytes(operands, count) + tensor_nbytes(out), dtype);
    return out;
}

void elementwise_(struct tape *tape, const char *name, struct tensor *self,
                  struct tensor *const *others, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        struct shape both;
        char a[128], b[128];
        if (!shape_broadcast(&self->shape, &others[i]->shape, &both) ||
            !shape_equal(&both, &self->shape))
            tape_fail(tape, ERROR_BAD_SCENARIO, "%s: shape %s does not broadcast to %s", name,
                      shape_format(&others[i]->shape, a, sizeof a),
                      shape_format(&self->shape, b, sizeof b));
    }
    tape_kernel(tape, name, (uint64_t)shape_numel(&self->shape),
                2 * tensor_nbytes(self) + kernel_bytes(others, count), self->dtype);
}

/* PyTorch's categories: a 0-dim tensor changes the type only when it is of a higher kind (bool <
 * integer < float). */
static unsigned kind_of(enum dtype dtype) {
    return dtype_is_float(dtype) ? 2 : dtype == DTYPE_BOOL ? 0 : 1;
}

enum dtype aten_result_type(const struct tensor *a, const struct tensor *b) {
    bool za = a->shape.ndim == 0, zb = b->shape.ndim == 0;
    if (za != zb) {
        const struct tensor *dim = za ? b : a, *zero = za ? a : b;
        if (kind_of(dim->dtype) >= kind_of(zero->dtype))
            return dim->dtype;
    }
    return dtype_promote(a->dtype, b->dtype);
}

enum dtype aten_scalar_type(const struct tape *tape, const struct tensor *a, bool floating) {
    if (floating && !dtype_is_float(a->dtype))
        return tape->default_dtype;
    if (!floating && a->dtype == DTYPE_BOOL)
        return DTYPE_INT64;
    return a->dtype;
}

/* ---- add, sub: gradients are passed on; args: [0] other is scaled (alpha) ---- */

static void backward_add(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    for (unsigned i = node->edge_count; i-- > 0;)
        if (node_wants(node, i))
            out[i] = i > 0 && node->args[0] ? elementwise(tape, "mul", grads[0]->dtype, grads, 1)
                                            : tensor_ref(grads[0]);
}

static void backward_sub(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    if (node->edge_count > 1 && node_wants(node, 1)) {
        out[1] = elementwise(tape, "neg", grads[0]->dtype, grads, 1);
        if (node->args[0]) {
            struct tensor *negative = out[1];
            out[1] = elementwise(tape, "mul", negative->dtype, &negative, 1);
            tensor_unref(tape, negative);
        }
    }
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
}

static const struct backward_op add_backward = {"AddBackward0", backward_add};
static const struct backward_op sub_backward = {"SubBackward0", backward_sub};

static struct tensor *linear_binary(struct tape *tape, const char *name,
                                    const struct backward_op *backward, struct tensor *a,
                                    struct tensor *b, bool scaled) {
    struct tensor *in[2] = {a, b};
    struct node *node = node_create(tape, backward, in, 2, 1);
    if (node)
        node->args[0] = scaled;
    struct tensor *out = elementwise(tape, name, aten_result_type(a, b), in, 2);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

struct tensor *aten_add(struct tape *tape, struct tensor *a, struct tensor *b) {
    return linear_binary(tape, "add", &add_backward, a, b, false);
}

struct tensor *aten_sub(struct tape *tape, struct tensor *a, struct tensor *b) {
    return linear_binary(tape, "sub", &sub_backward, a, b, false);
}

void aten_add_(struct tape *tape, struct tensor *a, struct tensor *b) {
    elementwise_(tape, "add_", a, &b, 1);
}

struct tensor *aten_add_scalar(struct tape *tape, struct tensor *a, bool floating) {
    struct node *node = node_create(tape, &add_backward, &a, 1, 1);
    struct tensor *out = elementwise(tape, "add", aten_scalar_type(tape, a, floating), &a, 1);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* ---- mul, div ---- */

/* grad * factor.conj(), a copy where the factor is complex */
static struct tensor *times(struct tape *tape, struct tensor *grad, struct tensor *factor) {
    struct tensor *in[2] = {grad, tensor_ref(factor)};
    if (factor->dtype == DTYPE_COMPLEX64) {
        tensor_unref(tape, in[1]);
        in[1] = elementwise(tape, "conj", factor->dtype, &factor, 1);
    }
    struct tensor *out = elementwise(tape, "mul", aten_result_type(in[0], in[1]), in, 2);
    tensor_unref(tape, in[1]);
    return out;
}

/* saved[0] = other (for self), saved[1] = self (for other) */
static void backward_mul(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    if (node->edge_count == 1) {
        out[0] = elementwise(tape, "mul", grads[0]->dtype, grads, 1);
        return;
    }
    if (node_wants(node, 1))
        out[1] = times(tape, grads[0], node->saved[1]);
    if (node_wants(node, 0))
        out[0] = times(tape, grads[0], node->saved[0]);
}

/* saved[0] = other, saved[1] = self (only when other needs a gradient) */
static void backward_div(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    if (node->edge_count == 1) {
        out[0] = elementwise(tape, "div", grads[0]->dtype, grads, 1);
        return;
    }
    struct tensor *grad = grads[0], *other = node->saved[0];
    if (node_wants(node, 1)) { /* -grad * ((self / other) / other), the right side first */
        struct tensor *in[2] = {node->saved[1], other};
        struct tensor *ratio = elementwise(tape, "div", aten_result_type(in[0], in[1]), in, 2);
        in[0] = ratio;
        struct tensor *ratio2 = elementwise(tape, "div", ratio->dtype, in, 2);
        struct tensor *negative = elementwise(tape, "neg", grad->dtype, &grad, 1);
        in[0] = negative;
        in[1] = ratio2;
        out[1] = elementwise(tape, "mul", aten_result_type(in[0], in[1]), in, 2);
        tensor_unref(tape, negative);
        tensor_unref(tape, ratio);
        tensor_unref(tape, ratio2);
    }
    if (node_wants(node, 0)) {
        struct tensor *in[2] = {grad, other};
        out[0] = elementwise(tape, "div", aten_result_type(in[0], in[1]), in, 2);
    }
}

static const struct backward_op mul_backward = {"MulBackward0", backward_mul};
static const struct backward_op div_backward = {"DivBackward0", backward_div};

struct tensor *aten_mul(struct tape *tape, struct tensor *a, struct tensor *b) {
    struct tensor *in[2] = {a, b};
    struct node *node = node_create(tape, &mul_backward, in, 2, 1);
    if (node && node_wants(node, 0))
        node_save(tape, node, 0, b);
    if (node && node_wants(node, 1))
        node_save(tape, node, 1, a);
    struct tensor *out = elementwise(tape, "mul", aten_result_type(a, b), in, 2);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

struct tensor *aten_div(struct tape *tape, struct tensor *a, struct tensor *b) {
    struct tensor *in[2] = {a, b};
    struct node *node = node_create(tape, &div_backward, in, 2, 1);
    node_save(tape, node, 0, b);
    if (node && node_wants(node, 1))
        node_save(tape, node, 1, a);
    enum dtype dtype = aten_result_type(a, b);
    struct tensor *out =
        elementwise(tape, "div", dtype_is_float(dtype) ? dtype : tape->default_dtype, in, 2);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

static struct tensor *scale(struct tape *tape, const char *name, const struct backward_op *backward,
                            struct tensor *a, enum dtype dtype) {
    struct node *node = node_create(tape, backward, &a, 1, 1);
    struct tensor *out = elementwise(tape, name, dtype, &a, 1);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

struct tensor *aten_mul_scalar(struct tape *tape, struct tensor *a, bool floating) {
    return scale(tape, "mul", &mul_backward, a, aten_scalar_type(tape, a, floating));
}

struct tensor *aten_div_scalar(struct tape *tape, struct tensor *a) {
    return scale(tape, "div", &div_backward, a, aten_scalar_type(tape, a, true));
}

/* ---- copies and casts ---- */

static void backward_to_copy(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    out[0] = aten_to(tape, grads[0], node->edges[0].dtype);
}

static void backward_pass(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    (void)tape;
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
}

static const struct backward_op to_copy_backward = {"ToCopyBackward0", backward_to_copy};
static const struct backward_op clone_backward = {"CloneBackward0", backward_pass};

static struct tensor *copy_to(struct tape *tape, const struct backward_op *backward,
                              struct tensor *t, enum dtype dtype, const int64_t *stride) {
    if (t->host)
        return tape_new_host(tape, dtype, &t->shape);
    struct node *node = node_create(tape, backward, &t, 1, 1);
    struct tensor *out = tape_new_strided(tape, dtype, &t->shape, stride);
    tape_kernel(tape, "copy", 0, tensor_nbytes(t) + tensor_nbytes(out), dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

struct tensor *aten_to(struct tape *tape, struct tensor *t, enum dtype dtype) {
    if (t->dtype == dtype)
        return tensor_ref(t);
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(t, stride);
    return copy_to(tape, &to_copy_backward, t, dtype, stride);
}

struct tensor *aten_clone_strided(struct tape *tape, struct tensor *t, const int64_t *stride) {
    return copy_to(tape, &clone_backward, t, t->dtype, stride);
}

struct tensor *aten_contiguous(struct tape *tape, struct tensor *t) {
    if (tensor_is_contiguous(t))
        return tensor_ref(t);
    int64_t stride[TENSOR_MAX_DIMS];
    strides_contiguous(&t->shape, stride);
    return aten_clone_strided(tape, t, stride);
}

/* ---- rows ---- */

/* self may be a number and other the tensor: torch.sub(1, x) is rsub. */
static void run_add(struct tape *tape, struct op_call *call) {
    struct op_arg *a = &call->arg[0], *b = &call->arg[1];
    if (a->tensor && b->tensor)
        op_give(call, linear_binary(tape, "add", &add_backward, a->tensor, b->tensor,
                                    call->arg[2].number != 1));
    else
        op_give(call, aten_add_scalar(tape, a->tensor ? a->tensor : b->tensor,
                                      a->tensor ? b->floating : a->floating));
}

static void run_sub(struct tape *tape, struct op_call *call) {
    struct op_arg *a = &call->arg[0], *b = &call->arg[1];
    if (a->tensor && b->tensor) {
        op_give(call, linear_binary(tape, "sub", &sub_backward, a->tensor, b->tensor,
                                    call->arg[2].number != 1));
    } else if (a->tensor) {
        op_give(call, aten_add_scalar(tape, a->tensor, b->floating));
    } else {
        struct node *node =
            node_create(tape, &sub_backward, (struct tensor *[]){NULL, b->tensor}, 2, 1);
        struct tensor *out = elementwise(
            tape, "rsub", aten_scalar_type(tape, b->tensor, a->floating), &b->tensor, 1);
        node_set_output(node, out, 0);
        node_finish(tape, node);
        op_give(call, out);
    }
}

static void run_mul(struct tape *tape, struct op_call *call) {
    struct op_arg *a = &call->arg[0], *b = &call->arg[1];
    if (a->tensor && b->tensor)
        op_give(call, aten_mul(tape, a->tensor, b->tensor));
    else
        op_give(call, aten_mul_scalar(tape, a->tensor ? a->tensor : b->tensor,
                                      a->tensor ? b->floating : a->floating));
}

static void backward_reciprocal(struct tape *tape, struct node *node, struct tensor **grads,
                                struct tensor **out) { /* -grad * (result * result) */
    struct tensor *in[2] = {node->saved[0], node->saved[0]};
    struct tensor *negative = elementwise(tape, "neg", grads[0]->dtype, grads, 1);
    struct tensor *square = elementwise(tape, "mul", in[0]->dtype, in, 2);
    in[0] = negative;
    in[1] = square;
    out[0] = elementwise(tape, "mul", negative->dtype, in, 2);
    tensor_unref(tape, negative);
    tensor_unref(tape, square);
}

static const struct backward_op reciprocal_backward = {"ReciprocalBackward0", backward_reciprocal};

static struct tensor *reciprocal(struct tape *tape, struct tensor *t) {
    struct node *node = node_create(tape, &reciprocal_backward, &t, 1, 1);
    struct tensor *out = elementwise(tape, "reciprocal", aten_scalar_type(tape, t, true), &t, 1);
    node_save(tape, node, 0, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* A number divided by a tensor is reciprocal() times the number (torch/_tensor.py __rdiv__). */
static void run_div(struct tape *tape, struct op_call *call) {
    struct op_arg *a = &call->arg[0], *b = &call->arg[1];
    if (a->tensor && b->tensor) {
        op_give(call, aten_div(tape, a->tensor, b->tensor));
    } else if (a->tensor) {
        op_give(call, aten_div_scalar(tape, a->tensor));
    } else {
        struct tensor *inverse = reciprocal(tape, b->tensor);
        op_give(call, aten_mul_scalar(tape, inverse, a->floating));
        tensor_unref(tape, inverse);
    }
}

/* In place, without a gradient of its own: nothing is asked for. */
static void run_in_place(struct tape *tape, struct op_call *call) {
    op_refuse_gradient(tape, call);
    struct tensor *others[2];
    unsigned count = 0;
    for (unsigned i = 1; i < 3; i++)
        if (call->arg[i].tensor)
            others[count++] = call->arg[i].tensor;
    elementwise_(tape, call->op->name, call->arg[0].tensor, others, count);
    op_give(call, tensor_ref(call->arg[0].tensor));
}

/* self += other, a number when NULL, with self's history going on through it */
void aten_add_recorded_(struct tape *tape, struct tensor *self, struct tensor *other) {
    struct tensor *in[2] = {self, other};
    struct node *node = node_create(tape, &add_backward, in, other ? 2 : 1, 1);
    elementwise_(tape, "add_", self, &other, other ? 1 : 0);
    node_rebase(tape, node, self);
    node_finish(tape, node);
}

static void run_add_(struct tape *tape, struct op_call *call) {
    aten_add_recorded_(tape, call->arg[0].tensor, call->arg[1].tensor);
    op_give(call, tensor_ref(call->arg[0].tensor));
}

static void run_reciprocal(struct tape *tape, struct op_call *call) {
    op_give(call, reciprocal(tape, call->arg[0].tensor));
}

static void run_clone(struct tape *tape, struct op_call *call) {
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(call->arg[0].tensor, stride);
    op_give(call, aten_clone_strided(tape, call->arg[0].tensor, stride));
}

static void run_to(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    enum dtype dtype = (enum dtype)call->arg[1].integer;
    if (call->arg[2].integer && t->dtype == dtype)
        run_clone(tape, call);
    else
        op_give(call, aten_to(tape, t, dtype));
}

static void run_float(struct tape *tape, struct op_call *call) {
    op_give(call, aten_to(tape, call->arg[0].tensor, DTYPE_FLOAT32));
}

static void run_detach(struct tape *tape, struct op_call *call) {
    op_give(call, tape_detach(tape, call->arg[0].tensor));
}

static void run_compare(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    op_give(call, elementwise(tape, call->op->name, DTYPE_BOOL, in, in[1] ? 2 : 1));
}

/* saved[1]: what self was, copied before it is overwritten */
static void save_original(struct tape *tape, struct node *node, struct tensor *self) {
    bool grad_enabled = tape->grad_enabled;
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(self, stride);
    tape->grad_enabled = false;
    struct tensor *original = aten_clone_strided(tape, self, stride);
    tape->grad_enabled = grad_enabled;
    node_save(tape, node, 1, original);
    tensor_unref(tape, original);
}

enum other { OTHER_UNUSED, OTHER_FOR_SELF, OTHER_FOR_BOTH }; /* what other's values are for */

/* self op= other, whose history goes on through it: with a formula that reads them, other is saved
 * and, for other's gradient, self. */
static void binary_(struct tape *tape, struct op_call *call, const struct backward_op *backward,
                    enum other use) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    struct node *node = node_create(tape, backward, in, in[1] ? 2 : 1, 1);
    if (node && in[1] && use != OTHER_UNUSED) {
        if (use == OTHER_FOR_BOTH || node_wants(node, 0))
            node_save(tape, node, 0, in[1]);
        if (node_wants(node, 1))
            save_original(tape, node, in[0]);
    }
    elementwise_(tape, call->op->name, in[0], &in[1], in[1] ? 1 : 0);
    node_rebase(tape, node, in[0]);
    node_finish(tape, node);
    op_give(call, tensor_ref(in[0]));
}

static void run_sub_(struct tape *tape, struct op_call *call) {
    binary_(tape, call, &sub_backward, OTHER_UNUSED);
}

static void run_mul_(struct tape *tape, struct op_call *call) {
    binary_(tape, call, &mul_backward, OTHER_FOR_SELF);
}

static void run_div_(struct tape *tape, struct op_call *call) {
    binary_(tape, call, &div_backward, OTHER_FOR_BOTH);
}

static void run_floor_divide(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    unsigned tensors = in[0] && in[1] ? 2 : 1; /* the other one is a number */
    bool floating = call->arg[in[0] ? 1 : 0].floating;
    if (!in[0])
        in[0] = in[1];
    enum dtype dtype =
        tensors == 2 ? aten_result_type(in[0], in[1]) : aten_scalar_type(tape, in[0], floating);
    op_give(call, elementwise(tape, "floor_divide", dtype, in, tensors));
}

static void run_bitwise_not(struct tape *tape, struct op_call *call) {
    op_give(call,
            elementwise(tape, "bitwise_not", call->arg[0].tensor->dtype, &call->arg[0].tensor, 1));
}

static void run_bitwise(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    op_give(call, elementwise(tape, call->op->name, aten_result_type(in[0], in[1]), in, 2));
}

/* saved[0] = condition: each side's gradient is where(condition, grad, 0), the zero a 0-dim tensor
 * on the device */
static void backward_where(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct shape scalar = {.ndim = 0};
    for (unsigned i = 3; i-- > 1;) {
        if (!node_wants(node, i))
            continue;
        struct tensor *in[3] = {node->saved[0], grads[0],
                                aten_full(tape, &scalar, grads[0]->dtype)};
        out[i] = elementwise(tape, "where", grads[0]->dtype, in, 3);
        tensor_unref(tape, in[2]);
    }
}

static const struct backward_op where_backward = {"WhereBackward0", backward_where};

struct tensor *aten_where(struct tape *tape, struct tensor *condition, struct tensor *a,
                          struct tensor *b) {
    struct tensor *in[3] = {condition, a, b};
    struct node *node = node_create(tape, &where_backward, in, 3, 1);
    node_save(tape, node, 0, condition);
    struct tensor *out = elementwise(tape, "where", aten_result_type(a, b), in, 3);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* where(condition, self, other): a number becomes a 0-dim tensor of the result's type, on the
 * device. */
static void run_where(struct tape *tape, struct op_call *call) {
    struct op_arg *a = &call->arg[1], *b = &call->arg[2];
    enum dtype dtype = a->tensor && b->tensor ? aten_result_type(a->tensor, b->tensor)
                       : a->tensor            ? aten_scalar_type(tape, a->tensor, b->floating)
                       : b->tensor            ? aten_scalar_type(tape, b->tensor, a->floating)
                                              : DTYPE_FLOAT32;
    struct shape scalar = {.ndim = 0};
    struct tensor *self = a->tensor ? tensor_ref(a->tensor) : aten_full(tape, &scalar, dtype);
    struct tensor *other = b->tensor ? tensor_ref(b->tensor) : aten_full(tape, &scalar, dtype);
    op_give(call, aten_where(tape, call->arg[0].tensor, self, other));
    tensor_unref(tape, self);
    tensor_unref(tape, other);
}

const struct op ops_elementwise[] = {
    {"add", "self:X other:X alpha:f=1", AUTOCAST_NONE, "self + alpha * other", run_add, NULL},
    {"sub", "self:X other:X alpha:f=1", AUTOCAST_NONE, "self - alpha * other", run_sub, NULL},
    {"mul", "self:X other:X", AUTOCAST_NONE, "self * other", run_mul, NULL},
    {"div", "self:X other:X", AUTOCAST_NONE, "self / other", run_div, NULL},
    {"add_", "self:T other:X", AUTOCAST_NONE, "self += other", run_add_, NULL},
    {"sub_", "self:T other:X", AUTOCAST_NONE, "self -= other", run_sub_, NULL},
    {"mul_", "self:T other:X", AUTOCAST_NONE, "self *= other", run_mul_, NULL},
    {"div_", "self:T other:X", AUTOCAST_NONE, "self /= other", run_div_, NULL},
    {"floor_divide", "self:T other:X", AUTOCAST_NONE, "self // other", run_floor_divide, NULL},
    {"bitwise_not", "self:T", AUTOCAST_NONE, "~self", run_bitwise_not, NULL},
    {"square_", "self:T", AUTOCAST_NONE, "self *= self", run_in_place, NULL},
    {"sgn_", "self:T", AUTOCAST_NONE, "the sign of self", run_in_place, NULL},
    {"maximum_", "self:T other:T", AUTOCAST_NONE, "self = max(self, other)", run_in_place,
     "aten::maximum"},
    {"amp_update_scale_", "self:T growth_tracker:T found_inf:T", AUTOCAST_NONE,
     "the next loss scale", run_in_place, "aten::_amp_update_scale_"},
    {"reciprocal", "self:T", AUTOCAST_NONE, "1 / self", run_reciprocal, NULL},
    {"lerp_", "self:T end:T weight:X", AUTOCAST_NONE, "self += weight * (end - self)", run_in_place,
     NULL},
    {"addcmul_", "self:T tensor1:T tensor2:T value:f=1", AUTOCAST_NONE,
     "self += value * tensor1 * tensor2", run_in_place, NULL},
    {"addcdiv_", "self:T tensor1:T tensor2:T value:f=1", AUTOCAST_NONE,
     "self += value * tensor1 / tensor2", run_in_place, NULL},
    {"to", "self:T dtype:d copy:b=0", AUTOCAST_NONE,
     "self with another type; the same tensor when it has it", run_to, NULL},
    {"float", "self:T", AUTOCAST_NONE, "self as float32", run_float, "aten::to"},
    {"clone", "self:T", AUTOCAST_NONE, "a copy with self's layout", run_clone, NULL},
    {"detach", "self:T", AUTOCAST_NONE, "the same storage without history", run_detach, NULL},
    {"eq", "self:T other:X", AUTOCAST_NONE, "self == other", run_compare, NULL},
    {"ne", "self:T other:X", AUTOCAST_NONE, "self != other", run_compare, NULL},
    {"le", "self:T other:X", AUTOCAST_NONE, "self <= other", run_compare, NULL},
    {"lt", "self:T other:X", AUTOCAST_NONE, "self < other", run_compare, NULL},
    {"ge", "self:T other:X", AUTOCAST_NONE, "self >= other", run_compare, NULL},
    {"gt", "self:T other:X", AUTOCAST_NONE, "self > other", run_compare, NULL},
    {"bitwise_and", "self:T other:T", AUTOCAST_NONE, "self & other", run_bitwise, NULL},
    {"bitwise_or", "self:T other:T", AUTOCAST_NONE, "self & other", run_bitwise, NULL},
    {"where", "condition:T self:X other:X", AUTOCAST_NONE, "self where condition, else other",
     run_where, NULL},
    {0},
};
