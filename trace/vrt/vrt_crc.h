/* vrt_crc.h: zlib's crc32, without zlib: a writer may live in a foreign process that has a copy of its own. */
#ifndef VRT_CRC_H
#define VRT_CRC_H

#include <stddef.h>
#include <stdint.h>

struct vrt_crc {
    uint32_t table[8][256];
};

void vrt_crc_init(struct vrt_crc *crc);
/* `before`: of the bytes that came before these; 0: none did. */
uint32_t vrt_crc_of(const struct vrt_crc *crc, uint32_t before, const void *bytes, size_t count);

#endif
