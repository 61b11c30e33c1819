/* quantized.c: bitsandbytes' product with weights of 4 bits (bitsandbytes 0.50, backends/cuda/ops.py
 * gemm_4bit): one fused kernel, or the weight restored in the input's type and a linear layer. Which
 * of the two is a heuristic of rows, sizes and card: its thresholds are those of that file
 * (_gemm_4bit_use_custom_cuda), without Blackwell's. */
#include "op.h"

enum { BLOCK = 64, FUSED_ALWAYS = 4, FUSED_AT_MOST = 1536, SMALL_WEIGHT = 4 * 1024 * 1024 };

struct product {
    unsigned architecture; /* 80: sm_80 */
    int64_t m, n, k;       /* rows, features out, features in */
    int64_t blocks, multiprocessors;
};

/* blocks of 64 features fill at least num/den of the card */
static bool fills(const struct product *p, int64_t num, int64_t den) {
    return p->blocks * den >= p->multiprocessors * num;
}

/* Most rows of the fused kernel for a small weight. */
static int64_t small_limit(const struct product *p) {
    unsigned arch = p->architecture;
    bool hbm = arch == 80 || arch == 90;
    if (p->k * 2 < p->n) {
        bool low = p->blocks * 3 < p->multiprocessors;
        if (arch == 80)
            return low ? 1536 : 512;
        if (arch == 90)
            return low ? 512 : 320;
        if (arch == 75 && !fills(p, 3, 1))
            return p->k >= 1024 ? 64 : p->k >= 704 ? 96 : 320;
        bool loaded = p->blocks * p->k > p->multiprocessors * 320;
        return arch != 75 && !fills(p, 1, 1) && loaded ? 192 : 320;
    }
    bool quarter = p->blocks * 4 <= p->multiprocessors;
    if (arch == 80 && quarter)
        return p->k < p->n ? 384 : p->blocks * 8 <= p->multiprocessors ? 32 : 128;
    if (arch == 75 && p->blocks < p->multiprocessors && p->m > 8)
        return 64;
    if (quarter)
        return p->k < p->n || hbm ? 32 : 23;
    return p->blocks * 2 <= p->multiprocessors ? 16 : 0;
}

/* The same for 8 to 512 rows and a large weight: the first row that holds. */
static int64_t large_limit_80(const struct product *p) {
    bool wide = p->k < p->n;
    if (fills(p, 3, 1))
        return 128;
    if (fills(p, 1, 1))
        return wide ? 64 : 32;
    if (p->k >= p->n * 3 && p->blocks * 4 > p->multiprocessors)
        return 0;
    if (p->k == p->n && p->blocks >= 48 && !fills(p, 3, 5))
        return 0;
    if (p->blocks * 2 < p->multiprocessors && p->k <= p->n)
        return 128;
    if (p->blocks * 2 < p->multiprocessors && fills(p, 1, 3))
        return 0;
    return p->blocks >= p->multiprocessors / 2 && wide ? 128 : 16;
}

static int64_t large_limit_90(const struct product *p) {
    if (fills(p, 3, 1))
        return 64;
    if (fills(p, 2, 1))
        return 48;
    if (fills(p, 1, 1))
        return 32;
    if (p->blocks < p->multiprocessors / 2 || (p->k >= p->n && !fills(p, 3, 4)))
        return 0;
    return 16;
}

static int64_t large_limit_86(const struct product *p) {
    if (fills(p, 1, 1))
        return 128;
    return p->blocks >= p->multiprocessors / 2 ? 64 : 16;
}

/* Ada, and what is not told apart */
static int64_t large_limit_89(const struct product *p) {
    if (fills(p, 3, 1))
        return 256;
    if (fills(p, 2, 1))
        return 128;
    bool tall = p->k > p->n * 2;
    if (fills(p, 4, 5)) {
        if (tall || p->blocks >= 200)
            return 128;
        return p->k < p->n ? 64 : p->multiprocessors >= 60 ? 128 : 32;
    }
    if (p->blocks >= p->multiprocessors / 2)
        return tall ? 64 : p->blocks >= 64 ? 8 : 32;
    if (p->k > p->n && p->blocks <= 48)
        return p->k >= p->n * 3 ? 12 : 10;
    return tall || p->blocks < 48 ? 16 : 8;
}

static int64_t large_limit(const struct product *p) {
    switch (p->architecture) {
    case 75:
        return fills(p, 3, 1) ? (p->k < p->n ? 128 : 64)
                              : (p->blocks >= p->multiprocessors / 2 ? 64 : 32);
    case 80:
        return large_limit_80(p);
    case 86:
        return large_limit_86(p);
    case 90:
        return large_limit_90(p);
    default:
        return large_limit_89(p);
    }
}

/* 5 to 7 rows of a large weight: fused but for two shapes on cards with HBM */
static bool is_fused_below_8(const struct product *p) {
    unsigned arch = p->architecture;
    if ((arch != 80 && arch != 90) || p->m < 6 || p->blocks < (arch == 90 ? 36 : 48))
        return true;
    if (p->k > p->n && !fills(p, 3, 4))
        return false;
    if (p->k != p->n)
        return true;
    return arch == 80 ? fills(p, 3, 5) : fills(p, 3, 4) || !fills(p, 3, 5);
}

static bool is_fused(const struct product *p, enum dtype dtype) {
    if (p->m > FUSED_AT_MOST || p->k % BLOCK != 0)
        return false;
    if (p->m <= FUSED_ALWAYS)
        return true;
    if (dtype == DTYPE_FLOAT32 || p->architecture < 75 ||
        (p->architecture == 75 && dtype != DTYPE_FLOAT16))
        return p->m < 8;
    if (p->n * p->k < SMALL_WEIGHT)
        return p->m <= small_limit(p);
    if (p->m > 512)
        return false;
    if (p->m < 8)
        return is_fused_below_8(p);
    return p->m <= large_limit(p);
}

/* The absolute maxima of blocks as fp32: as they are, or restored from 8 bits and shifted. */
static struct tensor *restore_maxima(struct tape *tape, struct tensor *absmax,
                                     struct tensor *offset, struct tensor **kept) {
    *kept = NULL;
    if (!offset)
        return tensor_ref(absmax);
    *kept = tape_new(tape, DTYPE_FLOAT32, &absmax->shape);
    tape_kernel(tape, "dequantize_blockwise", 0, 5 * tensor_nbytes(absmax), DTYPE_FLOAT32);
    return aten_add(tape, *kept, offset);
}

static struct tensor *restored_product(struct tape *tape, struct op_call *call,
                                       const struct shape *weight_shape) {
    struct tensor *input = call->arg[0].tensor, *kept;
    struct tensor *absmax = restore_maxima(tape, call->arg[2].tensor, call->arg[4].tensor, &kept);
    struct tensor *weight = tape_new(tape, input->dtype, weight_shape);
    tape_kernel(tape, "dequantize_4bit", 0,
                tensor_nbytes(call->arg[1].tensor) + tensor_nbytes(weight), input->dtype);
    struct tensor *turned = aten_t(tape, weight);
    struct tensor *out = aten_matmul(tape, input, turned);
    tensor_unref(tape, turned);
    tensor_unref(tape, weight);
    tensor_unref(tape, absmax);
    tensor_unref(tape, kept);
    return out;
}

static void run_gemm_4bit(struct tape *tape, struct op_call *call) {
    struct tensor *input = call->arg[0].tensor;
    unsigned dims = input->shape.ndim;
    int64_t n = call->arg[3].integer, k = dims > 0 ? input->shape.size[dims - 1] : 0;
    op_refuse_gradient(tape, call);
    if (dims < 2 || n < 1 || k < 1 || !dtype_is_float(input->dtype) ||
        (size_mul(n, k) + 1) / 2 != shape_numel(&call->arg[1].tensor->shape)) {
        char a[128];
        tape_fail(tape, ERROR_BAD_SCENARIO, "gemm_4bit: input %s does not fit the weight",
                  shape_format(&input->shape, a, sizeof a));
        op_give(call, tensor_ref(input));
        return;
    }
    struct product p = {.architecture = tape->device->compute_capability,
                        .m = shape_numel(&input->shape) / k,
                        .n = n,
                        .k = k,
                        .blocks = size_div_up(n, BLOCK),
                        .multiprocessors = tape->device->multiprocessors};
    struct shape out_shape = input->shape, weight_shape = {.ndim = 2, .size = {n, k}};
    out_shape.size[dims - 1] = n;
    if (!is_fused(&p, input->dtype)) {
        op_give(call, restored_product(tape, call, &weight_shape));
        return;
    }
    struct tensor *rows = aten_contiguous(tape, input);
    struct tensor *out = tape_new(tape, input->dtype, &out_shape);
    tape_kernel(tape, "gemm_4bit", 2 * (uint64_t)p.m * (uint64_t)n * (uint64_t)k,
                tensor_nbytes(input) + tensor_nbytes(call->arg[1].tensor) + tensor_nbytes(out),
                input->dtype);
    tensor_unref(tape, rows);
    op_give(call, out);
}

const struct op ops_quantized[] = {
    {"gemm_4bit", "input:T weight:T absmax:T features:i offset:T?", AUTOCAST_NONE,
     "input @ a weight of packed 4-bit numbers", run_gemm_4bit, "bitsandbytes::gemm_4bit"},
    {0},
};
