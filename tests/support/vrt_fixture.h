/* vrt_fixture.h: `.vrt` files in memory. */
#ifndef VRT_FIXTURE_H
#define VRT_FIXTURE_H

#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "timeline.h"
#include "vrt_format.h"
#include "vrt_read.h"
#include "vrt_write.h"

struct vrt_bytes {
    uint8_t *at;
    size_t count;
    size_t limit; /* a write past it fails; 0: none does */
};

static inline bool vrt_bytes_write(void *user, const void *bytes, size_t count, struct error *err) {
    struct vrt_bytes *b = user;
    if (b->limit && b->count + count > b->limit)
        return error_set(err, ERROR_IO_WRITE, "full");
    b->at = realloc(b->at, b->count + count);
    memcpy(b->at + b->count, bytes, count);
    b->count += count;
    return true;
}

static inline struct vrt_bytes vrt_bytes_of(const struct timeline *tl) {
    struct vrt_bytes bytes = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
    struct error err = {0};
    assert_ok(vrt_write_all(&out, VRT_CONVERTER, tl, &err), err);
    return bytes;
}

/* The timeline of some bytes, as far as they go; NULL: they are refused. */
static inline struct timeline *vrt_bytes_read(const uint8_t *at, size_t count,
                                              struct vrt_reader *reader, struct error *err) {
    struct timeline *tl = timeline_create();
    assert_non_null(tl);
    vrt_reader_init(reader, tl);
    bool ok = vrt_reader_take(reader, at, count, err);
    vrt_reader_fini(reader);
    if (ok)
        return tl;
    timeline_destroy(tl);
    return NULL;
}

#endif
