/* dropout.c: native_dropout (ATen/native/cuda/Dropout.cu): a mask of a byte an element, then the
 * output. Without training or at p = 0 it is the input itself; p = 1, a product
 * with zeros, is refused. */
#include "op.h"

/* masked_scale: the result lies in the gradient's suggested memory format: contiguous, or channels
 * last where it is that. */
static void backward_dropout(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    struct tensor *grad = grads[0];
    bool channels_last = grad->shape.ndim >= 4 && grad->stride[1] == 1 && tensor_is_dense(grad);
    out[0] = tape_new_strided(tape, grad->dtype, &grad->shape, channels_last ? grad->stride : NULL);
    tape_kernel(tape, "dropout_backward", (uint64_t)shape_numel(&grad->shape),
                2 * tensor_nbytes(grad) + tensor_nbytes(node->saved[0]), grad->dtype);
}

static const struct backward_op dropout_backward = {"NativeDropoutBackward0", backward_dropout};

struct tensor *aten_dropout(struct tape *tape, struct tensor *t) {
    struct node *node = node_create(tape, &dropout_backward, &t, 1, 1);
    struct tensor *mask = elementwise(tape, "bernoulli", DTYPE_BOOL, &t, 1);
    struct tensor *out = elementwise(tape, "dropout", t->dtype, &t, 1);
    node_save(tape, node, 0, mask);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, mask);
    return out;
}

/* dropout.cpp, is_fused_kernel_acceptable: without a gradient the mask is not kept but made all the
 * same */
static void run_dropout(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    double p = call->arg[1].number;
    bool training = call->arg[2].integer != 0;
    if (p < 0 || p >= 1)
        tape_fail(tape, ERROR_BAD_SCENARIO, "dropout: p is %g; it must be in [0, 1)", p);
    call->out[call->out_count++] = p == 0 || !training ? tensor_ref(t) : aten_dropout(tape, t);
}

const struct op ops_dropout[] = {
    {"dropout", "input:T p:f training:b=1", AUTOCAST_NONE, "elements zeroed at random", run_dropout,
     NULL},
    {0},
};
