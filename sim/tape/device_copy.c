/* device_copy.c: copies between the host's and the device's memory (ATen/native/cuda/Copy.cu). The
 * host waits for one, as for pageable memory. A tensor whose elements do not lie densely is made
 * contiguous on the device first. */
#include <string.h>

#include "op.h"

static bool is_recorded(struct tape *tape, const struct op_call *call) {
    op_refuse_gradient(tape, call);
    return tape->status == TAPE_FAILED;
}

static void wait(struct tape *tape) {
    if (tape->status == TAPE_OK)
        tape->sink.synchronize(tape->sink.user);
}

/* The result is a tensor with t's layout where that is dense, else contiguous. */
static void layout_of(const struct tensor *t, int64_t *stride) {
    if (tensor_is_dense(t))
        memcpy(stride, t->stride, sizeof t->stride);
    else
        strides_contiguous(&t->shape, stride);
}

static void run_cpu(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    if (t->host || is_recorded(tape, call)) {
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    struct tensor *out = tape_new_host(tape, t->dtype, &t->shape);
    if (out->host)
        layout_of(t, out->stride);
    struct tensor *source = tensor_is_dense(t) ? tensor_ref(t) : aten_contiguous(tape, t);
    tape_transfer(tape, "copy_to_host", tensor_nbytes(t), t->dtype);
    wait(tape);
    tensor_unref(tape, source);
    call->out[call->out_count++] = out;
}

static void run_cuda(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    if (!t->host || is_recorded(tape, call)) {
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    int64_t stride[TENSOR_MAX_DIMS];
    layout_of(t, stride);
    struct tensor *out = tape_new_strided(tape, t->dtype, &t->shape, stride);
    tape_transfer(tape, "copy_to_device", tensor_nbytes(t), t->dtype);
    wait(tape);
    call->out[call->out_count++] = out;
}

const struct op ops_device_copy[] = {
    {"cpu", "self:T", AUTOCAST_NONE, "a copy in host memory, or self", run_cpu, "aten::to"},
    {"cuda", "self:T", AUTOCAST_NONE, "a copy on the device, or self", run_cuda, "aten::to"},
    {0},
};
