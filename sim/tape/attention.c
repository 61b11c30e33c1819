/* attention.c: scaled_dot_product_attention: which kernel runs, what it asks for and saves.
 *
 * Order of choice (ATen/native/transformers/cuda/sdp_utils.cpp): flash, memory-efficient, math.
 * cuDNN, which recent versions put first on sm_90 and sm_100, is not modelled (its workspace is its
 * own secret); flash stands in. Shapes: query [b, a, s, d]; key, value [b, kv, t, d]. Sizes and
 * order of the requests: flash_api.cpp, attention.cu, attention_backward.cu of 2.15, each compared
 * with recordings (docs/validation.md). */
#include "attention.h"

/* A boolean mask becomes 0 or -inf in the query's type, once a call (sdp_utils
 * convert_boolean_attn_mask). */
static struct tensor *additive_mask(struct tape *tape, struct tensor *mask, enum dtype dtype) {
    if (mask->dtype != DTYPE_BOOL)
        return tensor_ref(mask);
    struct shape scalar = {.ndim = 0};
    struct tensor *zero = aten_full(tape, &scalar, dtype),
                  *infinity = aten_full(tape, &scalar, dtype);
    struct tensor *out = aten_where(tape, mask, zero, infinity);
    tensor_unref(tape, zero);
    tensor_unref(tape, infinity);
    return out;
}

/* check_runtime_disabled_flash and its neighbours: 16-bit types, sm_80 on, head dim up to 256, no
 * mask; sm_86, sm_89 and sm_120 cannot run the backward of head dims 193 to 224. */
static bool can_flash(const struct tape *tape, const struct tensor *q, const struct tensor *v,
                      bool mask, bool needs_grad) {
    uint32_t sm = tape->device->compute_capability;
    int64_t d = q->shape.size[3];
    if (mask || !attention_is_half(q->dtype) || sm < 80 || d > 256 || v->shape.size[3] != d)
        return false;
    bool small_shared_memory = sm == 86 || sm == 89 || sm == 120;
    return !(small_shared_memory && needs_grad && d > 192 && d <= 224);
}

/* check_head_dim_size_mem_efficient: rows must be aligned for the kernel's loads: 128 bits with
 * tensor cores. */
static bool can_efficient(const struct tape *tape, const struct tensor *q, const struct tensor *k,
                          const struct tensor *v) {
    uint32_t sm = tape->device->compute_capability;
    if (k->shape.size[1] != q->shape.size[1] && !tape->framework->efficient_takes_gqa)
        return false;
    if (q->dtype == DTYPE_BFLOAT16 && sm < 80)
        return false;
    if (!attention_is_half(q->dtype) && q->dtype != DTYPE_FLOAT32)
        return false;
    bool tensor_cores = sm >= 80 || (sm >= 70 && attention_is_half(q->dtype));
    int64_t alignment = tensor_cores ? 16 / (int64_t)dtype_bytes(q->dtype) : 1;
    return q->shape.size[3] % alignment == 0 && v->shape.size[3] % alignment == 0;
}

static bool check_shapes(struct tape *tape, const struct tensor *q, const struct tensor *k,
                         const struct tensor *v, bool gqa) {
    bool fits = q->shape.ndim == 4 && k->shape.ndim == 4 && v->shape.ndim == 4 &&
                k->shape.size[0] == v->shape.size[0] && k->shape.size[1] == v->shape.size[1] &&
                k->shape.size[2] == v->shape.size[2] && q->shape.size[0] == k->shape.size[0] &&
                q->shape.size[3] == k->shape.size[3] && q->dtype == k->dtype &&
                q->dtype == v->dtype;
    if (fits && k->shape.size[1] != q->shape.size[1])
        fits = (gqa || k->shape.size[1] == 1) && k->shape.size[1] > 0 &&
               q->shape.size[1] % k->shape.size[1] == 0;
    if (!fits) {
        char a[128], b[128], c[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "scaled_dot_product_attention: query %s, key %s and value %s do not fit%s",
                  shape_format(&q->shape, a, sizeof a), shape_format(&k->shape, b, sizeof b),
                  shape_format(&v->shape, c, sizeof c), gqa ? "" : " (enable_gqa is off)");
    }
    return fits;
}

/* query key value attn_mask is_causal enable_gqa dropout_p */
static void run_attention(struct tape *tape, struct op_call *call) {
    struct tensor *q = call->arg[0].tensor, *k = call->arg[1].tensor, *v = call->arg[2].tensor;
    struct tensor *mask = call->arg[3].tensor, *out;
    bool causal = call->arg[4].integer != 0, gqa = call->arg[5].integer != 0,
         dropout = call->arg[6].number > 0;
    bool needs_grad =
        tape->grad_enabled && (q->requires_grad || k->requires_grad || v->requires_grad);
    if (!check_shapes(tape, q, k, v, gqa)) {
        call->out[call->out_count++] = tensor_ref(q);
        return;
    }
    mask = mask ? additive_mask(tape, mask, q->dtype) : NULL;
    if (can_flash(tape, q, v, mask != NULL, needs_grad)) {
        out = attention_flash(tape, q, k, v, dropout);
    } else if (can_efficient(tape, q, k, v)) {
        struct attention_sizes z = attention_sizes_of(q, k, v);
        mask = mask ? attention_prepare_bias(tape, mask, &z) : NULL;
        out = attention_efficient(tape, q, k, v, mask, dropout);
    } else {
        out = attention_math(tape, q, k, v, mask, causal, dropout);
    }
    tensor_unref(tape, mask);
    call->out[call->out_count++] = out;
}

const struct op ops_attention[] = {
    {"scaled_dot_product_attention",
     "query:T key:T value:T attn_mask:T? is_causal:b=0 enable_gqa:b=0 dropout_p:f=0", AUTOCAST_LOW,
     "attention by the kernel that PyTorch would choose", run_attention, NULL},
    {0},
};
