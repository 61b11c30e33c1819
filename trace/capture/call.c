/* call.c: the runtime's own entry points, for a machine without CUPTI: preloaded, so that a program that is linked with the
 * shared CUDA runtime calls these. A program with the static runtime, and libraries that ask dlsym, are not seen. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "capture.h"
#include "clock.h"

/* The sizes of what is live: the runtime's free does not say. Open addressing, under a lock. */
struct live {
    uint64_t address, bytes;
};

static struct {
    pthread_mutex_t lock;
    struct live *slots;
    size_t count, used; /* slots; with tombstones */
} the = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define GONE UINT64_MAX

static struct live *slot_of(uint64_t address) {
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (the.count - 1);
    while (the.slots[at].address != 0 && the.slots[at].address != address)
        at = (at + 1) & (the.count - 1);
    return &the.slots[at];
}

/* At most half full, tombstones too. False: no memory. */
static bool grow(void) {
    if (2 * (the.used + 1) < the.count)
        return true;
    struct live *old = the.slots;
    size_t count = the.count, live = 0;
    for (size_t i = 0; i < count; i++)
        live += old[i].address != 0 && old[i].address != GONE;
    size_t wanted = live * 4 + 1024, room = 1024;
    while (room < wanted)
        room *= 2;
    struct live *slots = calloc(room, sizeof *slots);
    if (!slots)
        return false;
    the.slots = slots;
    the.count = room;
    the.used = live;
    for (size_t i = 0; i < count; i++)
        if (old[i].address != 0 && old[i].address != GONE)
            *slot_of(old[i].address) = old[i];
    free(old);
    return true;
}

static void keep(uint64_t address, uint64_t bytes) {
    pthread_mutex_lock(&the.lock);
    if (grow()) {
        struct live *slot = slot_of(address);
        the.used += slot->address == 0;
        *slot = (struct live){address, bytes};
    }
    pthread_mutex_unlock(&the.lock);
}

/* The bytes that were kept; unknown where none were. */
static uint64_t drop(uint64_t address) {
    uint64_t bytes = RECORD_UNKNOWN64;
    pthread_mutex_lock(&the.lock);
    struct live *slot = the.count > 0 ? slot_of(address) : NULL;
    if (slot && slot->address == address) {
        bytes = slot->bytes;
        slot->address = GONE;
    }
    pthread_mutex_unlock(&the.lock);
    return bytes;
}

static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

static uint32_t device_now(void) {
    int device = 0;
    static int (*get)(int *);
    if (!get)
        *(void **)&get = real("cudaGetDevice");
    return get && get(&device) == 0 ? (uint32_t)device : RECORD_UNKNOWN32;
}

static void tell(uint16_t type, const void *pointer, uint64_t bytes, enum memory_kind kind,
                 bool async) {
    if (!capture_start())
        return;
    if (capture_has(CAPTURE_MEMORY)) /* CUPTI tells of the same */
        return;
    capture_armed(CAPTURE_CALL);
    struct record_memory record = {.head = CAPTURE_HEAD(record, type),
                                   .address = (uint64_t)(uintptr_t)pointer,
                                   .bytes = bytes,
                                   .device = device_now(),
                                   .context = RECORD_UNKNOWN32,
                                   .stream = RECORD_UNKNOWN32,
                                   .correlation = RECORD_UNKNOWN32,
                                   .kind = (uint8_t)kind,
                                   .flags =
                                       (uint8_t)(MEMORY_FROM_CALL | (async ? MEMORY_ASYNC : 0))};
    capture_put(&record.head);
}

static int taken(int result, void **pointer, size_t bytes, enum memory_kind kind, bool async) {
    if (result != 0 || !pointer || !*pointer)
        return result;
    keep((uint64_t)(uintptr_t)*pointer, bytes);
    tell(RECORD_ALLOC, *pointer, bytes, kind, async);
    return result;
}

static void given(const void *pointer, enum memory_kind kind, bool async) {
    if (pointer)
        tell(RECORD_FREE, pointer, drop((uint64_t)(uintptr_t)pointer), kind, async);
}

enum { NOT_SUPPORTED = 801 }; /* cudaErrorNotSupported: there is no runtime behind us */

#define EXPORT __attribute__((visibility("default")))
/* NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments are lists
 * name, parameters, arguments, what is told: a free before it happens, as another thread may be given the address. */
#define TAKES(name, parameters, arguments, bytes, kind, async)                                     \
    EXPORT int name parameters;                                                                    \
    int name parameters {                                                                          \
        static int(*next) parameters;                                                              \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        return next ? taken(next arguments, pointer, bytes, kind, async) : NOT_SUPPORTED;          \
    }
#define GIVES(name, parameters, arguments, kind, async)                                            \
    EXPORT int name parameters;                                                                    \
    int name parameters {                                                                          \
        static int(*next) parameters;                                                              \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        if (!next)                                                                                 \
            return NOT_SUPPORTED;                                                                  \
        given(pointer, kind, async);                                                               \
        return next arguments;                                                                     \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

TAKES(cudaMalloc, (void **pointer, size_t bytes), (pointer, bytes), bytes, MEMORY_DEVICE, false)
TAKES(cudaMallocAsync, (void **pointer, size_t bytes, void *stream), (pointer, bytes, stream),
      bytes, MEMORY_DEVICE, true)
TAKES(cudaMallocAsync_ptsz, (void **pointer, size_t bytes, void *stream), (pointer, bytes, stream),
      bytes, MEMORY_DEVICE, true)
TAKES(cudaMallocManaged, (void **pointer, size_t bytes, unsigned flags), (pointer, bytes, flags),
      bytes, MEMORY_MANAGED, false)
TAKES(cudaMallocHost, (void **pointer, size_t bytes), (pointer, bytes), bytes, MEMORY_PINNED, false)
TAKES(cudaHostAlloc, (void **pointer, size_t bytes, unsigned flags), (pointer, bytes, flags), bytes,
      MEMORY_PINNED, false)
GIVES(cudaFree, (void *pointer), (pointer), MEMORY_DEVICE, false)
GIVES(cudaFreeAsync, (void *pointer, void *stream), (pointer, stream), MEMORY_DEVICE, true)
GIVES(cudaFreeAsync_ptsz, (void *pointer, void *stream), (pointer, stream), MEMORY_DEVICE, true)
GIVES(cudaFreeHost, (void *pointer), (pointer), MEMORY_PINNED, false)
