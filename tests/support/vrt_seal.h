/* vrt_seal.h: any bytes as a `.vrt` file whose checksums and numbers of blocks are right, so that what blocks hold is
 * reached. */
#ifndef VRT_SEAL_H
#define VRT_SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vrt_crc.h"
#include "vrt_format.h"

static inline void vrt_seal(uint8_t *at, size_t size) {
    struct vrt_crc crc;
    vrt_crc_init(&crc);
    if (size < VRT_HEADER_BYTES)
        return;
    memcpy(at, VRT_MAGIC, 8);
    vrt_put32(at + 12, VRT_BYTE_ORDER);
    size_t header = vrt_get32(at + 8);
    if (header < VRT_HEADER_BYTES || header > size)
        return;
    uint32_t sum = vrt_crc_of(&crc, 0, at, 60);
    vrt_put32(at + 60, vrt_crc_of(&crc, sum, at + 64, header - 64));
    size_t block = header;
    for (uint32_t i = 0; block + VRT_BLOCK_BYTES <= size; i++) {
        uint64_t stored = vrt_get32(at + block + 4);
        if (stored > size - block - VRT_BLOCK_BYTES)
            return;
        vrt_put32(at + block, VRT_BLOCK_MAGIC);
        vrt_put32(at + block + 20, i);
        vrt_put32(at + block + 40, vrt_crc_of(&crc, 0, at + block + VRT_BLOCK_BYTES, stored));
        vrt_put32(at + block + 44, vrt_crc_of(&crc, 0, at + block, 44));
        block += VRT_BLOCK_BYTES + vrt_padded(stored);
    }
}

#endif
