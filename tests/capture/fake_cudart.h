/* fake_cudart.h: a stand-in for the CUDA runtime: addresses from a counter. */
#ifndef FAKE_CUDART_H
#define FAKE_CUDART_H

#include <stddef.h>

int cudaMalloc(void **pointer, size_t bytes);
int cudaMallocAsync(void **pointer, size_t bytes, void *stream);
int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cudaFree(void *pointer);
int cudaFreeAsync(void *pointer, void *stream);
int cudaFreeHost(void *pointer);
int cudaGetDevice(int *device);
int cudaSetDevice(int device);

#endif
