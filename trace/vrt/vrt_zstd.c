/* vrt_zstd.c: see vrt_zstd.h. Level 1: columns of small numbers are as small at higher ones. */
#include "vrt_zstd.h"

#include <zstd.h>

#include "error.h"

enum { LEVEL = 1 };

bool vrt_zstd_pack(const uint8_t *bytes, size_t length, struct vrt_buffer *out) {
    size_t most = ZSTD_compressBound(length);
    if (!array_reserve(&out->bytes, most))
        return false;
    size_t n = ZSTD_compress(out->bytes.at, most, bytes, length, LEVEL);
    out->bytes.count = ZSTD_isError(n) || n >= length ? 0 : n;
    return true;
}

bool vrt_zstd_unpack(const uint8_t *bytes, size_t length, size_t raw, struct vrt_buffer *out,
                     struct error *err) {
    if (!array_reserve(&out->bytes, raw > 0 ? raw : 1))
        return error_host_memory(err);
    size_t n = ZSTD_decompress(out->bytes.at, raw, bytes, length);
    if (ZSTD_isError(n) || n != raw)
        return error_set(err, ERROR_BAD_INPUT, "zstd: %s",
                         ZSTD_isError(n) ? ZSTD_getErrorName(n)
                                         : "fewer bytes than the block says");
    out->bytes.count = n;
    return true;
}
