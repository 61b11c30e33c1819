/* abi.c: the numbers of cupti_abi.h against the headers of this machine; and records of every kind, walked by the real
 * cuptiActivityGetNextRecord where its library can be had: abi [LIBRARY]. */
#include <assert.h>
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_abi.h"
#include "decode.h"
#include "records.h"

#define SAME(id, type, member)                                                                     \
    static_assert(AT_##id == offsetof(type, member), #id);                                         \
    static_assert(sizeof(((type *)0)->member) > 0, #id)

#define MEMORY CUpti_ActivityMemory3
SAME(MEMORY2_OPERATION, MEMORY, memoryOperationType);
SAME(MEMORY2_KIND, MEMORY, memoryKind);
SAME(MEMORY2_CORRELATION, MEMORY, correlationId);
SAME(MEMORY2_ADDRESS, MEMORY, address);
SAME(MEMORY2_BYTES, MEMORY, bytes);
SAME(MEMORY2_TIMESTAMP, MEMORY, timestamp);
SAME(MEMORY2_PC, MEMORY, PC);
SAME(MEMORY2_PROCESS, MEMORY, processId);
SAME(MEMORY2_DEVICE, MEMORY, deviceId);
SAME(MEMORY2_CONTEXT, MEMORY, contextId);
SAME(MEMORY2_STREAM, MEMORY, streamId);
SAME(MEMORY2_NAME, MEMORY, name);
SAME(MEMORY2_ASYNC, MEMORY, isAsync);
SAME(MEMORY2_POOL_TYPE, MEMORY, memoryPoolConfig.memoryPoolType);
SAME(MEMORY2_POOL_ADDRESS, MEMORY, memoryPoolConfig.address);
SAME(MEMORY2_POOL_THRESHOLD, MEMORY, memoryPoolConfig.releaseThreshold);
SAME(MEMORY2_POOL_SIZE, MEMORY, memoryPoolConfig.pool.size);
SAME(MEMORY2_POOL_USED, MEMORY, memoryPoolConfig.utilizedSize);
#define POOL CUpti_ActivityMemoryPool2
SAME(POOL_OPERATION, POOL, memoryPoolOperationType);
SAME(POOL_TYPE, POOL, memoryPoolType);
SAME(POOL_CORRELATION, POOL, correlationId);
SAME(POOL_DEVICE, POOL, deviceId);
SAME(POOL_LEAST, POOL, minBytesToKeep);
SAME(POOL_ADDRESS, POOL, address);
SAME(POOL_SIZE, POOL, size);
SAME(POOL_THRESHOLD, POOL, releaseThreshold);
SAME(POOL_TIMESTAMP, POOL, timestamp);
SAME(POOL_USED, POOL, utilizedSize);
#if CUPTI_API_VERSION >= 130000
SAME(POOL_MANAGED, CUpti_ActivityMemoryPool3, isManagedPool);
#endif
#define DEVICE CUpti_ActivityDevice5
SAME(DEVICE_TOTAL, DEVICE, globalMemorySize);
SAME(DEVICE_MAJOR, DEVICE, computeCapabilityMajor);
SAME(DEVICE_MINOR, DEVICE, computeCapabilityMinor);
SAME(DEVICE_ID, DEVICE, id);
SAME(DEVICE_UUID, DEVICE, uuid);
SAME(DEVICE_NAME, DEVICE, name);
SAME(DEVICE_MIG, DEVICE, isMigEnabled);
SAME(CONTEXT_ID, CUpti_ActivityContext3, contextId);
SAME(CONTEXT_DEVICE, CUpti_ActivityContext3, deviceId);
SAME(CONTEXT_NULL_STREAM, CUpti_ActivityContext3, nullStreamId);
SAME(COPY_KIND, CUpti_ActivityMemcpy5, copyKind);
SAME(COPY_SOURCE, CUpti_ActivityMemcpy5, srcKind);
SAME(COPY_TARGET, CUpti_ActivityMemcpy5, dstKind);
SAME(COPY_BYTES, CUpti_ActivityMemcpy5, bytes);
SAME(COPY_START, CUpti_ActivityMemcpy5, start);
SAME(COPY_END, CUpti_ActivityMemcpy5, end);
SAME(COPY_DEVICE, CUpti_ActivityMemcpy5, deviceId);
SAME(COPY_STREAM, CUpti_ActivityMemcpy5, streamId);
SAME(COPY_CORRELATION, CUpti_ActivityMemcpy5, correlationId);
static_assert(AT_COPY_BYTES == offsetof(CUpti_ActivityMemset4, bytes) &&
                  AT_COPY_START == offsetof(CUpti_ActivityMemset4, start) &&
                  AT_COPY_DEVICE == offsetof(CUpti_ActivityMemset4, deviceId) &&
                  AT_COPY_STREAM == offsetof(CUpti_ActivityMemset4, streamId) &&
                  AT_COPY_CORRELATION == offsetof(CUpti_ActivityMemset4, correlationId) &&
                  AT_COPY_STREAM == offsetof(CUpti_ActivityMemcpyPtoP4, streamId),
              "sets and copies lie alike");
SAME(PEER_CORRELATION, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(KERNEL_START, CUpti_ActivityKernel9, start);
SAME(KERNEL_END, CUpti_ActivityKernel9, end);
SAME(KERNEL_DEVICE, CUpti_ActivityKernel9, deviceId);
SAME(KERNEL_STREAM, CUpti_ActivityKernel9, streamId);
SAME(KERNEL_CORRELATION, CUpti_ActivityKernel9, correlationId);
SAME(KERNEL_NAME, CUpti_ActivityKernel9, name);
SAME(KERNEL_LOCAL_BYTES, CUpti_ActivityKernel9, localMemoryTotal_v2);
SAME(OVERHEAD_KIND, CUpti_ActivityOverhead3, overheadKind);
SAME(OVERHEAD_START, CUpti_ActivityOverhead3, start);
SAME(OVERHEAD_END, CUpti_ActivityOverhead3, end);
SAME(OVERHEAD_CORRELATION, CUpti_ActivityOverhead3, correlationId);

#define EQUAL(ours, theirs) ((int)(ours) == (int)(theirs))
static_assert(EQUAL(MEMORY2_ALLOCATION, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION) &&
                  EQUAL(POOL_CREATED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED) &&
                  EQUAL(POOL_DESTROYED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED) &&
                  EQUAL(POOL_IMPORTED, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED),
              "operations and types");
static_assert(EQUAL(KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY) &&
                  EQUAL(KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET) &&
                  EQUAL(KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE) &&
                  EQUAL(KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT) &&
                  EQUAL(KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) &&
                  EQUAL(KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD) &&
                  EQUAL(KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2) &&
                  EQUAL(KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2) &&
                  EQUAL(KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL),
              "kinds");
static_assert(EQUAL(CUPTI_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED) &&
                  EQUAL(CUPTI_BAD_KIND, CUPTI_ERROR_INVALID_KIND) &&
                  EQUAL(CUPTI_TAKEN, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED),
              "results");
static_assert(EQUAL(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) &&
                  EQUAL(CUPTI_ATTRIBUTE_PINNED,
                        CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED) &&
                  EQUAL(CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API) &&
                  EQUAL(CUPTI_EXIT, CUPTI_API_EXIT),
              "flags");
static_assert(sizeof(struct cupti_callback_data) == sizeof(CUpti_CallbackData) &&
                  offsetof(struct cupti_callback_data, params) ==
                      offsetof(CUpti_CallbackData, functionParams) &&
                  offsetof(struct cupti_callback_data, result) ==
                      offsetof(CUpti_CallbackData, functionReturnValue) &&
                  offsetof(struct cupti_callback_data, correlation) ==
                      offsetof(CUpti_CallbackData, correlationId),
              "what a callback gets");
static_assert(EQUAL(CALL_ADDRESS_RESERVE, CUPTI_DRIVER_TRACE_CBID_cuMemAddressReserve) &&
                  EQUAL(CALL_ADDRESS_FREE, CUPTI_DRIVER_TRACE_CBID_cuMemAddressFree) &&
                  EQUAL(CALL_CREATE, CUPTI_DRIVER_TRACE_CBID_cuMemCreate) &&
                  EQUAL(CALL_RELEASE, CUPTI_DRIVER_TRACE_CBID_cuMemRelease) &&
                  EQUAL(CALL_MAP, CUPTI_DRIVER_TRACE_CBID_cuMemMap) &&
                  EQUAL(CALL_UNMAP, CUPTI_DRIVER_TRACE_CBID_cuMemUnmap) &&
                  EQUAL(CALL_IMPORT, CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle) &&
                  EQUAL(CALL_RETAIN, CUPTI_DRIVER_TRACE_CBID_cuMemRetainAllocationHandle) &&
                  EQUAL(CALL_HOST_REGISTER, CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2) &&
                  EQUAL(CALL_HOST_UNREGISTER, CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister),
              "calls of the driver");
static_assert(offsetof(cuMemCreate_params, handle) == 0 &&
                  offsetof(cuMemCreate_params, size) == 8 &&
                  offsetof(cuMemCreate_params, prop) == 16 &&
                  offsetof(cuMemMap_params, handle) == 24 &&
                  offsetof(cuMemMap_params, offset) == 16 &&
                  offsetof(cuMemUnmap_params, size) == 8 &&
                  offsetof(cuMemAddressReserve_params, size) == 8 &&
                  offsetof(cuMemHostRegister_v2_params, bytesize) == 8 &&
                  offsetof(CUmemAllocationProp, location) == 8 && sizeof(CUmemLocation) >= 8,
              "their parameters");

/* --- the real iterator over buffers that we fill --- */

static uint32_t no_text(const char *text) {
    return text ? 1 : 0;
}

static size_t put(uint8_t *at, uint32_t kind, size_t bytes) {
    memset(at, 0, bytes);
    memcpy(at, &kind, sizeof kind);
    return bytes;
}

static size_t decode(int (*next)(uint8_t *, size_t, uint8_t **), uint8_t *buffer, size_t valid,
                     uint32_t version, struct decoded *out) {
    *out = (struct decoded){0};
    decode_buffer(buffer, valid, version, next, no_text, out);
    size_t records = 0;
    for (size_t at = 0; at < out->bytes; records++) {
        struct record_head head;
        memcpy(&head, out->records + at, sizeof head);
        at += (size_t)head.len8 * 8;
    }
    free(out->records);
    return records;
}

static int fail(const char *what, size_t found) {
    fprintf(stderr, "abi: %s: %zu\n", what, found);
    return 1;
}

int main(int argc, char **argv) {
    void *library = dlopen(argc > 1 ? argv[1] : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    int (*next)(uint8_t *, size_t, uint8_t **) = NULL, (*get_version)(uint32_t *) = NULL;
    uint32_t version = 0;
    if (library) {
        *(void **)&next = dlsym(library, "cuptiActivityGetNextRecord");
        *(void **)&get_version = dlsym(library, "cuptiGetVersion");
    }
    if (!next || !get_version || get_version(&version) != 0) {
        puts("abi: the headers agree; there is no libcupti here whose iterator can be asked");
        return 0;
    }
    static uint8_t buffer[4096];
    struct decoded out;
    size_t used = 0, pool = version < 130000 ? 72 : 80, kernel = version < 130000 ? 208 : 216;
    used += put(buffer + used, KIND_MEMORY2, 128);
    used += put(buffer + used, KIND_MEMORY_POOL, pool);
    used += put(buffer + used, KIND_DEVICE, 184);
    used += put(buffer + used, KIND_CONTEXT, 32);
    used += put(buffer + used, KIND_MEMCPY, 96);
    used += put(buffer + used, KIND_MEMSET, 88);
    used += put(buffer + used, KIND_MEMCPY2, 96);
    used += put(buffer + used, KIND_CONCURRENT_KERNEL, kernel);
    used += put(buffer + used, KIND_OVERHEAD, 56);
    size_t records = decode(next, buffer, used, version, &out);
    if (records != 9 || out.lost_bytes != 0 || out.skipped != 0)
        return fail("of nine records", records);
    for (size_t cut = 1; cut < 56; cut++)
        if ((records = decode(next, buffer, used - cut, version, &out)) != 8)
            return fail("of nine records, the last cut off", records);
    put(buffer + 128, 250, 64);
    records = decode(next, buffer, used, version, &out);
    if (records != 1 || out.lost_bytes == 0)
        return fail("of a record before an unknown kind", records);
    printf("abi: the headers and the iterator of CUPTI %u agree\n", version);
    return 0;
}
