/* fake_cudart.c: see fake_cudart.h. */
#include "fake_cudart.h"

#include <stdint.h>

static uintptr_t next = 0x7f0000000000;
static int current;

static int take(void **pointer, size_t bytes) {
    *pointer = (void *)next;
    next += (bytes + 511) / 512 * 512;
    return 0;
}

int cudaMalloc(void **pointer, size_t bytes) {
    return take(pointer, bytes);
}
int cudaMallocAsync(void **pointer, size_t bytes, void *stream) {
    (void)stream;
    return take(pointer, bytes);
}
int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    (void)flags;
    return take(pointer, bytes);
}
int cudaFree(void *pointer) {
    (void)pointer;
    return 0;
}
int cudaFreeAsync(void *pointer, void *stream) {
    (void)pointer;
    (void)stream;
    return 0;
}
int cudaFreeHost(void *pointer) {
    (void)pointer;
    return 0;
}
int cudaGetDevice(int *device) {
    *device = current;
    return 0;
}
int cudaSetDevice(int device) {
    current = device;
    return 0;
}
