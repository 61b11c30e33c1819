/* float8.c: torchao's float8 linear with tensorwise dynamic scaling (torchao 0.18:
 * float8_linear.py, float8_utils.py, float8_ops.py). Every operand of each of the three products is
 * cast anew: its largest magnitude gives a scale, the scaled copy is clamped in fp32 and cast to
 * one byte. What is kept for backward are the operands in their own type. One op here is one
 * autograd.Function there; names of its Python frames hold what they hold. */
#include "op.h"

struct float8 {
    struct tensor *data, *scale;
};

static struct tensor *unary(struct tape *tape, const char *name, enum dtype dtype,
                            struct tensor *t) {
    return elementwise(tape, name, dtype, &t, 1);
}

/* tensor_to_scale: max(abs(x)) in x's type, the rest in fp64 (amax_to_scale), the scale in fp32 */
static struct tensor *scale_of(struct tape *tape, struct tensor *x) {
    struct tensor *magnitude = unary(tape, "abs", x->dtype, x);
    struct tensor *amax = aten_max_all(tape, magnitude);
    tensor_unref(tape, magnitude);
    struct tensor *wide = aten_to(tape, amax, DTYPE_FLOAT64);
    struct tensor *clamped = unary(tape, "clamp", DTYPE_FLOAT64, wide);
    struct tensor *inverse = unary(tape, "reciprocal", DTYPE_FLOAT64, clamped);
    struct tensor *quotient = unary(tape, "mul", DTYPE_FLOAT64, inverse);
    tensor_unref(tape, inverse);
    tensor_unref(tape, clamped);
    struct tensor *scale = aten_to(tape, quotient, DTYPE_FLOAT32);
    tensor_unref(tape, quotient);
    tensor_unref(tape, wide);
    tensor_unref(tape, amax);
    return scale;
}

/* hp_tensor_to_float8_dynamic */
static struct float8 cast(struct tape *tape, struct tensor *x, enum dtype dtype) {
    struct float8 out = {.scale = scale_of(tape, x)};
    struct tensor *wide = aten_to(tape, x, DTYPE_FLOAT32), *in[2] = {wide, out.scale};
    struct tensor *scaled = elementwise(tape, "mul", DTYPE_FLOAT32, in, 2);
    tensor_unref(tape, wide);
    struct tensor *clamped = unary(tape, "clamp", DTYPE_FLOAT32, scaled);
    out.data = aten_to(tape, clamped, dtype);
    tensor_unref(tape, clamped);
    tensor_unref(tape, scaled);
    return out;
}

static void release(struct tape *tape, struct float8 *t) {
    tensor_unref(tape, t->data);
    tensor_unref(tape, t->scale);
}

static bool is_row_major(const struct tensor *t) {
    return t->stride[0] > t->stride[1] && t->stride[1] == 1;
}

/* float8_mm: a must lie row by row, b column by column; both scales are inverted for _scaled_mm. */
static struct tensor *scaled_mm(struct tape *tape, struct tensor *a, struct tensor *b,
                                enum dtype dtype) {
    struct tensor *rows = is_row_major(a) ? tensor_ref(a) : aten_contiguous(tape, a),
                  *columns = tensor_ref(b);
    if (is_row_major(b)) {
        struct tensor *turned = aten_t(tape, b), *copy = aten_contiguous(tape, turned);
        tensor_unref(tape, columns);
        columns = aten_t(tape, copy);
        tensor_unref(tape, copy);
        tensor_unref(tape, turned);
    }
    struct shape scalar = {.ndim = 0};
    struct shape shape = {.ndim = 2, .size = {a->shape.size[0], b->shape.size[1]}};
    struct tensor *inverse_a = aten_full(tape, &scalar, DTYPE_FLOAT32);
    struct tensor *inverse_b = aten_full(tape, &scalar, DTYPE_FLOAT32);
    struct tensor *out = tape_new(tape, dtype, &shape);
    aten_fused_product_workspace(tape);
    tape_kernel(tape, "scaled_mm", 2 * (uint64_t)shape_numel(&shape) * (uint64_t)a->shape.size[1],
                tensor_nbytes(a) + tensor_nbytes(b) + tensor_nbytes(out), a->dtype);
    tensor_unref(tape, inverse_a);
    tensor_unref(tape, inverse_b);
    tensor_unref(tape, rows);
    tensor_unref(tape, columns);
    return out;
}

static struct tensor *as_matrix(struct tape *tape, struct tensor *t) {
    struct shape shape = aten_matrix_shape(&t->shape);
    return aten_reshape(tape, t, &shape);
}

/* saved[0] = input, saved[1] = weight.t(). The casts for the input's gradient live to the end. */
static void backward_float8(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    struct tensor *grad = as_matrix(tape, grads[0]);
    struct float8 grad8 = cast(tape, grad, DTYPE_FLOAT8_E5M2);
    struct float8 weight8 = cast(tape, node->saved[1], DTYPE_FLOAT8_E4M3FN);
    struct tensor *weight = aten_t(tape, weight8.data);
    struct tensor *product = scaled_mm(tape, grad8.data, weight, grad->dtype);
    struct tensor *grad_input = aten_view(tape, product, &node->edges[0].shape);
    tensor_unref(tape, weight);
    tensor_unref(tape, product);
    struct tensor *input = as_matrix(tape, node->saved[0]);
    struct float8 again8 = cast(tape, grad, DTYPE_FLOAT8_E5M2),
                  input8 = cast(tape, input, DTYPE_FLOAT8_E4M3FN);
    struct tensor *turned = aten_t(tape, again8.data);
    struct tensor *grad_weight = scaled_mm(tape, turned, input8.data, grad->dtype);
    if (node_wants(node, 0))
        out[0] = tensor_ref(grad_input);
    if (node_wants(node, 1))
        out[1] = aten_t(tape, grad_weight);
    release(tape, &grad8);
    release(tape, &weight8);
    release(tape, &again8);
    release(tape, &input8);
    struct tensor *done[] = {turned, grad_weight, grad_input, input, grad};
    for (unsigned i = 0; i < sizeof done / sizeof done[0]; i++)
        tensor_unref(tape, done[i]);
}

static const struct backward_op float8_backward = {"matmul_with_hp_or_float8_argsBackward",
                                                   backward_float8};

static struct tensor *float8_product(struct tape *tape, struct tensor *input,
                                     struct tensor *weight_t) {
    struct float8 input8 = cast(tape, input, DTYPE_FLOAT8_E4M3FN);
    struct float8 weight8 = cast(tape, weight_t, DTYPE_FLOAT8_E4M3FN);
    struct shape shape = input->shape;
    shape.size[shape.ndim - 1] = weight_t->shape.size[1];
    struct tensor *rows = as_matrix(tape, input8.data);
    struct tensor *product = scaled_mm(tape, rows, weight8.data, input->dtype);
    struct tensor *out = aten_view(tape, product, &shape);
    tensor_unref(tape, product);
    tensor_unref(tape, rows);
    release(tape, &weight8);
    release(tape, &input8);
    return out;
}

static void run_float8_linear(struct tape *tape, struct op_call *call) {
    struct tensor *input = call->arg[0].tensor, *weight = call->arg[1].tensor;
    unsigned n = input->shape.ndim;
    if (n < 2 || weight->shape.ndim != 2 || input->shape.size[n - 1] != weight->shape.size[1] ||
        input->dtype != weight->dtype || dtype_bytes(input->dtype) > 4 ||
        !dtype_is_float(input->dtype)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "float8_linear: input %s does not fit weight %s",
                  shape_format(&input->shape, a, sizeof a),
                  shape_format(&weight->shape, b, sizeof b));
        call->out[call->out_count++] = tensor_ref(input);
        return;
    }
    struct tensor *in[2] = {input, aten_t(tape, weight)};
    struct node *node = node_create(tape, &float8_backward, in, 2, 1);
    node_save(tape, node, 0, in[0]);
    node_save(tape, node, 1, in[1]);
    bool grad_enabled = tape->grad_enabled;
    tape->grad_enabled = false;
    struct tensor *out = float8_product(tape, in[0], in[1]);
    tape->grad_enabled = grad_enabled;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, in[1]);
    call->out[call->out_count++] = out;
}

const struct op ops_float8[] = {
    {"float8_linear", "input:T weight:T", AUTOCAST_NONE,
     "input @ weight.t() with operands cast to float8", run_float8_linear,
     "matmul_with_hp_or_float8_args"},
    {0},
};
