/* vrt_crc.c: see vrt_crc.h. Eight bytes at a time: table[k] is the effect of a byte that k bytes follow. */
#include "vrt_crc.h"

#include "vrt_format.h"

#define POLYNOMIAL 0xedb88320u

void vrt_crc_init(struct vrt_crc *crc) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (unsigned bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
        crc->table[0][i] = c;
    }
    for (unsigned k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = crc->table[k - 1][i];
            crc->table[k][i] = c >> 8 ^ crc->table[0][c & 0xff];
        }
}

uint32_t vrt_crc_of(const struct vrt_crc *crc, uint32_t before, const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    uint32_t c = ~before;
    for (; count >= 8; count -= 8, at += 8) {
        uint32_t low = vrt_get32(at) ^ c, high = vrt_get32(at + 4);
        c = crc->table[7][low & 0xff] ^ crc->table[6][low >> 8 & 0xff] ^
            crc->table[5][low >> 16 & 0xff] ^ crc->table[4][low >> 24] ^
            crc->table[3][high & 0xff] ^ crc->table[2][high >> 8 & 0xff] ^
            crc->table[1][high >> 16 & 0xff] ^ crc->table[0][high >> 24];
    }
    for (; count > 0; count--, at++)
        c = c >> 8 ^ crc->table[0][(c ^ *at) & 0xff];
    return ~c;
}
