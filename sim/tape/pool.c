/* pool.c: pooling over images (ATen/native/cuda/DilatedMaxPool2d.cu, AveragePool2d.cu,
 * AdaptiveAveragePooling.cu). Results and indices have the input's memory format. */
#include "memory_format.h"
#include "op.h"

static bool is_image(struct tape *tape, const struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    if (t->shape.ndim == 4)
        return true;
    char text[128];
    tape_fail(tape, ERROR_BAD_SCENARIO, "%s: wants [N, C, H, W], found %s", call->op->name,
              shape_format(&t->shape, text, sizeof text));
    return false;
}

/* One number stands for both dims, none for the fallback. */
static bool has_two_dims(struct tape *tape, const struct op_call *call, unsigned first,
                         unsigned last) {
    for (unsigned i = first; i <= last; i++)
        if (call->arg[i].shape.ndim > 2) {
            tape_fail(tape, ERROR_BAD_SCENARIO, "%s: %u numbers for 2 dims", call->op->name,
                      call->arg[i].shape.ndim);
            return false;
        }
    return true;
}

static int64_t dim_of(const struct op_arg *arg, unsigned i, int64_t fallback) {
    if (arg->shape.ndim == 0)
        return fallback;
    return arg->shape.size[arg->shape.ndim == 1 ? 0 : i];
}

/* pooling_output_shape: with ceil_mode the last window must start inside the image or its left
 * padding. 0: the window is larger than the padded image, by a stride or more with ceil_mode. */
static int64_t pooled(int64_t size, int64_t kernel, int64_t stride, int64_t padding,
                      int64_t dilation, bool ceil) {
    int64_t window = size_add(size_mul(dilation, kernel - 1), 1);
    int64_t rest = size_add(size, size_mul(2, padding)) - window;
    if (rest < 0)
        return ceil && rest > -stride;
    int64_t steps = rest / stride + (ceil && rest % stride != 0);
    bool outside = ceil && size_mul(steps, stride) >= size_add(size, padding);
    return outside ? steps : steps + 1;
}

/* arguments: self kernel_size stride padding dilation ceil_mode */
static bool pooled_shape(struct tape *tape, const struct op_call *call, struct shape *shape) {
    *shape = call->arg[0].tensor->shape;
    if (!has_two_dims(tape, call, 1, 4))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        int64_t kernel = dim_of(&call->arg[1], i, 1), stride = dim_of(&call->arg[2], i, kernel);
        int64_t padding = dim_of(&call->arg[3], i, 0), dilation = dim_of(&call->arg[4], i, 1);
        if (kernel < 1 || stride < 1 || padding < 0 || padding > kernel / 2 || dilation < 1) {
            tape_fail(tape, ERROR_BAD_SCENARIO,
                      "%s: kernel, stride and dilation must be positive, padding at most half of "
                      "the kernel",
                      call->op->name);
            return false;
        }
        int64_t size = shape->size[i + 2];
        shape->size[i + 2] =
            pooled(size, kernel, stride, padding, dilation, call->arg[5].integer != 0);
        if (shape->size[i + 2] < 1) {
            tape_fail(tape, ERROR_BAD_SCENARIO,
                      "%s: a window of %lld with dilation %lld does not fit into %lld with padding "
                      "%lld",
                      call->op->name, (long long)kernel, (long long)dilation, (long long)size,
                      (long long)padding);
            return false;
        }
    }
    return true;
}

/* saved[0] = self, [1] = indices: the gradient first, then what must be copied to the format. */
static void backward_max_pool(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    struct tensor *self = node->saved[0];
    enum memory_format format = tensor_suggest_format(self);
    out[0] = tape_new_format(tape, self->dtype, &self->shape, format);
    struct tensor *grad = aten_contiguous_format(tape, grads[0], format);
    tape_kernel(tape, "max_pool2d_backward", 0,
                tensor_nbytes(grad) + tensor_nbytes(node->saved[1]) + tensor_nbytes(out[0]),
                self->dtype);
    tensor_unref(tape, grad);
}

static const struct backward_op max_pool_backward = {"MaxPool2DWithIndicesBackward0",
                                                     backward_max_pool};

static void run_max_pool2d(struct tape *tape, struct op_call *call) {
    struct tensor *self = call->arg[0].tensor;
    struct shape shape;
    if (!is_image(tape, call) || !pooled_shape(tape, call, &shape)) {
        call->out[call->out_count++] = tensor_ref(self);
        return;
    }
    struct node *node = node_create(tape, &max_pool_backward, &self, 1, 1);
    enum memory_format format = tensor_suggest_format(self);
    struct tensor *out = tape_new_format(tape, self->dtype, &shape, format);
    struct tensor *indices = tape_new_format(tape, DTYPE_INT64, &shape, format);
    bool grad = tape->grad_enabled;
    tape->grad_enabled = false;
    struct tensor *input = aten_contiguous_format(tape, self, format);
    tape->grad_enabled = grad;
    tape_kernel(tape, "max_pool2d", 0,
                tensor_nbytes(self) + tensor_nbytes(out) + tensor_nbytes(indices), self->dtype);
    tensor_unref(tape, input);
    node_save(tape, node, 0, self);
    node_save(tape, node, 1, indices);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, indices);
    call->out[call->out_count++] = out;
}

/* saved[0] = self */
static void backward_avg_pool(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    struct tensor *self = node->saved[0];
    enum memory_format format = tensor_suggest_format(self);
    out[0] = tape_new_format(tape, self->dtype, &self->shape, format);
    struct tensor *grad = aten_contiguous_format(tape, grads[0], format);
    tape_kernel(tape, "avg_pool2d_backward", 0, tensor_nbytes(grad) + tensor_nbytes(out[0]),
                self->dtype);
    tensor_unref(tape, grad);
}

static const struct backward_op avg_pool_backward = {"AvgPool2DBackward0", backward_avg_pool};
static const struct backward_op adaptive_backward = {"AdaptiveAvgPool2DBackward0",
                                                     backward_avg_pool};

static struct tensor *average(struct tape *tape, const char *name,
                              const struct backward_op *backward, struct tensor *self,
                              const struct shape *shape) {
    struct node *node = node_create(tape, backward, &self, 1, 1);
    struct tensor *out = tape_new_format(tape, self->dtype, shape, tensor_suggest_format(self));
    tape_kernel(tape, name, (uint64_t)shape_numel(&self->shape),
                tensor_nbytes(self) + tensor_nbytes(out), self->dtype);
    node_save(tape, node, 0, self);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    return out;
}

static void run_avg_pool2d(struct tape *tape, struct op_call *call) {
    struct tensor *self = call->arg[0].tensor;
    struct shape shape;
    if (!is_image(tape, call) || !pooled_shape(tape, call, &shape)) {
        call->out[call->out_count++] = tensor_ref(self);
        return;
    }
    call->out[call->out_count++] = average(tape, "avg_pool2d", &avg_pool_backward, self, &shape);
}

/* mean({-1, -2}): the gradient is the expanded one divided by the image's size. */
static void backward_mean(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    struct tensor *expanded = aten_expand(tape, grads[0], &node->edges[0].shape);
    out[0] = elementwise(tape, "div", expanded->dtype, &expanded, 1);
    tensor_unref(tape, expanded);
}

static const struct backward_op mean_backward = {"MeanBackward1", backward_mean};

/* as_strided_backward: a zero-filled base, the gradient copied into it, the base seen as the input
 * was. */
static void backward_as_strided(struct tape *tape, struct node *node, struct tensor **grads,
                                struct tensor **out) {
    struct shape flat = {.ndim = 1, .size = {shape_numel(&grads[0]->shape)}};
    struct tensor *base = aten_full(tape, &flat, grads[0]->dtype);
    tape_kernel(tape, "copy", 0, 2 * tensor_nbytes(grads[0]), grads[0]->dtype);
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    strides_contiguous(&node->edges[0].shape, stride);
    out[0] = tape_alias(tape, base, &node->edges[0].shape, stride);
    out[0]->is_view = true;
    tensor_unref(tape, base);
}

static const struct backward_op as_strided_backward = {"AsStridedBackward0", backward_as_strided};

/* adaptive_avg_pool2d gives the mean of a channels-last image its strides by as_strided_, which
 * autograd records. */
static void as_channels_last_(struct tape *tape, struct tensor *t) {
    struct node *node = node_create(tape, &as_strided_backward, &t, 1, 1);
    strides_format(&t->shape, FORMAT_CHANNELS_LAST, t->stride);
    node_rebase(tape, node, t);
    node_finish(tape, node);
}

static struct tensor *global_mean(struct tape *tape, struct tensor *self) {
    struct node *node = node_create(tape, &mean_backward, &self, 1, 1);
    struct tensor *out = reduce(tape, "mean", self, 4 | 8, true, self->dtype);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    if (tensor_suggest_format(self) == FORMAT_CHANNELS_LAST)
        as_channels_last_(tape, out);
    return out;
}

static void run_adaptive_avg_pool2d(struct tape *tape, struct op_call *call) {
    struct tensor *self = call->arg[0].tensor;
    struct shape shape = self->shape;
    if (!is_image(tape, call) || !has_two_dims(tape, call, 1, 1)) {
        call->out[call->out_count++] = tensor_ref(self);
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        shape.size[i + 2] = dim_of(&call->arg[1], i, shape.size[i + 2]);
    call->out[call->out_count++] =
        shape.size[2] == 1 && shape.size[3] == 1
            ? global_mean(tape, self)
            : average(tape, "adaptive_avg_pool2d", &adaptive_backward, self, &shape);
}

#define POOL_ARGUMENTS "self:T kernel_size:I stride:I? padding:I? dilation:I? ceil_mode:b=0"
const struct op ops_pool[] = {
    {"max_pool2d", POOL_ARGUMENTS, AUTOCAST_NONE, "maximum of windows, with their int64 indices",
     run_max_pool2d, "aten::max_pool2d_with_indices"},
    {"avg_pool2d", POOL_ARGUMENTS, AUTOCAST_NONE, "mean of windows", run_avg_pool2d, NULL},
    {"adaptive_avg_pool2d", "self:T output_size:I", AUTOCAST_NONE,
     "means of as many windows as asked for", run_adaptive_avg_pool2d, NULL},
    {0},
};
