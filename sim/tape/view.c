/* view.c: tensors over the same storage. Nothing is asked for but by the backward of a slice (zeros
 * of the whole) and by a reshape that must copy. */
#include <string.h>

#include "op.h"

static struct tensor *alias_with(struct tape *tape, struct node *node, struct tensor *t,
                                 const struct shape *shape, const int64_t *stride) {
    struct tensor *out = tape_alias(tape, t, shape, stride);
    out->is_view = true;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

/* ---- view, reshape ---- */

struct shape aten_matrix_shape(const struct shape *shape) {
    struct shape rows = *shape;
    rows.ndim = shape->ndim - 1;
    return (struct shape){.ndim = 2, .size = {shape_numel(&rows), shape->size[rows.ndim]}};
}

static void backward_view(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    out[0] = aten_reshape(tape, grads[0], &node->edges[0].shape);
}

static const struct backward_op view_backward = {"ViewBackward0", backward_view};
static const struct backward_op unsafe_view_backward = {"UnsafeViewBackward0", backward_view};

static struct tensor *view_as(struct tape *tape, struct tensor *t, const struct shape *shape,
                              const struct backward_op *backward, const char *name) {
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    if (shape_numel(&t->shape) != shape_numel(shape)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: shape %s has other elements than %s", name,
                  shape_format(&t->shape, a, sizeof a), shape_format(shape, b, sizeof b));
        return tensor_ref(t);
    }
    if (!strides_view(t, shape, stride)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "%s: a tensor of shape %s is not contiguous enough to be seen as %s; use reshape",
                  name, shape_format(&t->shape, a, sizeof a), shape_format(shape, b, sizeof b));
        return tensor_ref(t);
    }
    return alias_with(tape, node_create(tape, backward, &t, 1, 1), t, shape, stride);
}

struct tensor *aten_view(struct tape *tape, struct tensor *t, const struct shape *shape) {
    return view_as(tape, t, shape, &view_backward, "view");
}

/* _unsafe_view is no view to autograd: it is for results that nobody else has. */
struct tensor *aten_unsafe_view(struct tape *tape, struct tensor *t, const struct shape *shape) {
    struct tensor *out = view_as(tape, t, shape, &unsafe_view_backward, "view");
    if (out != t)
        out->is_view = t->is_view;
    return out;
}

struct tensor *aten_reshape(struct tape *tape, struct tensor *t, const struct shape *shape) {
    int64_t stride[TENSOR_MAX_DIMS];
    if (shape_numel(&t->shape) != shape_numel(shape) || strides_view(t, shape, stride))
        return aten_view(tape, t, shape);
    struct tensor *copy = aten_contiguous(tape, t);
    struct tensor *out = aten_unsafe_view(tape, copy, shape);
    tensor_unref(tape, copy);
    return out;
}

/* ---- transpose ---- */

/* args: [0], [1] the dims */
static void backward_transpose(struct tape *tape, struct node *node, struct tensor **grads,
                               struct tensor **out) {
    out[0] = aten_transpose(tape, grads[0], node->args[0], node->args[1]);
}

static const struct backward_op transpose_backward = {"TransposeBackward0", backward_transpose};
static const struct backward_op t_backward = {"TBackward0", backward_transpose};

static struct tensor *transpose_as(struct tape *tape, struct tensor *t, unsigned a, unsigned b,
                                   const struct backward_op *backward) {
    struct shape shape = t->shape;
    int64_t stride[TENSOR_MAX_DIMS];
    memcpy(stride, t->stride, sizeof stride);
    shape.size[a] = t->shape.size[b];
    shape.size[b] = t->shape.size[a];
    stride[a] = t->stride[b];
    stride[b] = t->stride[a];
    struct node *node = node_create(tape, backward, &t, 1, 1);
    if (node) {
        node->args[0] = a;
        node->args[1] = b;
    }
    return alias_with(tape, node, t, &shape, stride);
}

struct tensor *aten_transpose(struct tape *tape, struct tensor *t, int64_t a, int64_t b) {
    unsigned from, to;
    if (!shape_wrap_dim(&t->shape, a, &from) || !shape_wrap_dim(&t->shape, b, &to)) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "transpose: dims %lld, %lld of a tensor of %u dims",
                  (long long)a, (long long)b, t->shape.ndim);
        return tensor_ref(t);
    }
    return transpose_as(tape, t, from, to, &transpose_backward);
}

struct tensor *aten_t(struct tape *tape, struct tensor *t) {
    if (t->shape.ndim != 2) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "t: needs 2 dims, found %u", t->shape.ndim);
        return tensor_ref(t);
    }
    return transpose_as(tape, t, 0, 1, &t_backward);
}

/* at::sum_to: sums the leading dims and those of size 1, then drops the leading ones by a view. */
struct tensor *aten_sum_to(struct tape *tape, struct tensor *t, const struct shape *shape) {
    if (shape_equal(&t->shape, shape))
        return tensor_ref(t);
    unsigned leading = t->shape.ndim - shape->ndim;
    uint32_t mask = 0;
    for (unsigned i = 0; i < t->shape.ndim; i++)
        if (i < leading || (shape->size[i - leading] == 1 && t->shape.size[i] != 1))
            mask |= UINT32_C(1) << i;
    struct tensor *sum = reduce(tape, "sum", t, mask, true, t->dtype);
    if (leading == 0)
        return sum;
    struct tensor *out = aten_view(tape, sum, shape);
    tensor_unref(tape, sum);
    return out;
}

/* ---- expand ---- */

static void backward_expand(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    out[0] = aten_sum_to(tape, grads[0], &node->edges[0].shape);
}

static const struct backward_op expand_backward = {"ExpandBackward0", backward_expand};

struct tensor *aten_expand(struct tape *tape, struct tensor *t, const struct shape *wanted) {
    struct shape shape = *wanted;
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    bool fits = shape.ndim >= t->shape.ndim;
    unsigned offset = fits ? shape.ndim - t->shape.ndim : 0;
    for (unsigned i = 0; fits && i < shape.ndim; i++) {
        int64_t own = i < offset ? 1 : t->shape.size[i - offset];
        if (shape.size[i] == -1)
            shape.size[i] = own;
        fits = shape.size[i] == own || own == 1;
        stride[i] = i < offset || (own == 1 && shape.size[i] != 1) ? 0 : t->stride[i - offset];
    }
    if (!fits) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "expand: %s to %s",
                  shape_format(&t->shape, a, sizeof a), shape_format(wanted, b, sizeof b));
        return tensor_ref(t);
    }
    return alias_with(tape, node_create(tape, &expand_backward, &t, 1, 1), t, &shape, stride);
}

/* ---- slice, select, unsqueeze ---- */

/* slice_backward, select_backward: zeros of the whole input, then a copy into the view. */
static void backward_slice(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    out[0] = aten_full(tape, &node->edges[0].shape, grads[0]->dtype);
    tape_kernel(tape, "copy", 0, 2 * tensor_nbytes(grads[0]), grads[0]->dtype);
}

static void backward_alias(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    (void)tape;
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
}

static const struct backward_op slice_backward = {"SliceBackward0", backward_slice};
static const struct backward_op alias_backward = {"AliasBackward0", backward_alias};
static const struct backward_op select_backward = {"SelectBackward0", backward_slice};
static const struct backward_op unsqueeze_backward = {"UnsqueezeBackward0", backward_view};

/* A slice keeps the strides; only the size changes (the offset is data, and there is none). */
struct tensor *aten_narrow(struct tape *tape, struct tensor *t, unsigned dim, int64_t start,
                           int64_t length) {
    struct shape shape = t->shape;
    if (shape.ndim == 0 || start < 0 || length < 0 || start > shape.size[dim] - length) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "narrow: %lld from %lld on, of a dim of size %lld",
                  (long long)length, (long long)start,
                  (long long)(shape.ndim ? shape.size[dim] : 0));
        return tensor_ref(t);
    }
    shape.size[dim] = length;
    return alias_with(tape, node_create(tape, &slice_backward, &t, 1, 1), t, &shape, t->stride);
}

/* One -1 in a shape stands for what is left. */
static struct shape resolve_shape(struct tape *tape, const struct op_call *call,
                                  const struct tensor *t, const struct shape *wanted) {
    struct shape shape = *wanted;
    int unknown = -1;
    for (unsigned i = 0; i < shape.ndim && unknown < 0; i++)
        if (shape.size[i] == -1)
            unknown = (int)i;
    if (unknown >= 0) {
        shape.size[unknown] = 1;
        int64_t n = shape_numel(&t->shape), known = shape_numel(&shape);
        if (known <= 0 || n % known != 0) {
            char a[128], b[128];
            tape_fail(tape, ERROR_BAD_SCENARIO, "%s: shape %s does not divide into %s",
                      call->op->name, shape_format(&t->shape, a, sizeof a),
                      shape_format(wanted, b, sizeof b));
            return t->shape;
        }
        shape.size[unknown] = n / known;
    }
    return shape;
}

static void run_view(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    struct shape shape = resolve_shape(tape, call, t, &call->arg[1].shape);
    op_give(call, aten_view(tape, t, &shape));
}

static void run_reshape(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    struct shape shape = resolve_shape(tape, call, t, &call->arg[1].shape);
    op_give(call, aten_reshape(tape, t, &shape));
}

/* flatten(start_dim, end_dim): a reshape that joins the dims between. */
static void run_flatten(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned start = op_dim(tape, call, &call->arg[1]), end = op_dim(tape, call, &call->arg[2]);
    struct shape shape = {.ndim = 0};
    for (unsigned i = 0; i < t->shape.ndim; i++) {
        if (i > start && i <= end)
            shape.size[shape.ndim - 1] = size_mul(shape.size[shape.ndim - 1], t->shape.size[i]);
        else
            shape.size[shape.ndim++] = t->shape.size[i];
    }
    if (start >= end && t->shape.ndim > 0)
        op_give(call, tensor_ref(t));
    else
        op_give(call, aten_reshape(tape, t, &shape));
}

static void run_transpose(struct tape *tape, struct op_call *call) {
    op_give(call,
            aten_transpose(tape, call->arg[0].tensor, call->arg[1].integer, call->arg[2].integer));
}

static void run_t(struct tape *tape, struct op_call *call) {
    op_give(call, aten_t(tape, call->arg[0].tensor));
}

static void run_expand(struct tape *tape, struct op_call *call) {
    op_give(call, aten_expand(tape, call->arg[0].tensor, &call->arg[1].shape));
}

static void run_narrow(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    op_give(call, aten_narrow(tape, t, op_dim(tape, call, &call->arg[1]), call->arg[2].integer,
                              call->arg[3].integer));
}

/* x[..., a:b:c] : slice(dim, start, stop, step); negative ends count from the end, as in Python */
static void run_slice(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    int64_t n = t->shape.ndim ? t->shape.size[dim] : 0;
    int64_t start = call->arg[2].given ? call->arg[2].integer : 0;
    int64_t stop = call->arg[3].given ? call->arg[3].integer : n;
    start += start < 0 ? n : 0;
    stop += stop < 0 ? n : 0;
    start = start < 0 ? 0 : start > n ? n : start;
    stop = stop < start ? start : stop > n ? n : stop;
    int64_t step = call->arg[4].integer > 0 ? call->arg[4].integer : 1;
    /* Python's indexing makes an alias of what would be the whole */
    if (start == 0 && stop == n && step == 1) {
        op_give(call, alias_with(tape, node_create(tape, &alias_backward, &t, 1, 1), t, &t->shape,
                                 t->stride));
        return;
    }
    if (step == 1) {
        op_give(call, aten_narrow(tape, t, dim, start, stop - start));
        return;
    }
    struct shape shape = t->shape;
    int64_t stride[TENSOR_MAX_DIMS];
    memcpy(stride, t->stride, sizeof stride);
    if (shape.ndim > 0) {
        shape.size[dim] = (stop - start) / step + ((stop - start) % step != 0);
        stride[dim] = size_mul(stride[dim], step);
    }
    op_give(call,
            alias_with(tape, node_create(tape, &slice_backward, &t, 1, 1), t, &shape, stride));
}

static void run_select(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    struct shape shape = {.ndim = 0};
    int64_t stride[TENSOR_MAX_DIMS] = {0}, index = call->arg[2].integer;
    int64_t n = t->shape.ndim ? t->shape.size[dim] : 0;
    if (index < -n || index >= n)
        tape_fail(tape, ERROR_BAD_SCENARIO, "select: index %lld of a dim of size %lld",
                  (long long)index, (long long)n);
    for (unsigned i = 0; i < t->shape.ndim; i++)
        if (i != dim) {
            stride[shape.ndim] = t->stride[i];
            shape.size[shape.ndim++] = t->shape.size[i];
        }
    op_give(call,
            alias_with(tape, node_create(tape, &select_backward, &t, 1, 1), t, &shape, stride));
}

struct tensor *aten_unsqueeze(struct tape *tape, struct tensor *t, int64_t where) {
    struct shape bigger = {.ndim = t->shape.ndim + 1};
    if (bigger.ndim > TENSOR_MAX_DIMS) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "unsqueeze: at most %d dims", TENSOR_MAX_DIMS);
        return tensor_ref(t);
    }
    unsigned dim = 0;
    if (!shape_wrap_dim(&bigger, where, &dim))
        tape_fail(tape, ERROR_BAD_SCENARIO, "unsqueeze: dim %lld of a tensor of %u dims",
                  (long long)where, bigger.ndim);
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    for (unsigned i = 0, from = 0; i < bigger.ndim; i++) {
        if (i == dim) {
            bigger.size[i] = 1;
            stride[i] = from < t->shape.ndim ? size_mul(t->shape.size[from], t->stride[from]) : 1;
        } else {
            stride[i] = t->stride[from];
            bigger.size[i] = t->shape.size[from++];
        }
    }
    return alias_with(tape, node_create(tape, &unsqueeze_backward, &t, 1, 1), t, &bigger, stride);
}

static void run_unsqueeze(struct tape *tape, struct op_call *call) {
    op_give(call, aten_unsqueeze(tape, call->arg[0].tensor, call->arg[1].integer));
}

const struct op ops_view[] = {
    {"view", "self:T shape:I", AUTOCAST_NONE, "the same elements in another shape", run_view, NULL},
    {"reshape", "self:T shape:I", AUTOCAST_NONE,
     "a view, or a copy where the strides do not allow one", run_reshape, NULL},
    {"flatten", "self:T start_dim:i=0 end_dim:i=-1", AUTOCAST_NONE, "dims joined to one",
     run_flatten, NULL},
    {"transpose", "self:T dim0:i dim1:i", AUTOCAST_NONE, "two dims swapped", run_transpose, NULL},
    {"t", "self:T", AUTOCAST_NONE, "a matrix transposed", run_t, NULL},
    {"expand", "self:T shape:I", AUTOCAST_NONE, "dims of size 1 repeated, without memory",
     run_expand, NULL},
    {"narrow", "self:T dim:i start:i length:i", AUTOCAST_NONE, "a range of one dim", run_narrow,
     NULL},
    {"slice", "self:T dim:i start:i? stop:i? step:i=1", AUTOCAST_NONE, "self[..., start:stop:step]",
     run_slice, NULL},
    {"select", "self:T dim:i index:i", AUTOCAST_NONE, "one index of a dim, which goes", run_select,
     NULL},
    {"unsqueeze", "self:T dim:i", AUTOCAST_NONE, "a dim of size 1 put in", run_unsqueeze, NULL},
    {0},
};
