/* attention_math.c: the composite attention (ATen/native/transformers/attention.cpp,
 * _scaled_dot_product_attention_math): 16-bit inputs are raised to fp32, q and k are both scaled by the root of the scale,
 * the causal mask is made on the spot, and a row that is masked everywhere gives zeros (_safe_softmax). */
#include "attention.h"

static struct tensor *replace(struct tape *tape, struct tensor *old, struct tensor *next) {
    tensor_unref(tape, old);
    return next;
}

/* k and v repeated to the query's heads: expand and reshape, which copies. */
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
    struct tensor *copy = aten_reshape(tape, expanded, &flat);
    tensor_unref(tape, view);
    tensor_unref(tape, expanded);
    return copy;
}

/* ones().tril() as bool, then zeros and -inf of the query's type */
static struct tensor *causal_mask(struct tape *tape, int64_t rows, int64_t cols, enum dtype dtype) {
    struct shape shape = {.ndim = 2, .size = {rows, cols}}, scalar = {.ndim = 0};
    struct tensor *ones = aten_full(tape, &shape, DTYPE_BOOL);
    struct tensor *lower = replace(tape, ones, elementwise(tape, "tril", DTYPE_BOOL, &ones, 1));
    struct tensor *zero = aten_full(tape, &shape, dtype);
    struct tensor *inverse = elementwise(tape, "logical_not", DTYPE_BOOL, &lower, 1);
    tensor_unref(tape, aten_full(tape, &scalar, dtype));
    elementwise_(tape, "masked_fill_", zero, &inverse, 1);
    tensor_unref(tape, inverse);
    tensor_unref(tape, lower);
    return zero;
}

static struct tensor *safe_softmax(struct tape *tape, struct tensor *scores) {
    struct op_call call = {.op = op_find("softmax")};
    call.arg[0] = (struct op_arg){.given = true, .tensor = scores};
    call.arg[1] = (struct op_arg){.given = true, .integer = -1};
    call.op->run(tape, &call);
    struct tensor *out = call.out[0];
    struct tensor *masked = elementwise(tape, "eq", DTYPE_BOOL, &scores, 1);
    struct tensor *rows = reduce(tape, "all", masked, 1u << (scores->shape.ndim - 1), true, DTYPE_BOOL);
    struct shape scalar = {.ndim = 0};
    struct tensor *zero = aten_full(tape, &scalar, scores->dtype);
    struct tensor *result = aten_where(tape, rows, zero, out);
    tensor_unref(tape, zero);
    tensor_unref(tape, rows);
    tensor_unref(tape, masked);
    tensor_unref(tape, out);
    return result;
}

struct tensor *attention_math(struct tape *tape, struct tensor *q, struct tensor *k, struct tensor *v,
                              struct tensor *mask, bool causal) {
    enum dtype origin = q->dtype, high = dtype_bytes(origin) < 4 ? DTYPE_FLOAT32 : origin;
    struct tensor *qh = aten_to(tape, q, high), *kh = aten_to(tape, k, high), *vh = aten_to(tape, v, high);
    struct tensor *made = causal && !mask ? causal_mask(tape, q->shape.size[2], k->shape.size[2], high) : NULL;
    struct tensor *added = made ? made : mask;
    qh = replace(tape, qh, aten_mul_scalar(tape, qh, true));
    kh = replace(tape, kh, repeat_heads(tape, kh, q->shape.size[1]));
    vh = replace(tape, vh, repeat_heads(tape, vh, q->shape.size[1]));
    struct tensor *kt = aten_transpose(tape, kh, -2, -1);
    kt = replace(tape, kt, aten_mul_scalar(tape, kt, true));
    struct tensor *scores = aten_matmul(tape, qh, kt);
    if (added)
        aten_add_(tape, scores, added);
    struct tensor *probabilities = safe_softmax(tape, scores);
    struct tensor *out = aten_matmul(tape, probabilities, vh);
    out = replace(tape, out, aten_to(tape, out, origin));
    tensor_unref(tape, aten_to(tape, probabilities, origin)); /* the second result, nobody's */
    struct tensor *done[] = {qh, kh, vh, kt, scores, probabilities, made};
    for (unsigned i = 0; i < sizeof done / sizeof done[0]; i++)
        tensor_unref(tape, done[i]);
    return out;
}
