/* reduction.c: reductions over dims, with the staging memory that a GPU reduction asks for when one
 * output is split over several thread blocks. The launch rule is that of ATen/native/cuda/Reduce.cuh
 * (setReduceConfig, set_block_dimension, global_memory_size, semaphore_size), vt0 = input_vec_size
 * = 4, 512 threads at most, warps of 32. */
#include <string.h>

#include "op.h"

enum { WARP = 32, MAX_THREADS = 512, VECTOR = 4, MIN_PER_THREAD = 16, MAX_PER_THREAD = 256 };

/* The iteration of a reduction after TensorIterator has ordered and joined the dims: reduced ones
 * first, each group from the fastest moving. */
struct iteration {
    unsigned ndim, reduced;                                 /* dims, of which reduced */
    int64_t size[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS]; /* of the input, in elements */
    bool is_reduced[TENSOR_MAX_DIMS];
    int64_t outputs, inputs_per_output;
};

static int compare(const struct iteration *it, unsigned a, unsigned b) {
    if (it->is_reduced[a] != it->is_reduced[b])
        return it->is_reduced[a] ? -1 : 1;
    if (it->stride[a] == 0 || it->stride[b] == 0)
        return 0;
    if (it->stride[a] != it->stride[b])
        return it->stride[a] < it->stride[b] ? -1 : 1;
    return it->size[a] > it->size[b] ? 1 : 0;
}

static void swap_dims(struct iteration *it, unsigned a, unsigned b) {
    int64_t size = it->size[a], stride = it->stride[a];
    bool reduced = it->is_reduced[a];
    it->size[a] = it->size[b];
    it->stride[a] = it->stride[b];
    it->is_reduced[a] = it->is_reduced[b];
    it->size[b] = size;
    it->stride[b] = stride;
    it->is_reduced[b] = reduced;
}

static void order_dims(struct iteration *it) {
    for (unsigned i = 1; i < it->ndim; i++) {
        unsigned at = i;
        for (unsigned j = i; j-- > 0;) {
            int order = compare(it, j, at);
            if (order > 0) {
                swap_dims(it, j, at);
                at = j;
            } else if (order < 0) {
                break;
            }
        }
    }
}

/* Sizes and strides are not negative; only those of empty or expanded tensors can be this large. */
static bool product_fits(int64_t a, int64_t b) {
    return b == 0 || a <= INT64_MAX / b;
}

static bool is_contiguous_after(const struct iteration *it, unsigned to, unsigned i) {
    return product_fits(it->size[to], it->stride[to]) &&
           it->size[to] * it->stride[to] == it->stride[i];
}

/* Neighbours of one kind that lie contiguously become one dim
 * (TensorIterator::coalesce_dimensions). */
static void join_dims(struct iteration *it) {
    unsigned to = 0;
    for (unsigned i = 1; i < it->ndim; i++) {
        bool one = it->size[to] == 1 || it->size[i] == 1;
        bool joins = it->is_reduced[i] == it->is_reduced[to] &&
                     product_fits(it->size[to], it->size[i]) &&
                     (one || is_contiguous_after(it, to, i));
        if (joins) {
            if (it->size[to] == 1)
                it->stride[to] = it->stride[i];
            it->size[to] *= it->size[i];
        } else {
            to++;
            it->size[to] = it->size[i];
            it->stride[to] = it->stride[i];
            it->is_reduced[to] = it->is_reduced[i];
        }
    }
    it->ndim = it->ndim ? to + 1 : 0;
}

static struct iteration make_iteration(const struct tensor *t, uint32_t mask) {
    struct iteration it = {.outputs = 1, .inputs_per_output = 1};
    for (unsigned i = t->shape.ndim; i-- > 0;) { /* innermost first */
        bool reduced = (mask >> i) & 1;
        it.size[it.ndim] = t->shape.size[i];
        it.stride[it.ndim] = t->stride[i];
        it.is_reduced[it.ndim++] = reduced;
        if (reduced)
            it.inputs_per_output *= t->shape.size[i];
        else
            it.outputs *= t->shape.size[i];
    }
    /* size-1 dims move nowhere: they count as whatever lets their neighbours join */
    order_dims(&it);
    unsigned kept = 0;
    for (unsigned i = 0; i < it.ndim; i++)
        if (it.size[i] != 1) {
            it.size[kept] = it.size[i];
            it.stride[kept] = it.stride[i];
            it.is_reduced[kept++] = it.is_reduced[i];
        }
    it.ndim = kept;
    join_dims(&it);
    for (unsigned i = 0; i < it.ndim; i++)
        it.reduced += it.is_reduced[i];
    return it;
}

/* get_output_vec_size: 4, halved until it divides the fastest output dim and all outer strides. */
static int64_t output_vector(const struct iteration *it) {
    int64_t v = VECTOR;
    while (v > 1 && it->size[it->reduced] % v != 0)
        v /= 2;
    for (unsigned i = 0; i < it->ndim; i++)
        if (i != it->reduced)
            while (v > 1 && it->stride[i] % v != 0)
                v /= 2;
    return v;
}

struct staging {
    uint64_t buffer, semaphores;
};

static struct staging stage(const struct tape *tape, const struct iteration *it,
                            uint64_t accumulator_bytes, int64_t input_vector) {
    struct staging none = {0, 0};
    if (it->ndim == 0 || it->outputs == 0 || it->inputs_per_output == 0)
        return none;
    bool along_input =
        it->reduced == it->ndim || (it->reduced > 0 && it->stride[0] < it->stride[it->reduced]);
    int64_t dim0 = along_input ? it->inputs_per_output : it->outputs;
    int64_t dim1 = along_input ? it->outputs : it->inputs_per_output;
    int64_t fastest = along_input ? it->stride[0] : it->stride[it->reduced];
    int64_t vector = 1;
    if (fastest == 1) {
        if (along_input && dim0 > 128 && it->ndim == 1) {
            dim0 /= input_vector;
        } else if (!along_input) {
            vector = output_vector(it);
            dim0 /= vector;
        }
    }
    int64_t threads = MAX_THREADS / vector;
    int64_t p0 = dim0 < threads ? size_last_pow2(dim0) : threads;
    int64_t p1 = dim1 < threads ? size_last_pow2(dim1) : threads;
    int64_t width = size_min(p0, WARP);
    int64_t height = size_min(p1, threads / width);
    width = size_min(p0, threads / height);
    int64_t step_input = 1, step_output = 1;
    if (along_input)
        step_input *= width;
    else
        step_output *= width;
    bool height_reduces = false;
    int64_t per_thread = size_div_up(it->inputs_per_output, step_input);
    if (per_thread >= height * MIN_PER_THREAD || per_thread >= MAX_PER_THREAD) {
        step_input *= height;
        height_reduces = true;
    } else {
        step_output *= height;
    }
    per_thread = size_div_up(it->inputs_per_output, step_input);
    const struct device *device = tape->device;
    int64_t grid = size_div_up(it->outputs / vector, step_output);
    int64_t target = (int64_t)device->multiprocessors *
                     ((int64_t)device->threads_per_multiprocessor / (width * height));
    if (!height_reduces || per_thread < MAX_PER_THREAD || grid > target)
        return none;
    int64_t blocks =
        size_max(size_min(size_div_up(target, grid), size_div_up(per_thread, MIN_PER_THREAD)),
                 size_div_up(per_thread, MAX_PER_THREAD));
    if (blocks <= 1)
        return none;
    uint64_t buffer = accumulator_bytes * (uint64_t)it->outputs * (uint64_t)blocks;
    if (!along_input)
        buffer *= (uint64_t)(width * vector);
    return (struct staging){buffer, 4 * (uint64_t)grid};
}

struct shape reduced_shape(const struct shape *shape, uint32_t mask, bool keepdim) {
    struct shape out = {.ndim = 0};
    for (unsigned i = 0; i < shape->ndim; i++)
        if (!((mask >> i) & 1))
            out.size[out.ndim++] = shape->size[i];
        else if (keepdim)
            out.size[out.ndim++] = 1;
    return out;
}

/* The kernel of a reduction into `out`, with its staging memory. */
static void launch_vectors(struct tape *tape, const char *name, struct tensor *t, uint32_t mask,
                           uint64_t accumulator, struct tensor *out, int64_t input_vector) {
    struct iteration it = make_iteration(t, mask);
    struct staging staging = stage(tape, &it, accumulator, input_vector);
    struct tensor *buffer = NULL, *semaphores = NULL;
    if (staging.buffer > 0) {
        buffer = tape_new_bytes(tape, staging.buffer, CATEGORY_TEMPORARY);
        semaphores = tape_new_bytes(tape, staging.semaphores, CATEGORY_TEMPORARY);
    }
    tape_kernel(tape, name, (uint64_t)shape_numel(&t->shape),
                tensor_nbytes(t) + tensor_nbytes(out) + 2 * staging.buffer, t->dtype);
    tensor_unref(tape, buffer);
    tensor_unref(tape, semaphores);
}

static void launch(struct tape *tape, const char *name, struct tensor *t, uint32_t mask,
                   uint64_t accumulator, struct tensor *out) {
    launch_vectors(tape, name, t, mask, accumulator, out, VECTOR);
}

void reduce_into(struct tape *tape, const char *name, struct tensor *out, struct tensor *t,
                 uint32_t mask) {
    enum dtype dtype = out->dtype;
    uint64_t accumulator = dtype == DTYPE_BOOL                               ? 1
                           : dtype_is_float(dtype) && dtype != DTYPE_FLOAT64 ? 4
                                                                             : 8;
    launch(tape, name, t, mask, accumulator, out);
}

/* MaxOps, MinOps (ReduceOps.h): a value of at most 8 bytes and an int64, as one struct. */
void reduce_with_index_into(struct tape *tape, const char *name, struct tensor *out,
                            struct tensor *t, uint32_t mask) {
    launch(tape, name, t, mask, 16, out);
}

/* std_var_kernel (ReduceMomentKernel.cu): WelfordData of four numbers of 4 bytes, two elements a
 * load; of 8 bytes for float64. */
void reduce_moments_into(struct tape *tape, const char *name, struct tensor *out, struct tensor *t,
                         uint32_t mask) {
    launch_vectors(tape, name, t, mask, t->dtype == DTYPE_FLOAT64 ? 32 : 16, out, 2);
}

struct tensor *reduce(struct tape *tape, const char *name, struct tensor *t, uint32_t mask,
                      bool keepdim, enum dtype dtype) {
    struct shape shape = reduced_shape(&t->shape, mask, keepdim);
    struct tensor *out = tape_new(tape, dtype, &shape);
    reduce_into(tape, name, out, t, mask);
    return out;
}

struct tensor *reduce_extreme(struct tape *tape, const char *name, struct tensor *t, uint32_t mask,
                              bool keepdim) {
    struct shape shape = reduced_shape(&t->shape, mask, keepdim);
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    launch(tape, name, t, mask, dtype_bytes(t->dtype), out);
    return out;
}

/* max(): compares in the tensor's own type, of a contiguous copy (ReduceAllOps.cpp max). */
struct tensor *aten_max_all(struct tape *tape, struct tensor *t) {
    struct shape shape = {.ndim = 0};
    struct tensor *out = tape_new(tape, t->dtype, &shape);
    struct tensor *contiguous = aten_contiguous(tape, t);
    launch(tape, "max", contiguous, (UINT32_C(1) << t->shape.ndim) - 1, dtype_bytes(t->dtype), out);
    tensor_unref(tape, contiguous);
    return out;
}
