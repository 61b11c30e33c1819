/* norm_group.c: group normalisation (ATen/native/group_norm.cpp, cuda/group_norm_kernel.cu). Images
 * in channels_last stay so where the release's kernel can read them; any other input that is not
 * contiguous is copied for the kernel alone, after the results are there. */
#include "memory_format.h"
#include "op.h"

static enum dtype accumulator(const struct tensor *t) {
    return t->dtype == DTYPE_FLOAT16 || t->dtype == DTYPE_BFLOAT16 ? DTYPE_FLOAT32 : t->dtype;
}

/* What the kernel reads and writes (framework.h). */
static enum memory_format kernel_format(const struct tape *tape, const struct tensor *input) {
    return tape->framework->group_norm_layout == GROUP_NORM_AS_IT_LIES
               ? tensor_suggest_format(input)
               : FORMAT_CONTIGUOUS;
}

static int64_t image_size(const struct shape *shape) {
    int64_t n = 1;
    for (unsigned i = 2; i < shape->ndim; i++)
        n *= shape->size[i];
    return n;
}

static void drop(struct tape *tape, struct tensor **list, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        tensor_unref(tape, list[i]);
}

/* saved: [0] input, [1] weight, [2] mean, [3] rstd; args: [0] groups. The factors ds, db, c2, c3,
 * c1 are asked for in this order; for single values (images of one element) only c2 and c3, in
 * channels_last all but c1 (seen in 2.15). */
static void backward_group_norm(struct tape *tape, struct node *node, struct tensor **grads,
                                struct tensor **out) {
    struct tensor *input = node->saved[0], *weight = node->saved[1];
    int64_t n = input->shape.size[0], c = input->shape.size[1];
    struct shape channels = {.ndim = 1, .size = {c}}, by_channel = {.ndim = 2, .size = {n, c}};
    struct shape by_group = {.ndim = 2, .size = {n, node->args[0]}};
    enum memory_format format = kernel_format(tape, input);
    struct tensor *grad = aten_contiguous_format(tape, grads[0], format);
    struct tensor *x = aten_contiguous_format(tape, input, format);
    bool single = image_size(&input->shape) == 1;
    if (node_wants(node, 0))
        out[0] = tape_new_format(tape, x->dtype, &x->shape, format);
    if (node_wants(node, 1))
        out[1] = tape_new(tape, weight->dtype, &channels);
    if (node->edge_count > 2 && node_wants(node, 2))
        out[2] = tape_new(tape, weight ? weight->dtype : x->dtype, &channels);
    struct tensor *factors[5] = {NULL};
    if (!single || !tape->framework->group_norm_single_is_short) {
        factors[0] = tape_new(tape, accumulator(x), &by_channel);
        factors[1] = tape_new(tape, accumulator(x), &by_channel);
    }
    if (out[0]) {
        factors[2] = tape_new(tape, accumulator(x), &by_group);
        factors[3] = tape_new(tape, accumulator(x), &by_group);
        if (weight && !single && format != FORMAT_CHANNELS_LAST)
            factors[4] = tape_new(tape, accumulator(x), &by_channel);
    }
    tape_kernel(tape, "group_norm_backward", 10 * (uint64_t)shape_numel(&x->shape),
                5 * tensor_nbytes(x), x->dtype);
    drop(tape, factors, 5);
    tensor_unref(tape, grad);
    tensor_unref(tape, x);
}

static const struct backward_op group_norm_backward = {"NativeGroupNormBackward0",
                                                       backward_group_norm};

static struct tensor *group_norm(struct tape *tape, struct tensor *const *in, int64_t groups) {
    struct tensor *input = in[0];
    struct shape by_group = {.ndim = 2, .size = {input->shape.size[0], groups}};
    struct shape by_channel = {.ndim = 2, .size = {input->shape.size[0], input->shape.size[1]}};
    enum memory_format format = kernel_format(tape, input);
    struct node *node = node_create(tape, &group_norm_backward, in, 3, 1);
    bool recording = tape->grad_enabled;
    tape->grad_enabled = false;
    enum dtype statistics = in[1] ? in[1]->dtype : input->dtype;
    struct tensor *out = tape_new_format(tape, input->dtype, &input->shape, format);
    struct tensor *mean = tape_new(tape, statistics, &by_group);
    struct tensor *rstd = tape_new(tape, statistics, &by_group);
    struct tensor *x = aten_contiguous_format(tape, input, format);
    struct tensor *temporary[4] = {NULL};
    if (accumulator(x) != x->dtype && tape->framework->group_norm_float_statistics) {
        temporary[0] = tape_new(tape, DTYPE_FLOAT32, &by_group);
        temporary[1] = tape_new(tape, DTYPE_FLOAT32, &by_group);
    }
    if (image_size(&input->shape) != 1 && (in[1] || in[2])) {
        temporary[2] = tape_new(tape, accumulator(x), &by_channel);
        temporary[3] = tape_new(tape, accumulator(x), &by_channel);
    }
    tape_kernel(tape, "group_norm", 5 * (uint64_t)shape_numel(&x->shape), 3 * tensor_nbytes(x),
                x->dtype);
    drop(tape, temporary, 4);
    tensor_unref(tape, x);
    if (node)
        node->args[0] = groups;
    node_save(tape, node, 0, input);
    node_save(tape, node, 1, in[1]);
    node_save(tape, node, 2, mean);
    node_save(tape, node, 3, rstd);
    tape->grad_enabled = recording;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, mean);
    tensor_unref(tape, rstd);
    return out;
}

static void run_group_norm(struct tape *tape, struct op_call *call) {
    struct tensor *in[3] = {call->arg[0].tensor, call->arg[2].tensor, call->arg[3].tensor};
    int64_t groups = call->arg[1].integer;
    if (in[0]->shape.ndim < 2 || groups < 1 || in[0]->shape.size[1] % groups != 0) {
        char text[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "group_norm: %lld groups of %s", (long long)groups,
                  shape_format(&in[0]->shape, text, sizeof text));
        call->out[call->out_count++] = tensor_ref(in[0]);
        return;
    }
    struct tensor *copied = NULL; /* by an op of its own, which autograd records */
    if (tape->framework->group_norm_layout == GROUP_NORM_COPIED)
        in[0] = copied = aten_contiguous(tape, in[0]);
    call->out[call->out_count++] = group_norm(tape, in, groups);
    tensor_unref(tape, copied);
}

const struct op ops_norm_group[] = {
    {"group_norm", "input:T num_groups:i weight:T? bias:T?", AUTOCAST_FP32,
     "normalisation of groups of channels", run_group_norm, "aten::native_group_norm"},
    {0},
};
