/* norm_layer.c: layer normalisation (ATen/native/layer_norm.cpp, cuda/layer_norm_kernel.cu). Mean
 * and rstd of a row in fp32 (or wider) are kept, the rest is recomputed. */
#include "op.h"

enum {
    SAVED_INPUT,
    SAVED_WEIGHT,
    SAVED_BIAS,
    SAVED_MEAN,
    SAVED_RSTD,
    GAMMA_COLUMNS = 32,
    GAMMA_ROWS = 32,
    GAMMA_MAX_GRID = 64 * 1024 / 2,
    GAMMA_MANY_ROWS = 64 * 1024,
};

struct rows {
    int64_t count, width;
};

/* The last `normalized` dims are a row. */
static struct rows rows_of(const struct shape *shape, unsigned normalized) {
    struct rows r = {1, 1};
    for (unsigned i = 0; i < shape->ndim; i++)
        if (i + normalized < shape->ndim)
            r.count *= shape->size[i];
        else
            r.width *= shape->size[i];
    return r;
}

/* Very many narrow rows are summed in blocks of 32, then over the blocks
 * (LaunchGammaBetaBackwardCUDAKernel); else one kernel does it without memory. The blocks a result
 * is summed from, 0 = none. */
static int64_t partial_rows(const struct device *device, const struct rows *r) {
    if (r->count <= GAMMA_MANY_ROWS ||
        r->width / GAMMA_COLUMNS >= (int64_t)device->multiprocessors / 2)
        return 0;
    int64_t columns = size_div_up(r->width, GAMMA_COLUMNS);
    int64_t blocks = size_div_up(r->count, GAMMA_ROWS), most = GAMMA_MAX_GRID / columns;
    return blocks < most ? blocks : most;
}

/* Replaces the gradients of weight and bias by sums over their blocks; both blocks are there before
 * the first sum. */
static void sum_partials(struct tape *tape, struct tensor **out, int64_t blocks, int64_t width) {
    struct shape shape = {.ndim = 2, .size = {blocks, width}};
    struct tensor *partial[3] = {NULL};
    for (unsigned i = 1; i < 3; i++)
        if (out[i])
            partial[i] = tape_new(tape, out[i]->dtype, &shape);
    for (unsigned i = 1; i < 3; i++) {
        if (!out[i])
            continue;
        struct tensor *sum = reduce(tape, "sum", partial[i], 1u, false, partial[i]->dtype);
        tensor_unref(tape, out[i]);
        out[i] = sum;
    }
    tensor_unref(tape, partial[2]);
    tensor_unref(tape, partial[1]);
}

/* args: [0] normalized dims. Edges: input, weight, bias; all three come from one call, in this
 * order. */
static void backward_layer_norm(struct tape *tape, struct node *node, struct tensor **grads,
                                struct tensor **out) {
    struct tensor *input = aten_contiguous(tape, node->saved[SAVED_INPUT]);
    struct rows r = rows_of(&input->shape, (unsigned)node->args[0]);
    if (node_wants(node, 0))
        out[0] = tape_new(tape, input->dtype, &input->shape);
    for (unsigned i = 1; i < 3; i++)
        if (node_wants(node, i))
            out[i] = tape_new(tape, node->saved[i]->dtype, &node->saved[i]->shape);
    struct tensor *grad =
        aten_contiguous(tape, grads[0]); /* the kernel's own copy, after the results */
    int64_t blocks = partial_rows(tape->device, &r);
    if (blocks > 0)
        sum_partials(tape, out, blocks, r.width);
    tape_kernel(tape, "layer_norm_backward", 8 * (uint64_t)shape_numel(&input->shape),
                3 * tensor_nbytes(input), input->dtype);
    tensor_unref(tape, grad);
    tensor_unref(tape, input);
}

static const struct backward_op layer_norm_backward = {"NativeLayerNormBackward0",
                                                       backward_layer_norm};

/* One number a row: the leading dims, and 1 for each normalized one. */
static struct tensor *new_statistic(struct tape *tape, const struct tensor *t,
                                    unsigned normalized) {
    struct shape shape = t->shape;
    for (unsigned i = shape.ndim - normalized; i < shape.ndim; i++)
        shape.size[i] = 1;
    return tape_new(tape, t->dtype == DTYPE_FLOAT64 ? DTYPE_FLOAT64 : DTYPE_FLOAT32, &shape);
}

static bool check_layer_norm(struct tape *tape, const struct tensor *t,
                             const struct shape *normalized, const struct tensor *weight) {
    bool fits = normalized->ndim > 0 && normalized->ndim <= t->shape.ndim;
    for (unsigned i = 0; fits && i < normalized->ndim; i++)
        fits = t->shape.size[t->shape.ndim - normalized->ndim + i] == normalized->size[i];
    fits = fits && (!weight || shape_equal(&weight->shape, normalized));
    if (!fits) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "layer_norm: input %s does not end in the normalized shape %s",
                  shape_format(&t->shape, a, sizeof a), shape_format(normalized, b, sizeof b));
    }
    return fits;
}

/* input normalized_shape weight bias */
static void run_layer_norm(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor, *weight = call->arg[2].tensor,
                  *bias = call->arg[3].tensor;
    unsigned normalized = call->arg[1].shape.ndim;
    if (!check_layer_norm(tape, t, &call->arg[1].shape, weight)) {
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    struct tensor *in[3] = {t, weight, bias};
    struct node *node = node_create(tape, &layer_norm_backward, in, 3, 1);
    bool grad = tape->grad_enabled; /* the copy is below autograd */
    tape->grad_enabled = false;
    struct tensor *contiguous = aten_contiguous(tape, t);
    tape->grad_enabled = grad;
    struct tensor *out = tape_new(tape, t->dtype, &t->shape);
    struct tensor *mean = new_statistic(tape, t, normalized),
                  *rstd = new_statistic(tape, t, normalized);
    tape_kernel(tape, "layer_norm", 8 * (uint64_t)shape_numel(&t->shape), 2 * tensor_nbytes(t),
                t->dtype);
    tensor_unref(tape, contiguous);
    struct tensor *saved[] = {t, weight, bias, mean, rstd};
    static const unsigned by_name[] = {2, 0, 1, 3, 4};
    for (unsigned i = 0; i < sizeof saved / sizeof saved[0]; i++)
        node_save(tape, node, by_name[i], saved[by_name[i]]);
    if (node)
        node->args[0] = normalized;
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, mean);
    tensor_unref(tape, rstd);
    call->out[call->out_count++] = out;
}

const struct op ops_norm[] = {
    {"layer_norm", "input:T normalized_shape:I weight:T? bias:T?", AUTOCAST_FP32,
     "mean 0 and variance 1 over the last dims, scaled and shifted", run_layer_norm, NULL},
    {0},
};
