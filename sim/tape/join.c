/* join.c: tensors put together: cat, pad. Their gradients are views of the incoming one. */
#include "memory_format.h"
#include "op.h"

/* A tensor of shape [0] is skipped whatever the others' dims are (TensorShape.cpp
 * cat_should_skip_tensor). */
static bool is_skipped(const struct shape *shape) {
    return shape->ndim == 1 && shape->size[0] == 0;
}

/* args: [0] dim */
static void backward_cat(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    unsigned dim = (unsigned)node->args[0];
    int64_t start = 0;
    for (unsigned i = 0; i < node->edge_count; i++) {
        if (is_skipped(&node->edges[i].shape))
            continue;
        int64_t length = node->edges[i].shape.size[dim];
        if (node_wants(node, i))
            out[i] = aten_narrow(tape, grads[0], dim, start, length);
        start += length;
    }
}

static const struct backward_op cat_backward = {"CatBackward0", backward_cat};

/* cat_compute_output_memory_format: channels last only when all are. */
static enum memory_format common_format(struct tensor *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (tensor_suggest_format(list[i]) == FORMAT_CONTIGUOUS)
            return FORMAT_CONTIGUOUS;
    return FORMAT_CHANNELS_LAST;
}

/* The result's shape; false: the tensors do not fit. */
static bool cat_shape(struct tape *tape, struct tensor *const *list, size_t count, int64_t wanted,
                      struct shape *shape, unsigned *dim) {
    size_t first = 0;
    while (first + 1 < count && is_skipped(&list[first]->shape))
        first++;
    *shape = list[first]->shape;
    if (shape->ndim == 0 || !shape_wrap_dim(shape, wanted, dim)) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "cat: dim %lld of tensors of %u dims",
                  (long long)wanted, shape->ndim);
        return false;
    }
    for (size_t i = first + 1; i < count; i++) {
        struct shape other = list[i]->shape;
        if (is_skipped(&list[i]->shape))
            continue;
        int64_t own = other.ndim == shape->ndim ? other.size[*dim] : 0;
        other.size[*dim] = shape->size[*dim];
        if (!shape_equal(&other, shape)) {
            char a[128], b[128];
            tape_fail(tape, ERROR_BAD_SCENARIO, "cat: shapes %s and %s differ beside dim %u",
                      shape_format(&list[first]->shape, a, sizeof a),
                      shape_format(&list[i]->shape, b, sizeof b), *dim);
            return false;
        }
        shape->size[*dim] = size_add(shape->size[*dim], own);
    }
    return true;
}

struct tensor *aten_cat(struct tape *tape, struct tensor *const *list, size_t count,
                        int64_t wanted) {
    unsigned dim = 0;
    struct shape shape = {.ndim = 1};
    if (count == 0 || count > UINT16_MAX) {
        if (count == 0)
            tape_fail(tape, ERROR_BAD_SCENARIO, "cat: needs at least one tensor");
        else
            tape_fail(tape, ERROR_BAD_SCENARIO, "cat: %zu tensors; at most %d are possible", count,
                      UINT16_MAX);
        return tape_new(tape, DTYPE_FLOAT32, &shape);
    }
    if (!cat_shape(tape, list, count, wanted, &shape, &dim))
        return tensor_ref(list[0]);
    enum dtype dtype = list[0]->dtype;
    for (size_t i = 1; i < count; i++)
        dtype = dtype_promote(dtype, list[i]->dtype);
    struct node *node = node_create(tape, &cat_backward, list, (unsigned)count, 1);
    if (node)
        node->args[0] = dim;
    struct tensor *out = tape_new_format(tape, dtype, &shape, common_format(list, count));
    tape_kernel(tape, "cat", 0, 2 * tensor_nbytes(out), dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

static void run_cat(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] =
        aten_cat(tape, call->arg[0].list, call->arg[0].list_count, call->arg[1].integer);
}

/* constant_pad_nd_backward pads by the negative: where nothing was cut off, a narrowed view that is
 * cloned. args: [0] dims from the last on, [1 + i] before each, [7] something was cut off */
static void backward_pad(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    const struct shape *shape = &node->edges[0].shape;
    if (node->args[7]) {
        out[0] = tape_new_format(tape, grads[0]->dtype, shape, tensor_suggest_format(grads[0]));
        return;
    }
    struct tensor *view = tensor_ref(grads[0]);
    for (unsigned i = 0; i < (unsigned)node->args[0]; i++) {
        unsigned dim = shape->ndim - 1 - i;
        struct tensor *inner = aten_narrow(tape, view, dim, node->args[1 + i], shape->size[dim]);
        tensor_unref(tape, view);
        view = inner;
    }
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(view, stride);
    out[0] = aten_clone_strided(tape, view, stride);
    tensor_unref(tape, view);
}

static const struct backward_op pad_backward = {"ConstantPadNdBackward0", backward_pad};

/* pad: {before, after} of the last dim, then of the one before it, and so on; negative: cut off */
static struct tensor *pad(struct tape *tape, struct tensor *t, const struct shape *pad) {
    enum { MOST = 6 };
    struct shape shape = t->shape;
    if (pad->ndim == 0 || pad->ndim % 2 != 0 || pad->ndim / 2 > shape.ndim ||
        pad->ndim / 2 > MOST) {
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "pad: wants {before, after} of the last dim, then of the one before it, found %u "
                  "numbers for %u dims",
                  pad->ndim, shape.ndim);
        return tensor_ref(t);
    }
    bool cuts = false;
    struct node *node = node_create(tape, &pad_backward, &t, 1, 1);
    for (unsigned i = 0; i < pad->ndim; i++) {
        int64_t *size = &shape.size[shape.ndim - 1 - i / 2];
        *size = size_add(*size, pad->size[i]);
        cuts = cuts || pad->size[i] < 0;
        if (node && i % 2 == 0)
            node->args[1 + i / 2] = pad->size[i];
    }
    if (node) {
        node->args[0] = pad->ndim / 2;
        node->args[7] = cuts;
    }
    struct tensor *out = tape_new_format(tape, t->dtype, &shape, tensor_suggest_format(t));
    tape_kernel(tape, "pad", 0, tensor_nbytes(t) + tensor_nbytes(out), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

struct tensor *aten_pad_last(struct tape *tape, struct tensor *t, int64_t after) {
    struct shape numbers = {.ndim = 2, .size = {0, after}};
    return pad(tape, t, &numbers);
}

static void run_pad(struct tape *tape, struct op_call *call) {
    op_give(call, pad(tape, call->arg[0].tensor, &call->arg[1].shape));
}

const struct op ops_join[] = {
    {"cat", "tensors:L dim:i=0", AUTOCAST_NONE, "tensors one after the other along a dim", run_cat,
     NULL},
    {"pad", "self:T pad:I", AUTOCAST_NONE,
     "constant values before and after dims, from the last on", run_pad, "aten::constant_pad_nd"},
    {0},
};
