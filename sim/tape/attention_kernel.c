/* attention_kernel.c: what the attention kernels of their own have in common. See attention.h. */
#include "attention.h"

struct attention_sizes attention_sizes_of(const struct tensor *q, const struct tensor *k,
                                          const struct tensor *v) {
    return (struct attention_sizes){.b = q->shape.size[0],
                                    .a = q->shape.size[1],
                                    .kv = k->shape.size[1],
                                    .s = q->shape.size[2],
                                    .t = k->shape.size[2],
                                    .d = q->shape.size[3],
                                    .dv = v->shape.size[3]};
}

/* [b, a, s, d] seen through memory of [b, s, a, d] */
struct tensor *attention_new_heads(struct tape *tape, enum dtype dtype, int64_t b, int64_t a,
                                   int64_t s, int64_t d) {
    struct shape shape = {.ndim = 4, .size = {b, a, s, d}};
    int64_t stride[TENSOR_MAX_DIMS] = {s * a * d, d, a * d, 1};
    return tape_new_strided(tape, dtype, &shape, stride);
}

struct tensor *attention_new_like(struct tape *tape, const struct tensor *t) {
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(t, stride);
    return tape_new_strided(tape, t->dtype, &t->shape, stride);
}

struct tensor *attention_new_floats(struct tape *tape, int64_t count) {
    struct shape shape = {.ndim = 1, .size = {count}};
    return tape_new(tape, DTYPE_FLOAT32, &shape);
}

void attention_kernel(struct tape *tape, const char *name, const struct attention_sizes *z,
                      uint64_t products, struct tensor *q) {
    uint64_t flops = products * 2 * (uint64_t)z->b * (uint64_t)z->a * (uint64_t)z->s *
                     (uint64_t)z->t * (uint64_t)z->d;
    tape_kernel(tape, name, flops, 4 * tensor_nbytes(q), q->dtype);
}

/* A copy unless [b, s, a, d] order is what lies in memory. */
struct tensor *attention_contiguous_heads(struct tape *tape, struct tensor *t) {
    struct tensor *view = aten_transpose(tape, t, 1, 2);
    struct tensor *copy = aten_contiguous(tape, view);
    tensor_unref(tape, view);
    return copy;
}

/* By name: (attn_bias,) key, query, value, logsumexp, output, then rng_state and unused, or
 * philox_offset and philox_seed. */
void attention_save(struct tape *tape, struct node *node, struct tensor *const *saved,
                    bool offset_first) {
    const unsigned order[] = {SAVED_K,
                              SAVED_Q,
                              SAVED_V,
                              SAVED_LSE,
                              SAVED_OUT,
                              offset_first ? SAVED_OFFSET : SAVED_SEED,
                              offset_first ? SAVED_SEED : SAVED_OFFSET};
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        node_save(tape, node, order[i], saved[order[i]]);
}
