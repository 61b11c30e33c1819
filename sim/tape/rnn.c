/* rnn.c: the fused cells of PyTorch's own LSTM and GRU on a GPU (ATen/native/cuda/RNN.cu): one kernel from
 * the two products of gates. The layers around it are composed in scenarios/lib/rnn.lua, as
 * ATen/native/RNN.cpp does. */
#include "op.h"

/* saved: [0] input_gates, [1] hidden_gates, [2] cx, [3] input_bias, [4] hidden_bias, [5] cy, [6]
 * workspace (derivatives.yaml names them all). Both gate gradients are one tensor, and so are both
 * bias gradients. */
static void backward_cell(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    struct tensor *cx = node->saved[2], *workspace = node->saved[6];
    (void)grads; /* an undefined one counts as zeros inside the kernel */
    out[0] = tape_new(tape, workspace->dtype, &workspace->shape);
    out[1] = tensor_ref(out[0]);
    out[2] = tape_new(tape, cx->dtype, &cx->shape);
    tape_kernel(tape, "lstm_cell_backward", 10 * (uint64_t)shape_numel(&workspace->shape),
                2 * tensor_nbytes(workspace) + 5 * tensor_nbytes(cx), cx->dtype);
    if (node->saved[3]) {
        out[3] = reduce(tape, "sum", out[0], 1, false, out[0]->dtype);
        out[4] = tensor_ref(out[3]);
    }
    for (unsigned i = 0; i < node->edge_count; i++)
        if (out[i] && !node_wants(node, i)) {
            tensor_unref(tape, out[i]);
            out[i] = NULL;
        }
}

static const struct backward_op cell_backward = {"ThnnFusedLstmCellBackward0", backward_cell};

static bool fits(const struct tensor *gates, const struct tensor *hidden_gates,
                 const struct tensor *cx) {
    return gates->shape.ndim == 2 && cx->shape.ndim == 2 &&
           shape_equal(&gates->shape, &hidden_gates->shape) &&
           gates->shape.size[0] == cx->shape.size[0] &&
           gates->shape.size[1] == 4 * cx->shape.size[1];
}

static void run_lstm_cell(struct tape *tape, struct op_call *call) {
    struct tensor *in[5];
    for (unsigned i = 0; i < 5; i++)
        in[i] = call->arg[i].tensor;
    if (!fits(in[0], in[1], in[2])) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: gates %s do not fit cells %s", call->op->name,
                  shape_format(&in[0]->shape, a, sizeof a),
                  shape_format(&in[2]->shape, b, sizeof b));
        for (unsigned i = 0; i < 3; i++)
            call->out[call->out_count++] = tensor_ref(in[2]);
        return;
    }
    struct node *node = node_create(tape, &cell_backward, in, 5, 3);
    struct tensor *workspace = tape_new(tape, in[0]->dtype, &in[0]->shape);
    struct tensor *hy = tape_new(tape, in[2]->dtype, &in[2]->shape);
    struct tensor *cy = tape_new(tape, in[2]->dtype, &in[2]->shape);
    tape_kernel(tape, "lstm_cell", 10 * (uint64_t)shape_numel(&workspace->shape),
                3 * tensor_nbytes(workspace) + 3 * tensor_nbytes(cy), cy->dtype);
    for (unsigned i = 0; i < 5; i++)
        node_save(tape, node, i, in[i]);
    node_save(tape, node, 5, cy);
    node_save(tape, node, 6, workspace);
    node_set_output(node, hy, 0);
    node_set_output(node, cy, 1);
    node_finish(tape, node);
    call->out[call->out_count++] = hy;
    call->out[call->out_count++] = cy;
    call->out[call->out_count++] = workspace;
}

/* ---- GRU ---- */

/* saved: [0] input_gates, [1] hidden_gates, [2] hx, [3] input_bias, [4] hidden_bias, [5]
 * workspace. */
static void backward_gru(struct tape *tape, struct node *node, struct tensor **grads,
                         struct tensor **out) {
    struct tensor *gates = node->saved[0], *hx = node->saved[2];
    (void)grads;
    out[0] = tape_new(tape, gates->dtype, &gates->shape);
    out[1] = tape_new(tape, gates->dtype, &gates->shape);
    out[2] = tape_new(tape, hx->dtype, &hx->shape);
    tape_kernel(tape, "gru_cell_backward", 10 * (uint64_t)shape_numel(&gates->shape),
                3 * tensor_nbytes(gates) + 3 * tensor_nbytes(hx), hx->dtype);
    for (unsigned i = 3; i < 5 && node->saved[3]; i++)
        out[i] = reduce(tape, "sum", out[i - 3], 1, false, gates->dtype);
    for (unsigned i = 0; i < node->edge_count; i++)
        if (out[i] && !node_wants(node, i)) {
            tensor_unref(tape, out[i]);
            out[i] = NULL;
        }
}

static const struct backward_op gru_backward = {"ThnnFusedGruCellBackward0", backward_gru};

static bool gru_fits(const struct tensor *gates, const struct tensor *hidden_gates,
                     const struct tensor *hx) {
    return gates->shape.ndim == 2 && hx->shape.ndim == 2 &&
           shape_equal(&gates->shape, &hidden_gates->shape) &&
           gates->shape.size[0] == hx->shape.size[0] &&
           gates->shape.size[1] == 3 * hx->shape.size[1];
}

static void run_gru_cell(struct tape *tape, struct op_call *call) {
    struct tensor *in[5];
    for (unsigned i = 0; i < 5; i++)
        in[i] = call->arg[i].tensor;
    if (!gru_fits(in[0], in[1], in[2])) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: gates %s do not fit states %s", call->op->name,
                  shape_format(&in[0]->shape, a, sizeof a),
                  shape_format(&in[2]->shape, b, sizeof b));
        for (unsigned i = 0; i < 2; i++)
            op_give(call, tensor_ref(in[2]));
        return;
    }
    struct node *node = node_create(tape, &gru_backward, in, 5, 1);
    struct shape shape = in[2]->shape;
    shape.size[1] *= 5;
    struct tensor *workspace = tape_new(tape, in[2]->dtype, &shape);
    struct tensor *hy = tape_new(tape, in[2]->dtype, &in[2]->shape);
    tape_kernel(tape, "gru_cell", 10 * (uint64_t)shape_numel(&in[0]->shape),
                3 * tensor_nbytes(workspace), hy->dtype);
    for (unsigned i = 0; i < 5; i++)
        node_save(tape, node, i, in[i]);
    node_save(tape, node, 5, workspace);
    node_set_output(node, hy, 0);
    node_finish(tape, node);
    op_give(call, hy);
    op_give(call, workspace);
}

const struct op ops_rnn[] = {
    {"thnn_fused_gru_cell", "input_gates:T hidden_gates:T hx:T input_bias:T? hidden_bias:T?",
     AUTOCAST_LOW, "one step of a GRU: hidden state, workspace", run_gru_cell,
     "aten::_thnn_fused_gru_cell"},
    {"thnn_fused_lstm_cell", "input_gates:T hidden_gates:T cx:T input_bias:T? hidden_bias:T?",
     AUTOCAST_LOW, "one step of an LSTM: hidden state, cell state, workspace", run_lstm_cell,
     "aten::_thnn_fused_lstm_cell"},
    {0},
};
