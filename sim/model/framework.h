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
    /* cuBLASLt products (bias fused into the epilogue) take their workspace from the cuBLAS one of handle and stream
     * (unified, about 2.7 to 2.14), else `cublaslt_workspace_bytes` a call. */
    bool cublaslt_unified;
    uint64_t cublaslt_workspace_bytes;
    /* Tie rule of the caching allocator between free blocks of equal size: the older segment first (2.13 on), else the
     * lower address. */
    bool tie_by_segment_age;
    /* SDPA asks cuDNN first on sm_90 and sm_100 (2.13 on). */
    bool sdpa_prefers_cudnn;
};

const struct framework *framework_row(size_t index); /* NULL after the last; row 0 is the default, the newest */
const struct framework *framework_find(const char *name, struct error *err);

#endif
