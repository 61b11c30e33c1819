/* grouped.c: products of groups of rows, one matrix a group (torch.nn.functional.grouped_mm):
 * mixtures of experts.
 *
 *   input [S, i], rows of a group together     weight [G, i, o]     offs [G]: where each group ends
 * ->   [S, o]
 *
 * On sm_90 and sm_100 one CUTLASS kernel runs all groups, of bf16
 * (ATen/native/cuda/GroupedBlas.cpp, GroupMM.cu): beside the output the kernel's arguments of each
 * group and its tensor maps of each multiprocessor. Elsewhere, and for other types, a product a
 * group that has rows, whose workspaces come and go one after the other. Sizes do not depend on the
 * routing; which groups have rows does. */
#include "op.h"

/* GroupMM.cu: a problem shape (3 x 4), pointers to A, B and the output (3 x 8) and their strides (3
 * x 8) a group */
enum { GROUP_ARGUMENT_BYTES = 12 + 3 * 8 + 3 * 8 };
/* CUTLASS' array kernels change tensor maps on the device: for A, B, C and D (framework.h: and one
 * more) a multiprocessor */
enum { TENSOR_MAP_BYTES = 128 };

static bool runs_in_one_kernel(const struct tape *tape, const struct tensor *t) {
    uint32_t sm = tape->device->compute_capability;
    return t->dtype == DTYPE_BFLOAT16 && (sm == 90 || sm == 100 || sm == 103);
}

static void launch(struct tape *tape, struct tensor *a, struct tensor *b, struct tensor *out,
                   int64_t groups, int64_t used, uint64_t flops) {
    if (runs_in_one_kernel(tape, a)) {
        struct tensor *arguments =
            tape_new_bytes(tape, (uint64_t)groups * GROUP_ARGUMENT_BYTES, CATEGORY_TEMPORARY);
        struct tensor *maps =
            tape_new_bytes(tape,
                           (uint64_t)tape->device->multiprocessors *
                               tape->framework->grouped_mm_tensor_maps * TENSOR_MAP_BYTES,
                           CATEGORY_WORKSPACE);
        tape_kernel(tape, "grouped_mm", flops,
                    tensor_nbytes(a) + tensor_nbytes(b) + tensor_nbytes(out), out->dtype);
        tensor_unref(tape, maps);
        tensor_unref(tape, arguments);
        return;
    }
    for (int64_t i = 0; i < used; i++)
        aten_product_workspace(tape);
    tape_kernel(tape, "grouped_mm", flops, tensor_nbytes(a) + tensor_nbytes(b) + tensor_nbytes(out),
                out->dtype);
}

/* saved[0] = input, saved[1] = weight, each where it is wanted; args: [0] groups that have rows, [1]
 * whether the weight is turned. The weight's gradient first, laid out as the weight is */
static void backward_grouped_mm(struct tape *tape, struct node *node, struct tensor **grads,
                                struct tensor **out) {
    struct tensor *input = node->saved[0], *weight = node->saved[1], *grad = grads[0];
    const struct shape *x = &node->edges[0].shape, *w = &node->edges[1].shape;
    uint64_t flops = 2 * (uint64_t)shape_numel(x) * (uint64_t)w->size[2];
    if (node_wants(node, 1)) {
        bool turned = node->args[1] != 0;
        struct shape shape = *w;
        if (turned) {
            shape.size[1] = w->size[2];
            shape.size[2] = w->size[1];
        }
        struct tensor *p = tape_new(tape, node->edges[1].dtype, &shape);
        launch(tape, input, grad, p, w->size[0], node->args[0], flops);
        out[1] = turned ? aten_transpose(tape, p, 1, 2) : tensor_ref(p);
        tensor_unref(tape, p);
    }
    if (node_wants(node, 0)) {
        out[0] = tape_new(tape, node->edges[0].dtype, x);
        launch(tape, grad, weight, out[0], w->size[0], node->args[0], flops);
    }
}

static const struct backward_op grouped_mm_backward = {"GroupedMmBackward0", backward_grouped_mm};

static void run_grouped_mm(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    const struct shape *x = &in[0]->shape, *w = &in[1]->shape;
    if (x->ndim != 2 || w->ndim != 3 || x->size[1] != w->size[1] || in[0]->dtype != in[1]->dtype) {
        char a[128], b[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "grouped_mm: wants rows and a matrix a group, found %s and %s",
                  shape_format(x, a, sizeof a), shape_format(w, b, sizeof b));
        call->out[call->out_count++] = tensor_ref(in[0]);
        return;
    }
    struct node *node = node_create(tape, &grouped_mm_backward, in, 2, 1);
    /* a frozen side's gradient is not wanted, nor is the other kept for it */
    if (node && node_wants(node, 1))
        node_save(tape, node, 0, in[0]);
    if (node && node_wants(node, 0))
        node_save(tape, node, 1, in[1]);
    node_save(tape, node, 2, call->arg[2].tensor);
    int64_t used = call->arg[3].integer < 0 || call->arg[3].integer > w->size[0]
                       ? w->size[0]
                       : call->arg[3].integer;
    if (node) {
        node->args[0] = used;
        node->args[1] = in[1]->stride[1] == 1 && in[1]->stride[2] == w->size[1];
    }
    struct shape shape = {.ndim = 2, .size = {x->size[0], w->size[2]}};
    struct tensor *out = tape_new(tape, in[0]->dtype, &shape);
    launch(tape, in[0], in[1], out, w->size[0], used,
           2 * (uint64_t)shape_numel(x) * (uint64_t)w->size[2]);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

const struct op ops_grouped[] = {
    {"grouped_mm", "input:T weight:T offs:T used:i=-1", AUTOCAST_NONE,
     "rows of each group times the group's matrix; how many groups have rows", run_grouped_mm,
     "aten::_grouped_mm"},
    {0},
};
