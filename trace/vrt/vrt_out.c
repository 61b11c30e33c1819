/* vrt_out.c: see vrt_out.h. */
#include "vrt_out.h"

#include <assert.h>
#include <string.h>

#include "error.h"
#include "vrt_format.h"

enum { MOST_JSON = 8192 };

bool vrt_out_begin(struct vrt_out *out, const struct vrt_header *header, struct error *err) {
    uint8_t bytes[VRT_HEADER_BYTES + MOST_JSON] = {0};
    size_t json = header->json ? strlen(header->json) : 0;
    if (json > MOST_JSON)
        return error_set(err, ERROR_LIMIT, "a header of %zu bytes of JSON, at most %d", json,
                         MOST_JSON);
    uint32_t total = (uint32_t)vrt_padded(VRT_HEADER_BYTES + json);
    memcpy(bytes, VRT_MAGIC, 8);
    vrt_put32(bytes + 8, total);
    vrt_put32(bytes + 12, VRT_BYTE_ORDER);
    vrt_put16(bytes + 16, VRT_MAJOR);
    vrt_put16(bytes + 18, VRT_MINOR);
    vrt_put32(bytes + 20, header->producer);
    vrt_put32(bytes + 24, header->pid);
    vrt_put32(bytes + 28, (uint32_t)json);
    vrt_put64(bytes + 32, header->start_realtime_ns);
    vrt_put64(bytes + 40, header->start_monotonic_ns);
    vrt_put64(bytes + 48, header->sources);
    if (json > 0)
        memcpy(bytes + VRT_HEADER_BYTES, header->json, json);
    vrt_crc_init(&out->crc);
    out->sequence = 0;
    uint32_t crc = vrt_crc_of(&out->crc, 0, bytes, VRT_HEADER_BYTES - 4);
    crc = vrt_crc_of(&out->crc, crc, bytes + VRT_HEADER_BYTES, total - VRT_HEADER_BYTES);
    vrt_put32(bytes + 60, crc);
    return out->write(out->user, bytes, total, err);
}

bool vrt_out_block(struct vrt_out *out, const struct vrt_block *block, struct error *err) {
    uint8_t head[VRT_BLOCK_BYTES];
    static const uint8_t zeros[VRT_ALIGN];
    assert(block->stored_bytes <= VRT_MAX_BLOCK_BYTES && block->raw_bytes <= VRT_MAX_BLOCK_BYTES);
    vrt_put32(head, VRT_BLOCK_MAGIC);
    vrt_put32(head + 4, block->stored_bytes);
    vrt_put32(head + 8, block->raw_bytes);
    head[12] = block->codec;
    head[13] = block->flags;
    vrt_put16(head + 14, block->type);
    vrt_put32(head + 16, block->rows);
    vrt_put32(head + 20, out->sequence++);
    vrt_put64(head + 24, block->first_ns);
    vrt_put64(head + 32, block->last_ns);
    vrt_put32(head + 40, vrt_crc_of(&out->crc, 0, block->stored, block->stored_bytes));
    vrt_put32(head + 44, vrt_crc_of(&out->crc, 0, head, 44));
    uint64_t padding = vrt_padded(block->stored_bytes) - block->stored_bytes;
    return out->write(out->user, head, sizeof head, err) &&
           (block->stored_bytes == 0 ||
            out->write(out->user, block->stored, block->stored_bytes, err)) &&
           (padding == 0 || out->write(out->user, zeros, (size_t)padding, err));
}
