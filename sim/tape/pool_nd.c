/* pool_nd.c: pooling along one or three dims, and the largest of as many windows as asked for
 * (ATen/native/Pooling.cpp, cuda/DilatedMaxPool3d.cu, AveragePool3d.cu, AdaptiveMaxPooling2d.cu). */
#include <string.h>

#include "op.h"

/* The gradient of self, then a contiguous copy of what comes in. saved: [0] self, [1] indices */
static void backward_pool(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    out[0] = tape_new(tape, grads[0]->dtype, &node->edges[0].shape);
    struct tensor *grad = aten_contiguous(tape, grads[0]);
    tape_kernel(tape, node->op->name, 0, tensor_nbytes(grad) + tensor_nbytes(out[0]), grad->dtype);
    tensor_unref(tape, grad);
}

static const struct backward_op max_backward = {"MaxPoolWithIndicesBackward0", backward_pool};
static const struct backward_op average_backward = {"AvgPoolBackward0", backward_pool};

/* The number of an argument for dim i: one stands for all. */
static int64_t number_of(const struct op_arg *arg, unsigned i, int64_t fallback) {
    if (arg->shape.ndim == 0)
        return fallback;
    return arg->shape.size[arg->shape.ndim == 1 ? 0 : i];
}

/* arguments: self kernel_size stride padding dilation */
static bool windows(struct tape *tape, const struct op_call *call, unsigned dims,
                    struct shape *shape) {
    *shape = call->arg[0].tensor->shape;
    bool fits = shape->ndim == dims + 2;
    for (unsigned i = 1; fits && i < 5; i++) /* {3} or {3, 3}; 3, 2, 1 would be one argument */
        fits = call->arg[i].shape.ndim <= 1 || call->arg[i].shape.ndim == dims;
    for (unsigned i = 0; fits && i < dims; i++) {
        int64_t kernel = number_of(&call->arg[1], i, 1),
                stride = number_of(&call->arg[2], i, kernel),
                padding = number_of(&call->arg[3], i, 0), dilation = number_of(&call->arg[4], i, 1);
        fits = kernel >= 1 && stride >= 1 && padding >= 0 && padding <= kernel / 2 && dilation >= 1;
        if (!fits)
            break;
        int64_t rest = size_add(shape->size[i + 2], size_mul(2, padding)) -
                       size_add(size_mul(dilation, kernel - 1), 1);
        fits = rest >= 0;
        shape->size[i + 2] = rest / stride + 1;
    }
    if (!fits) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "%s: such windows do not fit into %s (batch, channels, %u dims)", call->op->name,
                  shape_format(&call->arg[0].tensor->shape, a, sizeof a), dims);
    }
    return fits;
}

/* As many windows as argument 1 says. */
static bool outputs(struct tape *tape, const struct op_call *call, unsigned dims,
                    struct shape *shape) {
    *shape = call->arg[0].tensor->shape;
    bool fits = shape->ndim == dims + 2;
    for (unsigned i = 0; fits && i < dims; i++) {
        shape->size[i + 2] = number_of(&call->arg[1], i, shape->size[i + 2]);
        fits = shape->size[i + 2] >= 1;
    }
    if (!fits) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: wants batch, channels and %u dims, found %s",
                  call->op->name, dims, shape_format(shape, a, sizeof a));
    }
    return fits;
}

static void pool(struct tape *tape, struct op_call *call, const struct shape *shape,
                 const struct backward_op *backward) {
    struct tensor *self = call->arg[0].tensor, *indices = NULL;
    struct node *node = node_create(tape, backward, &self, 1, 1);
    struct tensor *out = tape_new(tape, self->dtype, shape);
    if (backward == &max_backward)
        indices = tape_new(tape, DTYPE_INT64, shape);
    bool recording = tape->grad_enabled;
    tape->grad_enabled = false; /* the copy is below autograd */
    struct tensor *input = aten_contiguous(tape, self);
    tape->grad_enabled = recording;
    tape_kernel(tape, call->op->name, (uint64_t)shape_numel(&self->shape),
                tensor_nbytes(self) + tensor_nbytes(out), self->dtype);
    tensor_unref(tape, input);
    node_save(tape, node, 0, self);
    node_save(tape, node, 1, indices);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, indices);
    op_give(call, out);
}

/* "max_pool1d", "adaptive_avg_pool3d": the dims are in the name. */
static unsigned dims_of(const struct op_call *call) {
    return (unsigned)(call->op->name[strlen(call->op->name) - 2] - '0');
}

static void run_windows(struct tape *tape, struct op_call *call) {
    struct shape shape;
    if (windows(tape, call, dims_of(call), &shape))
        pool(tape, call, &shape, call->op->name[0] == 'm' ? &max_backward : &average_backward);
    else
        op_give(call, tensor_ref(call->arg[0].tensor));
}

static void run_adaptive_max(struct tape *tape, struct op_call *call) {
    struct shape shape;
    if (outputs(tape, call, dims_of(call), &shape))
        pool(tape, call, &shape, &max_backward);
    else
        op_give(call, tensor_ref(call->arg[0].tensor));
}

/* One window is the mean. */
static void run_adaptive_average(struct tape *tape, struct op_call *call) {
    struct shape shape;
    unsigned dims = dims_of(call);
    if (!outputs(tape, call, dims, &shape)) {
        op_give(call, tensor_ref(call->arg[0].tensor));
        return;
    }
    bool one = true;
    for (unsigned i = 0; i < dims; i++)
        one = one && shape.size[i + 2] == 1;
    if (one)
        op_give(call,
                aten_mean_dims(tape, call->arg[0].tensor, ((UINT32_C(1) << dims) - 1) << 2, true));
    else
        pool(tape, call, &shape, &average_backward);
}

#define WINDOWS "self:T kernel_size:I stride:I? padding:I? dilation:I?"
#define OUTPUTS "self:T output_size:I"
const struct op ops_pool_nd[] = {
    {"max_pool1d", WINDOWS, AUTOCAST_NONE, "maximum of windows", run_windows, NULL},
    {"max_pool3d", WINDOWS, AUTOCAST_NONE, "maximum of windows", run_windows, NULL},
    {"avg_pool1d", WINDOWS, AUTOCAST_NONE, "mean of windows", run_windows, NULL},
    {"avg_pool3d", WINDOWS, AUTOCAST_NONE, "mean of windows", run_windows, NULL},
    {"adaptive_max_pool1d", OUTPUTS, AUTOCAST_NONE, "maxima of as many windows as asked for",
     run_adaptive_max, NULL},
    {"adaptive_max_pool2d", OUTPUTS, AUTOCAST_NONE, "maxima of as many windows as asked for",
     run_adaptive_max, NULL},
    {"adaptive_avg_pool1d", OUTPUTS, AUTOCAST_NONE, "means of as many windows as asked for",
     run_adaptive_average, NULL},
    {"adaptive_avg_pool3d", OUTPUTS, AUTOCAST_NONE, "means of as many windows as asked for",
     run_adaptive_average, NULL},
    {0},
};
