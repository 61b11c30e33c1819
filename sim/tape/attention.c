/* attention.c: scaled_dot_product_attention: which kernel runs, what it asks for and saves.
 *
 * Order of choice (ATen/native/transformers/cuda/sdp_utils.cpp): cuDNN on sm_90 and sm_10x where the
 * release and its version of cuDNN do so, flash, memory-efficient, math.
 * Shapes: query [b, a, s, d]; key, value [b, kv, t, d]. Sizes and
 * order of the requests: flash_api.cpp, attention.cu, attention_backward.cu of 2.15, each compared
 * with recordings (docs/validation.md). */
#include "attention.h"

/* Versions of cuDNN, 9.15.0 being 91500: from the first above on it is preferred, takes head dims up
 * to 256; from the last on those of latent attention, 192 and 128 (sdp_utils.cpp). */
enum {
    CUDNN_ATTENTION_AFTER = 91500,
    CUDNN_WIDE_HEADS_AFTER = 92200,
    CUDNN_LATENT_HEADS_FROM = 91100
};

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

/* A single key/value head that is meant for all of the query's without enable_gqa (framework.h). */
static bool fused_refuses_heads(const struct tape *tape, const struct tensor *q,
                                const struct tensor *k, bool gqa) {
    return k->shape.size[1] != q->shape.size[1] && !gqa &&
           !tape->framework->fused_takes_single_head;
}

/* What the choice of a kernel hangs on. */
struct attention_call {
    const struct tensor *q, *k, *v, *mask; /* mask: of the query's type already, or NULL */
    bool causal, needs_grad;
    double dropout;
};

/* check_last_dim_stride_equals_1_dense */
static bool has_whole_rows(const struct attention_call *c, bool ignore_single) {
    const struct tensor *in[] = {c->q, c->k, c->v};
    for (unsigned i = 0; i < 3; i++)
        if (in[i]->stride[3] != 1 && !(ignore_single && in[i]->shape.size[3] == 1))
            return false;
    return true;
}

/* check_prefer_cudnn_attention */
static bool prefers_cudnn(const struct tape *tape) {
    uint32_t major = tape->device->compute_capability / 10;
    return tape->framework->prefers_cudnn_attention && !tape->cudnn_attention_off &&
           tape->cudnn > CUDNN_ATTENTION_AFTER && (major == 9 || major == 10);
}

/* check_cudnn_tensor_shapes, check_cudnn_d256_bprop_head_dim */
static bool cudnn_takes_heads(const struct tape *tape, const struct attention_call *c) {
    int64_t d = c->q->shape.size[3], dv = c->v->shape.size[3], limit = 128;
    bool wide = tape->cudnn > CUDNN_WIDE_HEADS_AFTER;
    if (wide)
        limit = 256;
    else if (tape->cudnn >= CUDNN_LATENT_HEADS_FROM && d == 192 && dv == 128)
        limit = 192;
    if (d > limit || dv > limit || d % 8 != 0 || dv % 8 != 0)
        return false;
    return !wide || !c->needs_grad || (d <= 128 && dv <= 128) || (d == 192 && dv == 128) ||
           (d == 256 && dv == 256);
}

/* can_use_cudnn_attention */
static bool can_cudnn(const struct tape *tape, const struct attention_call *c) {
    enum { LARGEST = 65535 };
    double sixteenths = c->dropout * 16;
    if (!prefers_cudnn(tape) || !attention_is_half(c->q->dtype) || !has_whole_rows(c, true))
        return false;
    if (c->mask && (c->mask->dtype != c->q->dtype || c->mask->requires_grad))
        return false;
    if (sixteenths != (double)(int64_t)sixteenths || c->q->shape.size[0] > LARGEST ||
        c->q->shape.size[1] > LARGEST)
        return false;
    if (c->k->shape.size[2] == 1 || (c->dropout > 0 && c->q->shape.size[2] == 1))
        return false;
    return cudnn_takes_heads(tape, c);
}

/* can_use_flash_attention: 16-bit types, sm_80 on, head dim up to 256, no mask; a causal one of
 * query and key of one length. sm_86, sm_89 and sm_120 cannot run the backward of head dims 193 to
 * 224, with dropout up to 256. */
static bool can_flash(const struct tape *tape, const struct attention_call *c) {
    uint32_t sm = tape->device->compute_capability;
    int64_t d = c->q->shape.size[3];
    if (c->mask || !attention_is_half(c->q->dtype) || sm < 80 || d > 256 ||
        c->v->shape.size[3] != d || !has_whole_rows(c, true))
        return false;
    if (c->causal && c->q->shape.size[2] != c->k->shape.size[2])
        return false;
    bool small_shared_memory = (sm >= 86 && sm <= 89) || sm >= 120;
    bool fits = d <= 192 || (c->dropout == 0 && d > 224);
    return !small_shared_memory || !c->needs_grad || fits;
}

/* check_head_dim_size_mem_efficient: rows must be aligned for the kernel's loads: 128 bits with
 * tensor cores. */
static bool can_efficient(const struct tape *tape, const struct attention_call *c) {
    const struct tensor *q = c->q, *k = c->k, *v = c->v;
    uint32_t sm = tape->device->compute_capability;
    if (!has_whole_rows(c, false))
        return false;
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
    struct attention_call choice = {q, k, v, mask, causal, needs_grad, call->arg[6].number};
    if (fused_refuses_heads(tape, q, k, gqa)) {
        out = attention_math(tape, q, k, v, mask, causal, gqa, dropout);
    } else if (can_cudnn(tape, &choice)) {
        out = attention_cudnn(tape, q, k, v, mask, causal, dropout);
    } else if (can_flash(tape, &choice)) {
        out = attention_flash(tape, q, k, v, dropout);
    } else if (can_efficient(tape, &choice)) {
        struct attention_sizes z = attention_sizes_of(q, k, v);
        mask = mask ? attention_prepare_bias(tape, mask, &z) : NULL;
        out = attention_efficient(tape, q, k, v, mask, dropout);
    } else {
        out = attention_math(tape, q, k, v, mask, causal, gqa, dropout);
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
