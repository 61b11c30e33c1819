/* tensor.h: symbolic tensors: shape, strides and type over a storage; no data.
 *
 * A storage is one request to the allocator and dies with its last tensor. A tensor is counted:
 * names of the scenario, autograd nodes, optimizer state and running ops hold it. Strides are in
 * elements, as PyTorch's. Ownership: the tape owns the memory of both; tensor_ref/tensor_unref
 * count. One tape, one thread. */
#ifndef TENSOR_H
#define TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "category.h"
#include "dtype.h"

struct node;
struct tape;

enum { TENSOR_MAX_DIMS = 8 };

struct storage {
    uint32_t refs;
    uint32_t
        /* the sink's number; STORAGE_NO_BLOCK: nothing was asked for (0 bytes, host memory, after
           failure) */
        block;
    uint64_t bytes;
    struct storage *next_free; /* of the tape's list of unused ones */
    enum category category;
    bool
        /* set by a holder that knows (parameter, optimizer state); later guesses do not change it
         */
        category_fixed;
};

#define STORAGE_NO_BLOCK UINT32_MAX

struct shape {
    unsigned ndim;
    int64_t size[TENSOR_MAX_DIMS];
};

struct tensor {
    uint32_t refs;
    uint32_t id; /* 1, 2, ... in order of creation */
    struct storage *storage;
    struct shape shape;
    int64_t stride[TENSOR_MAX_DIMS];
    enum dtype dtype;
    bool requires_grad;
    bool
        /* keeps its base alive: its storage has another holder (autograd's view tracking) */
        is_view;
    bool is_buffer;       /* of a module: moved after its parameters */
    bool has_hook;        /* tape->accumulated wants to hear of its gradient */
    bool host;            /* lives in host memory: a CPU scalar or step counter */
    uint16_t output_nr;   /* which output of grad_fn */
    struct node *grad_fn; /* counted; NULL for leaves */
    struct node
        *accumulate;     /* a leaf's AccumulateGrad node while a graph refers to it; not counted */
    struct tensor *grad; /* counted */
    const char *name;    /* "weight"; lives in the tape's arena */
    uint32_t kept;       /* references of modules: nn.Parameter, nn.Buffer */
    uint32_t owner;      /* the tape's string: module path of a parameter */
};

struct tensor *tensor_ref(struct tensor *t); /* NULL is passed through */
void tensor_unref(struct tape *tape, struct tensor *t);

/* -1 when a size is negative, the largest number when there are more elements than that: no tensor
 * has either. */
int64_t shape_numel(const struct shape *shape);
bool shape_equal(const struct shape *a, const struct shape *b);
/* "[2, 256, 4096]" into out; returns out. */
const char *shape_format(const struct shape *shape, char *out, unsigned bytes);
/* Negative dims count from the end; false when out of range. */
bool shape_wrap_dim(const struct shape *shape, int64_t dim, unsigned *out);
/* NumPy broadcasting. False: the shapes do not fit. */
bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *out);

bool tensor_is_contiguous(const struct tensor *t);
/* PyTorch's is_non_overlapping_and_dense: some permutation is contiguous. */
bool tensor_is_dense(const struct tensor *t);
uint64_t tensor_nbytes(const struct tensor *t); /* numel * element, not the storage's */

/* Layout NHWC or NDHWC (c10/core/MemoryFormat.h). A tensor can lie in both ways (a 1x1 image):
 * which one it suggests (Tensor.suggest_memory_format) then hangs on the strides of its dims of
 * size 1. */
bool shape_has_channels_last(const struct shape *shape); /* 4 or 5 dims */
void strides_channels_last(const struct shape *shape, int64_t stride[TENSOR_MAX_DIMS]);
bool tensor_is_channels_last(const struct tensor *t);
bool tensor_suggests_channels_last(const struct tensor *t);

void strides_contiguous(const struct shape *shape, int64_t stride[TENSOR_MAX_DIMS]);
/* Strides that view `t` as `shape` without a copy; false when a copy is needed (ATen
 * computeStride). */
bool strides_view(const struct tensor *t, const struct shape *shape,
                  int64_t stride[TENSOR_MAX_DIMS]);
/* The layout of an elementwise result (ATen TensorIterator reorder_dimensions): follows the
 * operands' strides. */
void strides_elementwise(const struct shape *shape, const struct tensor *const *operands,
                         unsigned count, int64_t stride[TENSOR_MAX_DIMS]);
/* Strides of clone/to with preserve_format: the tensor's own when dense, else those of an
 * elementwise result. */
void strides_preserve(const struct tensor *t, int64_t stride[TENSOR_MAX_DIMS]);

#endif
