/* vector_product.c: products with a vector: mv, dot (ATen/native/Blas.cpp, cuda/Blas.cpp). */
#include "op.h"

static struct tensor *copy_of_strided(struct tape *tape, struct tensor *vector) {
    bool grad = tape->grad_enabled; /* the copy is below autograd */
    tape->grad_enabled = false;
    struct tensor *copy = vector->stride[0] == 0 && vector->shape.size[0] != 1
                              ? aten_contiguous(tape, vector)
                              : tensor_ref(vector);
    tape->grad_enabled = grad;
    return copy;
}

/* The result first, then what of the vector must be copied: one number repeated. */
static struct tensor *times_vector(struct tape *tape, struct tensor *matrix,
                                   struct tensor *vector) {
    struct shape shape = {.ndim = 1, .size = {matrix->shape.size[0]}};
    struct tensor *out = tape_new(tape, matrix->dtype, &shape);
    struct tensor *copy = copy_of_strided(tape, vector);
    aten_product_workspace(tape);
    tape_kernel(tape, "mv", 2 * (uint64_t)shape_numel(&matrix->shape), tensor_nbytes(matrix),
                matrix->dtype);
    tensor_unref(tape, copy);
    return out;
}

/* self: grad.ger(vec); vec: self.t().mv(grad). saved: [0] self, [1] vec */
static void backward_mv(struct tape *tape, struct node *node, struct tensor **grads,
                        struct tensor **out) {
    if (node_wants(node, 0)) {
        struct tensor *column = aten_unsqueeze(tape, grads[0], -1);
        struct tensor *in[2] = {column, node->saved[1]};
        out[0] = elementwise(tape, "ger", grads[0]->dtype, in, 2);
        tensor_unref(tape, column);
    }
    if (node_wants(node, 1)) {
        struct tensor *transposed = aten_t(tape, node->saved[0]);
        out[1] = times_vector(tape, transposed, grads[0]);
        tensor_unref(tape, transposed);
    }
}

static const struct backward_op mv_backward = {"MvBackward0", backward_mv};

struct tensor *aten_mv(struct tape *tape, struct tensor *matrix, struct tensor *vector) {
    if (matrix->shape.ndim != 2 || vector->shape.ndim != 1 || matrix->dtype != vector->dtype ||
        matrix->shape.size[1] != vector->shape.size[0]) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "mv: cannot multiply %s (%s) by %s (%s)",
                  shape_format(&matrix->shape, a, sizeof a), dtype_name(matrix->dtype),
                  shape_format(&vector->shape, b, sizeof b), dtype_name(vector->dtype));
        return tensor_ref(matrix);
    }
    struct tensor *in[2] = {matrix, vector};
    struct node *node = node_create(tape, &mv_backward, in, 2, 1);
    if (node && node_wants(node, 1))
        node_save(tape, node, 0, matrix);
    if (node && node_wants(node, 0))
        node_save(tape, node, 1, vector);
    struct tensor *out = times_vector(tape, matrix, vector);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* saved: [0] self, [1] tensor */
static void backward_dot(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    for (unsigned i = 0; i < 2; i++)
        if (node_wants(node, i)) {
            struct tensor *in[2] = {grads[0], node->saved[1 - i]};
            out[i] = elementwise(tape, "mul", grads[0]->dtype, in, 2);
        }
}

static const struct backward_op dot_backward = {"DotBackward0", backward_dot};

struct tensor *aten_dot(struct tape *tape, struct tensor *t, struct tensor *other) {
    struct shape scalar = {.ndim = 0};
    if (t->shape.ndim != 1 || !shape_equal(&t->shape, &other->shape) || t->dtype != other->dtype)
        tape_fail(tape, ERROR_BAD_SCENARIO, "dot: wants two vectors of one size and type");
    struct tensor *in[2] = {t, other};
    struct node *node = node_create(tape, &dot_backward, in, 2, 1);
    if (node && node_wants(node, 1))
        node_save(tape, node, 0, t);
    if (node && node_wants(node, 0))
        node_save(tape, node, 1, other);
    struct tensor *out = tape_new(tape, t->dtype, &scalar);
    aten_product_workspace(tape);
    tape_kernel(tape, "dot", 2 * (uint64_t)shape_numel(&t->shape), 2 * tensor_nbytes(t), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

static void run_mv(struct tape *tape, struct op_call *call) {
    op_give(call, aten_mv(tape, call->arg[0].tensor, call->arg[1].tensor));
}

static void run_dot(struct tape *tape, struct op_call *call) {
    op_give(call, aten_dot(tape, call->arg[0].tensor, call->arg[1].tensor));
}

const struct op ops_vector_product[] = {
    {"mv", "self:T vec:T", AUTOCAST_LOW, "a matrix times a vector", run_mv, NULL},
    {"dot", "self:T other:T", AUTOCAST_NONE, "product of two vectors", run_dot, NULL},
    {0},
};
