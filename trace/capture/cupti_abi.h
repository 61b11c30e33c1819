/* cupti_abi.h: what of CUPTI's and the driver's binary interface a capture needs, so that it builds without their headers
 * and one build serves CUDA 12 and 13. Source: cupti_activity.h, cupti_callbacks.h, generated_cuda_meta.h of CUDA 13.0
 * Update 1 and 12.8, whose records only ever grow at their end. tests/capture checks every number against the headers of
 * the machine where there are any. */
#ifndef CUPTI_ABI_H
#define CUPTI_ABI_H

#include <stdint.h>
#include <string.h>

/* kinds of activity records */
enum {
    KIND_MEMCPY = 1,
    KIND_MEMSET = 2,
    KIND_DEVICE = 8,
    KIND_CONTEXT = 9,
    KIND_CONCURRENT_KERNEL = 10,
    KIND_OVERHEAD = 17,
    KIND_MEMCPY2 = 22,
    KIND_MEMORY2 = 49,
    KIND_MEMORY_POOL = 50
};

/* id, offset, C type. Every kind begins with its number, u32 at 0. */
#define CUPTI_FIELDS(X)                                                                            \
    X(MEMORY2_OPERATION, 4, uint32_t)                                                              \
    X(MEMORY2_KIND, 8, uint32_t)                                                                   \
    X(MEMORY2_CORRELATION, 12, uint32_t)                                                           \
    X(MEMORY2_ADDRESS, 16, uint64_t)                                                               \
    X(MEMORY2_BYTES, 24, uint64_t)                                                                 \
    X(MEMORY2_TIMESTAMP, 32, uint64_t)                                                             \
    X(MEMORY2_PC, 40, uint64_t)                                                                    \
    X(MEMORY2_PROCESS, 48, uint32_t)                                                               \
    X(MEMORY2_DEVICE, 52, uint32_t)                                                                \
    X(MEMORY2_CONTEXT, 56, uint32_t)                                                               \
    X(MEMORY2_STREAM, 60, uint32_t)                                                                \
    X(MEMORY2_NAME, 64, uint64_t)                                                                  \
    X(MEMORY2_ASYNC, 72, uint32_t)                                                                 \
    X(MEMORY2_POOL_TYPE, 80, uint32_t)                                                             \
    X(MEMORY2_POOL_ADDRESS, 88, uint64_t)                                                          \
    X(MEMORY2_POOL_THRESHOLD, 96, uint64_t)                                                        \
    X(MEMORY2_POOL_SIZE, 104, uint64_t)                                                            \
    X(MEMORY2_POOL_USED, 112, uint64_t)                                                            \
    X(POOL_OPERATION, 4, uint32_t)                                                                 \
    X(POOL_TYPE, 8, uint32_t)                                                                      \
    X(POOL_CORRELATION, 12, uint32_t)                                                              \
    X(POOL_DEVICE, 20, uint32_t)                                                                   \
    X(POOL_LEAST, 24, uint64_t)                                                                    \
    X(POOL_ADDRESS, 32, uint64_t)                                                                  \
    X(POOL_SIZE, 40, uint64_t)                                                                     \
    X(POOL_THRESHOLD, 48, uint64_t)                                                                \
    X(POOL_TIMESTAMP, 56, uint64_t)                                                                \
    X(POOL_USED, 64, uint64_t)                                                                     \
    X(POOL_MANAGED, 72, uint32_t)                                                                  \
    X(DEVICE_TOTAL, 16, uint64_t)                                                                  \
    X(DEVICE_MAJOR, 104, uint32_t)                                                                 \
    X(DEVICE_MINOR, 108, uint32_t)                                                                 \
    X(DEVICE_ID, 112, uint32_t)                                                                    \
    X(DEVICE_UUID, 120, uint64_t)                                                                  \
    X(DEVICE_NAME, 136, uint64_t)                                                                  \
    X(DEVICE_MIG, 145, uint8_t)                                                                    \
    X(CONTEXT_ID, 4, uint32_t)                                                                     \
    X(CONTEXT_DEVICE, 8, uint32_t)                                                                 \
    X(CONTEXT_NULL_STREAM, 14, uint16_t)                                                           \
    X(COPY_KIND, 4, uint8_t)                                                                       \
    X(COPY_SOURCE, 5, uint8_t)                                                                     \
    X(COPY_TARGET, 6, uint8_t)                                                                     \
    X(COPY_BYTES, 8, uint64_t)                                                                     \
    X(COPY_START, 16, uint64_t)                                                                    \
    X(COPY_END, 24, uint64_t)                                                                      \
    X(COPY_DEVICE, 32, uint32_t)                                                                   \
    X(COPY_STREAM, 40, uint32_t)                                                                   \
    X(COPY_CORRELATION, 44, uint32_t)                                                              \
    X(PEER_CORRELATION, 60, uint32_t)                                                              \
    X(KERNEL_START, 16, uint64_t)                                                                  \
    X(KERNEL_END, 24, uint64_t)                                                                    \
    X(KERNEL_DEVICE, 40, uint32_t)                                                                 \
    X(KERNEL_STREAM, 48, uint32_t)                                                                 \
    X(KERNEL_CORRELATION, 92, uint32_t)                                                            \
    X(KERNEL_NAME, 104, uint64_t)                                                                  \
    X(KERNEL_LOCAL_BYTES, 192, uint64_t)                                                           \
    X(OVERHEAD_KIND, 4, uint32_t)                                                                  \
    X(OVERHEAD_START, 24, uint64_t)                                                                \
    X(OVERHEAD_END, 32, uint64_t)                                                                  \
    X(OVERHEAD_CORRELATION, 40, uint32_t)

enum {
#define X(id, offset, type) AT_##id = (offset),
    CUPTI_FIELDS(X)
#undef X
};

/* A member of a record that may lie unaligned. */
#define CUPTI_GETTER(name, type)                                                                   \
    static inline type cupti_##name(const uint8_t *record, unsigned offset) {                      \
        type value;                                                                                \
        memcpy(&value, record + offset, sizeof value);                                             \
        return value;                                                                              \
    }
CUPTI_GETTER(u8, uint8_t)
CUPTI_GETTER(u16, uint16_t)
CUPTI_GETTER(u32, uint32_t)
CUPTI_GETTER(u64, uint64_t)
#undef CUPTI_GETTER

static inline const char *cupti_text(const uint8_t *record, unsigned offset) {
    const char *text;
    memcpy(&text, record + offset, sizeof text);
    return text;
}

/* Versions that brought a member. */
enum {
    VERSION_MEMORY3 = 19,     /* CUDA 12.0: MEMORY2_POOL_USED */
    VERSION_POOL2 = 19,       /* POOL_USED */
    VERSION_POOL3 = 130000,   /* POOL_MANAGED */
    VERSION_NULL_BUFFER = 27, /* a request for a buffer may be answered by none */
    VERSION_OVERHEAD3 = 22    /* OVERHEAD_CORRELATION */
};

/* members' values */
enum { MEMORY2_ALLOCATION = 1 };

/* results */
enum { CUPTI_DONE = 0, CUPTI_LIMIT = 12, CUPTI_BAD_KIND = 21, CUPTI_TAKEN = 39 };

enum { CUPTI_FLUSH_FORCED = 1, CUPTI_ATTRIBUTE_PINNED = 8, CUPTI_DRIVER_API = 1, CUPTI_EXIT = 1 };

/* driver functions */
enum {
    CALL_ADDRESS_RESERVE = 547,
    CALL_ADDRESS_FREE = 548,
    CALL_CREATE = 549,
    CALL_RELEASE = 550,
    CALL_MAP = 551,
    CALL_UNMAP = 552,
    CALL_IMPORT = 555,
    CALL_RETAIN = 565,
    CALL_HOST_REGISTER = 379,
    CALL_HOST_UNREGISTER = 302
};

struct cupti_subscriber_params {
    size_t bytes;
    const char *name;
    char *old_name;
    size_t old_bytes;
};

struct cupti_callback_data {
    uint32_t site;
    uint32_t padding;
    const char *function_name;
    const void *params;
    void *result; /* of the call: its status, an int */
    const char *symbol_name;
    void *context;
    uint32_t context_uid;
    uint32_t padding2;
    uint64_t *correlation_data;
    uint32_t correlation;
    uint32_t padding3;
};

typedef void cupti_callback_fn(void *user, int domain, uint32_t id, const void *data);
typedef void cupti_request_fn(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid);

/* name, its type; without these a capture is off */
#define CUPTI_REQUIRED(X)                                                                          \
    X(cuptiGetVersion, int (*)(uint32_t *))                                                        \
    X(cuptiActivityRegisterCallbacks, int (*)(cupti_request_fn *, cupti_complete_fn *))            \
    X(cuptiActivityEnable, int (*)(int))                                                           \
    X(cuptiActivityFlushAll, int (*)(uint32_t))                                                    \
    X(cuptiActivityGetNextRecord, int (*)(uint8_t *, size_t, uint8_t **))                          \
    X(cuptiActivityGetNumDroppedRecords, int (*)(void *, uint32_t, size_t *))                      \
    X(cuptiSubscribe, int (*)(void **, cupti_callback_fn *, void *))                               \
    X(cuptiEnableCallback, int (*)(uint32_t, void *, int, uint32_t))

#define CUPTI_OPTIONAL(X)                                                                          \
    X(cuptiSubscribe_v2,                                                                           \
      int (*)(void **, cupti_callback_fn *, void *, struct cupti_subscriber_params *))             \
    X(cuptiActivitySetAttribute, int (*)(int, size_t *, void *))                                   \
    X(cuptiGetResultString, int (*)(int, const char **))

#endif
