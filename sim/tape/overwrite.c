/* overwrite.c: ops that write over all of a tensor. */
#include "op.h"

static void run_copy_(struct tape *tape, struct op_call *call) {
    op_refuse_gradient(tape, call);
    elementwise_(tape, "copy", call->arg[0].tensor, &call->arg[1].tensor, 1);
    call->out[call->out_count++] = tensor_ref(call->arg[0].tensor);
}

static void run_fill_(struct tape *tape, struct op_call *call) {
    op_refuse_gradient(tape, call);
    elementwise_(tape, "fill", call->arg[0].tensor, NULL, 0);
    call->out[call->out_count++] = tensor_ref(call->arg[0].tensor);
}

const struct op ops_overwrite[] = {
    {"copy_", "self:T src:T", AUTOCAST_NONE, "overwrite self with src", run_copy_, NULL},
    {"fill_", "self:T", AUTOCAST_NONE, "overwrite self (also normal_, uniform_, zero_)", run_fill_,
     NULL},
    {0},
};
