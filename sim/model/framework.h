/* framework.h: what differs between releases of the modelled framework, one row a release. Code asks the row, never the
 * version. */
#ifndef FRAMEWORK_H
#define FRAMEWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum workspace_lifetime {
    WORKSPACE_PER_CALL, /* taken before a product, given back after it */
    /* taken at a handle's first product on a stream, kept to the end */
    WORKSPACE_PER_HANDLE_STREAM,
    WORKSPACE_SHARED /* cuBLASLt uses the one that cuBLAS keeps */
};

/* Of the caching allocator's free blocks of one size, which is taken. A block that is cut hands out its low part as a
 * new block and goes on as the rest; a freed block takes its neighbours in. */
enum tie_rule {
    TIE_LOWER_ADDRESS,
    TIE_OLDER_BLOCK,  /* 2.12 alone (pull request 178362) */
    TIE_OLDER_SEGMENT /* 2.13 on (183591) */
};

enum group_norm_layout {
    GROUP_NORM_COPIED,        /* an input that is not contiguous is copied, and the copy kept */
    GROUP_NORM_COPIED_INSIDE, /* copied for the kernel alone, the input kept (2.14 on) */
    GROUP_NORM_AS_IT_LIES /* likewise, but channels_last needs no copy (2.15 on: pull request 191945) */
};

/* Keys of PYTORCH_ALLOC_CONF that came after 2.6; a release has a set of them. */
enum framework_alloc_option {
    ALLOC_OPTION_CAPTURE_REUSE = 1 << 0,     /* graph_capture_record_stream_reuse (2.9) */
    ALLOC_OPTION_PINNED_SEGMENT = 1 << 1,    /* pinned_reserve_segment_size_mb (2.9) */
    ALLOC_OPTION_PINNED_CATCH_ALL = 1 << 2,  /* pinned_free_catch_all (2.9) */
    ALLOC_OPTION_MEMORY_FRACTION = 1 << 3,   /* per_process_memory_fraction (2.10) */
    ALLOC_OPTION_LARGE_SEGMENT = 1 << 4,     /* large_segment_size_mb (2.11) */
    ALLOC_OPTION_THROW_ON_OOM = 1 << 5,      /* throw_on_cudamalloc_oom (2.12) */
    ALLOC_OPTION_EXPANDABLE_RESERVE = 1 << 6 /* expandable_segments_reserve, _by_class (2.14) */
};

struct framework {
    const char *name; /* "pytorch-2.15" */
    const char *doc;
    enum workspace_lifetime cublas_workspace;
    /* of a cuBLASLt product (bias fused into the epilogue); kept from 2.9 on, as long as the cuBLAS one */
    enum workspace_lifetime cublaslt_workspace;
    uint64_t cublaslt_workspace_bytes;
    /* addmm hands cuBLASLt a bias of the output's shape too. */
    bool cublaslt_matrix_bias;
    enum tie_rule tie_rule; /* between free blocks of equal size */
    /* Redirections to private pools: the one pushed last wins (2.10 on), else the first. */
    bool inner_redirect_wins;
    /* Any redirection, not only a capture, stops events and releases (up to 2.12). */
    bool redirect_suspends;
    /* A memory fraction of 1 takes the limit away (2.10 on), else it stays. */
    bool full_fraction_lifts_limit;
    /* A reservation that cannot hold the request is dropped at once (2.14 on). */
    bool drops_small_reservation;
    /* cudaMallocAsync: a failed request trims the pool and tries once more (2.14 on). */
    bool async_trims_on_oom;
    /* PYTORCH_ALLOC_CONF: which of the newer keys are known; set of enum framework_alloc_option */
    uint32_t alloc_options;
    /* ... sizes in MiB may equal large_segment_size_mb (2.10 on), else they must be more than 20 */
    bool alloc_sizes_from_large_segment;
    /* ... `>` of the rounding list begins after the last key named (2.10 on), else at it */
    bool divisions_rest_after_last;
    /* cuDNN of the release's build for Linux: 9.26.0 is 92600; 0: not told here */
    uint32_t cudnn;
    /* scaled_dot_product_attention asks cuDNN first on sm_90 and sm_10x, where that is newer than 9.15.0
     * (check_prefer_cudnn_attention of sdp_utils.cpp, 2.13 on). */
    bool prefers_cudnn_attention;
    /* addmm hands cuBLASLt an input of one row too (not in 2.10). */
    bool cublaslt_single_row;
    /* ... and a bias of one row in two dims (2.10 on), else 1-dim biases alone. */
    bool cublaslt_row_bias;
    /* What CUTLASS keeps a multiprocessor in a grouped product of one kernel, in units of 128 bytes */
    uint32_t grouped_mm_tensor_maps;
    /* Flash attention keeps its random state on the device, without dropout too (2.7 on: pull request
     * 146372), else on the host. */
    bool flash_rng_on_device;
    /* Memory-efficient attention keeps its dropout seed and offset on the device, without dropout too (else on the host). */
    bool efficient_seed_on_device;
    /* and takes key/value heads as they are (enable_gqa); else such a call falls back to the composite. */
    bool efficient_takes_gqa;
    /* Flash and memory-efficient attention take a single key/value head without enable_gqa too (2.14 on); else such a
     * call falls back to the composite, which broadcasts it. */
    bool fused_takes_single_head;
    /* _foreach_norm lays the partial norms of all tensors end to end and tells where each begins; else every tensor has
     * room for as many as the largest. */
    bool foreach_norm_packed;
    enum group_norm_layout group_norm_layout;
    /* Its forward has mean and deviation of 16-bit inputs in fp32 first (2.13 on). */
    bool group_norm_float_statistics;
    /* The backward of group normalisation over single values makes no sums by channel (2.14 on). */
    bool group_norm_single_is_short;
    /* The embedding's gradient sorts indices by the bits that the table's rows need; else by all 64. */
    bool embedding_sorts_few_bits;
    /* Few segments of many of these indices are summed by one kernel (2.11 on), else through partial sums. */
    bool embedding_sums_in_one_kernel;
    /* CUB, which comes with CUDA and sizes the temporaries of sorts and scans: its scans, selections and UniqueByKey
     * have a second array, of one alignment (2.11 on). */
    bool cub_second_array;
    /* UniqueByKey has the tiles of CUB 3.2 (2.13 on). */
    bool cub_unique_tuned;
    /* einsum swaps its operands where the right one's output dims come first, so that the product
     * lies in the output's order (after 2.8: pull request 161755). */
    bool einsum_keeps_output_order;
    /* bmm with an inner size of 1 is a kernel of its own, without cuBLAS (torch/_native/ops/bmm_outer_product). */
    bool bmm_outer_product;
};

const struct framework *
framework_row(size_t index); /* NULL after the last; row 0 is the default, the newest */
/* "9.26", "9.15.1" or "none" as a version: 92600, 91501, 0. */
bool framework_parse_cudnn(const char *text, uint32_t *version, struct error *err);
const struct framework *framework_find(const char *name, struct error *err);

#endif
