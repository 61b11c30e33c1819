/* norm_vector.c: torch.linalg.vector_norm of order 2 (ATen/native/cuda/ReduceNormKernel.cu); its
 * gradient is norm_backward of torch/csrc/autograd/FunctionsManual.cpp. */
#include "op.h"

/* grad * (self / norm).masked_fill_(norm == 0, 0); saved[0] = self, [1] = result */
static void backward_vector_norm(struct tape *tape, struct node *node, struct tensor **grads,
                                 struct tensor **out) {
    struct tensor *grad = aten_with_dims(tape, node, grads[0]);
    struct tensor *norm = aten_with_dims(tape, node, node->saved[1]);
    struct tensor *both[2] = {node->saved[0], norm};
    struct tensor *unit = elementwise(tape, "div", norm->dtype, both, 2);
    struct tensor *zero = elementwise(tape, "eq", DTYPE_BOOL, &norm, 1);
    elementwise_(tape, "masked_fill", unit, &zero, 1);
    struct tensor *product[2] = {grad, unit};
    out[0] = elementwise(tape, "mul", grad->dtype, product, 2);
    tensor_unref(tape, zero);
    tensor_unref(tape, unit);
    tensor_unref(tape, norm);
    tensor_unref(tape, grad);
}

static const struct backward_op vector_norm_backward = {"LinalgVectorNormBackward0",
                                                        backward_vector_norm};

static void run_vector_norm(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    uint32_t mask = op_dims(tape, call, &call->arg[1]);
    struct node *node = node_create(tape, &vector_norm_backward, &t, 1, 1);
    if (node)
        node->args[0] = mask;
    struct tensor *out = reduce(tape, "vector_norm", t, mask, call->arg[2].integer != 0, t->dtype);
    node_save(tape, node, 0, t);
    node_save(tape, node, 1, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

const struct op ops_norm_vector[] = {
    {"vector_norm", "self:T dim:I? keepdim:b=0", AUTOCAST_FP32, "2-norm", run_vector_norm,
     "aten::linalg_vector_norm"},
    {0},
};
