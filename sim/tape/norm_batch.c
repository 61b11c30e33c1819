/* norm_batch.c: batch normalisation. cuDNN does it for images in fp32 and fp16
 * (ATen/native/Normalization.cpp _select_batch_norm_backend, cudnn/BatchNorm.cpp). */
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

/* saved: [0] input, [1] weight, [2] running_mean, [3] running_var, [4] save_mean, [5] save_invstd
 */
static void save_all(struct tape *tape, struct node *node, struct tensor *const *saved) {
    static const unsigned by_name[] = {0, 2, 3, 1, 4, 5};
    for (unsigned i = 0; i < 6; i++)
        node_save(tape, node, by_name[i], saved[by_name[i]]);
}

static void backward_own(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out);

/* After evaluation the gradient is PyTorch's own; after training cudnn_batch_norm_backward, three
 * results: grad.contiguous(input's format) is this call's argument. */
static void backward_cudnn(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *input = node->saved[0], *weight = node->saved[1];
    enum memory_format format = tensor_suggest_format(input);
    if (!node->args[0]) {
        backward_own(tape, node, grads, out);
        return;
    }
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
    }
    tape_kernel(tape, "batch_norm", 5 * (uint64_t)shape_numel(&input->shape),
                2 * tensor_nbytes(input), input->dtype);
    if (node)
        node->args[0] = training;
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

/* ---- PyTorch's own kernels (ATen/native/cuda/Normalization.cu, Normalization.cuh) ---- */

enum {
    ELEMENTS_PER_THREAD = 16,
    TILE_WIDTH = 32,
    MAX_BLOCK = 512,
    MAX_BLOCKS_HIGH = 128,
    MIN_BLOCKS_HIGH = 8
};

/* batch_norm_use_channels_last_kernels: also [N, C], where the channels move fastest. */
static bool is_channels_fastest(const struct tensor *t) {
    return tensor_is_channels_last(t) || (tensor_is_contiguous(t) && t->stride[1] == 1);
}

struct staging {
    struct tensor *data, *semaphores;
};

/* flexible_launch_configs: sums over rows of channels are put together in memory when eight blocks
 * or more share one; `per_channel` floats a block and channel. */
static struct staging stage(struct tape *tape, const struct tensor *t, int64_t per_channel) {
    struct staging none = {NULL, NULL};
    int64_t channels = t->shape.size[1], rows = channels ? shape_numel(&t->shape) / channels : 0;
    if (rows == 0)
        return none;
    int64_t width = size_min(size_last_pow2(channels), TILE_WIDTH);
    int64_t height =
        size_min(size_last_pow2(size_div_up(rows, ELEMENTS_PER_THREAD)), MAX_BLOCK / width);
    if (width * height != MAX_BLOCK)
        width = size_min(size_last_pow2(channels), MAX_BLOCK / height);
    int64_t blocks = size_min(size_div_up(rows, height * ELEMENTS_PER_THREAD), MAX_BLOCKS_HIGH);
    if (blocks < MIN_BLOCKS_HIGH)
        return none;
    struct shape data = {.ndim = 1, .size = {per_channel * channels * blocks}};
    struct shape semaphores = {.ndim = 1, .size = {size_div_up(channels, width)}};
    struct staging s = {.data = tape_new(tape, DTYPE_FLOAT32, &data)};
    s.semaphores = aten_full(tape, &semaphores, DTYPE_INT32);
    return s;
}

static void unstage(struct tape *tape, struct staging s) {
    tensor_unref(tape, s.data);
    tensor_unref(tape, s.semaphores);
}

static void own_kernel(struct tape *tape, const char *name, const struct tensor *t,
                       uint64_t passes) {
    tape_kernel(tape, name, 5 * passes * (uint64_t)shape_numel(&t->shape),
                passes * tensor_nbytes(t), t->dtype);
}

/* One fused kernel for images that are not channels last: the results, and a copy of what cannot be
 * seen as [N, C, the rest] (batch_norm_backward_cuda_template). */
static void backward_fused(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *input = node->saved[0];
    struct shape channels = {.ndim = 1, .size = {input->shape.size[1]}};
    struct shape rows = {.ndim = 3, .size = {input->shape.size[0], channels.size[0], 1}};
    for (unsigned i = 2; i < input->shape.ndim; i++)
        rows.size[2] = size_mul(rows.size[2], input->shape.size[i]);
    struct tensor *x = aten_reshape(tape, input, &rows);
    struct tensor *grad = aten_reshape(tape, grads[0], &rows);
    out[0] = tape_new(tape, input->dtype, &input->shape);
    for (unsigned i = 1; i < 3; i++)
        if (node_wants(node, i))
            out[i] = tape_new(tape, node->edges[i].dtype, &channels);
    own_kernel(tape, "batch_norm_backward", input, 3);
    tensor_unref(tape, x);
    tensor_unref(tape, grad);
}

/* batch_norm_backward_reduce, then batch_norm_backward_elemt. The sums over rows of channels are made
 * for the input's gradient, by the kernels for channels that move fastest in both tensors in any
 * case. args: [0] whether in training */
static void backward_in_two(struct tape *tape, struct node *node, struct tensor *grad,
                            struct tensor **out) {
    struct tensor *input = node->saved[0], *weight = node->saved[1], *sums[2] = {NULL, NULL},
                  *invstd = NULL;
    struct shape channels = {.ndim = 1, .size = {input->shape.size[1]}};
    if (!node->saved[5]) /* evaluation in cuDNN keeps no statistics: made again from the running
                            ones */
        invstd = tape_new(tape, DTYPE_FLOAT32, &channels);
    if (node->args[0] || node_wants(node, 1) || node_wants(node, 2)) {
        bool by_rows = is_channels_fastest(input) && is_channels_fastest(grad);
        for (unsigned i = 0; i < 2 && (by_rows || node_wants(node, 0)); i++)
            sums[i] = tape_new(tape, DTYPE_FLOAT32, &channels);
        for (unsigned i = 1; i < 3 && weight; i++)
            out[i] = tape_new(tape, weight->dtype, &channels);
        struct staging s = by_rows ? stage(tape, input, 2) : (struct staging){NULL, NULL};
        own_kernel(tape, "batch_norm_backward_reduce", input, 2);
        unstage(tape, s);
    }
    if (node_wants(node, 0)) {
        /* batch_norm_elementwise_backward_eval makes it contiguous whatever the input is */
        out[0] = tape_new_format(tape, input->dtype, &input->shape,
                                 node->args[0] ? tensor_suggest_format(input) : FORMAT_CONTIGUOUS);
        own_kernel(tape, "batch_norm_backward_elemt", input, 3);
    }
    for (unsigned i = 0; i < 2; i++)
        tensor_unref(tape, sums[i]);
    tensor_unref(tape, invstd);
    for (unsigned i = 1; i < 3; i++)
        if (out[i] && !node_wants(node, i)) {
            tensor_unref(tape, out[i]);
            out[i] = NULL;
        }
}

static void backward_own(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    bool reduces = node->args[0] || node_wants(node, 1) || node_wants(node, 2);
    if (reduces && node_wants(node, 0) && !is_channels_fastest(node->saved[0]))
        backward_fused(tape, node, grads, out);
    else
        backward_in_two(tape, node, grads[0], out);
}

static const struct backward_op own_backward = {"NativeBatchNormBackward0", backward_own};

static struct tensor *batch_norm_own(struct tape *tape, struct tensor *const *in,
                                     struct tensor *running_mean, struct tensor *running_var,
                                     bool training) {
    struct tensor *input = in[0];
    struct node *node = node_create(tape, &own_backward, in, 3, 1);
    struct shape channels = {.ndim = 1, .size = {input->shape.size[1]}};
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(input, stride);
    struct tensor *out = tape_new_strided(tape, input->dtype, &input->shape, stride);
    struct tensor *save_mean = tape_new(tape, DTYPE_FLOAT32, &channels);
    struct tensor *save_invstd = tape_new(tape, DTYPE_FLOAT32, &channels);
    if (training && is_channels_fastest(input)) {
        struct staging s = stage(tape, input, 4);
        own_kernel(tape, "batch_norm_stats", input, 1);
        unstage(tape, s);
    }
    own_kernel(tape, "batch_norm", input, 2);
    if (node)
        node->args[0] = training;
    save_all(tape, node,
             (struct tensor *[]){input, in[1], running_mean, running_var, save_mean, save_invstd});
    node_set_output(node, out, 0);
    node_finish(tape, node);
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
    bool cudnn = uses_cudnn(tape, in[0], in[1], in[2], running_mean, training);
    call->out[call->out_count++] =
        cudnn ? batch_norm_cudnn(tape, in, running_mean, running_var, training)
              : batch_norm_own(tape, in, running_mean, running_var, training);
}

const struct op ops_norm_batch[] = {
    {"batch_norm", "input:T running_mean:T? running_var:T? weight:T? bias:T? training:b=0",
     AUTOCAST_NONE, "normalisation over batch and image, channel by channel", run_batch_norm, NULL},
    {0},
};
