/* attention_flash.c: flash attention (ATen/native/transformers/cuda/flash_attn/flash_api.cpp of 2.15):
 * split keys, what its backward asks for. */
#include "attention.h"

/* head_size_rounded of flash_api.cpp */
static int64_t flash_head(int64_t d) {
    return size_round_up(d, d <= 128 ? 32 : 64);
}

/* num_splits_heuristic of flash_api.cpp: the fewest splits of the keys whose waves fill the machine
 * to 85 % of the best. */
static int64_t flash_splits(const struct tape *tape, const struct attention_sizes *z, int64_t d) {
    int64_t s = z->s, a = z->a;
    if (s == 1 && a > z->kv) { /* the groups of a single query take the place of the sequence */
        s = a / z->kv;
        a = z->kv;
    }
    int64_t block_n = d <= 64 ? 256 : d <= 128 ? 128 : 64;
    int64_t n_blocks = size_div_up(z->t, block_n);
    int64_t tiles = z->b * a * size_div_up(s, 64);
    int64_t sms = 2 * (int64_t)tape->device->multiprocessors;
    if ((float)tiles >= 0.8f * (float)sms)
        return 1;
    int64_t limit = 128 < sms ? 128 : sms;
    limit = n_blocks < limit ? n_blocks : limit;
    float efficiency[129] = {0}, best = 0;
    for (int64_t k = 1; k <= limit; k++) {
        if (k > 1 && size_div_up(n_blocks, k) == size_div_up(n_blocks, k - 1))
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

static void backward_flash(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *q = node->saved[SAVED_Q], *k = node->saved[SAVED_K];
    struct attention_sizes z = attention_sizes_of(q, k, node->saved[SAVED_V]);
    struct tensor *grad = attention_contiguous_heads(tape, grads[0]);
    struct tensor *output = attention_contiguous_heads(tape, node->saved[SAVED_OUT]);
    for (unsigned i = 0; i < 3; i++)
        out[i] = attention_new_like(tape, node->saved[i]);
    int64_t rows = size_round_up(z.s, 128);
    struct tensor *softmax_d = attention_new_floats(tape, z.b * z.a * rows);
    struct tensor *dq_accum = attention_new_floats(tape, z.b * z.a * rows * flash_head(z.d));
    struct tensor *dk = NULL, *dv = NULL;
    if (z.kv != z.a) { /* per query head, summed into the groups afterwards */
        dk = attention_new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
        dv = attention_new_heads(tape, q->dtype, z.b, z.a, z.t, z.d);
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
    struct attention_sizes z = attention_sizes_of(q, k, v);
    struct tensor *in[3] = {q, k, v};
    struct node *node = node_create(tape, &flash_backward, in, 3, 1);
    struct tensor *out = attention_new_like(tape, q);
    struct tensor *lse = attention_new_floats(tape, z.b * z.a * z.s);
    int64_t splits = dropout ? 1 : flash_splits(tape, &z, z.d);
    struct tensor *lse_accum = NULL, *out_accum = NULL;
    if (splits > 1) {
        lse_accum = attention_new_floats(tape, splits * z.b * z.a * z.s);
        out_accum = attention_new_floats(tape, splits * z.b * z.a * z.s * flash_head(z.d));
    }
    bool on_device = tape->framework->flash_rng_on_device; /* 0 words: no request */
    struct tensor *rng_state = aten_new_int64s(tape, on_device ? 2 : 0),
                  *unused = aten_new_int64s(tape, on_device ? 1 : 0);
    if (dropout && on_device) {
        struct tensor *philox = aten_new_int64s(tape, 2);
        tensor_unref(tape, rng_state);
        rng_state = philox;
    }
    attention_kernel(tape, "flash_attention", &z, 2, q);
    struct tensor *saved[] = {q, k, v, out, lse, rng_state, unused};
    attention_save(tape, node, saved, false);
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
struct tensor *attention_flash(struct tape *tape, struct tensor *q, struct tensor *k,
                               struct tensor *v, bool dropout) {
    int64_t d = q->shape.size[3], padded = size_round_up(d, 8);
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
