/* attention_cudnn.c: attention through cuDNN (ATen/native/transformers/cuda/attention.cu,
 * ATen/native/cudnn/MHA.cpp of 2.15). */
#include "attention_cudnn.h"

#include "attention.h"

static struct cudnn_attention problem(const struct attention_sizes *z, bool causal, bool dropout) {
    return (struct cudnn_attention){.b = z->b,
                                    .a = z->a,
                                    .kv = z->kv,
                                    .s = z->s,
                                    .t = z->t,
                                    .d = z->d,
                                    .dv = z->dv,
                                    .causal = causal,
                                    .dropout = dropout};
}

/* What a node's numbers hold. */
enum { IS_CAUSAL = 1, HAS_DROPOUT = 2 };

/* alloc_with_matching_layout: the dims in the order of the query's strides, without gaps */
static struct tensor *new_matching(struct tape *tape, const struct tensor *q, int64_t dv) {
    struct shape shape = q->shape;
    int64_t stride[TENSOR_MAX_DIMS];
    if (dv == q->shape.size[3]) {
        strides_preserve(q, stride);
        return tape_new_strided(tape, q->dtype, &shape, stride);
    }
    shape.size[3] = dv;
    bool done[4] = {false};
    int64_t next = 1;
    for (unsigned i = 0; i < 4; i++) {
        unsigned best = 4;
        for (unsigned d = 0; d < 4; d++)
            if (!done[d] && (best == 4 || q->stride[d] < q->stride[best]))
                best = d;
        done[best] = true;
        stride[best] = next;
        next = size_mul(next, shape.size[best]);
    }
    return tape_new_strided(tape, q->dtype, &shape, stride);
}

static struct tensor *new_workspace(struct tape *tape, int64_t bytes) {
    return bytes > 0 ? tape_new_bytes(tape, (uint64_t)bytes, CATEGORY_WORKSPACE) : NULL;
}

/* permute_to_matching_layout: only where the gradient's rows do not lie in one piece */
static struct tensor *whole_rows(struct tape *tape, struct tensor *grad, struct tensor *output) {
    if (grad->stride[3] == 1)
        return tensor_ref(grad);
    struct tensor *copy = attention_new_like(tape, output);
    tape_kernel(tape, "copy", 0, 2 * tensor_nbytes(copy), copy->dtype);
    return copy;
}

static void backward_cudnn(struct tape *tape, struct node *node, struct tensor **grads,
                           struct tensor **out) {
    struct tensor *q = node->saved[SAVED_Q];
    struct attention_sizes z = attention_sizes_of(q, node->saved[SAVED_K], node->saved[SAVED_V]);
    for (unsigned i = 0; i < 3; i++)
        out[i] = attention_new_like(tape, node->saved[i]);
    struct tensor *grad = whole_rows(tape, grads[0], node->saved[SAVED_OUT]);
    struct cudnn_attention c =
        problem(&z, (node->args[0] & IS_CAUSAL) != 0, (node->args[0] & HAS_DROPOUT) != 0);
    struct tensor *workspace =
        new_workspace(tape, cudnn_attention_backward_bytes(tape->device, &c));
    attention_kernel(tape, "cudnn_attention_backward", &z, 5, q);
    tensor_unref(tape, workspace);
    tensor_unref(tape, grad);
}

static const struct backward_op cudnn_backward = {"ScaledDotProductCudnnAttentionBackward0",
                                                  backward_cudnn};

struct tensor *attention_cudnn(struct tape *tape, struct tensor *q, struct tensor *k,
                               struct tensor *v, struct tensor *bias, bool causal, bool dropout) {
    struct attention_sizes z = attention_sizes_of(q, k, v);
    tape->cudnn_attention_ran = true;
    struct tensor *in[3] = {q, k, v};
    struct node *node = node_create(tape, &cudnn_backward, in, 3, 1);
    struct tensor *seed = aten_new_int64s(tape, 1), *offset = aten_new_int64s(tape, 1);
    struct tensor *out = new_matching(tape, q, z.dv);
    struct tensor *lse = node ? attention_new_floats(tape, z.b * z.a * z.s) : NULL;
    struct cudnn_attention c = problem(&z, causal, dropout);
    struct tensor *workspace = new_workspace(tape, cudnn_attention_forward_bytes(tape->device, &c));
    attention_kernel(tape, "cudnn_attention", &z, 2, q);
    tensor_unref(tape, workspace);
    struct tensor *saved[] = {q, k, v, out, lse, seed, offset};
    node_save(tape, node, SAVED_BIAS, bias);
    attention_save(tape, node, saved, true);
    if (node)
        node->args[0] = (causal ? IS_CAUSAL : 0) | (dropout ? HAS_DROPOUT : 0);
    node_set_output(node, out, 0);
    node_finish(tape, node);
    tensor_unref(tape, lse);
    tensor_unref(tape, seed);
    tensor_unref(tape, offset);
    return out;
}
