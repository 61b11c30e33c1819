/* conv_workspace.c: see conv_workspace.h.
 *
 * With tensor cores (fp32 from Ampere on): what a plan of cuDNN asks for, found from the workspaces and the
 * plans (engine, tile, splits) that cuDNN 9.26 itself gives out for properties of a card: 97 % of those
 * asked come out to the byte when the plan is known. Not found are depthwise gradients and gradients
 * of strided images, which the choice names as a number of bytes.
 *
 * Without: read off the workspaces in a recording of a V100 (the profiler trace of PyTorch's Kineto
 * repository, 1.9): ResNet-50, batch 32, fp32, contiguous images. */
#include "conv_workspace.h"

#include "conv_choice.h"
#include "device.h"
#include "size.h"

enum {
    WINOGRAD_TILE = 4,    /* outputs a side: F(4x4, 3x3) */
    WINOGRAD_POINTS = 36, /* (4 + 3 - 1)^2 */
    COPY_HEADER = 16,     /* a plan that copies anything; each copy is of whole units of it */
    SPLIT_HEADER = 128,
    LOCKS_HEADER = 159,
    LOCK_BYTES = 4,
    FOUR = 4
};

/* fp32 runs as TF32 from Ampere on (torch.backends.cudnn.allow_tf32, on by default). */
static bool has_tensor_cores(const struct device *device, enum dtype dtype) {
    if (dtype == DTYPE_FLOAT16)
        return device->compute_capability >= 70;
    return (dtype == DTYPE_BFLOAT16 || dtype == DTYPE_FLOAT32) && device->compute_capability >= 80;
}

static int64_t parts(int64_t n, int64_t size) {
    return (n - 1) / size + 1;
}

/* ---- without tensor cores ---- */

static bool is_filter(const struct conv_problem *c, int64_t size) {
    return c->filter[0] == size && c->filter[1] == size;
}

/* Filters, tiles of the input and tiles of the output, transformed, in fp32. */
static int64_t winograd(const struct conv_problem *c) {
    int64_t count = size_mul(c->batch, size_mul(parts(c->out_height, WINOGRAD_TILE),
                                                parts(c->out_width, WINOGRAD_TILE)));
    int64_t values = size_add(size_mul(c->in_channels, c->out_channels),
                              size_mul(count, size_add(c->in_channels, c->out_channels)));
    return size_mul(WINOGRAD_POINTS * (int64_t)sizeof(float), values);
}

static int64_t without_tensor_cores(const struct conv_problem *c, enum conv_pass pass) {
    bool plain = c->flat && c->groups == 1 && !c->dilated && !c->transposed;
    if (plain && c->unit_step && is_filter(c, 3))
        return winograd(c);
    int64_t each = dtype_bytes(c->dtype);
    if (is_filter(c, 1))
        return pass == CONV_BACKWARD_INPUT
                   ? size_mul(size_mul(size_mul(c->batch, c->in_area), c->in_channels), each)
                   : 0;
    return size_mul(size_mul(c->in_channels / c->groups, c->out_channels),
                    size_mul(c->filter_area, each));
}

/* ---- with ---- */

/* Channels as the plan has them: rounded up where there is one group. */
struct padded {
    int64_t in, in_group, out;
    bool in_more, out_more;
};

static struct padded pad(const struct conv_problem *c, enum conv_padding padding) {
    int64_t unit = padding == CONV_PAD_FULL   ? COPY_HEADER / (int64_t)dtype_bytes(c->dtype)
                   : padding == CONV_PAD_FOUR ? FOUR
                                              : 1;
    if (c->groups > 1)
        unit = 1;
    struct padded p = {.in = size_round_up(c->in_channels, unit),
                       .out = size_round_up(c->out_channels, unit)};
    p.in_group = p.in / c->groups;
    p.in_more = p.in != c->in_channels;
    p.out_more = p.out != c->out_channels;
    return p;
}

/* Whether an operand lies otherwise than the kernel has it. One pixel or one channel lies either way. */
static bool is_turned(const struct conv_problem *c, enum conv_layout layout, bool is_result,
                      int64_t area, int64_t channels) {
    bool nchw = layout == CONV_NCHW || (layout == CONV_NHWC_TO_NCHW && is_result);
    return nchw == c->channels_last && area > 1 && channels > 1;
}

static int64_t copies(const struct conv_problem *c, enum conv_pass pass,
                      const struct conv_plan *plan, const struct padded *p) {
    const struct {
        enum conv_pass makes;
        bool more;
        int64_t area, channels, elements;
    } operands[] = {{CONV_BACKWARD_INPUT, p->in_more, c->in_area, c->in_channels,
                     size_mul(size_mul(c->batch, c->in_area), p->in)},
                    {CONV_BACKWARD_WEIGHT, p->in_more || p->out_more, c->filter_area,
                     c->in_channels / c->groups,
                     size_mul(size_mul(p->in_group, p->out), c->filter_area)},
                    {CONV_FORWARD, p->out_more, c->out_area, c->out_channels,
                     size_mul(size_mul(c->batch, c->out_area), p->out)}};
    int64_t bytes = 0;
    for (unsigned i = 0; plan->layout != CONV_ANY && i < 3; i++) {
        bool is_result = operands[i].makes == pass;
        if (operands[i].more || (plan->converts && !is_result) ||
            is_turned(c, plan->layout, is_result, operands[i].area, operands[i].channels))
            bytes =
                size_add(bytes, size_round_up(size_mul(operands[i].elements, dtype_bytes(c->dtype)),
                                              COPY_HEADER));
    }
    return bytes > 0 ? size_add(bytes, COPY_HEADER) : 0;
}

static int64_t scratch(const struct conv_problem *c, enum conv_pass pass,
                       const struct conv_plan *plan, const struct padded *p) {
    if (plan->scratch == CONV_FIXED)
        return plan->count;
    int64_t pixels = size_mul(c->batch, c->out_area), out_group = p->out / c->groups, rows = pixels,
            columns = out_group, result = size_mul(pixels, p->out);
    if (pass == CONV_BACKWARD_INPUT) {
        rows = size_mul(c->batch, c->in_area);
        columns = p->in_group;
        result = size_mul(rows, p->in);
    } else if (pass == CONV_BACKWARD_WEIGHT) {
        rows = out_group;
        columns = size_mul(c->filter_area, p->in_group);
        result = size_mul(p->out, columns);
    }
    int64_t sums = size_mul(plan->count, (int64_t)sizeof(float));
    if (plan->scratch == CONV_SPLITS)
        return size_add(SPLIT_HEADER, size_mul(sums, result));
    int64_t tiles =
        size_mul(c->groups, size_mul(parts(rows, plan->tile[0]), parts(columns, plan->tile[1])));
    if (plan->scratch == CONV_LOCKS)
        return size_add(SPLIT_HEADER, size_mul(LOCK_BYTES, tiles));
    if (plan->scratch == CONV_TILES)
        result = size_mul(tiles, plan->tile[0] * plan->tile[1]);
    int64_t locks = size_mul((int64_t)plan->count + 1, size_mul(LOCK_BYTES, tiles));
    return size_add(LOCKS_HEADER, size_add(size_mul(sums, result), locks));
}

static bool is_empty(const struct conv_problem *c) {
    return c->batch < 1 || c->in_channels < 1 || c->out_channels < 1 || c->in_area < 1 ||
           c->out_area < 1 || c->filter_area < 1;
}

uint64_t conv_workspace_estimate(const struct device *device, const struct conv_problem *problem,
                                 enum conv_pass pass) {
    if (is_empty(problem))
        return 0;
    if (!has_tensor_cores(device, problem->dtype))
        return (uint64_t)without_tensor_cores(problem, pass);
    const struct conv_plan *plan = conv_choose(device, problem, pass);
    struct padded p = pad(problem, plan->padding);
    return (uint64_t)size_add(copies(problem, pass, plan, &p), scratch(problem, pass, plan, &p));
}
