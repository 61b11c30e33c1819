/* attention.h: between the choice of an attention kernel (attention.c) and the composite fallback.
 */
#ifndef ATTENTION_H
#define ATTENTION_H

#include "op.h"

/* _scaled_dot_product_attention_math: products and softmax in fp32, all of it recorded by autograd.
 * `mask` may be NULL. */
struct tensor *attention_math(struct tape *tape, struct tensor *q, struct tensor *k,
                              struct tensor *v, struct tensor *mask, bool causal, bool dropout);

#endif
