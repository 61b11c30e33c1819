/* attention_cudnn.h: the workspaces of attention through cuDNN, which its execution plans ask for.
 *
 * Source: cuDNN 9.26 itself, asked for the plans of PyTorch 2.15's graphs (ATen/native/cudnn/MHA.cpp)
 * for devices described by their properties (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR): H100 (132 and 114
 * multiprocessors) and B200 (148). tests/unit/attention_cudnn_answers.h holds the answers that the rules must meet.
 */
#ifndef ATTENTION_CUDNN_H
#define ATTENTION_CUDNN_H

#include <stdbool.h>
#include <stdint.h>

struct device;

struct cudnn_attention {
    int64_t b, a, kv, s, t; /* batch, heads of query, of key and value, lengths of query, of key */
    int64_t d, dv;          /* head dims of query and key, of value */
    bool causal, dropout;
};

/* Bytes; sizes that overflow are INT64_MAX. */
int64_t cudnn_attention_forward_bytes(const struct device *device, const struct cudnn_attention *c);
int64_t cudnn_attention_backward_bytes(const struct device *device,
                                       const struct cudnn_attention *c);

#endif
