/* records.h: what a capture writes: the payload of blocks VRT_RECORDS of a `.vrt` file (trace/vrt/vrt_format.h).
 *
 * A block holds records one after another. Each begins with a head; unknown types are passed over by their length, and a
 * longer record than known is read as far as it is known. Little-endian, every record a multiple of 8 bytes. Times are
 * ns since 1970 (CLOCK_REALTIME). Unknown is all ones. Texts are ids of STRING records, which come before their first
 * use; 0 is none. Offsets, kinds and operations are those of CUPTI's activity records (cupti_activity.h, CUDA 12 and 13). */
#ifndef RECORDS_H
#define RECORDS_H

#include <assert.h>
#include <stdint.h>

#define RECORD_UNKNOWN32 UINT32_MAX
#define RECORD_UNKNOWN64 UINT64_MAX

/* id, number, C type of the whole record */
#define RECORD_TYPES(X)                                                                            \
    X(STRING, 0x01, record_string)                                                                 \
    X(CLOCK, 0x02, record_clock)                                                                   \
    X(DEVICE, 0x03, record_device)                                                                 \
    X(CONTEXT, 0x04, record_context)                                                               \
    X(SAMPLE, 0x05, record_sample)                                                                 \
    X(DROPPED, 0x06, record_dropped)                                                               \
    X(NOTE, 0x07, record_note)                                                                     \
    X(THREAD, 0x08, record_thread)                                                                 \
    X(END, 0x0f, record_end)                                                                       \
    X(ALLOC, 0x10, record_memory)                                                                  \
    X(FREE, 0x11, record_memory)                                                                   \
    X(POOL, 0x12, record_pool)                                                                     \
    X(VMM_RESERVE, 0x20, record_vmm)                                                               \
    X(VMM_UNRESERVE, 0x21, record_vmm)                                                             \
    X(VMM_CREATE, 0x22, record_vmm)                                                                \
    X(VMM_RETAIN, 0x23, record_vmm)                                                                \
    X(VMM_IMPORT, 0x24, record_vmm)                                                                \
    X(VMM_RELEASE, 0x25, record_vmm)                                                               \
    X(VMM_MAP, 0x26, record_vmm)                                                                   \
    X(VMM_UNMAP, 0x27, record_vmm)                                                                 \
    X(HOST_REGISTER, 0x28, record_vmm)                                                             \
    X(HOST_UNREGISTER, 0x29, record_vmm)                                                           \
    X(PHASE_PUSH, 0x30, record_push)                                                               \
    X(PHASE_POP, 0x31, record_pop)                                                                 \
    X(PHASE_MARK, 0x32, record_push)                                                               \
    X(RANGE_START, 0x33, record_start)                                                             \
    X(RANGE_END, 0x34, record_stop)                                                                \
    X(TENSOR_ALLOC, 0x40, record_tensor)                                                           \
    X(TENSOR_FREE, 0x41, record_tensor)                                                            \
    X(KERNEL, 0x50, record_kernel)                                                                 \
    X(COPY, 0x51, record_copy)                                                                     \
    X(SET, 0x52, record_copy)                                                                      \
    X(OVERHEAD, 0x54, record_overhead)

enum record_type {
#define X(id, number, type) RECORD_##id = (number),
    RECORD_TYPES(X)
#undef X
};

/* The head of a record of this type, at this time. */
#define RECORD_HEAD(record, number, time)                                                          \
    { .type = (uint16_t)(number), .len8 = sizeof(record) / 8, .t = (time) }

struct record_head {
    uint16_t type, len8; /* len8: the whole record in units of 8 bytes, at least 2 */
    uint32_t tid;        /* 0: none */
    uint64_t t;
};

/* Text follows, zero bytes up to a multiple of 8. */
struct record_string {
    struct record_head head;
    uint32_t id, bytes;
};

struct record_clock {
    struct record_head head;
    uint64_t monotonic, cupti;
};

enum device_flag { DEVICE_INTEGRATED = 1, DEVICE_MIG = 2 };
struct record_device {
    struct record_head head;
    uint32_t device, flags;
    uint64_t total_bytes;
    uint32_t name;
    uint16_t major, minor;
    uint8_t uuid[16];
};

struct record_context {
    struct record_head head;
    uint32_t device, context, null_stream, flags;
};

enum sample_source { SAMPLE_DRIVER = 1, SAMPLE_NVML = 2 };
struct record_sample {
    struct record_head head;
    uint32_t device, source;
    uint64_t free_bytes, total_bytes, process_bytes;
};

struct record_dropped {
    struct record_head head;
    uint32_t source, zero; /* enum capture_source */
    uint64_t count;
};

enum note_severity { NOTE_INFO, NOTE_WARNING, NOTE_ERROR };
struct record_note {
    struct record_head head;
    uint32_t severity, text;
};

struct record_thread {
    struct record_head head;
    uint32_t name, flags; /* 1: the main NVTX thread */
};

enum end_reason { END_EXIT = 1, END_CLOSED = 2 };
struct record_end {
    struct record_head head;
    uint64_t records, dropped;
    uint32_t reason, zero;
};

enum memory_kind {
    MEMORY_UNKNOWN,
    MEMORY_PAGEABLE,
    MEMORY_PINNED,
    MEMORY_DEVICE,
    MEMORY_ARRAY,
    MEMORY_MANAGED,
    MEMORY_DEVICE_STATIC,
    MEMORY_MANAGED_STATIC
};
enum memory_flag { MEMORY_ASYNC = 1, MEMORY_HAS_POOL = 2, MEMORY_FROM_CALL = 4 };
struct record_memory {
    struct record_head head;
    uint64_t address, bytes;
    uint32_t device, context, stream, correlation;
    uint8_t kind, flags;
    uint16_t zero;
    uint32_t name;
    uint64_t pc;
};

/* The same with MEMORY_HAS_POOL. */
struct record_memory_pool {
    struct record_memory memory;
    uint64_t pool, pool_bytes, pool_used, threshold;
    uint32_t pool_type, exporter;
};

enum pool_type { POOL_LOCAL = 1, POOL_IMPORTED = 2 };
enum pool_operation { POOL_CREATED = 1, POOL_DESTROYED = 2, POOL_TRIMMED = 3 };
struct record_pool {
    struct record_head head;
    uint64_t pool, bytes, used, threshold, least;
    uint32_t device, correlation;
    uint8_t operation, type, managed, zero[5];
};

struct record_vmm {
    struct record_head head;
    uint64_t address, bytes, offset, handle;
    uint32_t device, correlation, location, zero;
};

struct record_push {
    struct record_head head;
    uint32_t name, domain, color, category;
};

struct record_pop {
    struct record_head head;
    uint32_t domain, zero;
};

struct record_start {
    struct record_push push;
    uint64_t id;
};

struct record_stop {
    struct record_head head;
    uint64_t id;
};

struct record_tensor {
    struct record_head head;
    uint64_t address, bytes, stream;
    uint32_t device, zero;
};

struct record_kernel {
    struct record_head head;
    uint64_t end, local_bytes;
    uint32_t device, stream, correlation, name;
};

struct record_copy {
    struct record_head head;
    uint64_t end, bytes;
    uint32_t device, stream, correlation;
    uint8_t copy_kind, source_kind, target_kind, zero;
};

struct record_overhead {
    struct record_head head;
    uint64_t end;
    uint32_t kind, correlation;
};

static_assert(sizeof(struct record_head) == 16 && sizeof(struct record_string) == 24 &&
                  sizeof(struct record_clock) == 32 && sizeof(struct record_device) == 56 &&
                  sizeof(struct record_context) == 32 && sizeof(struct record_sample) == 48 &&
                  sizeof(struct record_dropped) == 32 && sizeof(struct record_end) == 40,
              "as they lie in files");
static_assert(sizeof(struct record_memory) == 64 && sizeof(struct record_memory_pool) == 104 &&
                  sizeof(struct record_pool) == 72 && sizeof(struct record_vmm) == 64 &&
                  sizeof(struct record_push) == 32 && sizeof(struct record_start) == 40 &&
                  sizeof(struct record_tensor) == 48 && sizeof(struct record_kernel) == 48 &&
                  sizeof(struct record_copy) == 48 && sizeof(struct record_overhead) == 32,
              "as they lie in files");

/* What a capture listens to: bits of the header's sources, and DROPPED records. */
enum capture_source {
    CAPTURE_MEMORY = 1 << 0, /* CUPTI's MEMORY2 */
    CAPTURE_POOL = 1 << 1,   /* MEMORY_POOL */
    CAPTURE_VMM = 1 << 2,    /* callbacks of the driver's virtual memory calls */
    CAPTURE_NVTX = 1 << 3,
    CAPTURE_TENSOR = 1 << 4, /* the pluggable allocator */
    CAPTURE_SAMPLE = 1 << 5, /* the device's used memory */
    CAPTURE_KERNEL = 1 << 6, /* kernels and copies */
    CAPTURE_CALL = 1 << 8    /* the runtime's own entry points */
};

#endif
