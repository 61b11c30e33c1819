/* conv.c: convolutions as ATen/native/Convolution.cpp sends them to cuDNN
 * (native/cudnn/ConvShared.cpp) or, for depthwise ones that cuDNN is not asked to do, to the native
 * kernel (cuda/DepthwiseConv2d.cu).
 *
 * What cuDNN takes as workspace is its own choice of algorithm: an estimate, or none. */
#include <string.h>

#include "conv_workspace.h"
#include "memory_format.h"
#include "op.h"
#include "size.h"

enum { MAX_SPATIAL = 3, MIN_DEPTHWISE_CHANNELS = 32 };

struct conv {
    unsigned dims; /* spatial */
    int64_t stride[MAX_SPATIAL], padding[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t groups;
    bool transposed;
};

/* A node's args hold the whole struct in this order. */
static void store(struct node *node, const struct conv *c) {
    if (!node)
        return;
    memcpy(&node->args[0], c->stride, sizeof c->stride);
    memcpy(&node->args[3], c->padding, sizeof c->padding);
    memcpy(&node->args[6], c->dilation, sizeof c->dilation);
    node->args[9] = c->groups;
    node->args[10] = c->transposed;
    node->args[11] = c->dims;
}

static struct conv load(const struct node *node) {
    struct conv c = {.groups = node->args[9],
                     .transposed = node->args[10] != 0,
                     .dims = (unsigned)node->args[11]};
    memcpy(c.stride, &node->args[0], sizeof c.stride);
    memcpy(c.padding, &node->args[3], sizeof c.padding);
    memcpy(c.dilation, &node->args[6], sizeof c.dilation);
    return c;
}

/* cudnn_conv_suggest_memory_format: channels last as soon as one operand is. */
static enum memory_format suggest(const struct tensor *a, const struct tensor *b) {
    if (a->dtype == DTYPE_FLOAT64 || b->dtype == DTYPE_FLOAT64)
        return FORMAT_CONTIGUOUS;
    bool last = tensor_suggest_format(a) == FORMAT_CHANNELS_LAST ||
                tensor_suggest_format(b) == FORMAT_CHANNELS_LAST;
    return last ? FORMAT_CHANNELS_LAST : FORMAT_CONTIGUOUS;
}

/* check_cudnn_depthwise_workload_with_filter (cuDNN 8.2 and later): whether cuDNN is asked for a
 * depthwise convolution in fp16. Square filters of 1, 3 or 5; all of stride 1; of stride 2 what has
 * many channels. */
static bool is_cudnn_workload(const struct shape *input, const struct shape *weight,
                              int64_t stride) {
    int64_t batch = input->size[0], channels = input->size[1], width = input->size[3],
            filter = weight->size[3];
    if (input->size[2] == 1 && stride == 1)
        return true;
    if (weight->size[2] != filter || (filter != 1 && filter != 3 && filter != 5) || width < 7)
        return false;
    if (stride != 2)
        return stride == 1;
    if (batch == 1)
        return filter != 1 || width <= 28;
    if (filter == 1)
        return batch <= 16 && channels >= 128 && width <= 7;
    return channels >= 512 || (channels >= 256 && width >= 28);
}

/* ConvParams::use_cudnn_depthwise: channels_last always goes to cuDNN, else fp16 alone, not
 * dilated, with square strides, from 32 channels on. */
static bool is_native_depthwise(const struct conv *c, const struct tensor *input,
                                const struct tensor *weight) {
    if (c->transposed || c->dims != 2 || c->groups <= 1 || input->shape.size[1] != c->groups ||
        weight->shape.size[0] % input->shape.size[1] != 0)
        return false;
    if (suggest(input, weight) != FORMAT_CONTIGUOUS)
        return false;
    bool asked = input->dtype == DTYPE_FLOAT16 && c->dilation[0] == 1 && c->dilation[1] == 1 &&
                 (c->stride[0] == c->stride[1] || input->shape.size[2] == 1) &&
                 input->shape.size[1] >= MIN_DEPTHWISE_CHANNELS;
    return !asked || !is_cudnn_workload(&input->shape, &weight->shape, c->stride[1]);
}

static uint64_t conv_flops(const struct tensor *weight, const struct tensor *big) {
    int64_t per_output =
        shape_numel(&weight->shape) / (weight->shape.size[0] ? weight->shape.size[0] : 1);
    return 2 * (uint64_t)per_output * (uint64_t)shape_numel(&big->shape);
}

static void conv_kernel(struct tape *tape, const char *name, struct tensor *weight,
                        struct tensor *output, struct tensor *a, struct tensor *b,
                        struct tensor *c) {
    tape_kernel(tape, name, conv_flops(weight, output),
                tensor_nbytes(a) + tensor_nbytes(b) + tensor_nbytes(c), a->dtype);
}

static struct shape output_shape(const struct conv *c, const struct shape *input,
                                 const struct shape *weight, const int64_t *output_padding) {
    struct shape out = *input;
    out.size[1] = c->transposed ? size_mul(weight->size[1], c->groups) : weight->size[0];
    for (unsigned i = 0; i < c->dims; i++) {
        int64_t reach = size_mul(c->dilation[i], weight->size[i + 2] - 1); /* a window's, less 1 */
        int64_t size = input->size[i + 2], both = size_mul(2, c->padding[i]);
        if (c->transposed)
            out.size[i + 2] =
                size_add(size_add(size_add(size_mul(size - 1, c->stride[i]), output_padding[i]), 1),
                         size_add(reach, -both));
        else /* rounded down; 0: the window is larger than the padded image */
            out.size[i + 2] = size_add(size, both) <= reach
                                  ? 0
                                  : (size_add(size, both) - 1 - reach) / c->stride[i] + 1;
    }
    return out;
}

static int64_t spatial_area(const struct shape *shape) {
    int64_t area = 1;
    for (unsigned i = 2; i < shape->ndim; i++)
        area = size_mul(area, shape->size[i]);
    return area;
}

static struct conv_problem describe(const struct conv *c, const struct tensor *x,
                                    const struct tensor *w, const struct tensor *y) {
    const struct shape *in = c->transposed ? &y->shape : &x->shape,
                       *out = c->transposed ? &x->shape : &y->shape;
    bool flat = c->dims == 2;
    return (struct conv_problem){.dtype = x->dtype,
                                 .channels_last = tensor_suggest_format(x) == FORMAT_CHANNELS_LAST,
                                 .batch = in->size[0],
                                 .in_channels = in->size[1],
                                 .out_channels = out->size[1],
                                 .groups = c->groups,
                                 .in_area = spatial_area(in),
                                 .out_area = spatial_area(out),
                                 .filter_area = spatial_area(&w->shape),
                                 .out_height = out->size[2],
                                 .out_width = out->size[3],
                                 .filter = {w->shape.size[2], w->shape.size[3]},
                                 .stride = c->stride[c->dims - 1],
                                 .dilation = c->dilation[c->dims - 1],
                                 .flat = flat,
                                 .unit_step = c->stride[0] == 1 && c->stride[1] == 1 &&
                                              (flat || c->stride[2] == 1),
                                 .dilated = c->dilation[0] != 1 || c->dilation[1] != 1,
                                 .transposed = c->transposed};
}

/* A call of cuDNN: what it asks for, given back when its kernel is under way. `x` and `y`: the images
 * of the forward's input and output, or their gradients. */
static void cudnn_kernel(struct tape *tape, const char *name, enum conv_pass pass,
                         const struct conv *c, struct tensor *x, struct tensor *w,
                         struct tensor *y) {
    struct tensor *workspace = NULL;
    uint64_t bytes = 0;
    if (!tape->cudnn_workspace_none) {
        struct conv_problem problem = describe(c, x, w, y);
        enum conv_pass as = pass == CONV_BACKWARD_WEIGHT || !c->transposed ? pass
                            : pass == CONV_FORWARD                         ? CONV_BACKWARD_INPUT
                                                                           : CONV_FORWARD;
        bytes = conv_workspace_estimate(tape->device, &problem, as);
    }
    if (bytes > 0) {
        tape->caveat =
            "workspaces of convolutions follow cuDNN 9.26's answers for common layers, for other "
            "shapes, cards and releases they are estimated: an exact run without them is "
            "torch.set_cudnn_workspace(\"none\"), in the scenarios here --set cudnn_workspace=none";
        workspace = tape_new_bytes(tape, bytes, CATEGORY_WORKSPACE);
    }
    conv_kernel(tape, name, w, c->transposed ? x : y, x, w, y);
    tensor_unref(tape, workspace);
}

/* Below autograd: cudnn_convolution(_bias), cudnn_convolution_transpose, _conv_depthwise2d. The
 * input is copied to the format where the backend is called, the weight inside it, with the output
 * there. */
static struct tensor *forward(struct tape *tape, const struct conv *c, struct tensor *input,
                              struct tensor *weight, const struct shape *shape) {
    bool grad = tape->grad_enabled;
    tape->grad_enabled = false;
    bool native = is_native_depthwise(c, input, weight);
    enum memory_format format = native ? FORMAT_CONTIGUOUS : suggest(input, weight);
    struct tensor *x = aten_contiguous_format(tape, input, format);
    struct tensor *out = tape_new_format(tape, input->dtype, shape, format);
    struct tensor *w = aten_contiguous_format(tape, weight, format);
    if (native)
        conv_kernel(tape, "conv_depthwise2d", weight, out, x, w, out);
    else
        cudnn_kernel(tape, "conv", CONV_FORWARD, c, x, w, out);
    tensor_unref(tape, x);
    tensor_unref(tape, w);
    tape->grad_enabled = grad;
    return out;
}

/* ---- backward ---- */

static struct tensor *native_grad_input(struct tape *tape, struct tensor *input,
                                        struct tensor *weight, struct tensor *grad) {
    struct tensor *out = tape_new(tape, input->dtype, &input->shape);
    conv_kernel(tape, "conv_depthwise2d_backward_input", weight, grad, grad, weight, out);
    return out;
}

/* conv_depthwise2d_backward_cuda_out: the weight's gradient first. */
static void backward_native(struct tape *tape, struct node *node, struct tensor *input,
                            struct tensor *weight, struct tensor *grad, struct tensor **out) {
    struct tensor *g = aten_contiguous(tape, grad), *w = aten_contiguous(tape, weight);
    if (node_wants(node, 1)) {
        struct tensor *x = aten_contiguous(tape, input);
        out[1] = tape_new(tape, weight->dtype, &weight->shape);
        conv_kernel(tape, "conv_depthwise2d_backward_weight", weight, grad, g, x, out[1]);
        tensor_unref(tape, x);
    }
    if (node_wants(node, 0))
        out[0] = native_grad_input(tape, input, w, g);
    tensor_unref(tape, g);
    tensor_unref(tape, w);
}

static struct tensor *grad_input(struct tape *tape, const struct conv *c, const struct shape *shape,
                                 struct tensor *weight, struct tensor *grad) {
    enum memory_format format = suggest(grad, weight);
    struct tensor *out = tape_new_format(tape, grad->dtype, shape, format);
    struct tensor *w = aten_contiguous_format(tape, weight, format);
    struct tensor *g = aten_contiguous_format(tape, grad, format);
    cudnn_kernel(tape, "conv_backward_input", CONV_BACKWARD_INPUT, c, out, w, g);
    tensor_unref(tape, w);
    tensor_unref(tape, g);
    return out;
}

static struct tensor *grad_weight(struct tape *tape, const struct conv *c, struct tensor *weight,
                                  struct tensor *input, struct tensor *grad) {
    enum memory_format format = suggest(input, grad);
    struct tensor *g = aten_contiguous_format(tape, grad, format);
    struct tensor *x = aten_contiguous_format(tape, input, format);
    struct tensor *out = tape_new_format(tape, grad->dtype, &weight->shape, format);
    cudnn_kernel(tape, "conv_backward_weight", CONV_BACKWARD_WEIGHT, c, x, out, g);
    tensor_unref(tape, g);
    tensor_unref(tape, x);
    return out;
}

static void backward_cudnn(struct tape *tape, struct node *node, const struct conv *c,
                           struct tensor *input, struct tensor *weight, struct tensor *grad,
                           struct tensor **out) {
    struct tensor *x = node_wants(node, 1)
                           ? aten_contiguous_format(tape, input, suggest(input, weight))
                           : tensor_ref(input);
    /* grad_output.to(input.suggest_memory_format()): nothing happens when it suggests the same */
    enum memory_format format = tensor_suggest_format(x);
    struct tensor *g = tensor_suggest_format(grad) == format && !c->transposed
                           ? tensor_ref(grad)
                           : aten_contiguous_format(tape, grad, format);
    if (node_wants(node, 0))
        out[0] = grad_input(tape, c, &input->shape, weight, g);
    if (node_wants(node, 1))
        out[1] = grad_weight(tape, c, weight, x, g);
    tensor_unref(tape, g);
    tensor_unref(tape, x);
}

/* A 1-d convolution runs as a 2-d one of height 1 (view1d_as_2d). */
static struct tensor *as_2d(struct tape *tape, struct tensor *t) {
    if (t->shape.ndim != 3)
        return tensor_ref(t);
    struct shape shape = {.ndim = 4,
                          .size = {t->shape.size[0], t->shape.size[1], 1, t->shape.size[2]}};
    int64_t stride[TENSOR_MAX_DIMS] = {t->stride[0], t->stride[1], t->shape.size[2] * t->stride[2],
                                       t->stride[2]};
    return tape_alias(tape, t, &shape, stride);
}

static struct tensor *as_1d(struct tape *tape, struct tensor *t) {
    struct shape shape = {.ndim = 3,
                          .size = {t->shape.size[0], t->shape.size[1], t->shape.size[3]}};
    int64_t stride[TENSOR_MAX_DIMS] = {t->stride[0], t->stride[1], t->stride[3]};
    struct tensor *out = tape_alias(tape, t, &shape, stride);
    tensor_unref(tape, t);
    return out;
}

/* A 1-d input is made contiguous, lest it be taken for channels_last (Convolution.cpp); below
 * autograd. */
static struct tensor *contiguous_input(struct tape *tape, struct tensor *input) {
    bool grad = tape->grad_enabled;
    tape->grad_enabled = false;
    struct tensor *out = aten_contiguous(tape, input);
    tape->grad_enabled = grad;
    return out;
}

/* saved[0] = input, [1] = weight; edges: input, weight, bias */
static void backward_convolution(struct tape *tape, struct node *node, struct tensor **grads,
                                 struct tensor **out) {
    struct conv c = load(node);
    bool one_d = node->saved[0]->shape.ndim == 3;
    struct tensor *saved =
        one_d ? contiguous_input(tape, node->saved[0]) : tensor_ref(node->saved[0]);
    struct tensor *input = as_2d(tape, saved), *weight = as_2d(tape, node->saved[1]);
    tensor_unref(tape, saved);
    struct tensor *grad = as_2d(tape, grads[0]);
    if (is_native_depthwise(&c, input, weight))
        backward_native(tape, node, input, weight, grad, out);
    else
        backward_cudnn(tape, node, &c, input, weight, grad, out);
    if (node->edge_count > 2 && node_wants(node, 2)) {
        uint32_t all = (UINT32_C(1) << grad->shape.ndim) - 1;
        out[2] = reduce(tape, "sum", grad, all & ~UINT32_C(2), false, grad->dtype);
    }
    for (unsigned i = 0; one_d && i < 2; i++)
        if (out[i])
            out[i] = as_1d(tape, out[i]);
    tensor_unref(tape, input);
    tensor_unref(tape, weight);
    tensor_unref(tape, grad);
}

static const struct backward_op convolution_backward = {"ConvolutionBackward0",
                                                        backward_convolution};

/* ---- rows ---- */

/* One number stands for all dims; none for the default. A 1-d convolution's number goes to the last
 * dim. */
static void read_dims(struct tape *tape, const struct op_call *call, const struct op_arg *arg,
                      unsigned spatial, int64_t fallback, int64_t *out) {
    unsigned offset = spatial == 1 ? 1 : 0;
    for (unsigned i = 0; i < MAX_SPATIAL; i++)
        out[i] = fallback;
    if (arg->shape.ndim == 0)
        return;
    if (arg->shape.ndim != 1 && arg->shape.ndim != spatial)
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: %u numbers for %u dims", call->op->name,
                  arg->shape.ndim, spatial);
    for (unsigned i = 0; i < spatial; i++)
        out[offset + i] = arg->shape.size[arg->shape.ndim == 1 ? 0 : i];
}

static bool check(struct tape *tape, const struct op_call *call, const struct conv *c,
                  unsigned spatial) {
    struct tensor *input = call->arg[0].tensor, *weight = call->arg[1].tensor;
    bool fits = input->shape.ndim == spatial + 2 && weight->shape.ndim == spatial + 2 &&
                c->groups > 0 && input->dtype == weight->dtype;
    if (fits && c->transposed)
        fits = input->shape.size[1] == weight->shape.size[0];
    else if (fits)
        fits = input->shape.size[1] == size_mul(weight->shape.size[1], c->groups) &&
               weight->shape.size[0] % c->groups == 0;
    for (unsigned i = 0; i < MAX_SPATIAL; i++)
        if (c->stride[i] < 1 || c->dilation[i] < 1 || c->padding[i] < 0) {
            tape_fail(tape, ERROR_BAD_SCENARIO,
                      "%s: stride and dilation must be positive, padding not negative",
                      call->op->name);
            return false;
        }
    if (tape->cudnn_disabled && fits) {
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: without cuDNN it is not modelled", call->op->name);
        return false;
    }
    if (fits)
        return true;
    char a[128], b[128];
    tape_fail(
        tape, ERROR_BAD_SCENARIO, "%s: input %s (%s) does not fit weight %s (%s), groups %lld",
        call->op->name, shape_format(&input->shape, a, sizeof a), dtype_name(input->dtype),
        shape_format(&weight->shape, b, sizeof b), dtype_name(weight->dtype), (long long)c->groups);
    return false;
}

/* The result's shape; false: a window does not fit into the padded image. */
static bool find_shape(struct tape *tape, const struct op_call *call, const struct conv *c,
                       const struct shape *input, const struct shape *weight, struct shape *shape) {
    int64_t output_padding[MAX_SPATIAL];
    unsigned spatial = call->arg[0].tensor->shape.ndim - 2;
    read_dims(tape, call, &call->arg[7], spatial, 0, output_padding);
    *shape = output_shape(c, input, weight, output_padding);
    for (unsigned i = 0; i < c->dims; i++) {
        if (shape->size[i + 2] >= 1)
            continue;
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "%s: weight %s does not fit into input %s with its padding", call->op->name,
                  shape_format(&call->arg[1].tensor->shape, a, sizeof a),
                  shape_format(&call->arg[0].tensor->shape, b, sizeof b));
        return false;
    }
    return true;
}

static void run(struct tape *tape, struct op_call *call, unsigned spatial, bool transposed) {
    struct tensor *in[3] = {call->arg[0].tensor, call->arg[1].tensor, call->arg[2].tensor};
    struct conv c = {.dims = spatial == 1 ? 2 : spatial,
                     .groups = call->arg[6].integer,
                     .transposed = transposed};
    read_dims(tape, call, &call->arg[3], spatial, 1, c.stride);
    read_dims(tape, call, &call->arg[4], spatial, 0, c.padding);
    read_dims(tape, call, &call->arg[5], spatial, 1, c.dilation);
    if (!check(tape, call, &c, spatial)) {
        call->out[call->out_count++] = tensor_ref(in[0]);
        return;
    }
    struct node *node = node_create(tape, &convolution_backward, in, 3, 1);
    store(node, &c);
    node_save(tape, node, 0, in[0]);
    node_save(tape, node, 1, in[1]);
    struct tensor *dense = spatial == 1 ? contiguous_input(tape, in[0]) : tensor_ref(in[0]);
    struct tensor *x = as_2d(tape, dense), *w = as_2d(tape, in[1]);
    tensor_unref(tape, dense);
    struct shape shape;
    bool fits = find_shape(tape, call, &c, &x->shape, &w->shape, &shape);
    struct tensor *out = fits ? forward(tape, &c, x, w, &shape) : tensor_ref(x);
    if (spatial == 1)
        out = as_1d(tape, out);
    if (fits) /* else it may be the input itself, which must not become its own history */
        node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, x);
    tensor_unref(tape, w);
    call->out[call->out_count++] = out;
}

static void run_conv1d(struct tape *tape, struct op_call *call) {
    run(tape, call, 1, false);
}

static void run_conv2d(struct tape *tape, struct op_call *call) {
    run(tape, call, 2, false);
}

static void run_conv3d(struct tape *tape, struct op_call *call) {
    run(tape, call, 3, false);
}

static void run_conv_transpose2d(struct tape *tape, struct op_call *call) {
    run(tape, call, 2, true);
}

static void run_conv_transpose1d(struct tape *tape, struct op_call *call) {
    run(tape, call, 1, true);
}

static void run_conv_transpose3d(struct tape *tape, struct op_call *call) {
    run(tape, call, 3, true);
}

#define CONV_ARGUMENTS "input:T weight:T bias:T? stride:I? padding:I? dilation:I? groups:i=1"
const struct op ops_conv[] = {
    {"conv1d", CONV_ARGUMENTS, AUTOCAST_LOW, "1-d convolution", run_conv1d, NULL},
    {"conv2d", CONV_ARGUMENTS, AUTOCAST_LOW, "2-d convolution", run_conv2d, NULL},
    {"conv3d", CONV_ARGUMENTS, AUTOCAST_LOW, "3-d convolution", run_conv3d, NULL},
    {"conv_transpose1d", CONV_ARGUMENTS " output_padding:I?", AUTOCAST_LOW,
     "1-d transposed convolution", run_conv_transpose1d, NULL},
    {"conv_transpose3d", CONV_ARGUMENTS " output_padding:I?", AUTOCAST_LOW,
     "3-d transposed convolution", run_conv_transpose3d, NULL},
    {"conv_transpose2d", CONV_ARGUMENTS " output_padding:I?", AUTOCAST_LOW,
     "2-d transposed convolution", run_conv_transpose2d, NULL},
    {0},
};
