/* norm_batch.c: batch normalisation. cuDNN does it for images in fp32 and fp16 (ATen/native/Normalization.cpp
 * _select_batch_norm_backend, cudnn/BatchNorm.cpp). */
#include "memory_format.h"
#include "op.h"

enum { CUDNN_MAX_BATCH_TRAINING = 880801, CUDNN_MAX_BATCH_EVAL = 65535 };

static bool uses_cudnn(const struct tape *tape, const struct tensor *input,
                       const struct tensor *weight, const struct tensor *bias,
                       const struct tensor *running_mean, bool training) {
    if (tape->cudnn_disabled || !weight || !bias || input->shape.ndim < 3)
        return false;
    if (input->dtype == DTYPE_BFLOAT16 || weight->dtype == DTYPE_BFLOAT16 ||
        (input->dtype == DTYPE_FLOAT16 && weight->dtype != DTYPE_FLOAT32))
        return false;
    return (running_mean || training) &&
           input->shape.size[0] <= (training ? CUDNN_MAX_BATCH_TRAINING : CUDNN_MAX_BATCH_EVAL);
}

/* saved: [0] input, [1] weight, [2] running_mean, [3] running_var, [4] save_mean, [5] save_invstd */
static void save_all(struct tape *tape, struct node *node, struct tensor *const *saved) {
    static const unsigned by_name[] = {0, 2, 3, 1, 4, 5};
    for (unsigned i = 0; i < 6; i++)
        node_save(tape, node, by_name[i], saved[by_name[i]]);
}

/* cudnn_batch_norm_backward: the three results; grad.contiguous(input's format) is this call's argument. */
static void backward_cudnn(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *input = node->saved[0], *weight = node->saved[1];
    enum memory_format format = tensor_suggest_format(input);
    struct tensor *grad = aten_contiguous_format(tape, grads[0], format);
    out[0] = tape_new_format(tape, input->dtype, &input->shape, format);
    out[1] = tape_new(tape, weight->dtype, &weight->shape);
    out[2] = tape_new(tape, weight->dtype, &weight->shape);
    tape_kernel(tape, "batch_norm_backward", 10 * (uint64_t)shape_numel(&input->shape),
                3 * tensor_nbytes(input), input->dtype);
    tensor_unref(tape, grad);
}

static const struct backward_op cudnn_backward = {"CudnnBatchNormBackward0", backward_cudnn};

static struct tensor *batch_norm_cudnn(struct tape *tape, struct tensor *const *in,
                                       struct tensor *running_mean, struct tensor *running_var,
                                       bool training) {
    struct node *node = node_create(tape, &cudnn_backward, in, 3, 1);
    enum memory_format format = tensor_suggest_format(in[0]);
    bool grad = tape->grad_enabled;
    struct tensor *input = aten_contiguous_format(tape, in[0], format);
    tape->grad_enabled = false;
    struct tensor *out = tape_new_format(tape, input->dtype, &input->shape, format);
    struct tensor *save_mean = NULL, *save_invstd = NULL;
    if (training) {
        struct shape channels = {.ndim = 1, .size = {input->shape.size[1]}};
        save_mean = tape_new(tape, in[1]->dtype, &channels);
        save_invstd = tape_new(tape, in[1]->dtype, &channels);
    } else if (node) {
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "batch_norm: its gradient in evaluation mode is not modelled yet");
    }
    tape_kernel(tape, "batch_norm", 5 * (uint64_t)shape_numel(&input->shape),
                2 * tensor_nbytes(input), input->dtype);
    save_all(tape, node,
             (struct tensor *[]){input, in[1], running_mean, running_var, save_mean, save_invstd});
    tape->grad_enabled = grad;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, input);
    tensor_unref(tape, save_mean);
    tensor_unref(tape, save_invstd);
    return out;
}

static void run_batch_norm(struct tape *tape, struct op_call *call) {
    struct tensor *in[3] = {call->arg[0].tensor, call->arg[3].tensor, call->arg[4].tensor};
    struct tensor *running_mean = call->arg[1].tensor, *running_var = call->arg[2].tensor;
    bool training = call->arg[5].integer != 0;
    if (in[0]->shape.ndim < 2) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "batch_norm: needs at least 2 dims, found %u",
                  in[0]->shape.ndim);
        call->out[call->out_count++] = tensor_ref(in[0]);
        return;
    }
    if (!uses_cudnn(tape, in[0], in[1], in[2], running_mean, training)) {
        tape_fail(
            tape, ERROR_BAD_SCENARIO,
            "batch_norm: PyTorch's own kernels (bfloat16, 2 dims, no affine) are not modelled yet");
        call->out[call->out_count++] = tensor_ref(in[0]);
        return;
    }
    call->out[call->out_count++] = batch_norm_cudnn(tape, in, running_mean, running_var, training);
}

const struct op ops_norm_batch[] = {
    {"batch_norm", "input:T running_mean:T? running_var:T? weight:T? bias:T? training:b=0",
     AUTOCAST_NONE, "normalisation over batch and image, channel by channel", run_batch_norm, NULL},
    {0},
};
