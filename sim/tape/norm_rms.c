/* norm_rms.c: _fused_rms_norm (ATen/native/cuda/layer_norm_kernel.cu, 2.9 and later): the reciprocal
 * root of a row's mean square is kept in float32. */
#include "op.h"

/* The results, then a contiguous copy of the gradient. saved: [0] input, [1] weight, [2] rstd */
static void backward_rms_norm(struct tape *tape, struct node *node, struct tensor **grads,
                              struct tensor **out) {
    struct tensor *input = aten_contiguous(tape, node->saved[0]), *weight = node->saved[1];
    out[0] = tape_new(tape, input->dtype, &input->shape);
    if (weight)
        out[1] = tape_new(tape, weight->dtype, &weight->shape);
    struct tensor *grad = aten_contiguous(tape, grads[0]);
    tape_kernel(tape, "rms_norm_backward", 6 * (uint64_t)shape_numel(&input->shape),
                3 * tensor_nbytes(input), input->dtype);
    tensor_unref(tape, grad);
    for (unsigned i = 0; i < 2; i++)
        if (out[i] && !node_wants(node, i)) {
            tensor_unref(tape, out[i]);
            out[i] = NULL;
        }
    tensor_unref(tape, input);
}

static const struct backward_op rms_norm_backward = {"FusedRmsNormBackward0", backward_rms_norm};

static void run_rms_norm(struct tape *tape, struct op_call *call) {
    enum { MANY_ROWS = 64 * 1024 };
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[2].tensor};
    const struct shape *normalized = &call->arg[1].shape;
    struct shape rows = in[0]->shape;
    bool fits = normalized->ndim >= 1 && normalized->ndim <= rows.ndim;
    rows.ndim = fits ? rows.ndim - normalized->ndim : 0;
    for (unsigned i = 0; fits && i < normalized->ndim; i++)
        fits = in[0]->shape.size[rows.ndim + i] == normalized->size[i];
    if (!fits || (in[1] && in[1]->dtype != in[0]->dtype)) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "rms_norm: %s of %s: wants the last dims, and a weight of the input's type",
                  shape_format(normalized, a, sizeof a), shape_format(&in[0]->shape, b, sizeof b));
        op_give(call, tensor_ref(in[0]));
        return;
    }
    if (shape_numel(&rows) > MANY_ROWS && in[1] && in[1]->requires_grad)
        tape_fail(tape, ERROR_BAD_SCENARIO, "rms_norm: more than %d rows are not modelled",
                  MANY_ROWS);
    struct node *node = node_create(tape, &rms_norm_backward, in, 2, 1);
    bool recording = tape->grad_enabled;
    tape->grad_enabled = false; /* the copy is below autograd */
    struct tensor *input = aten_contiguous(tape, in[0]);
    tape->grad_enabled = recording;
    for (unsigned i = 0; i < normalized->ndim; i++)
        rows.size[rows.ndim++] = 1;
    struct tensor *out = tape_new(tape, in[0]->dtype, &in[0]->shape);
    struct tensor *rstd = tape_new(tape, DTYPE_FLOAT32, &rows);
    tape_kernel(tape, "rms_norm", 4 * (uint64_t)shape_numel(&in[0]->shape),
                2 * tensor_nbytes(in[0]), in[0]->dtype);
    node_save(tape, node, 0, in[0]);
    node_save(tape, node, 1, in[1]);
    node_save(tape, node, 2, rstd);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, rstd);
    tensor_unref(tape, input);
    op_give(call, out);
}

const struct op ops_norm_rms[] = {
    {"rms_norm", "input:T normalized_shape:I weight:T?", AUTOCAST_NONE,
     "mean square 1 over the last dims, scaled", run_rms_norm, "aten::_fused_rms_norm"},
    {0},
};
