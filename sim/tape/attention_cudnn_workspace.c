/* attention_cudnn_workspace.c: see attention_cudnn.h. */
#include "attention_cudnn.h"

#include "device.h"
#include "size.h"

enum {
    FLOAT = 4,
    HALF = 2,
    HEADER = 128,    /* before parts whose sizes are rounded up to as much */
    SCHEDULE = 256,  /* of sm_90's kernels: the tiles that are taken */
    KEY_BLOCK = 128, /* keys are split by */
    MAX_SPLITS = 64, /* a power of two of them */
    MAX_SPLITS_100 = 32
};

static bool is_sm100(const struct device *device) {
    return device->compute_capability >= 100;
}

static int64_t mul3(int64_t a, int64_t b, int64_t c) {
    return size_mul(size_mul(a, b), c);
}

/* sm_100's kernel for head dims of 128 */
static int64_t splits_of_128(int64_t t, int64_t groups, int64_t sms) {
    return size_min(MAX_SPLITS_100, size_min(size_div_up(t, KEY_BLOCK) / 2, sms / 2 / groups));
}

/* sm_100's kernel for narrower heads: near the answers for a card of 148 multiprocessors, no more (of
 * 70 of them 60 are met, the others are off by one or a few splits) */
static int64_t splits_of_narrow(int64_t t, int64_t groups, int64_t sms) {
    if (groups > sms / 4)
        return 1;
    return size_min(42, size_min((t + 96) / 192, 96 / groups));
}

/* One query a sequence: its keys are split over the multiprocessors. 1: they are not. */
static int64_t splits_of(const struct device *device, const struct cudnn_attention *c) {
    int64_t groups = size_mul(c->b, c->kv), sms = (int64_t)device->multiprocessors;
    bool sm100 = is_sm100(device);
    if (c->s != 1 || (c->causal && !sm100) || groups < 1)
        return 1;
    if (c->t <= (sm100 && c->d <= 128 ? 8 : 4) * KEY_BLOCK)
        return 1;
    if (sm100 && c->d <= 128 && c->dv <= 128)
        return c->d == 128 && c->dv == 128 ? splits_of_128(c->t, groups, sms)
                                           : splits_of_narrow(c->t, groups, sms);
    if (groups > sms / 2)
        return 1;
    int64_t splits = MAX_SPLITS;
    while (splits > 1 &&
           (size_div_up(c->t, splits) < KEY_BLOCK || size_mul(splits, groups) >= 2 * sms))
        splits /= 2;
    return splits;
}

/* Sums, maxima and results of the splits, each rounded up. */
static int64_t split_bytes(const struct cudnn_attention *c, int64_t splits) {
    int64_t rows = mul3(splits, c->b, c->a);
    int64_t scalars = size_round_up(size_mul(rows, FLOAT), HEADER);
    return size_add(HEADER, size_add(size_round_up(mul3(rows, c->dv, FLOAT), HEADER),
                                     size_add(scalars, scalars)));
}

/* sm_100 draws dropout's mask first: a bit an entry of whole tiles. */
static int64_t mask_bytes(const struct cudnn_attention *c) {
    return mul3(size_mul(c->b, c->a), size_round_up(c->s, KEY_BLOCK),
                size_round_up(c->t, KEY_BLOCK) / 8);
}

int64_t cudnn_attention_forward_bytes(const struct device *device,
                                      const struct cudnn_attention *c) {
    if (c->s == 1) {
        int64_t splits = splits_of(device, c);
        return splits > 1 ? split_bytes(c, splits) : 0;
    }
    if (!is_sm100(device))
        return SCHEDULE;
    return c->dropout ? size_add(HEADER, mask_bytes(c)) : 0;
}

/* Gradients of keys and values of each query head, before they are summed into the groups. */
static int64_t group_bytes(const struct cudnn_attention *c, int64_t element) {
    if (c->kv == c->a)
        return 0;
    int64_t rows = mul3(c->b, c->a, c->t);
    return size_add(size_round_up(mul3(rows, c->d, element), HEADER),
                    size_round_up(mul3(rows, c->dv, element), HEADER));
}

static int64_t backward_bytes_100(const struct cudnn_attention *c, int64_t rows) {
    bool one_pass = c->d > 192; /* the query's gradient is summed in the kernel */
    int64_t bytes = size_mul(rows, FLOAT), parts = group_bytes(c, HALF);
    if (one_pass)
        parts = size_add(parts, group_bytes(c, FLOAT));
    else
        bytes = size_add(bytes, mul3(rows, c->d, FLOAT));
    if (c->dropout)
        parts = size_add(parts, mask_bytes(c));
    else if (c->t <= KEY_BLOCK && c->d <= 128)
        parts = size_add(parts, mul3(size_mul(c->b, c->a), size_round_up(c->s, 8), c->d * FLOAT));
    return parts > 0 ? size_add(bytes, size_add(HEADER, parts)) : bytes;
}

/* The softmax's row sums; the query's gradient in fp32. */
int64_t cudnn_attention_backward_bytes(const struct device *device,
                                       const struct cudnn_attention *c) {
    int64_t rows = mul3(c->b, c->a, c->s);
    if (is_sm100(device))
        return backward_bytes_100(c, rows);
    int64_t bytes = size_add(SCHEDULE, size_mul(rows, FLOAT));
    return size_add(bytes, size_add(mul3(rows, c->d, FLOAT), group_bytes(c, HALF)));
}
