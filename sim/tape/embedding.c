/* embedding.c: rows of a table by index. The gradient is dense (ATen/native/cuda/Embedding.cu): up
 * to 3,072 indices one kernel into zeros; above, the indices are sorted and equal ones summed in
 * segments. */
#include "cub.h"
#include "op.h"

enum { DIRECT_INDICES = 3072, ROWS_PER_SEGMENT = 10 };

static struct tensor *new_bytes(struct tape *tape, uint64_t bytes) {
    return tape_new_bytes(tape, bytes, CATEGORY_TEMPORARY);
}

static struct tensor *new_floats(struct tape *tape, int64_t count) {
    struct shape shape = {.ndim = 1, .size = {count}};
    return tape_new(tape, DTYPE_FLOAT32, &shape);
}

/* EmbeddingBackwardKernel.cu (2.11 on): few segments of many rows each are summed by one kernel with
 * atomics, in fp32 for 16-bit gradients, when a segment a block would leave the device idle. */
static bool sums_in_one_kernel(const struct device *device, int64_t segments, int64_t partials,
                               int64_t width) {
    int64_t threads = size_div_up(width, 32) * 32, block = threads < 1024 ? threads : 1024;
    int64_t grid = size_div_up(size_mul(segments, threads), block);
    return grid < 4 * (int64_t)device->multiprocessors && partials > 4 * grid;
}

/* Equal indices are brought together by a sort and summed in segments of ten rows at most. The
 * sizes are upper bounds that do not depend on the indices (max_segments, max_partial_segments). */
static struct tensor *sorted_gradient(struct tape *tape, struct tensor *grad, int64_t n,
                                      const struct shape *shape) {
    int64_t rows = shape->size[0], width = shape->size[1];
    int64_t segments = n < rows ? n : rows, partials = n / ROWS_PER_SEGMENT + segments;
    struct tensor *held[12];
    unsigned count = 0;
    held[count++] = aten_new_int64s(tape, n); /* sorted */
    held[count++] = aten_new_int64s(tape, n); /* their origin */
    struct tensor *range = aten_new_int64s(tape, n);
    uint64_t keys = tape->framework->embedding_sorts_few_bits ? (uint64_t)rows : UINT64_MAX;
    struct tensor *sort = new_bytes(tape, cub_sort_bytes(tape->device, (uint64_t)n, keys));
    tensor_unref(tape, range);
    tensor_unref(tape, sort);
    struct tensor *out = aten_full(tape, shape, grad->dtype);
    held[count++] = aten_new_int64s(tape, n); /* where segments begin */
    held[count++] = aten_new_int64s(tape, 1); /* how many */
    struct tensor *dummy = aten_new_int64s(tape, n);
    struct tensor *unique =
        new_bytes(tape, cub_unique_bytes(tape->framework, tape->device, (uint64_t)n));
    tensor_unref(tape, dummy);
    tensor_unref(tape, unique);
    held[count++] = aten_new_int64s(tape, segments); /* partial segments of each, */
    held[count++] = aten_new_int64s(tape, segments); /* and where they begin */
    tensor_unref(tape, new_bytes(tape, cub_scan_bytes(tape->framework, (uint64_t)segments)));
    held[count++] = aten_new_int64s(tape, 1);
    held[count++] = aten_new_int64s(tape, partials);
    if (tape->framework->embedding_sums_in_one_kernel &&
        sums_in_one_kernel(tape->device, segments, partials, width)) {
        held[count++] = aten_new_int64s(tape, partials);
        if (dtype_bytes(grad->dtype) == 2)
            held[count++] = new_floats(tape, rows * width);
    } else {
        held[count++] = new_floats(tape, partials * width);
    }
    tape_kernel(tape, "embedding_backward", (uint64_t)shape_numel(&grad->shape),
                3 * tensor_nbytes(grad), grad->dtype);
    while (count > 0)
        tensor_unref(tape, held[--count]);
    return out;
}

/* saved[0] = indices; args: [0] rows, [1] width */
static void backward_embedding(struct tape *tape, struct node *node, struct tensor **grads,
                               struct tensor **out) {
    struct tensor *rows = aten_contiguous(tape, node->saved[0]),
                  *grad = aten_contiguous(tape, grads[0]);
    int64_t indices = shape_numel(&node->saved[0]->shape);
    struct shape shape = {.ndim = 2, .size = {node->args[0], node->args[1]}};
    if (indices > DIRECT_INDICES) {
        out[0] = sorted_gradient(tape, grad, indices, &shape);
    } else {
        out[0] = aten_full(tape, &shape, grad->dtype);
        tape_kernel(tape, "embedding_backward", (uint64_t)shape_numel(&grad->shape),
                    2 * tensor_nbytes(grad), grad->dtype);
    }
    tensor_unref(tape, grad);
    tensor_unref(tape, rows);
}

static const struct backward_op embedding_backward = {"EmbeddingBackward0", backward_embedding};

static void run_embedding(struct tape *tape, struct op_call *call) {
    struct tensor *weight = call->arg[0].tensor, *indices = call->arg[1].tensor;
    if (weight->shape.ndim != 2 || dtype_is_float(indices->dtype) ||
        indices->shape.ndim + 1 > TENSOR_MAX_DIMS) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "embedding: wants a matrix and integer indices, found %s and %s",
                  shape_format(&weight->shape, a, sizeof a), dtype_name(indices->dtype));
        call->out[call->out_count++] = tensor_ref(weight);
        return;
    }
    struct node *node = node_create(tape, &embedding_backward, &weight, 1, 1);
    struct shape shape = indices->shape;
    shape.size[shape.ndim++] = weight->shape.size[1];
    struct shape flat = {.ndim = 1, .size = {shape_numel(&indices->shape)}};
    /* a copy of expanded indices, for the kernel alone */
    struct tensor *rows = aten_reshape(tape, indices, &flat);
    struct tensor *out = tape_new(tape, weight->dtype, &shape);
    tensor_unref(tape, rows);
    tape_kernel(tape, "index_select", 0, 2 * tensor_nbytes(out) + tensor_nbytes(indices),
                weight->dtype);
    node_save(tape, node, 0, indices);
    if (node) {
        node->args[0] = weight->shape.size[0];
        node->args[1] = weight->shape.size[1];
    }
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

const struct op ops_embedding[] = {
    {"embedding", "weight:T indices:T", AUTOCAST_NONE, "rows of weight by index", run_embedding,
     NULL},
    {0},
};
