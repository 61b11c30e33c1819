/* attention_math.c: the composite attention (ATen/native/transformers/attention.cpp,
 * _scaled_dot_product_attention_math): 16-bit inputs are raised to fp32, q and k are both scaled by
 * the root of the scale, the causal mask is made on the spot, and a row that is masked everywhere
 * gives zeros (_safe_softmax). */
#include "attention.h"

/* k and v repeated to the query's heads (repeat_interleave): expanded and copied, a single head too. */
static struct tensor *repeat_heads(struct tape *tape, struct tensor *t, int64_t heads) {
    struct shape split = {.ndim = 5}, wide, flat = t->shape;
    if (t->shape.size[1] == heads)
        return tensor_ref(t);
    split.size[0] = t->shape.size[0];
    split.size[1] = t->shape.size[1];
    split.size[2] = 1;
    split.size[3] = t->shape.size[2];
    split.size[4] = t->shape.size[3];
    wide = split;
    wide.size[2] = heads / t->shape.size[1];
    flat.size[1] = heads;
    struct tensor *view = aten_view(tape, t, &split);
    struct tensor *expanded = aten_expand(tape, view, &wide);
    struct tensor *copy = aten_contiguous(tape, expanded);
    struct tensor *out = aten_view(tape, copy, &flat);
    tensor_unref(tape, view);
    tensor_unref(tape, expanded);
    tensor_unref(tape, copy);
    return out;
}

/* ones().tril() as bool, then where(mask, 0, -inf): two numbers on the device and the result
 * (sdp_utils convert_boolean_attn_mask) */
static struct tensor *causal_mask(struct tape *tape, int64_t rows, int64_t cols, enum dtype dtype) {
    struct shape shape = {.ndim = 2, .size = {rows, cols}}, scalar = {.ndim = 0};
    struct tensor *ones = aten_full(tape, &shape, DTYPE_BOOL);
    struct tensor *lower = elementwise(tape, "tril", DTYPE_BOOL, &ones, 1);
    tensor_unref(tape, ones);
    struct tensor *zero = aten_full(tape, &scalar, dtype),
                  *infinity = aten_full(tape, &scalar, dtype);
    struct tensor *mask = aten_where(tape, lower, zero, infinity);
    tensor_unref(tape, zero);
    tensor_unref(tape, infinity);
    tensor_unref(tape, lower);
    return mask;
}

/* _safe_softmax is one node: its backward is softmax's. Rows that are masked everywhere are set to
 * zero in place. */
static struct tensor *safe_softmax(struct tape *tape, struct tensor *scores) {
    struct tensor *out = aten_softmax(tape, scores);
    struct tensor *masked = elementwise(tape, "eq", DTYPE_BOOL, &scores, 1);
    struct tensor *rows =
        reduce(tape, "all", masked, 1u << (scores->shape.ndim - 1), true, DTYPE_BOOL);
    struct shape scalar = {.ndim = 0};
    struct tensor *zero = aten_full(tape, &scalar, scores->dtype);
    elementwise_(tape, "where", out, &rows, 1);
    tensor_unref(tape, zero);
    tensor_unref(tape, rows);
    tensor_unref(tape, masked);
    return out;
}

/* softmax(scale(q) @ scale(k).T + mask) */
static struct tensor *probabilities(struct tape *tape, struct tensor *q, struct tensor *k,
                                    struct tensor *mask) {
    struct tensor *turned = aten_transpose(tape, k, -2, -1);
    struct tensor *scaled = aten_mul_scalar(tape, turned, true);
    struct tensor *scores = aten_matmul(tape, q, scaled);
    tensor_unref(tape, turned);
    tensor_unref(tape, scaled);
    if (mask)
        aten_add_recorded_(tape, scores, mask);
    struct tensor *out = safe_softmax(tape, scores);
    tensor_unref(tape, scores);
    return out;
}

struct tensor *attention_math(struct tape *tape, struct tensor *q, struct tensor *k,
                              struct tensor *v, struct tensor *mask, bool causal, bool gqa,
                              bool dropout) {
    enum dtype origin = q->dtype, high = dtype_bytes(origin) < 4 ? DTYPE_FLOAT32 : origin;
    struct tensor *wide[3] = {aten_to(tape, q, high), aten_to(tape, k, high),
                              aten_to(tape, v, high)};
    struct tensor *scaled = aten_mul_scalar(tape, wide[0], true);
    struct tensor *made =
        causal && !mask ? causal_mask(tape, q->shape.size[2], k->shape.size[2], high) : NULL;
    int64_t heads = gqa ? q->shape.size[1] : k->shape.size[1];
    struct tensor *keys = repeat_heads(tape, wide[1], heads);
    struct tensor *values = repeat_heads(tape, wide[2], heads);
    struct tensor *p = probabilities(tape, scaled, keys, made ? made : mask);
    if (dropout) {
        struct tensor *kept = aten_dropout(tape, p);
        tensor_unref(tape, p);
        p = kept;
    }
    /* the op's second result, which nobody takes */
    struct tensor *second = aten_to(tape, p, origin);
    struct tensor *product = aten_matmul(tape, p, values);
    struct tensor *out = aten_to(tape, product, origin);
    struct tensor *done[] = {wide[0], wide[1], wide[2], scaled, made,
                             keys,    values,  p,       second, product};
    for (unsigned i = 0; i < sizeof done / sizeof done[0]; i++)
        tensor_unref(tape, done[i]);
    return out;
}
