/* tensor.c: shapes and strides. Counting and storage are in tape.c. */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

#include "size.h"

int64_t shape_numel(const struct shape *shape) {
    int64_t n = 1;
    for (unsigned i = 0; i < shape->ndim; i++) {
        if (shape->size[i] < 0)
            return -1;
        n = size_mul(n, shape->size[i]);
    }
    return n;
}

bool shape_equal(const struct shape *a, const struct shape *b) {
    return a->ndim == b->ndim && memcmp(a->size, b->size, a->ndim * sizeof a->size[0]) == 0;
}

const char *shape_format(const struct shape *shape, char *out, unsigned bytes) {
    unsigned used = (unsigned)snprintf(out, bytes, "[");
    for (unsigned i = 0; i < shape->ndim && used < bytes; i++)
        used += (unsigned)snprintf(out + used, bytes - used, "%s%lld", i ? ", " : "",
                                   (long long)shape->size[i]);
    if (used < bytes)
        snprintf(out + used, bytes - used, "]");
    return out;
}

bool shape_wrap_dim(const struct shape *shape, int64_t dim, unsigned *out) {
    int64_t n = shape->ndim ? (int64_t)shape->ndim : 1;
    if (dim < -n || dim >= n)
        return false;
    *out = (unsigned)(dim < 0 ? dim + n : dim);
    return true;
}

bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *out) {
    unsigned n = a->ndim > b->ndim ? a->ndim : b->ndim;
    struct shape result = {.ndim = n};
    for (unsigned i = 0; i < n; i++) { /* from the last dimension */
        int64_t x = i < a->ndim ? a->size[a->ndim - 1 - i] : 1;
        int64_t y = i < b->ndim ? b->size[b->ndim - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            return false;
        result.size[n - 1 - i] = x == 1 ? y : x;
    }
    *out = result;
    return true;
}

bool tensor_is_contiguous(const struct tensor *t) {
    int64_t expected = 1;
    if (shape_numel(&t->shape) == 0)
        return true;
    for (unsigned i = t->shape.ndim; i-- > 0;) {
        if (t->shape.size[i] != 1 && t->stride[i] != expected)
            return false;
        expected *= t->shape.size[i];
    }
    return true;
}

bool tensor_is_dense(const struct tensor *t) {
    unsigned order[TENSOR_MAX_DIMS], n = 0;
    for (unsigned i = 0; i < t->shape.ndim; i++) {
        if (t->shape.size[i] == 0)
            return true;
        if (t->shape.size[i] == 1)
            continue;
        unsigned at = n++;
        while (at > 0 && t->stride[order[at - 1]] > t->stride[i]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    int64_t expected = 1;
    for (unsigned i = 0; i < n; i++) {
        if (t->stride[order[i]] != expected)
            return false;
        expected *= t->shape.size[order[i]];
    }
    return true;
}

uint64_t tensor_nbytes(const struct tensor *t) {
    return (uint64_t)shape_numel(&t->shape) * dtype_bytes(t->dtype);
}

void strides_contiguous(const struct shape *shape, int64_t stride[TENSOR_MAX_DIMS]) {
    int64_t next = 1;
    for (unsigned i = shape->ndim; i-- > 0;) {
        stride[i] = next;
        next = size_mul(next, shape->size[i] > 1 ? shape->size[i] : 1);
    }
}

/* NHWC and NDHWC: the dims from the fastest moving are the channels, the image from its last, the
 * batch. */
static unsigned channels_last_order(unsigned ndim, unsigned order[TENSOR_MAX_DIMS]) {
    unsigned n = 0;
    order[n++] = 1;
    for (unsigned i = ndim; i-- > 2;)
        order[n++] = i;
    order[n++] = 0;
    return n;
}

void strides_channels_last(const struct shape *shape, int64_t stride[TENSOR_MAX_DIMS]) {
    unsigned order[TENSOR_MAX_DIMS];
    unsigned n = channels_last_order(shape->ndim, order);
    int64_t next = 1;
    for (unsigned i = 0; i < n; i++) {
        stride[order[i]] = next;
        next = size_mul(next, shape->size[order[i]] > 1 ? shape->size[order[i]] : 1);
    }
}

bool tensor_is_channels_last(const struct tensor *t) {
    unsigned order[TENSOR_MAX_DIMS];
    if (!shape_has_channels_last(&t->shape))
        return false;
    unsigned n = channels_last_order(t->shape.ndim, order);
    int64_t expected = 1;
    for (unsigned i = 0; i < n; i++) {
        if (t->shape.size[order[i]] != 1 && t->stride[order[i]] != expected)
            return false;
        expected *= t->shape.size[order[i]];
    }
    return true;
}

bool shape_has_channels_last(const struct shape *shape) {
    return shape->ndim == 4 || shape->ndim == 5;
}

bool tensor_suggests_channels_last(const struct tensor *t) {
    unsigned order[TENSOR_MAX_DIMS];
    if (!shape_has_channels_last(&t->shape) || t->stride[1] == 0)
        return false;
    unsigned n = channels_last_order(t->shape.ndim, order);
    int64_t least = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned d = order[i];
        if (t->shape.size[d] == 0 || t->stride[d] < least)
            return false;
        if (d == 0 && least == t->stride[1]) /* [N, 1, 1, 1]: ambiguous, so contiguous */
            return false;
        least = t->stride[d] * (t->shape.size[d] > 1 ? t->shape.size[d] : 1);
    }
    return true;
}

/* Walks the old dimensions from the last, in chunks that lie contiguously in memory, and fits the
 * new ones into each. */
bool strides_view(const struct tensor *t, const struct shape *shape,
                  int64_t stride[TENSOR_MAX_DIMS]) {
    if (shape_numel(&t->shape) == 0 || t->shape.ndim == 0) {
        strides_contiguous(shape, stride);
        return true;
    }
    int to = (int)shape->ndim - 1;
    int64_t base = t->stride[t->shape.ndim - 1], old_count = 1, new_count = 1;
    for (int from = (int)t->shape.ndim - 1; from >= 0; from--) {
        old_count *= t->shape.size[from];
        bool chunk_ends =
            from == 0 || (t->shape.size[from - 1] != 1 && t->stride[from - 1] != old_count * base);
        if (!chunk_ends)
            continue;
        while (to >= 0 && (new_count < old_count || shape->size[to] == 1)) {
            stride[to] = new_count * base;
            new_count *= shape->size[to--];
        }
        if (new_count != old_count)
            return false;
        if (from > 0) {
            base = t->stride[from - 1];
            old_count = new_count = 1;
        }
    }
    return to == -1;
}

/* An operand's stride along dimension `dim` of the broadcast shape: 0 where it is repeated. */
static int64_t broadcast_stride(const struct tensor *t, const struct shape *shape, unsigned dim) {
    unsigned offset = shape->ndim - t->shape.ndim;
    if (dim < offset)
        return 0;
    if (t->shape.size[dim - offset] == 1 && shape->size[dim] != 1)
        return 0;
    return t->stride[dim - offset] * (int64_t)dtype_bytes(t->dtype);
}

/* > 0: `a` must come after `b` (it is further out in memory); < 0: before; 0: undecided. */
static int compare_dims(const struct shape *shape, const struct tensor *const *operands,
                        unsigned count, unsigned a, unsigned b) {
    for (unsigned i = 0; i < count; i++) {
        if (operands[i]->shape.ndim == 0)
            continue;
        int64_t sa = broadcast_stride(operands[i], shape, a);
        int64_t sb = broadcast_stride(operands[i], shape, b);
        if (sa == 0 || sb == 0)
            continue;
        if (sa != sb)
            return sa < sb ? -1 : 1;
        if (shape->size[a] > shape->size[b])
            return 1;
    }
    return 0;
}

/* TensorIterator's fast set-up: operands of one shape that are all contiguous, all channels last,
 * or all dense with the same strides decide the result's strides, those of dims of size 1 too
 * (compute_fast_setup_type). */
static bool strides_fast(const struct shape *shape, const struct tensor *const *operands,
                         unsigned count, int64_t stride[TENSOR_MAX_DIMS]) {
    bool contiguous = true, last = true, dense = true;
    for (unsigned i = 0; i < count; i++) {
        const struct tensor *t = operands[i];
        if (!shape_equal(&t->shape, shape))
            return false;
        contiguous = contiguous && tensor_is_contiguous(t);
        last = last && tensor_is_channels_last(t);
        dense = dense && tensor_is_dense(t) &&
                memcmp(t->stride, operands[0]->stride, shape->ndim * sizeof stride[0]) == 0;
    }
    if (contiguous)
        strides_contiguous(shape, stride);
    else if (last)
        strides_channels_last(shape, stride);
    else if (dense)
        memcpy(stride, operands[0]->stride, TENSOR_MAX_DIMS * sizeof stride[0]);
    return contiguous || last || dense;
}

void strides_elementwise(const struct shape *shape, const struct tensor *const *operands,
                         unsigned count, int64_t stride[TENSOR_MAX_DIMS]) {
    unsigned perm[TENSOR_MAX_DIMS]; /* innermost first */
    unsigned n = shape->ndim;
    if (count > 0 && strides_fast(shape, operands, count, stride))
        return;
    for (unsigned i = 0; i < n; i++)
        perm[i] = n - 1 - i;
    for (unsigned i = 1; i < n; i++) {
        unsigned at = i;
        for (unsigned j = i; j-- > 0;) {
            int order = compare_dims(shape, operands, count, perm[j], perm[at]);
            if (order > 0) {
                unsigned swap = perm[j];
                perm[j] = perm[at];
                perm[at] = swap;
                at = j;
            } else if (order < 0) {
                break;
            }
        }
    }
    int64_t next = 1;
    for (unsigned i = 0; i < n; i++) {
        stride[perm[i]] = next;
        next = size_mul(next, shape->size[perm[i]] > 1 ? shape->size[perm[i]] : 1);
    }
}

void strides_preserve(const struct tensor *t, int64_t stride[TENSOR_MAX_DIMS]) {
    if (tensor_is_dense(t))
        memcpy(stride, t->stride, sizeof t->stride);
    else
        strides_elementwise(&t->shape, &(const struct tensor *){t}, 1, stride);
}
