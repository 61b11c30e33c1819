/* index.c: elements chosen by index: rows, sorted orders, the largest, counts. What an op asks for
 * does not depend on the indices' values. Sources:
 * ATen/native/cuda/{Indexing,Sort,SortStable,TensorTopK,SummaryOps}.cu, FunctionsManual.cpp. */
#include <string.h>

#include "cub.h"
#include "op.h"

enum { SMALL_SORT = 4096 };

/* ---- rows by index ---- */

/* computeLinearIndex (Indexing.cu): an index is wrapped, then multiplied by its dim's stride; those
 * of further dims are added to the first's. */
static struct tensor *linear_index(struct tape *tape, unsigned indexed, int64_t n) {
    struct tensor *linear = NULL;
    for (unsigned i = 0; i < indexed; i++) {
        struct tensor *wrapped = aten_new_int64s(tape, n), *index = aten_new_int64s(tape, n);
        tensor_unref(tape, wrapped);
        if (!linear) {
            linear = index;
            continue;
        }
        elementwise_(tape, "add", linear, &index, 1);
        tensor_unref(tape, index);
    }
    return linear;
}

/* index_put_(accumulate=True) by `indexed` indices, the last of `dim`: the linear index is sorted
 * together with its origin, so that equal ones can be summed (Indexing.cu
 * index_put_with_sort_kernel). */
static void accumulate_rows(struct tape *tape, struct tensor *into, unsigned dim, unsigned indexed,
                            int64_t n, struct tensor *grad) {
    struct tensor *linear = linear_index(tape, indexed, n);
    struct tensor *values = aten_contiguous(tape, grad);
    struct tensor *sorted = aten_new_int64s(tape, n), *origin = aten_new_int64s(tape, n),
                  *range = aten_new_int64s(tape, n);
    int64_t rows = 1; /* of `into`, numbered over all dims up to this one */
    for (unsigned i = 0; i <= dim; i++)
        rows = size_mul(rows, into->shape.size[i]);
    uint64_t largest = (uint64_t)(rows > 1 ? rows - 1 : 1);
    tensor_unref(tape, tape_new_bytes(tape, cub_sort_bytes(tape->device, (uint64_t)n, largest),
                                      CATEGORY_TEMPORARY));
    tensor_unref(tape, range);
    tape_kernel(tape, "index_put", (uint64_t)shape_numel(&grad->shape), 2 * tensor_nbytes(grad),
                grad->dtype);
    tensor_unref(tape, origin);
    tensor_unref(tape, sorted);
    tensor_unref(tape, values);
    tensor_unref(tape, linear);
}

/* saved[0] = indices; args: [0] the last dim indexed, [1] how many are */
static void backward_index(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    int64_t n = shape_numel(&node->saved[0]->shape);
    out[0] = aten_full(tape, &node->edges[0].shape, grads[0]->dtype);
    if (n > 0)
        accumulate_rows(tape, out[0], (unsigned)node->args[0], (unsigned)node->args[1], n,
                        grads[0]);
}

static const struct backward_op index_backward = {"IndexBackward0", backward_index};

/* self[:, ..., indices]: along one dim, the first unless told */
static void run_index(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *indices = call->arg[1].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[2]);
    struct shape shape = {.ndim = 0};
    if (dtype_is_float(indices->dtype) || t->shape.ndim == 0 ||
        indices->shape.ndim + t->shape.ndim - 1 > TENSOR_MAX_DIMS) {
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "index: wants a tensor of 1 or more dims and integer indices");
        op_give(call, tensor_ref(t));
        return;
    }
    for (unsigned i = 0; i < t->shape.ndim; i++)
        if (i != dim)
            shape.size[shape.ndim++] = t->shape.size[i];
        else
            for (unsigned k = 0; k < indices->shape.ndim; k++)
                shape.size[shape.ndim++] = indices->shape.size[k];
    struct node *node = node_create(tape, &index_backward, &t, 1, 1);
    if (node) {
        node->args[0] = dim;
        node->args[1] = 1;
    }
    node_save(tape, node, 0, indices);
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    tape_kernel(tape, "index", 0, 2 * tensor_nbytes(out) + tensor_nbytes(indices), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

/* self[rows, columns]: one element of the first two dims a pair */
static void run_index_pairs(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *rows = call->arg[1].tensor,
                  *columns = call->arg[2].tensor;
    if (t->shape.ndim < 2 || rows->shape.ndim != 1 || !shape_equal(&rows->shape, &columns->shape) ||
        dtype_is_float(rows->dtype) || dtype_is_float(columns->dtype)) {
        char a[128], b[128], c[128];
        tape_fail(
            tape, ERROR_BAD_SCENARIO,
            "index_pairs: wants 2 or more dims and two lists of as many integers, found %s by "
            "%s and %s",
            shape_format(&t->shape, a, sizeof a), shape_format(&rows->shape, b, sizeof b),
            shape_format(&columns->shape, c, sizeof c));
        op_give(call, tensor_ref(t));
        return;
    }
    struct shape shape = {.ndim = t->shape.ndim - 1, .size = {rows->shape.size[0]}};
    for (unsigned i = 1; i < shape.ndim; i++)
        shape.size[i] = t->shape.size[i + 1];
    struct node *node = node_create(tape, &index_backward, &t, 1, 1);
    if (node) {
        node->args[0] = 1;
        node->args[1] = 2;
    }
    node_save(tape, node, 0, rows);
    node_save(tape, node, 1, columns);
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    tape_kernel(tape, "index", 0,
                2 * tensor_nbytes(out) + tensor_nbytes(rows) + tensor_nbytes(columns), t->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

/* self[indices] = values, each index once */
static void run_index_put_(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    op_refuse_gradient(tape, call);
    tape_kernel(tape, "index_put", 0,
                tensor_nbytes(call->arg[1].tensor) + 2 * tensor_nbytes(call->arg[2].tensor),
                t->dtype);
    op_give(call, tensor_ref(t));
}

/* self.index_copy_(dim, index, source) (IndexKernel.cu index_copy_kernel_impl: one kernel) */
static void run_index_copy_(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *index = call->arg[2].tensor,
                  *source = call->arg[3].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    op_refuse_gradient(tape, call);
    if (dtype_is_float(index->dtype) || source->dtype != t->dtype ||
        source->shape.ndim != t->shape.ndim || t->shape.ndim == 0 ||
        source->shape.size[dim] != shape_numel(&index->shape)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "index_copy_: source %s does not fit self %s",
                  shape_format(&source->shape, a, sizeof a), shape_format(&t->shape, b, sizeof b));
    }
    tape_kernel(tape, "index_copy", 0, tensor_nbytes(index) + 2 * tensor_nbytes(source), t->dtype);
    op_give(call, tensor_ref(t));
}

/* The source's gradient is the result's rows by index (derivatives.yaml index_add, which keeps the
 * index and the source for its shape). saved[0] = index, saved[1] = source; args: [0] dim */
static void backward_index_add(struct tape *tape, struct node *node, struct tensor **grads,
                               struct tensor **out) {
    if (node_wants(node, 0))
        out[0] = tensor_ref(grads[0]);
    if (!node_wants(node, 1))
        return;
    struct shape shape = grads[0]->shape;
    shape.size[node->args[0]] = node->edges[1].shape.size[node->args[0]];
    out[1] = tape_new(tape, grads[0]->dtype, &shape);
    tape_kernel(tape, "index_select", 0, 2 * tensor_nbytes(out[1]), out[1]->dtype);
}

static const struct backward_op index_add_backward = {"IndexAddBackward0", backward_index_add};

/* self.index_add_(dim, index, source) (Indexing.cu index_add_cuda_impl: one kernel) */
static void run_index_add_(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *index = call->arg[2].tensor,
                  *source = call->arg[3].tensor, *in[2] = {t, source};
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    struct shape shape = t->shape;
    if (shape.ndim > 0)
        shape.size[dim] = shape_numel(&index->shape);
    if (dtype_is_float(index->dtype) || source->dtype != t->dtype ||
        !shape_equal(&source->shape, &shape)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "index_add_: source %s %s does not fit self %s %s",
                  dtype_name(source->dtype), shape_format(&source->shape, a, sizeof a),
                  dtype_name(t->dtype), shape_format(&t->shape, b, sizeof b));
        op_give(call, tensor_ref(t));
        return;
    }
    struct node *node = node_create(tape, &index_add_backward, in, 2, 1);
    if (node)
        node->args[0] = dim;
    if (node && node_wants(node, 1)) {
        node_save(tape, node, 0, index);
        node_save(tape, node, 1, source);
    }
    tape_kernel(tape, "index_add", (uint64_t)shape_numel(&source->shape),
                tensor_nbytes(index) + 3 * tensor_nbytes(source), t->dtype);
    node_rebase(tape, node, t);
    node_finish(tape, node);
    op_give(call, tensor_ref(t));
}

/* self.scatter_(dim, index, number) */
static void run_scatter_(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    op_refuse_gradient(tape, call);
    const struct tensor *index = call->arg[2].tensor;
    tape_kernel(tape, "scatter", 0,
                tensor_nbytes(index) + (uint64_t)shape_numel(&index->shape) * dtype_bytes(t->dtype),
                t->dtype);
    op_give(call, tensor_ref(t));
}

/* ---- values chosen by their order ---- */

/* value_selecting_reduction_backward: zeros of self, the gradient scattered into them. saved[0] =
 * indices */
static void backward_select_values(struct tape *tape, struct node *node, struct tensor **grads,
                                   struct tensor **out) {
    if (!grads[0])
        return;
    out[0] = aten_full(tape, &node->edges[0].shape, grads[0]->dtype);
    tape_kernel(tape, "scatter", 0, 2 * tensor_nbytes(grads[0]), grads[0]->dtype);
}

static const struct backward_op topk_backward = {"TopkBackward0", backward_select_values};
static const struct backward_op sort_backward = {"SortBackward0", backward_select_values};

static struct tensor *choose(struct tape *tape, struct op_call *call,
                             const struct backward_op *backward, const struct shape *shape) {
    struct tensor *t = call->arg[0].tensor;
    struct node *node = node_create(tape, backward, &t, 1, 1);
    struct tensor *values = tape_new(tape, t->dtype, shape),
                  *indices = tape_new(tape, DTYPE_INT64, shape);
    tape_kernel(tape, call->op->name, (uint64_t)shape_numel(&t->shape),
                tensor_nbytes(t) + tensor_nbytes(values) + tensor_nbytes(indices), t->dtype);
    node_save(tape, node, 0, indices);
    node_set_output(node, values, 0);
    node_finish(tape, node);
    op_give(call, values);
    op_give(call, indices);
    return indices;
}

static const struct backward_op max_backward = {"MaxBackward0", backward_select_values};
static const struct backward_op min_backward = {"MinBackward0", backward_select_values};

/* max(dim), min(dim): the values and where they are. Without a dim one value. */
static void run_extreme(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    if (!call->arg[1].given) {
        op_give(call, aten_extreme_all(tape, t));
        return;
    }
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    bool is_max = strcmp(call->op->name, "max") == 0;
    struct shape shape = {.ndim = 0};
    for (unsigned i = 0; i < t->shape.ndim; i++)
        if (i != dim)
            shape.size[shape.ndim++] = t->shape.size[i];
        else if (call->arg[2].integer)
            shape.size[shape.ndim++] = 1;
    struct node *node = node_create(tape, is_max ? &max_backward : &min_backward, &t, 1, 1);
    struct tensor *values = tape_new(tape, t->dtype, &shape),
                  *indices = tape_new(tape, DTYPE_INT64, &shape);
    reduce_with_index_into(tape, call->op->name, values, t, UINT32_C(1) << dim);
    node_save(tape, node, 0, indices);
    node_set_output(node, values, 0);
    node_finish(tape, node);
    op_give(call, values);
    op_give(call, indices);
}

/* topk(k, dim): the k largest and where they are; rows are short enough for one block each. */
static void run_topk(struct tape *tape, struct op_call *call) {
    unsigned dim = op_dim(tape, call, &call->arg[2]);
    struct shape shape = call->arg[0].tensor->shape;
    if (shape.ndim == 0 || call->arg[1].integer < 0 || call->arg[1].integer > shape.size[dim])
        tape_fail(tape, ERROR_BAD_SCENARIO, "topk: k=%lld of a dim of size %lld",
                  (long long)call->arg[1].integer, (long long)(shape.ndim ? shape.size[dim] : 1));
    else
        shape.size[dim] = call->arg[1].integer;
    choose(tape, call, &topk_backward, &shape);
}

/* One row: in place with a range of indices to start from, or by CUB from another range
 * (SortStable.cu, segmented_sort_large_segments). Many long rows are sorted by other kernels. */
static void run_sort(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    int64_t n = t->shape.ndim ? t->shape.size[dim] : 1;
    if (n > SMALL_SORT && (n != shape_numel(&t->shape) || t->dtype != DTYPE_INT64))
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "sort: more than %d elements a row: only one row of int64 is modelled",
                  SMALL_SORT);
    choose(tape, call, &sort_backward, &t->shape);
    struct tensor *range = aten_new_int64s(tape, n);
    if (n > SMALL_SORT)
        tensor_unref(tape,
                     tape_new_bytes(tape, cub_sort_bytes(tape->device, (uint64_t)n, UINT64_MAX),
                                    CATEGORY_TEMPORARY));
    tensor_unref(tape, range);
}

/* histc of integers with given limits: counts of the input's type */
static void run_histc(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    struct shape shape = {.ndim = 1, .size = {call->arg[1].integer}};
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    tape_kernel(tape, "histc", (uint64_t)shape_numel(&t->shape),
                tensor_nbytes(t) + tensor_nbytes(out), t->dtype);
    op_give(call, out);
}

/* ---- a slice overwritten ---- */

/* CopySlices (torch/csrc/autograd/functions/tensor.cpp): the whole's gradient is copied, the
 * slice's part of it copied again for CopyBackwards, which passes it to the source and gives the
 * whole zeros there. args: [0] dim, [1] start */
static void backward_copy_slice(struct tape *tape, struct node *node, struct tensor **grads,
                                struct tensor **out) {
    int64_t stride[TENSOR_MAX_DIMS];
    strides_contiguous(&node->edges[0].shape, stride);
    struct tensor *whole = aten_clone_strided(tape, grads[0], stride);
    struct tensor *slice = aten_narrow(tape, whole, (unsigned)node->args[0], node->args[1],
                                       node->edges[1].shape.size[node->args[0]]);
    strides_contiguous(&slice->shape, stride);
    struct tensor *copy = aten_clone_strided(tape, slice, stride);
    struct tensor *zeros =
        node_wants(node, 0) ? aten_full(tape, &slice->shape, slice->dtype) : NULL;
    if (node_wants(node, 1))
        out[1] = aten_to(tape, copy, node->edges[1].dtype);
    if (zeros) {
        elementwise_(tape, "copy", slice, &zeros, 1);
        out[0] = tensor_ref(whole);
        tensor_unref(tape, zeros);
    }
    tensor_unref(tape, copy);
    tensor_unref(tape, slice);
    tensor_unref(tape, whole);
}

static const struct backward_op copy_slice_backward = {"CopySlices", backward_copy_slice};

/* self[..., start:start+n].copy_(src), n the size of src along dim */
static void run_copy_slice_(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    unsigned dim = op_dim(tape, call, &call->arg[2]);
    int64_t start = call->arg[3].integer;
    bool fits = in[0]->shape.ndim > 0 && in[1]->shape.ndim == in[0]->shape.ndim && start >= 0;
    for (unsigned i = 0; fits && i < in[0]->shape.ndim; i++)
        fits = i == dim ? size_add(start, in[1]->shape.size[i]) <= in[0]->shape.size[i]
                        : in[1]->shape.size[i] == in[0]->shape.size[i];
    if (!fits) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "copy_slice_: source %s does not fit into %s at %lld of dim %u",
                  shape_format(&in[1]->shape, a, sizeof a),
                  shape_format(&in[0]->shape, b, sizeof b), (long long)start, dim);
    } else {
        struct node *node = node_create(tape, &copy_slice_backward, in, 2, 1);
        if (node) {
            node->args[0] = dim;
            node->args[1] = start;
        }
        elementwise_(tape, "copy", in[1], NULL, 0);
        node_rebase(tape, node, in[0]);
        node_finish(tape, node);
    }
    op_give(call, tensor_ref(in[0]));
}

const struct op ops_index[] = {
    {"index", "self:T indices:T dim:i=0", AUTOCAST_NONE, "self[indices] along a dim", run_index,
     NULL},
    {"index_pairs", "self:T rows:T columns:T", AUTOCAST_NONE,
     "self[rows, columns]: an element of the first two dims a pair", run_index_pairs,
     "aten::index"},
    {"index_put_", "self:T indices:T values:T", AUTOCAST_NONE, "self[indices] = values",
     run_index_put_, NULL},
    {"index_copy_", "self:T dim:i index:T source:T", AUTOCAST_NONE,
     "source at the indices of a dim", run_index_copy_, NULL},
    {"index_add_", "self:T dim:i index:T source:T", AUTOCAST_NONE,
     "source added at the indices of a dim", run_index_add_, NULL},
    {"scatter_", "self:T dim:i index:T value:f", AUTOCAST_NONE, "a number at the indices of a dim",
     run_scatter_, NULL},
    {"max", "self:T dim:i? keepdim:b=0", AUTOCAST_NONE,
     "the largest of a dim and its index, or of all", run_extreme, NULL},
    {"min", "self:T dim:i? keepdim:b=0", AUTOCAST_NONE,
     "the smallest of a dim and its index, or of all", run_extreme, NULL},
    {"topk", "self:T k:i dim:i=-1", AUTOCAST_NONE, "the k largest of a dim and their indices",
     run_topk, NULL},
    {"sort", "self:T dim:i=-1", AUTOCAST_NONE, "sorted values of a dim and their indices", run_sort,
     NULL},
    {"histc", "self:T bins:i", AUTOCAST_NONE, "how many values fall in each bin", run_histc, NULL},
    {"copy_slice_", "self:T src:T dim:i start:i", AUTOCAST_NONE, "self[..., start:start+n] = src",
     run_copy_slice_, NULL},
    {0},
};
