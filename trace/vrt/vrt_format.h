/* vrt_format.h: the layout of `.vrt` files, version 1.0, for their writers and readers; docs/formats.md has it in words.
 *
 * A file is a header, then blocks, each with checksums of its own, only ever appended: a reader takes what is whole and
 * may come again for more. Little-endian. Times are ns; unknown is all ones.
 *
 *   header  0 "VRTRACE1"  8 u32 header bytes, of 8  12 u32 0x01020304  16 u16 major  18 u16 minor  20 u32 producer
 *           24 u32 pid (0: none)  28 u32 bytes of JSON  32 u64 start, since 1970 (0: simulated)  40 u64 start, monotonic
 *           48 u64 sources (of captures)  56 u32 0  60 u32 CRC of 0..59 and of what follows 63
 *           64 JSON: who wrote it; zero bytes up to the header's end
 *   block   0 "VRTB"  4 u32 stored bytes  8 u32 raw bytes  12 u8 codec  13 u8 flags  14 u16 type  16 u32 rows
 *           20 u32 number of the block, from 0  24 u64 first time  32 u64 last time  40 u32 CRC of the stored bytes
 *           44 u32 CRC of 0..43; then the stored bytes, zero bytes up to a multiple of 8
 *
 * A major number that is higher is refused, a higher minor one read as far as it is known: unknown types of blocks,
 * columns and bytes behind known ones are passed over. CRC: zlib's crc32. */
#ifndef VRT_FORMAT_H
#define VRT_FORMAT_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are copied as they lie in memory: a little-endian machine"
#endif

#define VRT_MAGIC "VRTRACE1"
#define VRT_BLOCK_MAGIC 0x42545256u
#define VRT_BYTE_ORDER 0x01020304u
#define VRT_UNKNOWN UINT64_MAX

enum { VRT_MAJOR = 1, VRT_MINOR = 0 };
enum { VRT_HEADER_BYTES = 64, VRT_BLOCK_BYTES = 48, VRT_ALIGN = 8 };
enum {
    VRT_MAX_BLOCK_BYTES = 64 << 20, /* stored and raw each */
    VRT_MAX_HEADER_BYTES = 1 << 20,
    VRT_MAX_ROWS = 1 << 20 /* of one block */
};

enum vrt_producer { VRT_CAPTURE = 1, VRT_SIMULATOR = 2, VRT_CONVERTER = 3 };
enum vrt_codec { VRT_RAW = 0, VRT_ZSTD = 1 };

enum vrt_flag {
    VRT_FLAG_END = 1 << 0, /* the writer has finished: nothing follows */
    VRT_FLAG_WHOLE =
        1 << 1, /* what stands up to and with this block belongs together: readers stop here */
};

enum vrt_type {
    VRT_STRINGS = 1, /* u64 first id, u32 bytes of text, u32 0, u32 length each, the texts */
    VRT_NAMES = 2,   /* of numbers that the tables hold: u8 which, u8 number, u8 length, the name */
    VRT_END = 3,     /* nothing */
    VRT_PATCH =
        4, /* u16 table, u16 field, u32 row, u64 value as in a column: a change of what is there */
    VRT_TABLE = 16,  /* + enum timeline_table_id: see vrt_table.h */
    VRT_RECORDS = 64 /* raw records of captures */
};

enum vrt_names { VRT_NAMES_KIND = 1, VRT_NAMES_CATEGORY = 2, VRT_NAMES_DTYPE = 3 };

static inline void vrt_put16(uint8_t *at, uint16_t v) {
    memcpy(at, &v, sizeof v);
}
static inline void vrt_put32(uint8_t *at, uint32_t v) {
    memcpy(at, &v, sizeof v);
}
static inline void vrt_put64(uint8_t *at, uint64_t v) {
    memcpy(at, &v, sizeof v);
}
static inline uint16_t vrt_get16(const uint8_t *at) {
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline uint32_t vrt_get32(const uint8_t *at) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline uint64_t vrt_get64(const uint8_t *at) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline uint64_t vrt_padded(uint64_t bytes) {
    return (bytes + VRT_ALIGN - 1) / VRT_ALIGN * VRT_ALIGN;
}

#endif
