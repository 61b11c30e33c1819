/* attention.c: scaled_dot_product_attention: which kernel runs, what it asks for and saves.
 *
 * Order of choice (ATen/native/transformers/cuda/sdp_utils.cpp): flash, memory-efficient, math.
 * cuDNN, which recent versions put first on sm_90 and sm_100, is not modelled (its workspace is its
 * own secret); flash stands in. Shapes: query [b, a, s, d]; key, value [b, kv, t, d]. Sizes and
 * order of the requests: flash_api.cpp, attention.cu, attention_backward.cu of 2.15, each compared
 * with recordings (docs/validation.md). */
#include "attention.h"

#include <string.h>

struct sizes {
    /* dv: of values, only the memory-efficient kernels let it differ */
    int64_t b, a, kv, s, t, d, dv;
};

static bool is_half(enum dtype dtype) {
    return dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
}

static int64_t round_up(int64_t n, int64_t unit) {
    return (n + unit - 1) / unit * unit;
}

/* head_size_rounded of flash_api.cpp */
static int64_t flash_head(int64_t d) {
    return round_up(d, d <= 128 ? 32 : 64);
}

static struct sizes sizes_of(const struct tensor *q, const struct tensor *k,
                             const struct tensor *v) {
    return (struct sizes){.b = q->shape.size[0],
                          .a = q->shape.size[1],
                          .kv = k->shape.size[1],
                          .s = q->shape.size[2],
                          .t = k->shape.size[2],
                          .d = q->shape.size[3],
                          .dv = v->shape.size[3]};
}

/* [b, a, s, d] seen through memory of [b, s, a, d] */
static struct tensor *new_heads(struct tape *tape, enum dtype dtype, int64_t b, int64_t a,
                                int64_t s, int64_t d) {
    struct shape shape = {.ndim = 4, .size = {b, a, s, d}};
    int64_t stride[TENSOR_MAX_DIMS] = {s * a * d, d, a * d, 1};
    return tape_new_strided(tape, dtype, &shape, stride);
}

static struct tensor *new_floats(struct tape *tape, int64_t count) {
    struct shape shape = {.ndim = 1, .size = {count}};
    return tape_new(tape, DTYPE_FLOAT32, &shape);
}

static struct tensor *new_int64s(struct tape *tape, int64_t count) {
    struct shape shape = {.ndim = 1, .size = {count}};
    return tape_new(tape, DTYPE_INT64, &shape);
}

static void attention_kernel(struct tape *tape, const char *name, const struct sizes *z,
                             uint64_t products, struct tensor *q) {
    uint64_t flops = products * 2 * (uint64_t)z->b * (uint64_t)z->a * (uint64_t)z->s *
                     (uint64_t)z->t * (uint64_t)z->d;
    tape_kernel(tape, name, flops, 4 * tensor_nbytes(q), q->dtype);
}

/* A copy unless [b, s, a, d] order is what lies in memory. */
static struct tensor *contiguous_heads(struct tape *tape, struct tensor *t) {
    struct tensor *view = aten_transpose(tape, t, 1, 2);
    struct tensor *copy = aten_contiguous(tape, view);
    tensor_unref(tape, view);
    return copy;
}

/* ---- flash ---- */

/* num_splits_heuristic of flash_api.cpp: the fewest splits of the keys whose waves fill the machine
 * to 85 % of the best. */
static int64_t flash_splits(const struct tape *tape, const struct sizes *z, int64_t d) {
    int64_t s = z->s, a = z->a;
    if (s == 1 && a > z->kv) { /* the groups of a single query take the place of the sequence */
        s = a / z->kv;
        a = z->kv;
    }
    int64_t block_n = d <= 64 ? 256 : d <= 128 ? 128 : 64;
    int64_t n_blocks = (z->t + block_n - 1) / block_n;
    int64_t tiles = z->b * a * ((s + 63) / 64);
    int64_t sms = 2 * (int64_t)tape->device->multiprocessors;
    if ((float)tiles >= 0.8f * (float)sms)
        return 1;
    int64_t limit = 128 < sms ? 128 : sms;
    limit = n_blocks < limit ? n_blocks : limit;
    float efficiency[129] = {0}, best = 0;
    for (int64_t k = 1; k <= limit; k++) {
        if (k > 1 && (n_blocks + k - 1) / k == (n_blocks + k - 2) / (k - 1))
            continue;
        float waves = (float)(tiles * k) / (float)sms;
        float full = (float)(int64_t)waves < waves ? (float)((int64_t)waves + 1) : waves;
        efficiency[k] = waves / full;
        best = efficiency[k] > best ? efficiency[k] : best;
    }
    for (int64_t k = 1; k <= limit; k++)
        if (efficiency[k] > 0 && efficiency[k] >= 0.85f * best)
            return k;
    return 1;
}

enum { SAVED_Q, SAVED_K, SAVED_V, SAVED_OUT, SAVED_LSE, SAVED_SEED, SAVED_OFFSET, SAVED_BIAS };

/* By name: (attn_bias,) key, query, value, logsumexp, output, then rng_state and unused, or
 * philox_offset and philox_seed. */
static void save_all(struct tape *tape, struct node *node, struct tensor *const *saved,
                     bool offset_first) {
    const unsigned order[] = {SAVED_K,
                              SAVED_Q,
                              SAVED_V,
                              SAVED_LSE,
                              SAVED_OUT,
                              offset_first ? SAVED_OFFSET : SAVED_SEED,
                              offset_first ? SAVED_SEED : SAVED_OFFSET};
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        node_save(tape, node, order[i], saved[order[i]]);
}

/* empty_like: the layout of the inputs, which is [b, s, a, d] after a projection, else what a copy
 * made it */
static struct tensor *new_like(struct tape *tape, struct tensor *t) {
    int64_t stride[TENSOR_MAX_DIMS];
    strides_preserve(t, stride);
    return tape_new_strided(tape, t->dtype, &t->shape, stride);
}

static void backward_flash(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *q = node->saved[SAVED_Q], *k = node->saved[SAVED_K];
    struct sizes z = sizes_of(q, k, node->saved[SAVED_V]);
    struct tensor *grad = contiguous_heads(tape, grads[0]);
    struct tensor *output = contiguous_heads(tape, node->saved[SAVED_OUT]);
    for (unsigned i = 0; i < 3; i++)
        out[i] = new_like(tape, node->saved[i]);
    int64_t rows = round_up(z.s, 128);
    struct tensor *softmax_d = new_floats(tape, z.b * z.a * rows);
    struct tensor *dq_accum = new_floats(tape, z.b * z.a * rows * flash_head(z.d));
    struct tensor *dk = NULL, *dv = NULL;
    if (z.kv != z.a) { /* per query head, summed into the groups afterwards */
        dk = new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
        dv = new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
    }
    attention_kernel(tape, "flash_attention_backward", &z, 5, q);
    tensor_unref(tape, softmax_d);
    tensor_unref(tape, dq_accum);
    tensor_unref(tape, dk);
    tensor_unref(tape, dv);
    tensor_unref(tape, grad);
    tensor_unref(tape, output);
}

static const struct backward_op flash_backward = {"ScaledDotProductFlashAttentionBackward0",
                                                  backward_flash};

/* Dropout: keys are not split, and a second pair of numbers takes the place of the random state. */
static struct tensor *flash(struct tape *tape, struct tensor *q, struct tensor *k, struct tensor *v,
                            bool dropout) {
    struct sizes z = sizes_of(q, k, v);
    struct tensor *in[3] = {q, k, v};
    struct node *node = node_create(tape, &flash_backward, in, 3, 1);
    struct tensor *out = new_like(tape, q);
    struct tensor *lse = new_floats(tape, z.b * z.a * z.s);
    int64_t splits = dropout ? 1 : flash_splits(tape, &z, z.d);
    struct tensor *lse_accum = NULL, *out_accum = NULL;
    if (splits > 1) {
        lse_accum = new_floats(tape, splits * z.b * z.a * z.s);
        out_accum = new_floats(tape, splits * z.b * z.a * z.s * flash_head(z.d));
    }
    struct tensor *rng_state = new_int64s(tape, 2), *unused = new_int64s(tape, 1);
    if (dropout) {
        struct tensor *philox = new_int64s(tape, 2);
        tensor_unref(tape, rng_state);
        rng_state = philox;
    }
    attention_kernel(tape, "flash_attention", &z, 2, q);
    struct tensor *saved[] = {q, k, v, out, lse, rng_state, unused};
    save_all(tape, node, saved, false);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, lse_accum);
    tensor_unref(tape, out_accum);
    tensor_unref(tape, lse);
    tensor_unref(tape, rng_state);
    tensor_unref(tape, unused);
    return out;
}

/* The head dim padded to a multiple of 8, kept so for backward; the result is a slice. */
static struct tensor *flash_padded(struct tape *tape, struct tensor *q, struct tensor *k,
                                   struct tensor *v, bool dropout) {
    int64_t d = q->shape.size[3], padded = round_up(d, 8);
    if (padded == d)
        return flash(tape, q, k, v, dropout);
    struct tensor *in[3] = {q, k, v}, *wide[3];
    for (unsigned i = 0; i < 3; i++)
        wide[i] = aten_pad_last(tape, in[i], padded - d);
    struct tensor *out = flash(tape, wide[0], wide[1], wide[2], dropout);
    for (unsigned i = 0; i < 3; i++)
        tensor_unref(tape, wide[i]);
    struct tensor *slice = aten_narrow(tape, out, 3, 0, d);
    tensor_unref(tape, out);
    return slice;
}

/* ---- memory-efficient ---- */

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

static struct backward_kernel backward_kernel(const struct tape *tape, const struct sizes *z,
                                              bool half) {
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
static int64_t efficient_workspace(const struct backward_kernel *kernel, const struct sizes *z,
                                   bool half) {
    int64_t heads = z->b * z->a;
    int64_t blocks = (z->s + kernel->queries - 1) / kernel->queries,
            columns = (z->d + kernel->keys - 1) / kernel->keys;
    int64_t floats = blocks * columns * (kernel->queries * kernel->keys + 4);
    if (half && !kernel->keeps_in_registers) {
        int64_t splits = (z->t + kernel->keys - 1) / kernel->keys;
        if (heads >= 256 && z->t <= 2 * kernel->keys)
            splits = 1;
        splits = splits < 200 / heads ? splits : 200 / heads;
        splits = splits < 1 ? 1 : splits;
        floats += splits * kernel->keys *
                  (round_up(z->d, kernel->queries) + round_up(z->dv, kernel->queries));
    }
    return heads * round_up(floats, 4);
}

/* Forward: head dims above 128 do not fit the kernel's registers: 16-bit results are then summed in
 * fp32 memory. */
static bool sums_in_memory(const struct tensor *q, const struct sizes *z) {
    return is_half(q->dtype) && (z->d > 128 || z->dv > 128);
}

/* delta = (grad.float() * out.float()).sum(-1), [b, a, s]; some kernels compute it themselves */
static struct tensor *make_delta(struct tape *tape, struct tensor *grad, struct tensor *output,
                                 const struct sizes *z, const struct backward_kernel *kernel) {
    if (kernel->computes_delta)
        return new_floats(tape, z->b * z->a * z->s);
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
    struct sizes z = sizes_of(q, k, node->saved[SAVED_V]);
    struct tensor *grad = contiguous_heads(tape, grads[0]);
    out[0] = new_heads(tape, q->dtype, z.b, z.a, z.s, z.d);
    out[1] = new_heads(tape, q->dtype, z.b, z.kv, z.t, z.d);
    out[2] = new_heads(tape, q->dtype, z.b, z.kv, z.t, z.dv);
    struct tensor *dk = NULL, *dv = NULL;
    if (z.kv != z.a) {
        dk = new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
        dv = new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
    }
    if (node_wants(node, 3)) { /* its rows begin at multiples of 16 elements */
        struct shape shape = node->edges[3].shape;
        int64_t last = shape.size[3];
        shape.size[3] = round_up(last, 16);
        struct tensor *wide = tape_new(tape, node->edges[3].dtype, &shape);
        out[3] = aten_narrow(tape, wide, 3, 0, last);
        tensor_unref(tape, wide);
    }
    struct tensor *turned = aten_transpose(tape, grad, 1, 2);
    bool half = is_half(q->dtype);
    struct backward_kernel kernel = backward_kernel(tape, &z, half);
    struct tensor *delta = make_delta(tape, turned, node->saved[SAVED_OUT], &z, &kernel);
    struct tensor *workspace = new_floats(tape, efficient_workspace(&kernel, &z, half));
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
static struct tensor *efficient(struct tape *tape, struct tensor *q, struct tensor *k,
                                struct tensor *v, struct tensor *bias, bool dropout) {
    struct sizes z = sizes_of(q, k, v);
    struct tensor *in[4] = {q, k, v, bias};
    struct node *node = node_create(tape, &efficient_backward, in, 4, 1);
    int64_t words = !dropout && tape->framework->efficient_seed_on_device; /* 0: no request */
    struct tensor *seed = new_int64s(tape, words), *offset = new_int64s(tape, words);
    struct tensor *out = new_heads(tape, q->dtype, z.b, z.a, z.s, z.dv);
    struct tensor *lse = new_floats(tape, node ? z.b * z.a * round_up(z.s, 32) : 0);
    struct tensor *sums = sums_in_memory(q, &z) ? new_floats(tape, z.b * z.a * z.s * z.dv) : NULL;
    attention_kernel(tape, "efficient_attention", &z, 2, q);
    tensor_unref(tape, sums);
    struct tensor *saved[] = {q, k, v, out, lse, seed, offset, bias};
    node_save(tape, node, SAVED_BIAS, bias);
    save_all(tape, node, saved, true);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, lse);
    tensor_unref(tape, seed);
    tensor_unref(tape, offset);
    return out;
}

/* A bias whose rows do not start at multiples of 8 elements is padded and sliced (attention.cpp
 * preprocess_mask, pad_bias: by 8 at least); then it is seen once a head. Takes `bias` over. */
static struct tensor *prepare_bias(struct tape *tape, struct tensor *bias, const struct sizes *z) {
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

/* A boolean mask becomes 0 or -inf in the query's type, once a call (sdp_utils
 * convert_boolean_attn_mask). */
static struct tensor *additive_mask(struct tape *tape, struct tensor *mask, enum dtype dtype) {
    if (mask->dtype != DTYPE_BOOL)
        return tensor_ref(mask);
    struct shape scalar = {.ndim = 0};
    struct tensor *zero = aten_full(tape, &scalar, dtype),
                  *infinity = aten_full(tape, &scalar, dtype);
    struct tensor *out = aten_where(tape, mask, zero, infinity);
    tensor_unref(tape, zero);
    tensor_unref(tape, infinity);
    return out;
}

/* ---- choice ---- */

/* check_runtime_disabled_flash and its neighbours: 16-bit types, sm_80 on, head dim up to 256, no
 * mask; sm_86, sm_89 and sm_120 cannot run the backward of head dims 193 to 224. */
static bool can_flash(const struct tape *tape, const struct tensor *q, const struct tensor *v,
                      bool mask, bool needs_grad) {
    uint32_t sm = tape->device->compute_capability;
    int64_t d = q->shape.size[3];
    if (mask || !is_half(q->dtype) || sm < 80 || d > 256 || v->shape.size[3] != d)
        return false;
    bool small_shared_memory = sm == 86 || sm == 89 || sm == 120;
    return !(small_shared_memory && needs_grad && d > 192 && d <= 224);
}

/* check_head_dim_size_mem_efficient: rows must be aligned for the kernel's loads: 128 bits with
 * tensor cores. */
static bool can_efficient(const struct tape *tape, const struct tensor *q, const struct tensor *k,
                          const struct tensor *v) {
    uint32_t sm = tape->device->compute_capability;
    if (k->shape.size[1] != q->shape.size[1] && !tape->framework->efficient_takes_gqa)
        return false;
    if (q->dtype == DTYPE_BFLOAT16 && sm < 80)
        return false;
    if (!is_half(q->dtype) && q->dtype != DTYPE_FLOAT32)
        return false;
    bool tensor_cores = sm >= 80 || (sm >= 70 && is_half(q->dtype));
    int64_t alignment = tensor_cores ? 16 / (int64_t)dtype_bytes(q->dtype) : 1;
    return q->shape.size[3] % alignment == 0 && v->shape.size[3] % alignment == 0;
}

static bool check_shapes(struct tape *tape, const struct tensor *q, const struct tensor *k,
                         const struct tensor *v, bool gqa) {
    bool fits = q->shape.ndim == 4 && k->shape.ndim == 4 && v->shape.ndim == 4 &&
                k->shape.size[0] == v->shape.size[0] && k->shape.size[1] == v->shape.size[1] &&
                k->shape.size[2] == v->shape.size[2] && q->shape.size[0] == k->shape.size[0] &&
                q->shape.size[3] == k->shape.size[3] && q->dtype == k->dtype &&
                q->dtype == v->dtype;
    if (fits && k->shape.size[1] != q->shape.size[1])
        fits = (gqa || k->shape.size[1] == 1) && k->shape.size[1] > 0 &&
               q->shape.size[1] % k->shape.size[1] == 0;
    if (!fits) {
        char a[128], b[128], c[128];
        tape_fail(tape, ERROR_BAD_SCENARIO,
                  "scaled_dot_product_attention: query %s, key %s and value %s do not fit%s",
                  shape_format(&q->shape, a, sizeof a), shape_format(&k->shape, b, sizeof b),
                  shape_format(&v->shape, c, sizeof c), gqa ? "" : " (enable_gqa is off)");
    }
    return fits;
}

/* query key value attn_mask is_causal enable_gqa dropout_p */
static void run_attention(struct tape *tape, struct op_call *call) {
    struct tensor *q = call->arg[0].tensor, *k = call->arg[1].tensor, *v = call->arg[2].tensor;
    struct tensor *mask = call->arg[3].tensor, *out;
    bool causal = call->arg[4].integer != 0, gqa = call->arg[5].integer != 0,
         dropout = call->arg[6].number > 0;
    bool needs_grad =
        tape->grad_enabled && (q->requires_grad || k->requires_grad || v->requires_grad);
    if (!check_shapes(tape, q, k, v, gqa)) {
        call->out[call->out_count++] = tensor_ref(q);
        return;
    }
    mask = mask ? additive_mask(tape, mask, q->dtype) : NULL;
    if (can_flash(tape, q, v, mask != NULL, needs_grad)) {
        out = flash_padded(tape, q, k, v, dropout);
    } else if (can_efficient(tape, q, k, v)) {
        struct sizes z = sizes_of(q, k, v);
        mask = mask ? prepare_bias(tape, mask, &z) : NULL;
        out = efficient(tape, q, k, v, mask, dropout);
    } else {
        out = attention_math(tape, q, k, v, mask, causal, dropout);
    }
    tensor_unref(tape, mask);
    call->out[call->out_count++] = out;
}

const struct op ops_attention[] = {
    {"scaled_dot_product_attention",
     "query:T key:T value:T attn_mask:T? is_causal:b=0 enable_gqa:b=0 dropout_p:f=0", AUTOCAST_LOW,
     "attention by the kernel that PyTorch would choose", run_attention, NULL},
    {0},
};
