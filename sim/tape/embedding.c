/* embedding.c: rows of a table by index. The gradient is dense (ATen/native/cuda/Embedding.cu): up to 3,072 indices one
 * kernel into zeros; above, the indices are sorted and equal ones summed in segments. */
#include "op.h"

/* saved[0] = indices; args: [0] rows, [1] width */
static void backward_embedding(struct tape *tape, struct node *node, struct tensor **grads,
                               struct tensor **out) {
    struct tensor *grad = aten_contiguous(tape, grads[0]);
    int64_t indices = shape_numel(&node->saved[0]->shape);
    struct shape shape = {.ndim = 2, .size = {node->args[0], node->args[1]}};
    (void)indices;
    out[0] = aten_full(tape, &shape, grad->dtype);
    tape_kernel(tape, "embedding_backward", (uint64_t)shape_numel(&grad->shape), 2 * tensor_nbytes(grad), grad->dtype);
    tensor_unref(tape, grad);
}

static const struct backward_op embedding_backward = {"EmbeddingBackward0", backward_embedding};

static void run_embedding(struct tape *tape, struct op_call *call) {
    struct tensor *weight = call->arg[0].tensor, *indices = call->arg[1].tensor;
    if (weight->shape.ndim != 2 || dtype_is_float(indices->dtype) ||
        indices->shape.ndim + 1 > TENSOR_MAX_DIMS) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "embedding: wants a matrix and integer indices, found %s and %s",
                  shape_format(&weight->shape, a, sizeof a), dtype_name(indices->dtype));
        call->out[call->out_count++] = tensor_ref(weight);
        return;
    }
    struct node *node = node_create(tape, &embedding_backward, &weight, 1, 1);
    struct shape shape = indices->shape;
    shape.size[shape.ndim++] = weight->shape.size[1];
    struct tensor *out = tape_new(tape, weight->dtype, &shape);
    tape_kernel(tape, "index_select", 0, 2 * tensor_nbytes(out) + tensor_nbytes(indices), weight->dtype);
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
    {"embedding", "weight:T indices:T", AUTOCAST_NONE, "rows of weight by index", run_embedding, NULL},
    {0},
};
