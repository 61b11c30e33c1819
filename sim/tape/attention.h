/* attention.h: between the choice of an attention kernel (attention.c), the kernels and the composite
 * fallback. */
#ifndef ATTENTION_H
#define ATTENTION_H

#include "op.h"

struct attention_sizes {
    /* dv: of values, only the memory-efficient kernels let it differ */
    int64_t b, a, kv, s, t, d, dv;
};

/* What a kernel's node saves. */
enum { SAVED_Q, SAVED_K, SAVED_V, SAVED_OUT, SAVED_LSE, SAVED_SEED, SAVED_OFFSET, SAVED_BIAS };

static inline bool attention_is_half(enum dtype dtype) {
    return dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
}

/* attention_kernel.c. What is new has one reference, the caller's. */
struct attention_sizes attention_sizes_of(const struct tensor *q, const struct tensor *k,
                                          const struct tensor *v);
/* [b, a, s, d] seen through memory of [b, s, a, d] */
struct tensor *attention_new_heads(struct tape *tape, enum dtype dtype, int64_t b, int64_t a,
                                   int64_t s, int64_t d);
/* empty_like: the layout of the inputs, which is [b, s, a, d] after a projection, else what a copy made it */
struct tensor *attention_new_like(struct tape *tape, const struct tensor *t);
struct tensor *attention_new_floats(struct tape *tape, int64_t count);
/* One kernel of so many products of query and key's size. */
void attention_kernel(struct tape *tape, const char *name, const struct attention_sizes *z,
                      uint64_t products, struct tensor *q);
/* A copy unless [b, s, a, d] order is what lies in memory. */
struct tensor *attention_contiguous_heads(struct tape *tape, struct tensor *t);
/* Saves SAVED_Q to SAVED_OFFSET in the order of their names. */
void attention_save(struct tape *tape, struct node *node, struct tensor *const *saved,
                    bool offset_first);

/* attention_flash.c. Heads of a dim that is no multiple of 8 are padded. */
struct tensor *attention_flash(struct tape *tape, struct tensor *q, struct tensor *k,
                               struct tensor *v, bool dropout);

/* attention_cudnn.c. `bias` may be NULL. */
struct tensor *attention_cudnn(struct tape *tape, struct tensor *q, struct tensor *k,
                               struct tensor *v, struct tensor *bias, bool causal, bool dropout);

/* attention_efficient.c. `bias` may be NULL; else it has been prepared: padded, seen once a head.
 * Preparing takes it over. */
struct tensor *attention_prepare_bias(struct tape *tape, struct tensor *bias,
                                      const struct attention_sizes *z);
struct tensor *attention_efficient(struct tape *tape, struct tensor *q, struct tensor *k,
                                   struct tensor *v, struct tensor *bias, bool dropout);

/* attention_math.c. _scaled_dot_product_attention_math: products and softmax in fp32, all of it
 * recorded by autograd. `mask` may be NULL. With `gqa` (enable_gqa) keys and values are repeated to
 * the query's heads first, else the products broadcast a single head. */
struct tensor *attention_math(struct tape *tape, struct tensor *q, struct tensor *k,
                              struct tensor *v, struct tensor *mask, bool causal, bool gqa,
                              bool dropout);

#endif
