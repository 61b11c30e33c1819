/* join.c: tensors put together: cat, pad. Their gradients are views of the incoming one. */
#include "memory_format.h"
#include "op.h"

/* args: [0] dim */
static void backward_cat(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    unsigned dim = (unsigned)node->args[0];
    int64_t start = 0;
    for (unsigned i = 0; i < node->edge_count; i++) {
        int64_t length = node->edges[i].shape.size[dim];
        if (node_wants(node, i))
            out[i] = aten_narrow(tape, grads[0], dim, start, length);
        start += length;
    }
}

static const struct backward_op cat_backward = {"CatBackward0", backward_cat};

/* A tensor of shape [0] is skipped whatever the others' dims are (TensorShape.cpp
 * cat_should_skip_tensor). */
static bool is_skipped(const struct tensor *t) {
    return t->shape.ndim == 1 && t->shape.size[0] == 0;
}

/* cat_compute_output_memory_format: channels last only when all are. */
static enum memory_format common_format(struct tensor *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (tensor_suggest_format(list[i]) == FORMAT_CONTIGUOUS)
            return FORMAT_CONTIGUOUS;
    return FORMAT_CHANNELS_LAST;
}

struct tensor *aten_cat(struct tape *tape, struct tensor *const *list, size_t count,
                        int64_t wanted) {
    while (count > 1 && is_skipped(list[0])) { /* the empty start of what grows */
        list++;
        count--;
    }
    unsigned dim = 0;
    if (count == 0 || count > UINT16_MAX) {
        struct shape empty = {.ndim = 1};
        tape_fail(tape, ERROR_BAD_SCENARIO, "cat: needs at least one tensor");
        return tape_new(tape, DTYPE_FLOAT32, &empty);
    }
    struct shape shape = list[0]->shape;
    bool fits = shape_wrap_dim(&shape, wanted, &dim) && shape.ndim > 0;
    enum dtype dtype = list[0]->dtype;
    for (size_t i = 1; fits && i < count; i++) {
        struct shape other = list[i]->shape;
        fits = other.ndim == shape.ndim;
        if (!fits)
            break;
        int64_t own = other.size[dim];
        other.size[dim] = shape.size[dim];
        fits = shape_equal(&other, &shape);
        if (shape.size[dim] < INT64_C(1) << 60) /* more is refused where it becomes a tensor */
            shape.size[dim] += own;
        dtype = dtype_promote(dtype, list[i]->dtype);
        if (!fits) {
            char a[128], b[128];
            tape_fail(tape, ERROR_BAD_SCENARIO, "cat: shapes %s and %s differ beside dim %u",
                      shape_format(&list[0]->shape, a, sizeof a),
                      shape_format(&list[i]->shape, b, sizeof b), dim);
        }
    }
    if (!fits) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "cat: dim %lld of tensors of %u dims",
                  (long long)wanted, shape.ndim);
        return tensor_ref(list[0]);
    }
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

/* constant_pad_nd_backward pads by the negative: a narrowed view, cloned. args: [0] before */
static void backward_pad(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    const struct shape *shape = &node->edges[0].shape;
    unsigned last = shape->ndim - 1;
    struct tensor *view = aten_narrow(tape, grads[0], last, node->args[0], shape->size[last]);
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(view, stride);
    out[0] = aten_clone_strided(tape, view, stride);
    tensor_unref(tape, view);
}

static const struct backward_op pad_backward = {"ConstantPadNdBackward0", backward_pad};

static struct tensor *pad(struct tape *tape, struct tensor *t, int64_t before, int64_t after) {
    struct shape shape = t->shape;
    if (shape.ndim == 0) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "pad: a tensor without dims");
        return tensor_ref(t);
    }
    shape.size[shape.ndim - 1] += before + after;
    struct node *node = node_create(tape, &pad_backward, &t, 1, 1);
    if (node)
        node->args[0] = before;
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    tape_kernel(tape, "pad", 0, tensor_nbytes(t) + tensor_nbytes(out), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

struct tensor *aten_pad_last(struct tape *tape, struct tensor *t, int64_t after) {
    return pad(tape, t, 0, after);
}

/* constant pad of the last dim: pad {before, after} */
static void run_pad(struct tape *tape, struct op_call *call) {
    if (call->arg[1].shape.ndim != 2)
        tape_fail(tape, ERROR_BAD_SCENARIO, "pad: wants {before, after} of the last dim");
    call->out[call->out_count++] =
        pad(tape, call->arg[0].tensor, call->arg[1].shape.size[0], call->arg[1].shape.size[1]);
}

const struct op ops_join[] = {
    {"cat", "tensors:L dim:i=0", AUTOCAST_NONE, "tensors one after the other along a dim", run_cat,
     NULL},
    {"pad", "self:T pad:I", AUTOCAST_NONE, "constant values before and after", run_pad,
     "aten::constant_pad_nd"},
    {0},
};
