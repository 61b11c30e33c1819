/* fused.c: optimizer steps as one kernel a list; they ask for nothing. */
#include "op.h"

static void run_fused(struct tape *tape, struct op_call *call) {
    struct op_arg *params = &call->arg[0];
    uint64_t bytes = 0, elements = 0;
    for (unsigned a = 0; a < OP_MAX_ARGS; a++)
        for (size_t i = 0; i < call->arg[a].list_count; i++)
            bytes += 2 * tensor_nbytes(call->arg[a].list[i]);
    for (size_t i = 0; i < params->list_count; i++)
        elements += (uint64_t)shape_numel(&params->list[i]->shape);
    tape_kernel(tape, call->op->name, 12 * elements, bytes,
                params->list_count ? params->list[0]->dtype : DTYPE_FLOAT32);
}

const struct op ops_fused[] = {
    {"fused_adam_", "self:L grads:L exp_avgs:L exp_avg_sqs:L max_exp_avg_sqs:L state_steps:L",
     AUTOCAST_NONE, "Adam and AdamW", run_fused, "aten::_fused_adamw_"},
    {"fused_sgd_", "self:L grads:L momentum_buffers:L?", AUTOCAST_NONE, "SGD", run_fused,
     "aten::_fused_sgd_"},
    {"fused_adagrad_", "self:L grads:L state_sums:L state_steps:L", AUTOCAST_NONE, "Adagrad",
     run_fused, "aten::_fused_adagrad_"},
    {0},
};
