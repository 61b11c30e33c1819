/* scan.c: running sums (ATen/native/cuda/ScanKernels.cpp). The output comes first; a bool or narrow
 * integer input is cast to int64 for the kernel. When the whole tensor is one run CUB does it, with
 * temporary storage. */
#include "cub.h"
#include "op.h"

static void run_cumsum(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    unsigned dim = op_dim(tape, call, &call->arg[1]);
    if (tape->grad_enabled && t->requires_grad)
        tape_fail(tape, ERROR_BAD_SCENARIO, "cumsum: its gradient is not modelled yet");
    enum dtype dtype = call->arg[2].given         ? (enum dtype)call->arg[2].integer
                       : dtype_is_float(t->dtype) ? t->dtype
                                                  : DTYPE_INT64;
    uint64_t (*scan_bytes)(uint64_t) = dtype_bytes(dtype) == 4 ? cub_scan4_bytes : cub_scan_bytes;
    struct tensor *out = tape_new(tape, dtype, &t->shape);
    struct tensor *input = aten_to(tape, t, dtype), *temporary = NULL;
    if (t->shape.ndim > 0 && shape_numel(&t->shape) == t->shape.size[dim])
        temporary =
            tape_new_bytes(tape, scan_bytes((uint64_t)shape_numel(&t->shape)), CATEGORY_TEMPORARY);
    tape_kernel(tape, "cumsum", (uint64_t)shape_numel(&t->shape), 2 * tensor_nbytes(out), dtype);
    tensor_unref(tape, temporary);
    tensor_unref(tape, input);
    call->out[call->out_count++] = out;
}

const struct op ops_scan[] = {
    {"cumsum", "self:T dim:i dtype:d?", AUTOCAST_FP32, "running sum over a dim", run_cumsum, NULL},
    {0},
};
