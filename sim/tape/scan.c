/* scan.c: running sums (ATen/native/cuda/ScanKernels.cpp). The output comes first; a bool or narrow
 * integer input is cast to int64 for the kernel. When the whole tensor is one run CUB does it, with
 * temporary storage. */
#include "cub.h"
#include "op.h"

static struct tensor *cumsum(struct tape *tape, struct tensor *t, unsigned dim, enum dtype dtype) {
    uint64_t (*scan_bytes)(const struct framework *, uint64_t) =
        dtype_bytes(dtype) == 4 ? cub_scan4_bytes : cub_scan_bytes;
    struct tensor *out = tape_new(tape, dtype, &t->shape);
    struct tensor *input = aten_to(tape, t, dtype), *temporary = NULL;
    if (t->shape.ndim > 0 && shape_numel(&t->shape) == t->shape.size[dim])
        temporary =
            tape_new_bytes(tape, scan_bytes(tape->framework, (uint64_t)shape_numel(&t->shape)),
                           CATEGORY_TEMPORARY);
    tape_kernel(tape, "cumsum", (uint64_t)shape_numel(&t->shape), 2 * tensor_nbytes(out), dtype);
    tensor_unref(tape, temporary);
    tensor_unref(tape, input);
    return out;
}

/* cumsum_backward: the running sum from the other end, between two turned copies; of one element
 * the gradient itself. args: [0] dim */
static void backward_cumsum(struct tape *tape, struct node *node, struct tensor **grads,
                            struct tensor **out) {
    unsigned dim = (unsigned)node->args[0];
    struct tensor *grad = aten_to(tape, grads[0], node->edges[0].dtype);
    if (shape_numel(&grad->shape) <= 1 || grad->shape.size[dim] == 1) {
        out[0] = grad;
        return;
    }
    struct tensor *turned = elementwise(tape, "flip", grad->dtype, &grad, 1);
    struct tensor *sums = cumsum(tape, turned, dim, turned->dtype);
    out[0] = elementwise(tape, "flip", sums->dtype, &sums, 1);
    tensor_unref(tape, sums);
    tensor_unref(tape, turned);
    tensor_unref(tape, grad);
}

static const struct backward_op cumsum_backward = {"CumsumBackward0", backward_cumsum};

static void run_cumsum(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    enum dtype dtype = call->arg[2].given         ? (enum dtype)call->arg[2].integer
                       : dtype_is_float(t->dtype) ? t->dtype
                                                  : DTYPE_INT64;
    struct node *node = node_create(tape, &cumsum_backward, &t, 1, 1);
    if (node)
        node->args[0] = dim;
    bool recording = tape->grad_enabled;
    tape->grad_enabled = false; /* a cast is below autograd */
    struct tensor *out = cumsum(tape, t, dim, dtype);
    tape->grad_enabled = recording;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

const struct op ops_scan[] = {
    {"cumsum", "self:T dim:i dtype:d?", AUTOCAST_FP32, "running sum over a dim", run_cumsum, NULL},
    {0},
};
