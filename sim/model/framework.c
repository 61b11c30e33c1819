/* framework.c: see framework.h. Sources: c10/cuda/CUDACachingAllocator.cpp, c10/core/AllocatorConfig.cpp and
 * c10/cuda/CUDAAllocatorConfig.cpp (rules and options of the allocators: docs/allocators.md), ATen/cuda/CUDABlas.cpp and
 * CublasHandlePool.cpp (workspaces), and recordings of the releases themselves (docs/validation.md). */
#include "framework.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "text.h"

enum {
    OPTIONS_2_9 =
        ALLOC_OPTION_CAPTURE_REUSE | ALLOC_OPTION_PINNED_SEGMENT | ALLOC_OPTION_PINNED_CATCH_ALL,
    OPTIONS_2_11 = OPTIONS_2_9 | ALLOC_OPTION_MEMORY_FRACTION | ALLOC_OPTION_LARGE_SEGMENT
};

static const struct framework rows[] = {
    {.name = "pytorch-2.15",
     .doc = "PyTorch 2.15.0: cuBLAS workspace taken per call",
     .cublas_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .cublaslt_matrix_bias = true,
     .tie_by_segment_age = true,
     .inner_redirect_wins = true,
     .redirect_suspends = false,
     .full_fraction_lifts_limit = true,
     .drops_small_reservation = true,
     .async_trims_on_oom = true,
     .alloc_options = OPTIONS_2_11 | ALLOC_OPTION_THROW_ON_OOM | ALLOC_OPTION_EXPANDABLE_RESERVE,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .cudnn = 92600,
     .prefers_cudnn_attention = true,
     .flash_rng_on_device = true,
     .efficient_seed_on_device = true,
     .efficient_takes_gqa = true,
     .foreach_norm_packed = true,
     .embedding_sorts_few_bits = true,
     .einsum_keeps_output_order = true,
     .bmm_outer_product = true},
    {.name = "pytorch-2.11",
     .doc = "PyTorch 2.11.0: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .cublaslt_matrix_bias = false,
     .tie_by_segment_age = false,
     .inner_redirect_wins = true,
     .redirect_suspends = true,
     .full_fraction_lifts_limit = true,
     .drops_small_reservation = false,
     .async_trims_on_oom = false,
     .alloc_options = OPTIONS_2_11,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .flash_rng_on_device = true,
     .efficient_seed_on_device = false,
     .efficient_takes_gqa = false,
     .foreach_norm_packed = false,
     .embedding_sorts_few_bits = false,
     .einsum_keeps_output_order = true,
     .bmm_outer_product = false},
    /* 2.8 to 2.10: what 2.7 and 2.11 have alike is theirs too; of the rest framework.h names the release. */
    {.name = "pytorch-2.10",
     .doc = "PyTorch 2.10: cuBLAS workspace kept per handle and stream; unproven",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .inner_redirect_wins = true,
     .redirect_suspends = true,
     .full_fraction_lifts_limit = true,
     .alloc_options = OPTIONS_2_9 | ALLOC_OPTION_MEMORY_FRACTION,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .flash_rng_on_device = true,
     .einsum_keeps_output_order = true},
    {.name = "pytorch-2.9",
     .doc = "PyTorch 2.9: cuBLAS workspace kept per handle and stream; unproven",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .redirect_suspends = true,
     .alloc_options = OPTIONS_2_9,
     .flash_rng_on_device = true,
     .einsum_keeps_output_order = true},
    {.name = "pytorch-2.8",
     .doc = "PyTorch 2.8: cuBLAS workspace kept per handle and stream; unproven",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .redirect_suspends = true,
     .flash_rng_on_device = true},
    {.name = "pytorch-2.7",
     .doc = "PyTorch 2.7.0: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .cublaslt_matrix_bias = false,
     .tie_by_segment_age = false,
     .inner_redirect_wins = false,
     .redirect_suspends = true,
     .full_fraction_lifts_limit = false,
     .drops_small_reservation = false,
     .async_trims_on_oom = false,
     .alloc_options = 0,
     .alloc_sizes_from_large_segment = false,
     .divisions_rest_after_last = false,
     .flash_rng_on_device = true,
     .efficient_seed_on_device = false,
     .efficient_takes_gqa = false,
     .foreach_norm_packed = false,
     .embedding_sorts_few_bits = false,
     .einsum_keeps_output_order = false,
     .bmm_outer_product = false},
    {.name = "pytorch-2.6",
     .doc = "PyTorch 2.6.0: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .cublaslt_matrix_bias = false,
     .tie_by_segment_age = false,
     .inner_redirect_wins = false,
     .redirect_suspends = true,
     .full_fraction_lifts_limit = false,
     .drops_small_reservation = false,
     .async_trims_on_oom = false,
     .alloc_options = 0,
     .alloc_sizes_from_large_segment = false,
     .divisions_rest_after_last = false,
     .flash_rng_on_device = false,
     .efficient_seed_on_device = false,
     .efficient_takes_gqa = false,
     .foreach_norm_packed = false,
     .embedding_sorts_few_bits = false,
     .einsum_keeps_output_order = false,
     .bmm_outer_product = false},
};

const struct framework *framework_row(size_t index) {
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
}

/* In any case, and "2.15" alone is enough. */
static bool is_named(const struct framework *row, const char *name) {
    const char *version = strchr(row->name, '-') + 1;
    size_t length = strlen(name);
    return (strlen(row->name) == length && text_begins(row->name, name, length)) ||
           strcmp(version, name) == 0;
}

const struct framework *framework_find(const char *name, struct error *err) {
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (is_named(&rows[i], name))
            return &rows[i];
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, " %s", rows[i].name);
    }
    error_set(err, ERROR_USAGE, "unknown framework '%s'; known:%s", name, names);
    return NULL;
}

bool framework_parse_cudnn(const char *text, uint32_t *version, struct error *err) {
    unsigned part[3] = {0}, count = 0;
    const char *at = text;
    if (strcmp(text, "none") == 0) {
        *version = 0;
        return true;
    }
    while (count < 3 && isdigit((unsigned char)*at)) {
        for (; isdigit((unsigned char)*at) && part[count] < 100; at++)
            part[count] = part[count] * 10 + (unsigned)(*at - '0');
        if (part[count++] > 99 || *at != '.')
            break;
        at++;
    }
    if (*at || count == 0 || part[0] > 99 || part[1] > 99 || part[2] > 99 || at[-1] == '.')
        return error_set(err, ERROR_USAGE,
                         "--cudnn: expected a version such as 9.26 or 9.15.1, or none; found '%s'",
                         text);
    *version = part[0] * 10000 + part[1] * 100 + part[2];
    return true;
}
