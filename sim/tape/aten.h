/* aten.h: the ops at the level of ATen, for other ops to build on. Each returns a new reference (or
 * several through `out`), never NULL; after a failure what comes back has no block (tape.h). A
 * trailing _ means in place. Dims are PyTorch's: negative ones count from the end. */
#ifndef ATEN_H
#define ATEN_H

#include "size.h"
#include "tape.h"

/* factory.c */
struct tensor *aten_empty(struct tape *tape, const struct shape *shape, enum dtype dtype);
struct tensor *aten_new_int64s(struct tape *tape, int64_t count); /* 1-dim */
struct tensor *aten_full(struct tape *tape, const struct shape *shape, enum dtype dtype);
struct tensor *aten_ones_like(struct tape *tape, struct tensor *t);
struct tensor *aten_zeros_like(struct tape *tape, struct tensor *t);

/* elementwise.c. A scalar operand is a Python number: `floating` tells int from float. */
enum dtype aten_result_type(const struct tensor *a, const struct tensor *b);
/* Of a and a number: a floating one makes integers the default type. */
enum dtype aten_scalar_type(const struct tape *tape, const struct tensor *a, bool floating);
struct tensor *aten_add(struct tape *tape, struct tensor *a, struct tensor *b);
void aten_add_(struct tape *tape, struct tensor *a, struct tensor *b); /* below autograd */
void aten_add_recorded_(struct tape *tape, struct tensor *self, struct tensor *other);
struct tensor *aten_sub(struct tape *tape, struct tensor *a, struct tensor *b);
struct tensor *aten_mul(struct tape *tape, struct tensor *a, struct tensor *b);
struct tensor *aten_div(struct tape *tape, struct tensor *a, struct tensor *b);
struct tensor *aten_add_scalar(struct tape *tape, struct tensor *a, bool floating);
struct tensor *aten_mul_scalar(struct tape *tape, struct tensor *a, bool floating);
struct tensor *aten_div_scalar(struct tape *tape, struct tensor *a);
/* the same tensor when it has the type */
struct tensor *aten_to(struct tape *tape, struct tensor *t, enum dtype dtype);
struct tensor *aten_clone_strided(struct tape *tape, struct tensor *t, const int64_t *stride);
/* the same tensor when it is */
struct tensor *aten_contiguous(struct tape *tape, struct tensor *t);
/* An elementwise result of `dtype` over operands: the shape is broadcast, the layout theirs; one
 * kernel `name`. */
struct tensor *elementwise(struct tape *tape, const char *name, enum dtype dtype,
                           struct tensor *const *operands, unsigned count);
/* One in-place kernel over `self` and what it reads. */
void elementwise_(struct tape *tape, const char *name, struct tensor *self,
                  struct tensor *const *others, unsigned count);

/* Sums what broadcasting has added to a shape (view.c). */
struct tensor *aten_sum_to(struct tape *tape, struct tensor *t, const struct shape *shape);

/* reduction.c */
struct shape reduced_shape(const struct shape *shape, uint32_t mask, bool keepdim);
/* reduce.c: in the backward of a reduction that keeps its dims as a mask in args[0]: `t`, of the result's size, with these dims again,
 * as size 1. */
struct tensor *aten_with_dims(struct tape *tape, const struct node *node, struct tensor *t);
/* Reduces the dims of `mask` (bit i = dim i); kept as size 1 with keepdim. One kernel `name` with
 * its staging buffer. */
struct tensor *reduce(struct tape *tape, const char *name, struct tensor *t, uint32_t mask,
                      bool keepdim, enum dtype dtype);
/* The same into a tensor that is there. */
void reduce_into(struct tape *tape, const char *name, struct tensor *out, struct tensor *t,
                 uint32_t mask);

/* As reduce_into, of values that carry their index along (max, min over a dim). */
void reduce_with_index_into(struct tape *tape, const char *name, struct tensor *out,
                            struct tensor *t, uint32_t mask);
struct tensor *aten_max_all(struct tape *tape, struct tensor *t); /* 0-dim */
/* amax, amin: values without their index */
struct tensor *reduce_extreme(struct tape *tape, const char *name, struct tensor *t, uint32_t mask,
                              bool keepdim);
/* As reduce_into, of mean and variance together (var, std). */
void reduce_moments_into(struct tape *tape, const char *name, struct tensor *out, struct tensor *t,
                         uint32_t mask);
struct tensor *aten_extreme_all(struct tape *tape, struct tensor *t); /* extreme.c: recorded */
/* The sum over the dims of `mask`, recorded. */
struct tensor *aten_sum_dims(struct tape *tape, struct tensor *t, uint32_t mask, bool keepdim);

struct tensor *aten_mean_dims(struct tape *tape, struct tensor *t, uint32_t mask, bool keepdim);

/* view.c */
/* The dims but the last as one; of 1 or more dims. */
struct shape aten_matrix_shape(const struct shape *shape);
struct tensor *aten_view(struct tape *tape, struct tensor *t, const struct shape *shape);
struct tensor *aten_reshape(struct tape *tape, struct tensor *t, const struct shape *shape);
struct tensor *aten_unsafe_view(struct tape *tape, struct tensor *t, const struct shape *shape);
struct tensor *aten_transpose(struct tape *tape, struct tensor *t, int64_t a, int64_t b);
struct tensor *aten_t(struct tape *tape, struct tensor *t);
struct tensor *aten_expand(struct tape *tape, struct tensor *t, const struct shape *shape);
struct tensor *aten_unsqueeze(struct tape *tape, struct tensor *t, int64_t dim);
struct tensor *aten_narrow(struct tape *tape, struct tensor *t, unsigned dim, int64_t start,
                           int64_t length);

/* dims.c: from[i] is the dim that becomes dim i; each once */
struct tensor *aten_permute(struct tape *tape, struct tensor *t, const unsigned *from);

/* matmul.c */
/* beta * bias + alpha * a @ b */
struct tensor *aten_addmm(struct tape *tape, struct tensor *bias, struct tensor *a,
                          struct tensor *b, double beta, double alpha);
struct tensor *aten_mm(struct tape *tape, struct tensor *a, struct tensor *b);
struct tensor *aten_bmm(struct tape *tape, struct tensor *a, struct tensor *b);
struct tensor *aten_matmul(struct tape *tape, struct tensor *a, struct tensor *b);

/* vector_product.c */
struct tensor *aten_mv(struct tape *tape, struct tensor *matrix, struct tensor *vector);
struct tensor *aten_dot(struct tape *tape, struct tensor *t, struct tensor *other);

/* The workspace of one product, taken and given back. */
void aten_product_workspace(struct tape *tape);
void aten_fused_product_workspace(struct tape *tape); /* of cuBLASLt */

/* softmax.c: over the last dim, in t's type */
struct tensor *aten_softmax(struct tape *tape, struct tensor *t);

/* dropout.c: in training */
struct tensor *aten_dropout(struct tape *tape, struct tensor *t);

/* elementwise.c, join.c */
struct tensor *aten_cat(struct tape *tape, struct tensor *const *list, size_t count, int64_t dim);
struct tensor *aten_where(struct tape *tape, struct tensor *condition, struct tensor *a,
                          struct tensor *b);
struct tensor *aten_pad_last(struct tape *tape, struct tensor *t, int64_t after);

#endif
