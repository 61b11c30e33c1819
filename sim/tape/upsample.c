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

static const struct backward_op nearest_backward = {"UpsampleNearest2DBackward0",
                                                    backward_upsample};
static const struct backward_op bilinear_backward = {"UpsampleBilinear2DBackward0",
                                                     backward_upsample};

static void upsample(struct tape *tape, struct op_call *call, const struct backward_op *backward) {
    struct tensor *t = call->arg[0].tensor;
    const struct shape *size = &call->arg[1].shape;
    if (t->shape.ndim != 4 || size->ndim != 2 || size->size[0] < 1 || size->size[1] < 1) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "%s: wants [N, C, H, W] and a size of 2 dims, found %s and %s", call->op->name,
                  shape_format(&t->shape, a, sizeof a), shape_format(size, b, sizeof b));
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    struct shape shape = t->shape;
    shape.size[2] = size->size[0];
    shape.size[3] = size->size[1];
    struct node *node = node_create(tape, backward, &t, 1, 1);
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

static void run_nearest(struct tape *tape, struct op_call *call) {
    upsample(tape, call, &nearest_backward);
}

static void run_bilinear(struct tape *tape, struct op_call *call) {
    upsample(tape, call, &bilinear_backward);
}

const struct op ops_upsample[] = {
    {"upsample_nearest2d", "self:T output_size:I", AUTOCAST_FP32, "the nearest pixel", run_nearest,
     NULL},
    {"upsample_bilinear2d", "self:T output_size:I", AUTOCAST_FP32, "four pixels, weighted",
     run_bilinear, NULL},
    {0},
};
