/* torch.c: PyTorch's CUDAPluggableAllocator: each request of a tensor's memory and each free, in order, without the caching
 * allocator between: what the program asks for. Real memory comes from the CUDA runtime that the process has. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "clock.h"

static struct {
    pthread_once_t once;
    int (*take)(void **, size_t);
    int (*give)(void *);
    int (*get_device)(int *);
    int (*set_device)(int);
} runtime = {.once = PTHREAD_ONCE_INIT};

static void *find(const char *name) {
    static const char *const libraries[] = {"libcudart.so.13", "libcudart.so.12"};
    void *found = dlsym(RTLD_DEFAULT, name);
    for (int i = 0; i < 2 && !found; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
    }
    return found;
}

static void load(void) {
    *(void **)&runtime.take = find("cudaMalloc");
    *(void **)&runtime.give = find("cudaFree");
    *(void **)&runtime.get_device = find("cudaGetDevice");
    *(void **)&runtime.set_device = find("cudaSetDevice");
    capture_start();
    if (!runtime.take || !runtime.give || !runtime.get_device || !runtime.set_device)
        capture_note(NOTE_ERROR,
                     "PyTorch's pluggable allocator: the CUDA runtime of this process is "
                     "not found; no memory can be given");
    else
        capture_armed(CAPTURE_TENSOR);
}

/* The runtime is found; else what is asked for cannot be given. */
static bool is_there(void) {
    pthread_once(&runtime.once, load);
    return runtime.take && runtime.give && runtime.get_device && runtime.set_device;
}

static void tell(uint16_t type, const void *pointer, size_t bytes, int device, const void *stream) {
    struct record_tensor record = {.head = CAPTURE_HEAD(record, type),
                                   .address = (uint64_t)(uintptr_t)pointer,
                                   .bytes = bytes,
                                   .stream = (uint64_t)(uintptr_t)stream,
                                   .device = (uint32_t)device};
    capture_put(&record.head);
}

__attribute__((visibility("default"))) void *vramsim_torch_malloc(size_t bytes, int device,
                                                                  void *stream);
__attribute__((visibility("default"))) void vramsim_torch_free(void *pointer, size_t bytes,
                                                               int device, void *stream);

void *vramsim_torch_malloc(size_t bytes, int device, void *stream) {
    void *pointer = NULL;
    int before = device;
    if (!is_there() || runtime.get_device(&before) != 0)
        return NULL;
    if (before != device && runtime.set_device(device) != 0)
        return NULL;
    if (runtime.take(&pointer, bytes) != 0)
        pointer = NULL;
    if (before != device)
        runtime.set_device(before);
    if (pointer)
        tell(RECORD_TENSOR_ALLOC, pointer, bytes, device, stream);
    return pointer;
}

void vramsim_torch_free(void *pointer, size_t bytes, int device, void *stream) {
    if (!pointer || !is_there())
        return;
    tell(RECORD_TENSOR_FREE, pointer, bytes, device, stream);
    runtime.give(pointer);
}
