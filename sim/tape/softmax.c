/* softmax.c: softmax and log_softmax (ATen/native/SoftMax.cpp, cuda/SoftMax.cu). With a dtype the
 * input is cast first, but for fp16 to fp32, which the kernel does itself. */
#include "op.h"

/* _softmax_backward_data: the gradient, and while it runs grad * output, contiguous. args: [0] the input's type
 */
static void backward_softmax(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    struct tensor *in[2] = {grads[0], node->saved[0]};
    out[0] = tape_new(tape, (enum dtype)node->args[0], &grads[0]->shape);
    struct tensor *product = elementwise(tape, "mul", grads[0]->dtype, in, 2);
    struct tensor *rows = aten_contiguous(tape, product);
    tape_kernel(tape, "softmax_backward", 2 * (uint64_t)shape_numel(&grads[0]->shape),
                tensor_nbytes(product) + tensor_nbytes(in[1]) + tensor_nbytes(out[0]),
                grads[0]->dtype);
    tensor_unref(tape, rows);
    tensor_unref(tape, product);
}

static void backward_log_softmax(struct tape *tape, struct node *node, struct tensor **grads,
                                 struct tensor **out) {
    out[0] = tape_new(tape, (enum dtype)node->args[0], &grads[0]->shape);
    struct tensor *grad = aten_contiguous(tape, grads[0]);
    tape_kernel(tape, "log_softmax_backward", 3 * (uint64_t)shape_numel(&grads[0]->shape),
                2 * tensor_nbytes(grads[0]) + tensor_nbytes(out[0]), grads[0]->dtype);
    tensor_unref(tape, grad);
}

static const struct backward_op softmax_backward = {"SoftmaxBackward0", backward_softmax};
static const struct backward_op log_softmax_backward = {"LogSoftmaxBackward0",
                                                        backward_log_softmax};

static struct tensor *softmax(struct tape *tape, struct tensor *t, enum dtype dtype,
                              const char *name, const struct backward_op *backward) {
    bool in_kernel = t->dtype == DTYPE_FLOAT16 && dtype == DTYPE_FLOAT32;
    struct tensor *input = in_kernel ? tensor_ref(t) : aten_to(tape, t, dtype);
    struct node *node = node_create(tape, backward, &input, 1, 1);
    struct tensor *out = tape_new(tape, dtype, &t->shape);
    bool recording = tape->grad_enabled;
    tape->grad_enabled = false; /* the copy is the kernel's own */
    struct tensor *contiguous = aten_contiguous(tape, input);
    tape->grad_enabled = recording;
    tape_kernel(tape, name, 5 * (uint64_t)shape_numel(&t->shape),
                tensor_nbytes(input) + tensor_nbytes(out), dtype);
    tensor_unref(tape, contiguous);
    if (node)
        node->args[0] = input->dtype;
    node_save(tape, node, 0, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, input);
    return out;
}

struct tensor *aten_softmax(struct tape *tape, struct tensor *t) {
    return softmax(tape, t, t->dtype, "softmax", &softmax_backward);
}

static enum dtype dtype_or(const struct op_call *call) {
    return call->arg[2].given ? (enum dtype)call->arg[2].integer : call->arg[0].tensor->dtype;
}

static void run_softmax(struct tape *tape, struct op_call *call) {
    op_dim(tape, call, &call->arg[1]);
    call->out[call->out_count++] =
        softmax(tape, call->arg[0].tensor, dtype_or(call), "softmax", &softmax_backward);
}

static void run_log_softmax(struct tape *tape, struct op_call *call) {
    op_dim(tape, call, &call->arg[1]);
    call->out[call->out_count++] =
        softmax(tape, call->arg[0].tensor, dtype_or(call), "log_softmax", &log_softmax_backward);
}

const struct op ops_softmax[] = {
    {"softmax", "self:T dim:i dtype:d?", AUTOCAST_FP32_DTYPE, "softmax over a dim", run_softmax,
     NULL},
    {"log_softmax", "self:T dim:i dtype:d?", AUTOCAST_FP32_DTYPE, "logarithm of softmax",
     run_log_softmax, NULL},
    {0},
};
