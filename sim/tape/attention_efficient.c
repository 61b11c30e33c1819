/* attention_efficient.c: memory-efficient attention (ATen/native/transformers/cuda/attention.cu,
 * attention_backward.cu and mem_eff_attention of 2.15): workspaces, sums in memory, padded bias. */
#include "attention.h"

/* A bias whose rows do not start at multiples of 8 elements is padded and sliced (attention.cpp
 * preprocess_mask, pad_bias: by 8 at least); then it is seen once a head. Takes `bias` over. */
struct tensor *attention_prepare_bias(struct tape *tape, struct tensor *bias,
                                      const struct attention_sizes *z) {
    enum { ALIGNMENT = 8 };
    unsigned n = bias->shape.ndim;
    bool aligned = n > 0 && bias->stride[n - 1] == 1;
    for (unsigned i = 0; i + 1 < n; i++)
        aligned = aligned && bias->stride[i] % ALIGNMENT == 0;
    if (!aligned && n > 0) {
        int64_t last = bias->shape.size[n - 1];
        struct tensor *padded = aten_pad_last(tape, bias, ALIGNMENT - last % ALIGNMENT);
        tensor_unref(tape, bias);
        bias = aten_narrow(tape, padded, n - 1, 0, last);
        tensor_unref(tape, padded);
    }
    struct shape shape = {.ndim = 4, .size = {z->b, z->a, z->s, z->t}};
    struct tensor *seen = aten_expand(tape, bias, &shape);
    tensor_unref(tape, bias);
    return seen;
}

/* The backward kernel that PyTorch takes: the first of
 * mem_eff_attention/kernels/generate_kernels.py (smallest head width, then most queries a block)
 * that fits the shared memory. */
struct backward_kernel {
    int64_t queries, keys; /* of a block */
    /* the keys' and values' gradients; else 16-bit ones are summed in fp32 memory */
    bool keeps_in_registers;
    bool computes_delta;
};

/* sm_75 has 64 KiB of shared memory, sm_86, sm_89 and sm_120 have 99: most blocks of 128 queries do
 * not fit. Seen in recordings of sm_86 and sm_89: those of 16 bits fit up to heads of 96 and again
 * above 128, where tiles are narrower. */
static bool has_small_shared_memory(const struct tape *tape) {
    uint32_t sm = tape->device->compute_capability;
    return sm == 75 || sm == 86 || sm == 89 || sm == 120;
}

static struct backward_kernel backward_kernel(const struct tape *tape,
                                              const struct attention_sizes *z, bool half) {
    uint32_t sm = tape->device->compute_capability;
    int64_t widest = z->d > z->dv ? z->d : z->dv;
    struct backward_kernel kernel = {.queries = 64, .keys = 64};
    bool small = has_small_shared_memory(tape);
    if (half && small && sm >= 80 && widest > 64 && widest <= 96) /* made for these cards */
        return (struct backward_kernel){
            .queries = 128, .keys = 64, .keeps_in_registers = true, .computes_delta = true};
    if (half && small && sm >= 80 && widest > 128)
        kernel.queries = 128;
    if (widest > 64 && !small && (sm >= 80 || (sm >= 70 && half)))
        kernel.queries = 128;
    /* the widest head of the kernel */
    int64_t width = widest <= 64 ? 64 : widest <= 128 ? 128 : INT64_MAX;
    kernel.keeps_in_registers = half && width <= kernel.queries;
    if (kernel.keeps_in_registers && sm >= 80 && widest > 64)
        kernel.keys = 128;
    kernel.computes_delta = half && (kernel.keeps_in_registers || sm >= 75);
    return kernel;
}

/* Workspace of attention_backward.cu in floats (kernel_backward.h, workspace_size): tiles of the
 * queries' gradient with 4 more for a lock; where keys' and values' gradients are summed in memory,
 * as many blocks of keys as run at once. */
static int64_t efficient_workspace(const struct backward_kernel *kernel,
                                   const struct attention_sizes *z, bool half) {
    int64_t heads = z->b * z->a;
    int64_t blocks = size_div_up(z->s, kernel->queries), columns = size_div_up(z->d, kernel->keys);
    int64_t floats = blocks * columns * (kernel->queries * kernel->keys + 4);
    if (half && !kernel->keeps_in_registers) {
        int64_t splits = size_div_up(z->t, kernel->keys);
        if (heads >= 256 && z->t <= 2 * kernel->keys)
            splits = 1;
        splits = splits < 200 / heads ? splits : 200 / heads;
        splits = splits < 1 ? 1 : splits;
        floats += splits * kernel->keys *
                  (size_round_up(z->d, kernel->queries) + size_round_up(z->dv, kernel->queries));
    }
    return heads * size_round_up(floats, 4);
}

/* Forward: head dims above 128 do not fit the kernel's registers: 16-bit results are then summed in
 * fp32 memory. */
static bool sums_in_memory(const struct tensor *q, const struct attention_sizes *z) {
    return attention_is_half(q->dtype) && (z->d > 128 || z->dv > 128);
}

/* delta = (grad.float() * out.float()).sum(-1), [b, a, s]; some kernels compute it themselves */
static struct tensor *make_delta(struct tape *tape, struct tensor *grad, struct tensor *output,
                                 const struct attention_sizes *z,
                                 const struct backward_kernel *kernel) {
    if (kernel->computes_delta)
        return attention_new_floats(tape, z->b * z->a * z->s);
    struct tensor *views[2] = {aten_transpose(tape, grad, 1, 2),
                               aten_transpose(tape, output, 1, 2)};
    struct tensor *wide[2] = {aten_to(tape, views[0], DTYPE_FLOAT32),
                              aten_to(tape, views[1], DTYPE_FLOAT32)};
    struct tensor *product = elementwise(tape, "mul", DTYPE_FLOAT32, wide, 2);
    struct tensor *sum = reduce(tape, "sum", product, 1u << 3, false, DTYPE_FLOAT32);
    struct tensor *turned = aten_transpose(tape, sum, 1, 2);
    struct tensor *delta = aten_contiguous(tape, turned);
    struct tensor *done[] = {views[0], views[1], wide[0], wide[1], product, sum, turned};
    for (unsigned i = 0; i < sizeof done / sizeof done[0]; i++)
        tensor_unref(tape, done[i]);
    return delta;
}

static void backward_efficient(struct tape *tape, struct node *node, struct tensor **grads,
                               struct tensor **out) {
    struct tensor *q = node->saved[SAVED_Q], *k = node->saved[SAVED_K];
    struct attention_sizes z = attention_sizes_of(q, k, node->saved[SAVED_V]);
    struct tensor *grad = attention_contiguous_heads(tape, grads[0]);
    out[0] = attention_new_heads(tape, q->dtype, z.b, z.a, z.s, z.d);
    out[1] = attention_new_heads(tape, q->dtype, z.b, z.kv, z.t, z.d);
    out[2] = attention_new_heads(tape, q->dtype, z.b, z.kv, z.t, z.dv);
    struct tensor *dk = NULL, *dv = NULL;
    if (z.kv != z.a) {
        dk = attention_new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
        dv = attention_new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
    }
    if (node_wants(node, 3)) { /* its rows begin at multiples of 16 elements */
        struct shape shape = node->edges[3].shape;
        int64_t last = shape.size[3];
        shape.size[3] = size_round_up(last, 16);
        struct tensor *wide = tape_new(tape, node->edges[3].dtype, &shape);
        out[3] = aten_narrow(tape, wide, 3, 0, last);
        tensor_unref(tape, wide);
    }
    struct tensor *turned = aten_transpose(tape, grad, 1, 2);
    bool half = attention_is_half(q->dtype);
    struct backward_kernel kernel = backward_kernel(tape, &z, half);
    struct tensor *delta = make_delta(tape, turned, node->saved[SAVED_OUT], &z, &kernel);
    struct tensor *workspace = attention_new_floats(tape, efficient_workspace(&kernel, &z, half));
    attention_kernel(tape, "efficient_attention_backward", &z, 5, q);
    tensor_unref(tape, delta);
    tensor_unref(tape, workspace);
    tensor_unref(tape, dk);
    tensor_unref(tape, dv);
    tensor_unref(tape, turned);
    tensor_unref(tape, grad);
}

static const struct backward_op efficient_backward = {"ScaledDotProductEfficientAttentionBackward0",
                                                      backward_efficient};

/* With dropout the random state is two numbers in host memory. */
struct tensor *attention_efficient(struct tape *tape, struct tensor *q, struct tensor *k,
                                   struct tensor *v, struct tensor *bias, bool dropout) {
    struct attention_sizes z = attention_sizes_of(q, k, v);
    struct tensor *in[4] = {q, k, v, bias};
    struct node *node = node_create(tape, &efficient_backward, in, 4, 1);
    int64_t words = !dropout && tape->framework->efficient_seed_on_device; /* 0: no request */
    struct tensor *seed = aten_new_int64s(tape, words), *offset = aten_new_int64s(tape, words);
    struct tensor *out = attention_new_heads(tape, q->dtype, z.b, z.a, z.s, z.dv);
    struct tensor *lse = attention_new_floats(tape, node ? z.b * z.a * size_round_up(z.s, 32) : 0);
    struct tensor *sums =
        sums_in_memory(q, &z) ? attention_new_floats(tape, z.b * z.a * z.s * z.dv) : NULL;
    attention_kernel(tape, "efficient_attention", &z, 2, q);
    tensor_unref(tape, sums);
    struct tensor *saved[] = {q, k, v, out, lse, seed, offset, bias};
    node_save(tape, node, SAVED_BIAS, bias);
    attention_save(tape, node, saved, true);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, lse);
    tensor_unref(tape, seed);
    tensor_unref(tape, offset);
    return out;
}
