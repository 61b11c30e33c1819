/* decode.c: see decode.h. */
#include "decode.h"

#include <stdbool.h>
#include <stdlib.h>

#include "cupti_abi.h"
#include "records.h"

struct decoder {
    uint32_t version;
    uint32_t (*text)(const char *text);
    struct decoded *out;
};

static void put(const struct decoder *d, const void *record, size_t bytes) {
    struct decoded *out = d->out;
    if (out->bytes + bytes > out->room) {
        size_t room = out->room ? 2 * out->room : 64 * 1024;
        uint8_t *moved = realloc(out->records, room);
        if (!moved) {
            out->lost++;
            return;
        }
        out->records = moved;
        out->room = room;
    }
    memcpy(out->records + out->bytes, record, bytes);
    out->bytes += bytes;
}

static void decode_memory(const struct decoder *d, const uint8_t *r) {
    bool has_pool =
        cupti_u32(r, AT_MEMORY2_ASYNC) != 0 && cupti_u64(r, AT_MEMORY2_POOL_ADDRESS) != 0;
    uint32_t pool_type = cupti_u32(r, AT_MEMORY2_POOL_TYPE);
    bool imported = pool_type == POOL_IMPORTED;
    struct record_memory_pool m = {
        .memory = {.head = {.type = cupti_u32(r, AT_MEMORY2_OPERATION) == MEMORY2_ALLOCATION
                                        ? RECORD_ALLOC
                                        : RECORD_FREE,
                            .len8 = (uint16_t)((has_pool ? sizeof m : sizeof m.memory) / 8),
                            .t = cupti_u64(r, AT_MEMORY2_TIMESTAMP)},
                   .address = cupti_u64(r, AT_MEMORY2_ADDRESS),
                   .bytes = cupti_u64(r, AT_MEMORY2_BYTES),
                   .device = cupti_u32(r, AT_MEMORY2_DEVICE),
                   .context = cupti_u32(r, AT_MEMORY2_CONTEXT),
                   .stream = cupti_u32(r, AT_MEMORY2_STREAM),
                   .correlation = cupti_u32(r, AT_MEMORY2_CORRELATION),
                   .kind = (uint8_t)cupti_u32(r, AT_MEMORY2_KIND),
                   .flags = (uint8_t)((cupti_u32(r, AT_MEMORY2_ASYNC) ? MEMORY_ASYNC : 0) |
                                      (has_pool ? MEMORY_HAS_POOL : 0)),
                   .name = d->text(cupti_text(r, AT_MEMORY2_NAME)),
                   .pc = cupti_u64(r, AT_MEMORY2_PC)},
        .pool = cupti_u64(r, AT_MEMORY2_POOL_ADDRESS),
        .pool_bytes = imported ? RECORD_UNKNOWN64 : cupti_u64(r, AT_MEMORY2_POOL_SIZE),
        .pool_used = imported || d->version < VERSION_MEMORY3 ? RECORD_UNKNOWN64
                                                              : cupti_u64(r, AT_MEMORY2_POOL_USED),
        .threshold = cupti_u64(r, AT_MEMORY2_POOL_THRESHOLD),
        .pool_type = pool_type,
        .exporter = imported ? (uint32_t)cupti_u64(r, AT_MEMORY2_POOL_SIZE) : RECORD_UNKNOWN32};
    put(d, &m, (size_t)m.memory.head.len8 * 8);
}

static void decode_pool(const struct decoder *d, const uint8_t *r) {
    struct record_pool p = {
        .head = RECORD_HEAD(p, RECORD_POOL, cupti_u64(r, AT_POOL_TIMESTAMP)),
        .pool = cupti_u64(r, AT_POOL_ADDRESS),
        .bytes = cupti_u64(r, AT_POOL_SIZE),
        .used = d->version < VERSION_POOL2 ? RECORD_UNKNOWN64 : cupti_u64(r, AT_POOL_USED),
        .threshold = cupti_u64(r, AT_POOL_THRESHOLD),
        .least = cupti_u64(r, AT_POOL_LEAST),
        .device = cupti_u32(r, AT_POOL_DEVICE),
        .correlation = cupti_u32(r, AT_POOL_CORRELATION),
        .operation = (uint8_t)cupti_u32(r, AT_POOL_OPERATION),
        .type = (uint8_t)cupti_u32(r, AT_POOL_TYPE),
        .managed = d->version < VERSION_POOL3 ? 0 : (uint8_t)cupti_u32(r, AT_POOL_MANAGED)};
    put(d, &p, sizeof p);
}

static void decode_device(const struct decoder *d, const uint8_t *r) {
    struct record_device v = {.head = RECORD_HEAD(v, RECORD_DEVICE, RECORD_UNKNOWN64),
                              .device = cupti_u32(r, AT_DEVICE_ID),
                              .flags = cupti_u8(r, AT_DEVICE_MIG) ? DEVICE_MIG : 0,
                              .total_bytes = cupti_u64(r, AT_DEVICE_TOTAL),
                              .name = d->text(cupti_text(r, AT_DEVICE_NAME)),
                              .major = (uint16_t)cupti_u32(r, AT_DEVICE_MAJOR),
                              .minor = (uint16_t)cupti_u32(r, AT_DEVICE_MINOR)};
    memcpy(v.uuid, r + AT_DEVICE_UUID, sizeof v.uuid);
    put(d, &v, sizeof v);
}

static void decode_context(const struct decoder *d, const uint8_t *r) {
    struct record_context c = {.head = RECORD_HEAD(c, RECORD_CONTEXT, RECORD_UNKNOWN64),
                               .device = cupti_u32(r, AT_CONTEXT_DEVICE),
                               .context = cupti_u32(r, AT_CONTEXT_ID),
                               .null_stream = cupti_u16(r, AT_CONTEXT_NULL_STREAM)};
    put(d, &c, sizeof c);
}

static void decode_copy(const struct decoder *d, const uint8_t *r, uint32_t kind) {
    bool is_set = kind == KIND_MEMSET;
    struct record_copy c = {
        .head = RECORD_HEAD(c, is_set ? RECORD_SET : RECORD_COPY, cupti_u64(r, AT_COPY_START)),
        .end = cupti_u64(r, AT_COPY_END),
        .bytes = cupti_u64(r, AT_COPY_BYTES),
        .device = cupti_u32(r, AT_COPY_DEVICE),
        .stream = cupti_u32(r, AT_COPY_STREAM),
        .correlation =
            cupti_u32(r, kind == KIND_MEMCPY2 ? AT_PEER_CORRELATION : AT_COPY_CORRELATION),
        .copy_kind = is_set ? 0 : cupti_u8(r, AT_COPY_KIND),
        .source_kind = is_set ? 0 : cupti_u8(r, AT_COPY_SOURCE),
        .target_kind = is_set ? 0 : cupti_u8(r, AT_COPY_TARGET)};
    put(d, &c, sizeof c);
}

static void decode_kernel(const struct decoder *d, const uint8_t *r) {
    struct record_kernel k = {.head = RECORD_HEAD(k, RECORD_KERNEL, cupti_u64(r, AT_KERNEL_START)),
                              .end = cupti_u64(r, AT_KERNEL_END),
                              .local_bytes = cupti_u64(r, AT_KERNEL_LOCAL_BYTES),
                              .device = cupti_u32(r, AT_KERNEL_DEVICE),
                              .stream = cupti_u32(r, AT_KERNEL_STREAM),
                              .correlation = cupti_u32(r, AT_KERNEL_CORRELATION),
                              .name = d->text(cupti_text(r, AT_KERNEL_NAME))};
    put(d, &k, sizeof k);
}

static void decode_overhead(const struct decoder *d, const uint8_t *r) {
    struct record_overhead o = {
        .head = RECORD_HEAD(o, RECORD_OVERHEAD, cupti_u64(r, AT_OVERHEAD_START)),
        .end = cupti_u64(r, AT_OVERHEAD_END),
        .kind = cupti_u32(r, AT_OVERHEAD_KIND),
        .correlation = d->version < VERSION_OVERHEAD3 ? RECORD_UNKNOWN32
                                                      : cupti_u32(r, AT_OVERHEAD_CORRELATION)};
    put(d, &o, sizeof o);
}

static void decode_one(const struct decoder *d, const uint8_t *record) {
    uint32_t kind = cupti_u32(record, 0);
    switch (kind) {
    case KIND_MEMORY2:
        decode_memory(d, record);
        break;
    case KIND_MEMORY_POOL:
        decode_pool(d, record);
        break;
    case KIND_DEVICE:
        decode_device(d, record);
        break;
    case KIND_CONTEXT:
        decode_context(d, record);
        break;
    case KIND_MEMCPY:
    case KIND_MEMSET:
    case KIND_MEMCPY2:
        decode_copy(d, record, kind);
        break;
    case KIND_CONCURRENT_KERNEL:
        decode_kernel(d, record);
        break;
    case KIND_OVERHEAD:
        decode_overhead(d, record);
        break;
    default:
        d->out->skipped++;
    }
}

void decode_buffer(uint8_t *buffer, size_t valid, uint32_t version,
                   int (*next)(uint8_t *buffer, size_t valid, uint8_t **record),
                   uint32_t (*text)(const char *text), struct decoded *out) {
    const struct decoder d = {version, text, out};
    uint8_t *record = NULL;
    int result;
    while ((result = next(buffer, valid, &record)) == CUPTI_DONE)
        decode_one(&d, record);
    if (result == CUPTI_BAD_KIND && (!record || (size_t)(record - buffer) < valid))
        out->lost_bytes += valid - (record ? (size_t)(record - buffer) : 0);
}
