/* memory_format.c: see memory_format.h; and the ops that give a tensor another layout or another
 * place. */
#include "memory_format.h"

#include <string.h>

#include "op.h"

void strides_format(const struct shape *shape, enum memory_format format,
                    int64_t stride[TENSOR_MAX_DIMS]) {
    if (format == FORMAT_CHANNELS_LAST && shape_has_channels_last(shape))
        strides_channels_last(shape, stride);
    else
        strides_contiguous(shape, stride);
}

bool tensor_is_format(const struct tensor *t, enum memory_format format) {
    return format == FORMAT_CHANNELS_LAST ? tensor_is_channels_last(t) : tensor_is_contiguous(t);
}

enum memory_format tensor_suggest_format(const struct tensor *t) {
    return tensor_suggests_channels_last(t) ? FORMAT_CHANNELS_LAST : FORMAT_CONTIGUOUS;
}

struct tensor *tape_new_format(struct tape *tape, enum dtype dtype, const struct shape *shape,
                               enum memory_format format) {
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    strides_format(shape, format, stride);
    return tape_new_strided(tape, dtype, shape, stride);
}

struct tensor *aten_contiguous_format(struct tape *tape, struct tensor *t,
                                      enum memory_format format) {
    if (tensor_is_format(t, format))
        return tensor_ref(t);
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    strides_format(&t->shape, format, stride);
    return aten_clone_strided(tape, t, stride);
}

static enum memory_format format_of(struct tape *tape, const struct op_call *call,
                                    const struct op_arg *arg) {
    if (!arg->given || strcmp(arg->text, "contiguous_format") == 0)
        return FORMAT_CONTIGUOUS;
    if (strcmp(arg->text, "channels_last") == 0 || strcmp(arg->text, "channels_last_3d") == 0)
        return FORMAT_CHANNELS_LAST;
    tape_fail(tape, ERROR_BAD_SCENARIO,
              "%s: unknown memory format '%s' (contiguous_format, channels_last)", call->op->name,
              arg->text);
    return FORMAT_CONTIGUOUS;
}

static void run_contiguous(struct tape *tape, struct op_call *call) {
    call->out[call->out_count++] =
        aten_contiguous_format(tape, call->arg[0].tensor, format_of(tape, call, &call->arg[1]));
}

/* Module.cuda() and Module.to(memory_format) do `param.data = copy` tensor by tensor: the new
 * storage is there before the old one goes, the tensor object stays. */
static void replace_data(struct tape *tape, struct op_call *call, const int64_t *stride) {
    struct tensor *t = call->arg[0].tensor;
    struct tensor *copy = tape_new_strided(tape, t->dtype, &t->shape, stride);
    if (t->host)
        tape_transfer(tape, "copy_to_device", tensor_nbytes(t), t->dtype);
    else
        tape_kernel(tape, "copy", 0, 2 * tensor_nbytes(t), t->dtype);
    tape_set_data(tape, t, copy);
    tensor_unref(tape, copy);
    call->out[call->out_count++] = tensor_ref(t);
}

static void run_cuda_(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    if (!t->host) {
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    strides_preserve(t, stride);
    replace_data(tape, call, stride);
}

static void run_to_format_(struct tape *tape, struct op_call *call) {
    struct tensor *t = call->arg[0].tensor;
    enum memory_format format = format_of(tape, call, &call->arg[1]);
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    if (!shape_has_channels_last(&t->shape) || tensor_suggest_format(t) == format) {
        call->out[call->out_count++] = tensor_ref(t);
        return;
    }
    strides_format(&t->shape, format, stride);
    replace_data(tape, call, stride);
}

const struct op ops_format[] = {
    {"contiguous", "self:T memory_format:s?", AUTOCAST_NONE,
     "a copy contiguous in a format, or self", run_contiguous, NULL},
    {"cuda_", "self:T", AUTOCAST_NONE, "self's data moved to the device", run_cuda_, "aten::to"},
    {"to_format_", "self:T memory_format:s", AUTOCAST_NONE, "self's data in another format",
     run_to_format_, "aten::to"},
    {0},
};
