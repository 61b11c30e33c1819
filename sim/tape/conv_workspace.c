/* conv_workspace.c: see conv_workspace.h.
 *
 * The rules are read off the workspaces in two recordings of real cards, both ResNet-50, batch 32,
 * fp32, contiguous images:
 *   V100    the profiler trace of PyTorch's Kineto repository (1.9): kernels without tensor cores
 *   TF32    the memory timeline of HolisticTraceAnalysis: NHWC kernels on tensor cores
 * Of the latter's 125 workspaces a step 50 are the sum of the operands, all three or two of them, and
 * 512 B; 27 are the split sums; 22, of 1x1 filters, are 128 MiB, for which the sum stands here too.
 * The largest, 168,296,960 B, is 9 % above the rule. fp16 and bf16 are taken to go as TF32 does.
 * Nothing was at hand for channels_last. */
#include "conv_workspace.h"

#include "checked.h"
#include "device.h"

enum {
    WINOGRAD_TILE = 4,    /* outputs a side: F(4x4, 3x3) */
    WINOGRAD_POINTS = 36, /* (4 + 3 - 1)^2 */
    SPLITS = 32           /* sums apart in the gradient of a 1x1 filter */
};

/* a + b; what does not fit any number fits no card either. */
static uint64_t add(uint64_t a, uint64_t b) {
    uint64_t sum = UINT64_MAX;
    checked_add(a, b, &sum);
    return sum;
}

static uint64_t mul(uint64_t a, uint64_t b) {
    uint64_t product = UINT64_MAX;
    checked_mul(a, b, &product);
    return product;
}

/* fp32 runs as TF32 from Ampere on (torch.backends.cudnn.allow_tf32, on by default). */
static bool has_tensor_cores(const struct device *device, enum dtype dtype) {
    if (dtype == DTYPE_FLOAT16)
        return device->compute_capability >= 70;
    return (dtype == DTYPE_BFLOAT16 || dtype == DTYPE_FLOAT32) && device->compute_capability >= 80;
}

static bool is_filter(const struct conv_problem *c, int64_t size) {
    return c->filter[0] == size && c->filter[1] == size;
}

/* Filters, tiles of the input and tiles of the output, transformed, in fp32. */
static uint64_t winograd(const struct conv_problem *c) {
    uint64_t rows = ((uint64_t)c->out_height + WINOGRAD_TILE - 1) / WINOGRAD_TILE,
             columns = ((uint64_t)c->out_width + WINOGRAD_TILE - 1) / WINOGRAD_TILE;
    uint64_t in = (uint64_t)c->in_channels, out = (uint64_t)c->out_channels,
             tiles = mul((uint64_t)c->batch, mul(rows, columns));
    return mul(WINOGRAD_POINTS * sizeof(float), add(mul(in, out), mul(tiles, add(in, out))));
}

static uint64_t without_tensor_cores(const struct conv_problem *c, enum conv_pass pass) {
    if (c->plain && c->unit_step && is_filter(c, 3))
        return winograd(c);
    if (is_filter(c, 1))
        return pass == CONV_BACKWARD_INPUT ? c->input_bytes : 0;
    return c->weight_bytes;
}

/* Contiguous images are turned to NHWC: copies of both operands and of the result. The gradient of a
 * 1x1 filter is summed in parts where that takes less. */
static uint64_t with_tensor_cores(const struct conv_problem *c, enum conv_pass pass) {
    uint64_t copies =
        c->channels_last ? 0 : add(c->input_bytes, add(c->weight_bytes, c->output_bytes));
    if (pass != CONV_BACKWARD_WEIGHT || !is_filter(c, 1) || !c->unit_step)
        return copies;
    uint64_t parts = mul(SPLITS, mul(c->weight_bytes / dtype_bytes(c->dtype), sizeof(float)));
    return copies == 0 || parts < copies ? parts : copies;
}

uint64_t conv_workspace_estimate(const struct device *device, const struct conv_problem *problem,
                                 enum conv_pass pass) {
    return has_tensor_cores(device, problem->dtype) ? with_tensor_cores(problem, pass)
                                                    : without_tensor_cores(problem, pass);
}
