/* foreach.c: one op over a list of tensors (ATen/native/cuda/Foreach*.cu): one output a tensor, in
 * list order; in-place ones ask for nothing. */
#include "op.h"

enum { CHUNK = 65536 }; /* kChunkSize of MultiTensorApply.cuh */

static void give_list(struct tape *tape, struct op_call *call, size_t count) {
    call->out_list = xcalloc(count ? count : 1, sizeof *call->out_list);
    if (!call->out_list) {
        tape_fail_memory(tape);
        return;
    }
    call->out_list_count = count;
}

static void run_foreach_map(struct tape *tape, struct op_call *call) {
    op_refuse_gradient(tape, call);
    struct op_arg *list = &call->arg[0];
    give_list(tape, call, list->list_count);
    for (size_t i = 0; i < call->out_list_count; i++)
        call->out_list[i] =
            elementwise(tape, call->op->name, list->list[i]->dtype, &list->list[i], 1);
}

static void run_foreach_in_place(struct tape *tape, struct op_call *call) {
    op_refuse_gradient(tape, call);
    struct op_arg *list = &call->arg[0];
    for (size_t i = 0; i < list->list_count; i++) {
        struct tensor *others[3];
        unsigned count = 0;
        for (unsigned a = 1; a < 4; a++)
            if (call->arg[a].list && i < call->arg[a].list_count)
                others[count++] = call->arg[a].list[i];
        elementwise_(tape, call->op->name, list->list[i], others, count);
    }
}

static int64_t chunks_of(const struct tensor *t) {
    return size_div_up(shape_numel(&t->shape), CHUNK);
}

/* _foreach_norm: (packed: where each tensor's chunks begin, one int64 more than tensors,) a partial
 * norm of each 65,536-element chunk as float, then a result a tensor; the first go at the end. Seen
 * in recordings of both releases. */
static void run_foreach_norm(struct tape *tape, struct op_call *call) {
    struct op_arg *list = &call->arg[0];
    int64_t sum = 0, most = 0, count = (int64_t)list->list_count;
    for (size_t i = 0; i < list->list_count; i++) {
        int64_t n = chunks_of(list->list[i]);
        sum += n;
        most = n > most ? n : most;
    }
    bool packed = tape->framework->foreach_norm_packed;
    struct shape partial = {.ndim = 1, .size = {packed ? sum : count * most}}, scalar = {.ndim = 0};
    struct shape starts = {.ndim = 1, .size = {packed ? count + 1 : 0}};
    struct tensor *offsets = tape_new(tape, DTYPE_INT64, &starts);
    struct tensor *norms = tape_new(tape, DTYPE_FLOAT32, &partial);
    give_list(tape, call, list->list_count);
    for (size_t i = 0; i < call->out_list_count; i++) {
        call->out_list[i] = tape_new(tape, list->list[i]->dtype, &scalar);
        tape_kernel(tape, "foreach_norm", 2 * (uint64_t)shape_numel(&list->list[i]->shape),
                    tensor_nbytes(list->list[i]), list->list[i]->dtype);
    }
    tensor_unref(tape, offsets);
    tensor_unref(tape, norms);
}

const struct op ops_foreach[] = {
    {"foreach_mul", "self:L other:L?", AUTOCAST_NONE, "products, with a list or numbers",
     run_foreach_map, "aten::_foreach_mul"},
    {"foreach_addcmul", "self:L tensor1:L tensor2:L", AUTOCAST_NONE,
     "self + value * tensor1 * tensor2", run_foreach_map, "aten::_foreach_addcmul"},
    {"foreach_sqrt", "self:L", AUTOCAST_NONE, "square roots of a list", run_foreach_map,
     "aten::_foreach_sqrt"},
    {"foreach_add", "self:L other:L?", AUTOCAST_NONE, "sums of two lists, scaled", run_foreach_map,
     "aten::_foreach_add"},
    {"foreach_add_", "self:L other:L?", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_add_"},
    {"foreach_mul_", "self:L other:L?", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_mul_"},
    {"foreach_sub_", "self:L other:L?", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_sub_"},
    {"foreach_maximum_", "self:L other:L?", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_maximum_"},
    {"foreach_clamp_min_", "self:L", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_clamp_min_"},
    {"foreach_sqrt_", "self:L", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_sqrt_"},
    {"foreach_rsqrt_", "self:L", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_rsqrt_"},
    {"foreach_div_", "self:L other:L?", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_div_"},
    {"foreach_div", "self:L other:L?", AUTOCAST_NONE, "quotients, with a list or numbers",
     run_foreach_map, "aten::_foreach_div"},
    {"foreach_sign_", "self:L", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_sign_"},
    {"foreach_lerp_", "self:L end:L", AUTOCAST_NONE, "in place", run_foreach_in_place,
     "aten::_foreach_lerp_"},
    {"foreach_addcmul_", "self:L tensor1:L tensor2:L", AUTOCAST_NONE, "in place",
     run_foreach_in_place, "aten::_foreach_addcmul_"},
    {"foreach_addcdiv_", "self:L tensor1:L tensor2:L", AUTOCAST_NONE, "in place",
     run_foreach_in_place, "aten::_foreach_addcdiv_"},
    {"amp_foreach_non_finite_check_and_unscale_", "self:L found_inf:T inv_scale:T", AUTOCAST_NONE,
     "in place", run_foreach_in_place, "aten::_amp_foreach_non_finite_check_and_unscale_"},
    {"foreach_norm", "self:L", AUTOCAST_NONE, "2-norms of a list", run_foreach_norm,
     "aten::_foreach_norm"},
    {0},
};
