/* vrt_out.h: a `.vrt` file's blocks, going out, whatever they hold. The capture library and vrt_write.h write with it.
 *
 * It allocates nothing and calls nothing but `write`, one call a header and two a block, so that it serves in a foreign
 * process. One thread at a time. */
#ifndef VRT_OUT_H
#define VRT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vrt_crc.h"

struct error;

struct vrt_out {
    /* Appends; false: `err` says why (ERROR_IO_WRITE, ERROR_HOST_MEMORY). */
    bool (*write)(void *user, const void *bytes, size_t count, struct error *err);
    void *user;
    struct vrt_crc crc;
    uint32_t sequence; /* of the next block */
};

struct vrt_header {
    uint32_t producer; /* enum vrt_producer */
    uint32_t pid;      /* 0: none */
    uint64_t start_realtime_ns, start_monotonic_ns;
    uint64_t sources;
    const char *json; /* an object: who wrote it; NULL: none. At most 8 KiB */
};

/* One block. `stored` is written as it is; `codec` says what it is of `raw_bytes` bytes. */
struct vrt_block {
    uint16_t type; /* enum vrt_type */
    uint8_t codec, flags;
    uint32_t rows, stored_bytes, raw_bytes;
    uint64_t first_ns, last_ns; /* VRT_UNKNOWN: none */
    const void *stored;
};

/* Writes the header. Afterwards the caller calls vrt_out_block until it is done. */
bool vrt_out_begin(struct vrt_out *out, const struct vrt_header *header, struct error *err);
bool vrt_out_block(struct vrt_out *out, const struct vrt_block *block, struct error *err);

#endif
