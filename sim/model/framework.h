/* framework.h: what differs between releases of the modelled framework, one row a release. Code asks the row, never the
 * version. */
#ifndef FRAMEWORK_H
#define FRAMEWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum workspace_lifetime {
    WORKSPACE_PER_CALL,         /* taken before a product, given back after it */
    WORKSPACE_PER_HANDLE_STREAM /* taken at a handle's first product on a stream, kept to the end */
};

struct framework {
    const char *name; /* "pytorch-2.15" */
    const char *doc;
    uint32_t major, minor;
    enum workspace_lifetime cublas_workspace;
    /* of a cuBLASLt product (bias fused into the epilogue); lives as long as the cuBLAS one */
    uint64_t cublaslt_workspace_bytes;
    /* addmm hands cuBLASLt a bias of the output's shape too. */
    bool cublaslt_matrix_bias;
    /* Tie rule of the caching allocator between free blocks of equal size: the older segment first (2.13 on), else the
     * lower address. */
    bool tie_by_segment_age;
    /* Memory-efficient attention keeps its dropout seed and offset on the device, without dropout too (else on the host). */
    bool efficient_seed_on_device;
    /* and takes key/value heads as they are (enable_gqa); else such a call falls back to the composite. */
    bool efficient_takes_gqa;
    /* _foreach_norm lays the partial norms of all tensors end to end and tells where each begins; else every tensor has
     * room for as many as the largest. */
    bool foreach_norm_packed;
    /* The embedding's gradient sorts indices by the bits that the table's rows need; else by all 64. */
    bool embedding_sorts_few_bits;
};

const struct framework *
framework_row(size_t index); /* NULL after the last; row 0 is the default, the newest */
const struct framework *framework_find(const char *name, struct error *err);

#endif
