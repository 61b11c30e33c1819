/* vrt_zstd.h: the stored bytes of a block, smaller. */
#ifndef VRT_ZSTD_H
#define VRT_ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vrt_table.h"

struct error;

/* Into an empty buffer; it stays empty where nothing is gained. False: host memory. */
bool vrt_zstd_pack(const uint8_t *bytes, size_t length, struct vrt_buffer *out);
/* Exactly `raw` bytes. False: damaged, or host memory. */
bool vrt_zstd_unpack(const uint8_t *bytes, size_t length, size_t raw, struct vrt_buffer *out,
                     struct error *err);

#endif
