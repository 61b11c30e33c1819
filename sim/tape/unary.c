/* unary.c: see unary.h. */
#include "unary.h"

/* One kernel from (gradient, saved) to the gradient. */
void unary_backward(struct tape *tape, struct node *node, struct tensor **grads,
                    struct tensor **out) {
    struct tensor *in[2] = {grads[0], node->saved[0]};
    out[0] = elementwise(tape, node->op->name, grads[0]->dtype, in, node->saved[0] ? 2 : 1);
}

void unary(struct tape *tape, struct op_call *call, const struct backward_op *backward,
           enum saves saves) {
    struct tensor *t = call->arg[0].tensor;
    enum dtype dtype =
        dtype_is_float(t->dtype) || saves == SAVES_NOTHING ? t->dtype : DTYPE_FLOAT32;
    struct node *node = node_create(tape, backward, &t, 1, 1);
    if (saves == SAVES_INPUT)
        node_save(tape, node, 0, t);
    struct tensor *out = elementwise(tape, call->op->name, dtype, &t, 1);
    if (saves == SAVES_OUTPUT)
        node_save(tape, node, 0, out);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    call->out[call->out_count++] = out;
}

/* In place: a formula of the result saves it, one of the input saves a clone made before
 * (original_self of the generated VariableType). */
void unary_(struct tape *tape, struct op_call *call, const struct backward_op *backward,
            enum saves saves) {
    struct tensor *t = call->arg[0].tensor;
    struct node *node = node_create(tape, backward, &t, 1, 1);
    if (node && saves == SAVES_INPUT) {
        int64_t stride[TENSOR_MAX_DIMS];
        struct tensor *plain = tape_detach(tape, t);
        strides_preserve(t, stride);
        struct tensor *original = aten_clone_strided(tape, plain, stride);
        node_save(tape, node, 0, original);
        tensor_unref(tape, original);
        tensor_unref(tape, plain);
    }
    elementwise_(tape, call->op->name, t, NULL, 0);
    if (saves == SAVES_OUTPUT)
        node_save(tape, node, 0, t);
    node_rebase(tape, node, t);
    node_finish(tape, node);
    call->out[call->out_count++] = tensor_ref(t);
}
