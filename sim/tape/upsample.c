/* upsample.c: images resampled to another size (ATen/native/cuda/UpSampleNearest2d.cu,
 * UpSampleBilinear2d.cu). Both ways the result has the suggested memory format of what it is made
 * from. */
#include "memory_format.h"
#include "op.h"

/* The result first; then a copy of the gradient where it lies otherwise. */
static void backward_upsample(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    enum memory_format format = tensor_suggest_format(grads[0]);
    out[0] = tape_new_format(tape, grads[0]->dtype, &node->edges[0].shape, format);
    struct tensor *grad = aten_contiguous_format(tape, grads[0], format);
    tape_kernel(tape, "upsample_backward", 0, tensor_nbytes(grad) + tensor_nbytes(out[0]),
                grad->dtype);
    tensor_unref(tape, grad);
}

static const struct backward_op upsample_backward = {"UpsampleBackward0", backward_upsample};

/* All dims but the first two get another size. */
static bool is_size(const struct shape *shape, const struct shape *size) {
    if (shape->ndim < 3 || shape->ndim > 5 || size->ndim + 2 != shape->ndim)
        return false;
    for (unsigned i = 0; i < size->ndim; i++)
        if (size->size[i] < 1)
            return false;
    return true;
}

static void run_upsample(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    const struct shape *size = &call->arg[1].shape;
    if (!is_size(&t->shape, size)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "%s: wants [N, C, ...] and a size for each further dim, found %s and %s",
                  call->op->name, shape_format(&t->shape, a, sizeof a),
                  shape_format(size, b, sizeof b));
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    struct shape shape = t->shape;
    for (unsigned i = 0; i < size->ndim; i++)
        shape.size[i + 2] = size->size[i];
    struct node *node = node_create(tape, &upsample_backward, &t, 1, 1);
    bool recording = tape->grad_enabled;
    enum memory_format format = tensor_suggest_format(t);
    tape->grad_enabled = false;
    struct tensor *out = tape_new_format(tape, t->dtype, &shape, format);
    struct tensor *input = aten_contiguous_format(tape, t, format);
    tape_kernel(tape, call->op->name, (uint64_t)shape_numel(&shape),
                tensor_nbytes(t) + tensor_nbytes(out), t->dtype);
    tensor_unref(tape, input);
    tape->grad_enabled = recording;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

#define UPSAMPLE(name, doc)                                                                        \
    { name, "self:T output_size:I", AUTOCAST_FP32, doc, run_upsample, NULL }
const struct op ops_upsample[] = {
    UPSAMPLE("upsample_nearest1d", "the nearest value"),
    UPSAMPLE("upsample_nearest2d", "the nearest pixel"),
    UPSAMPLE("upsample_nearest3d", "the nearest value"),
    UPSAMPLE("upsample_linear1d", "two values, weighted"),
    UPSAMPLE("upsample_bilinear2d", "four pixels, weighted"),
    UPSAMPLE("upsample_trilinear3d", "eight values, weighted"),
    UPSAMPLE("upsample_bicubic2d", "sixteen pixels, weighted"),
    {0},
};
