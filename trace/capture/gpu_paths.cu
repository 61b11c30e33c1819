/* gpu_paths.cu: every way to device memory, each with a size of its own and in a range of its name: for gpu_check. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

__device__ char in_code[3 << 20];

static void need(int good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "gpu_paths: %s\n", what);
    exit(1);
}

static void plain(void) {
    void *p;
    need(cudaMalloc(&p, 5 * MIB) == cudaSuccess && cudaFree(p) == cudaSuccess, "cudaMalloc");
}

static void pinned(void) {
    void *p;
    need(cudaMallocHost(&p, 6 * MIB) == cudaSuccess && cudaFreeHost(p) == cudaSuccess, "cudaMallocHost");
}

static void of_default_pool(void) {
    void *p;
    need(cudaMallocAsync(&p, 9 * MIB, 0) == cudaSuccess && cudaFreeAsync(p, 0) == cudaSuccess &&
             cudaStreamSynchronize(0) == cudaSuccess,
         "cudaMallocAsync");
}

static void of_own_pool(void) {
    cudaMemPoolProps props = {};
    cudaMemPool_t pool;
    void *p;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    need(cudaMemPoolCreate(&pool, &props) == cudaSuccess &&
             cudaMallocFromPoolAsync(&p, 11 * MIB, pool, 0) == cudaSuccess &&
             cudaFreeAsync(p, 0) == cudaSuccess && cudaStreamSynchronize(0) == cudaSuccess &&
             cudaMemPoolDestroy(pool) == cudaSuccess,
         "a pool");
}

static void virtual_memory(void) {
    enum { PIECES = 8 };
    CUmemGenericAllocationHandle handles[PIECES];
    CUmemAllocationProp prop = {};
    CUdeviceptr base;
    size_t piece;
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    need(cuMemGetAllocationGranularity(&piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS &&
             cuMemAddressReserve(&base, 32 * piece, 0, 0, 0) == CUDA_SUCCESS,
         "a reservation");
    for (int i = 0; i < PIECES; i++)
        need(cuMemCreate(&handles[i], piece, &prop, 0) == CUDA_SUCCESS &&
                 cuMemMap(base + i * piece, piece, 0, handles[i], 0) == CUDA_SUCCESS,
             "a mapping");
    for (int i = 0; i < PIECES; i++)
        need(cuMemUnmap(base + i * piece, piece) == CUDA_SUCCESS && cuMemRelease(handles[i]) == CUDA_SUCCESS,
             "an unmapping");
    need(cuMemAddressFree(base, 32 * piece) == CUDA_SUCCESS, "the reservation's end");
}

int main(void) {
    static const struct {
        const char *name;
        void (*run)(void);
    } paths[] = {{"plain", plain},
                 {"pinned", pinned},
                 {"of_default_pool", of_default_pool},
                 {"of_own_pool", of_own_pool},
                 {"virtual_memory", virtual_memory}};
    void *address;
    need(cudaGetSymbolAddress(&address, in_code) == cudaSuccess, "a static array");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        nvtxRangePushA(paths[i].name);
        paths[i].run();
        nvtxRangePop();
    }
    return 0;
}
