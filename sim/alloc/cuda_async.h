/* cuda_async.h: PyTorch's other allocator, backend:cudaMallocAsync, over the driver's pool (cuda_pool.h).
 *
 * Source: c10/cuda/CUDAMallocAsyncAllocator.cpp of PyTorch 2.0 to 2.15; its calls, statistics and message as 2.15 makes
 * them. Sizes go to the driver as they are. A limit counts live requests and is met without asking the driver. Left out:
 * captures, and with them the graph pool that 2.14 adds to the reserved bytes. */
#ifndef CUDA_ASYNC_H
#define CUDA_ASYNC_H

#include "alloc.h"

extern const struct alloc_ops cuda_async_ops; /* the row "cudaMallocAsync" */

#endif
