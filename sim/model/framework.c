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
    OPTIONS_2_11 = OPTIONS_2_9 | ALLOC_OPTION_MEMORY_FRACTION | ALLOC_OPTION_LARGE_SEGMENT,
    OPTIONS_2_12 = OPTIONS_2_11 | ALLOC_OPTION_THROW_ON_OOM,
    OPTIONS_2_14 = OPTIONS_2_12 | ALLOC_OPTION_EXPANDABLE_RESERVE
};

static const struct framework rows[] = {
    {.name = "pytorch-2.15",
     .doc = "PyTorch 2.15: cuBLAS workspace taken per call",
     .cublas_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .alloc_options = OPTIONS_2_14,
     .cublaslt_matrix_bias = true,
     .tie_rule = TIE_OLDER_SEGMENT,
     .inner_redirect_wins = true,
     .full_fraction_lifts_limit = true,
     .drops_small_reservation = true,
     .async_trims_on_oom = true,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .cudnn = 92600,
     .prefers_cudnn_attention = true,
     .flash_rng_on_device = true,
     .efficient_seed_on_device = true,
     .efficient_takes_gqa = true,
     .fused_takes_single_head = true,
     .foreach_norm_packed = true,
     .group_norm_layout = GROUP_NORM_AS_IT_LIES,
     .group_norm_single_is_short = true,
     .group_norm_float_statistics = true,
     .embedding_sorts_few_bits = true,
     .einsum_keeps_output_order = true,
     .bmm_outer_product = true,
     .cublaslt_single_row = true,
     .cublaslt_row_bias = true,
     .cub_second_array = true,
     .cub_unique_tuned = true,
     .embedding_sums_in_one_kernel = true,
     .grouped_mm_tensor_maps = 4},
    {.name = "pytorch-2.14",
     .doc = "PyTorch 2.14: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_SHARED,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .alloc_options = OPTIONS_2_14,
     .cublaslt_matrix_bias = true,
     .tie_rule = TIE_OLDER_SEGMENT,
     .inner_redirect_wins = true,
     .full_fraction_lifts_limit = true,
     .drops_small_reservation = true,
     .async_trims_on_oom = true,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .cudnn = 92400,
     .prefers_cudnn_attention = true,
     .flash_rng_on_device = true,
     .efficient_seed_on_device = true,
     .efficient_takes_gqa = true,
     .fused_takes_single_head = true,
     .group_norm_layout = GROUP_NORM_COPIED_INSIDE,
     .group_norm_single_is_short = true,
     .group_norm_float_statistics = true,
     .embedding_sorts_few_bits = true,
     .einsum_keeps_output_order = true,
     .bmm_outer_product = true,
     .cublaslt_single_row = true,
     .cublaslt_row_bias = true,
     .cub_second_array = true,
     .cub_unique_tuned = true,
     .embedding_sums_in_one_kernel = true,
     .grouped_mm_tensor_maps = 4},
    {.name = "pytorch-2.13",
     .doc = "PyTorch 2.13: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_SHARED,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .alloc_options = OPTIONS_2_12,
     .cublaslt_matrix_bias = true,
     .tie_rule = TIE_OLDER_SEGMENT,
     .inner_redirect_wins = true,
     .full_fraction_lifts_limit = true,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .cudnn = 92000,
     .prefers_cudnn_attention = true,
     .flash_rng_on_device = true,
     .einsum_keeps_output_order = true,
     .group_norm_float_statistics = true,
     .embedding_sorts_few_bits = true,
     .bmm_outer_product = true,
     .cublaslt_single_row = true,
     .cublaslt_row_bias = true,
     .cub_second_array = true,
     .cub_unique_tuned = true,
     .embedding_sums_in_one_kernel = true,
     .grouped_mm_tensor_maps = 4},
    {.name = "pytorch-2.12",
     .doc = "PyTorch 2.12: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_SHARED,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .alloc_options = OPTIONS_2_12,
     .cublaslt_matrix_bias = true,
     .tie_rule = TIE_OLDER_BLOCK,
     .inner_redirect_wins = true,
     .full_fraction_lifts_limit = true,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .redirect_suspends = true,
     .flash_rng_on_device = true,
     .einsum_keeps_output_order = true,
     .cublaslt_single_row = true,
     .cublaslt_row_bias = true,
     .cub_second_array = true,
     .embedding_sums_in_one_kernel = true,
     .grouped_mm_tensor_maps = 4},
    {.name = "pytorch-2.11",
     .doc = "PyTorch 2.11: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .alloc_options = OPTIONS_2_11,
     .inner_redirect_wins = true,
     .full_fraction_lifts_limit = true,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .redirect_suspends = true,
     .flash_rng_on_device = true,
     .einsum_keeps_output_order = true,
     .cublaslt_single_row = true,
     .cublaslt_row_bias = true,
     .cub_second_array = true,
     .embedding_sums_in_one_kernel = true,
     .grouped_mm_tensor_maps = 4},
    {.name = "pytorch-2.10",
     .doc = "PyTorch 2.10: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .alloc_options = OPTIONS_2_9 | ALLOC_OPTION_MEMORY_FRACTION,
     .inner_redirect_wins = true,
     .full_fraction_lifts_limit = true,
     .alloc_sizes_from_large_segment = true,
     .divisions_rest_after_last = true,
     .redirect_suspends = true,
     .flash_rng_on_device = true,
     .einsum_keeps_output_order = true,
     .cublaslt_row_bias = true,
     .grouped_mm_tensor_maps = 5},
    {.name = "pytorch-2.9",
     .doc = "PyTorch 2.9: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .alloc_options = OPTIONS_2_9,
     .redirect_suspends = true,
     .flash_rng_on_device = true,
     .einsum_keeps_output_order = true,
     .cublaslt_single_row = true,
     .grouped_mm_tensor_maps = 5},
    {.name = "pytorch-2.8",
     .doc = "PyTorch 2.8: cuBLAS workspace kept per handle and stream; unproven",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .redirect_suspends = true,
     .flash_rng_on_device = true,
     .cublaslt_single_row = true,
     .grouped_mm_tensor_maps = 5},
    {.name = "pytorch-2.7",
     .doc = "PyTorch 2.7: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .redirect_suspends = true,
     .flash_rng_on_device = true,
     .cublaslt_single_row = true,
     .grouped_mm_tensor_maps = 5},
    {.name = "pytorch-2.6",
     .doc = "PyTorch 2.6: cuBLAS workspace kept per handle and stream",
     .cublas_workspace = WORKSPACE_PER_HANDLE_STREAM,
     .cublaslt_workspace = WORKSPACE_PER_CALL,
     .cublaslt_workspace_bytes = UINT64_C(1048576),
     .redirect_suspends = true,
     .cublaslt_single_row = true,
     .grouped_mm_tensor_maps = 5},
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
