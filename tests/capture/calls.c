/* calls.c: a program with a CUDA runtime that is only a table: it calls the runtime's entry points, and with "torch LIBRARY" the
 * two functions that PyTorch's CUDAPluggableAllocator is given. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "fake_cudart.h"

static int run_calls(void) {
    void *a = NULL, *b = NULL, *c = NULL;
    if (cudaMalloc(&a, 5 << 20) || cudaMallocAsync(&b, 1000, NULL) || cudaHostAlloc(&c, 4096, 0))
        return 1;
    return cudaFreeAsync(b, NULL) || cudaFree(a) || cudaFreeHost(c);
}

static int run_torch(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *(*take)(size_t, int, void *) = NULL;
    void (*give)(void *, size_t, int, void *) = NULL;
    if (library) {
        *(void **)&take = dlsym(library, "vramsim_torch_malloc");
        *(void **)&give = dlsym(library, "vramsim_torch_free");
    }
    if (!take || !give)
        return fprintf(stderr, "%s\n", dlerror()), 2;
    void *x = take(123, 0, NULL), *y = take(1 << 20, 1, NULL);
    give(x, 123, 0, NULL);
    return !x || !y;
}

int main(int argc, char **argv) {
    return argc > 2 && strcmp(argv[1], "torch") == 0 ? run_torch(argv[2]) : run_calls();
}
