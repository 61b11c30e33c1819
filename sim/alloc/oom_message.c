/* oom_message.c: the words of an out-of-memory. Source: PyTorch 2.15.0's own messages, as recorded
 * from it. */
#include <stdio.h>

#include "alloc.h"
#include "units.h"

static void write_rejection(const struct alloc_oom *oom, char *out, size_t size) {
    char asked[UNITS_TEXT_BYTES];
    snprintf(out, size,
             "CUDA out of memory. Allocation was preemptively rejected because it would exceed "
             "per_process_memory_fraction limit. Requested size: %s",
             units_format_pytorch(oom->requested_bytes, asked));
}

void alloc_oom_message(const struct alloc_oom *oom, unsigned device_ordinal, char *out,
                       size_t size) {
    char asked[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES], available[UNITS_TEXT_BYTES];
    char allocated[UNITS_TEXT_BYTES], idle[UNITS_TEXT_BYTES], amount[UNITS_TEXT_BYTES];
    char allowed[64] = "", in_pools[128] = "";
    if (oom->rejected) {
        write_rejection(oom, out, size);
        return;
    }
    if (oom->allowed_bytes)
        snprintf(allowed, sizeof allowed, "%s allowed; ",
                 units_format_pytorch(oom->allowed_bytes, amount));
    if (oom->private_pool_bytes)
        snprintf(in_pools, sizeof in_pools,
                 "with %s allocated in private pools (e.g., CUDA Graphs), ",
                 units_format_pytorch(oom->private_pool_bytes, amount));
    uint64_t counted = oom->allocated_bytes + oom->private_pool_bytes;
    snprintf(
        out, size,
        "CUDA out of memory. Tried to allocate %s. GPU %u has a total capacity of %s of which %s "
        "is free. "
        "%sOf the allocated memory %s is allocated by PyTorch, %sand %s is reserved by PyTorch but "
        "unallocated. If reserved but unallocated memory is large try setting "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
        "documentation for "
        "Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"
        "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)",
        units_format_pytorch(oom->segment_bytes, asked), device_ordinal,
        units_format_pytorch(oom->device_total_bytes, total),
        units_format_pytorch(oom->device_free_bytes, available), allowed,
        units_format_pytorch(counted, allocated), in_pools,
        units_format_pytorch(oom->reserved_bytes - counted, idle));
}
