/* op_call.c: what the rows of all op files use of a call. */
#include "op.h"

const char *const op_dtype_marker = "dtype";

void op_give(struct op_call *call, struct tensor *t) {
    call->out[call->out_count++] = t;
}

void op_give_recorded(struct tape *tape, struct op_call *call, struct node *node,
                      struct tensor *out) {
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

unsigned op_dim(struct tape *tape, const struct op_call *call, const struct op_arg *arg) {
    const struct shape *shape = &call->arg[0].tensor->shape;
    unsigned dim = 0;
    if (!shape_wrap_dim(shape, arg->integer, &dim))
        tape_fail(tape, ERROR_BAD_SCENARIO, "%s: dim %lld of a tensor of %u dims", call->op->name,
                  (long long)arg->integer, shape->ndim);
    return dim;
}

uint32_t op_dims(struct tape *tape, const struct op_call *call, const struct op_arg *arg) {
    const struct shape *shape = &call->arg[0].tensor->shape;
    uint32_t mask = 0;
    for (unsigned i = 0; i < arg->shape.ndim; i++) {
        unsigned dim = 0;
        if (!shape_wrap_dim(shape, arg->shape.size[i], &dim))
            tape_fail(tape, ERROR_BAD_SCENARIO, "%s: dim %lld of a tensor of %u dims",
                      call->op->name, (long long)arg->shape.size[i], shape->ndim);
        mask |= UINT32_C(1) << dim;
    }
    return arg->shape.ndim > 0 ? mask : (UINT32_C(1) << shape->ndim) - 1;
}

void op_refuse_gradient(struct tape *tape, const struct op_call *call) {
    bool recorded = false;
    for (unsigned i = 0; i < OP_MAX_ARGS; i++) {
        const struct op_arg *arg = &call->arg[i];
        recorded = recorded || (arg->tensor && arg->tensor->requires_grad);
        for (size_t k = 0; k < arg->list_count; k++)
            recorded = recorded || (arg->list[k] && arg->list[k]->requires_grad);
    }
    if (recorded && tape->grad_enabled)
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "%s: its gradient is not modelled yet; call it under no_grad", call->op->name);
}
