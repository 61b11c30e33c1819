/* pixels.c: images whose pixels are moved: pixel_shuffle, reflected and replicated borders, sampling
 * by a grid (ATen/native/PixelShuffle.cpp, cuda/ReflectionPad.cu, ReplicationPadding.cu,
 * GridSampler.cpp). */
#include <string.h>

#include "op.h"

static struct tensor *written(struct tape *tape, const char *name, struct tensor *from,
                              const struct shape *shape) {
    struct tensor *out = tape_new(tape, from->dtype, shape);
    tape_kernel(tape, name, 0, tensor_nbytes(from) + tensor_nbytes(out), from->dtype);
    return out;
}

/* The gradient of self alone. */
static void backward_plain(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    out[0] = written(tape, node->op->name, grads[0], &node->edges[0].shape);
}

/* The same, then a contiguous copy of what comes in. */
static void backward_copying(struct tape *tape, struct node *node, struct tensor **grads,
                             struct tensor **out) {
    out[0] = written(tape, node->op->name, grads[0], &node->edges[0].shape);
    tensor_unref(tape, aten_contiguous(tape, grads[0]));
}

static const struct backward_op shuffle_backward = {"PixelShuffleBackward0", backward_plain};
static const struct backward_op unshuffle_backward = {"PixelUnshuffleBackward0", backward_plain};
static const struct backward_op reflection_backward = {"ReflectionPad2DBackward0",
                                                       backward_copying};
static const struct backward_op replication_backward = {"ReplicationPad2DBackward0",
                                                        backward_plain};

static void give(struct tape *tape, struct op_call *call, const struct backward_op *backward,
                 const struct shape *shape, bool saves) {
    struct tensor *t = call->arg[0].tensor;
    struct node *node = node_create(tape, backward, &t, 1, 1);
    struct tensor *out = written(tape, call->op->name, t, shape);
    if (saves)
        node_save(tape, node, 0, t);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

static void refuse(struct tape *tape, struct op_call *call, const char *wanted) {
    char a[128];
    tape_fail(tape, ERROR_BAD_SCENARIO, "%s: %s does not fit: %s", call->op->name,
              shape_format(&call->arg[0].tensor->shape, a, sizeof a), wanted);
    op_give(call, tensor_ref(call->arg[0].tensor));
}

static void run_pixel_shuffle(struct tape *tape, struct op_call *call) {
    struct shape shape = call->arg[0].tensor->shape;
    int64_t r = call->arg[1].integer;
    if (shape.ndim != 4 || r < 1 || r > INT16_MAX || shape.size[1] % (r * r) != 0) {
        refuse(tape, call, "wants [N, C * r * r, H, W]");
        return;
    }
    shape.size[1] /= r * r;
    shape.size[2] = size_mul(shape.size[2], r);
    shape.size[3] = size_mul(shape.size[3], r);
    give(tape, call, &shuffle_backward, &shape, false);
}

static void run_pixel_unshuffle(struct tape *tape, struct op_call *call) {
    struct shape shape = call->arg[0].tensor->shape;
    int64_t r = call->arg[1].integer;
    if (shape.ndim != 4 || r < 1 || r > INT16_MAX || shape.size[2] % r || shape.size[3] % r) {
        refuse(tape, call, "wants [N, C, H * r, W * r]");
        return;
    }
    shape.size[1] = size_mul(shape.size[1], r * r);
    shape.size[2] /= r;
    shape.size[3] /= r;
    give(tape, call, &unshuffle_backward, &shape, false);
}

/* pad: before and after the last dim, then of the one before, and so on */
static void run_border(struct tape *tape, struct op_call *call) {
    struct shape shape = call->arg[0].tensor->shape;
    const struct shape *pad = &call->arg[1].shape;
    bool fits = pad->ndim % 2 == 0 && pad->ndim / 2 < shape.ndim;
    for (unsigned i = 0; fits && i < pad->ndim; i++) {
        unsigned dim = shape.ndim - 1 - i / 2;
        shape.size[dim] = size_add(shape.size[dim], pad->size[i]);
        fits = shape.size[dim] >= 1;
    }
    if (!fits) {
        refuse(tape, call, "wants two numbers for each of the last dims");
        return;
    }
    bool reflects = strcmp(call->op->name, "reflection_pad") == 0;
    give(tape, call, reflects ? &reflection_backward : &replication_backward, &shape, true);
}

/* Both gradients come from one kernel. saved: [0] input, [1] grid */
static void backward_grid(struct tape *tape, struct node *node, struct tensor **grads,
                          struct tensor **out) {
    for (unsigned i = 0; i < 2; i++)
        if (i == 1 || node_wants(node, 0))
            out[i] = written(tape, node->op->name, grads[0], &node->edges[i].shape);
    if (!node_wants(node, 1)) {
        tensor_unref(tape, out[1]);
        out[1] = NULL;
    }
}

static const struct backward_op grid_backward = {"GridSampler2DBackward0", backward_grid};

static void run_grid_sample(struct tape *tape, struct op_call *call) {
    struct tensor *in[2] = {call->arg[0].tensor, call->arg[1].tensor};
    unsigned n = in[0]->shape.ndim;
    if (n < 4 || n > 5 || in[1]->shape.ndim != n || in[1]->shape.size[n - 1] != n - 2 ||
        in[1]->shape.size[0] != in[0]->shape.size[0]) {
        refuse(tape, call, "wants [N, C, ...] and a grid [N, ..., dims]");
        return;
    }
    struct shape shape = in[0]->shape;
    for (unsigned i = 2; i < n; i++)
        shape.size[i] = in[1]->shape.size[i - 1];
    struct node *node = node_create(tape, &grid_backward, in, 2, 1);
    node_save(tape, node, 0, in[0]);
    node_save(tape, node, 1, in[1]);
    struct tensor *out = written(tape, "grid_sampler", in[0], &shape);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    op_give(call, out);
}

const struct op ops_pixels[] = {
    {"pixel_shuffle", "self:T upscale_factor:i", AUTOCAST_NONE, "channels become pixels",
     run_pixel_shuffle, NULL},
    {"pixel_unshuffle", "self:T downscale_factor:i", AUTOCAST_NONE, "pixels become channels",
     run_pixel_unshuffle, NULL},
    {"reflection_pad", "self:T pad:I", AUTOCAST_NONE, "borders that mirror the image", run_border,
     "aten::reflection_pad2d"},
    {"replication_pad", "self:T pad:I", AUTOCAST_NONE, "borders that repeat the edge", run_border,
     "aten::replication_pad2d"},
    {"grid_sample", "input:T grid:T", AUTOCAST_NONE, "pixels at the places that a grid says",
     run_grid_sample, "aten::grid_sampler_2d"},
    {0},
};
