/* nonzero.c: where a tensor is not zero. How many places there are depends on values, so the
 * scenario says it. Source: ATen/native/cuda/Nonzero.cu. */
#include "cub.h"
#include "op.h"

/* The count is summed and read by the host; then places are selected from the numbers of all
 * elements, flat at first, and taken apart in the output, a row a dim. */
static void run_nonzero(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    int64_t n = shape_numel(&t->shape), count = call->arg[1].integer;
    if (t->shape.ndim == 0 || n > INT32_MAX || count < 0 || count > n) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "nonzero: %lld places of a tensor %s", (long long)count,
                  shape_format(&t->shape, a, sizeof a));
        op_give(call, tensor_ref(t));
        return;
    }
    struct tensor *contiguous = aten_contiguous(tape, t);
    struct tensor *found = tape_new_bytes(tape, sizeof(int32_t), CATEGORY_TEMPORARY);
    tensor_unref(
        tape, tape_new_bytes(tape, cub_sum_bytes(tape->device, (uint64_t)n), CATEGORY_TEMPORARY));
    tape_kernel(tape, "nonzero", (uint64_t)n, tensor_nbytes(t), t->dtype);
    struct shape shape = {.ndim = 2, .size = {t->shape.ndim, count}};
    struct tensor *out = tape_new(tape, DTYPE_INT64, &shape);
    tensor_unref(tape,
                 tape_new_bytes(tape, cub_select_bytes(tape->framework, tape->device, (uint64_t)n),
                                CATEGORY_TEMPORARY));
    tape_kernel(tape, "nonzero", (uint64_t)n, tensor_nbytes(t) + tensor_nbytes(out), t->dtype);
    tensor_unref(tape, found);
    tensor_unref(tape, contiguous);
    op_give(call, aten_t(tape, out));
    tensor_unref(tape, out);
}

const struct op ops_nonzero[] = {
    {"nonzero", "self:T count:i", AUTOCAST_NONE,
     "where self is not zero; count: in how many places", run_nonzero, NULL},
    {0},
};
