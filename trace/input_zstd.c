/* input_zstd.c: unpacks zstd, one frame or several in a row. The only file that names libzstd. */
#include <string.h>
#include <zstd.h>

#include "error.h"
#include "input.h"
#include "input_buffer.h"
#include "xalloc.h"

bool input_is_zstd(const uint8_t *data, size_t length) {
    return length >= 4 && data[0] == 0x28 && data[1] == 0xb5 && data[2] == 0x2f && data[3] == 0xfd;
}

struct unpacking {
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    struct input_buffer out;
};

/* The size that the first frame claims is taken for the first buffer, as far as the packed size
 * makes it plausible. */
static bool reserve(struct unpacking *u, struct error *err) {
    unsigned long long claimed = ZSTD_getFrameContentSize(u->in.src, u->in.size);
    if (claimed == ZSTD_CONTENTSIZE_ERROR || claimed == ZSTD_CONTENTSIZE_UNKNOWN)
        return true;
    if (claimed > u->out.limit)
        return error_set(err, ERROR_LIMIT,
                         "unpacks to %llu bytes, the limit is %zu; --max-memory raises it", claimed,
                         u->out.limit);
    if (claimed == 0 || claimed / 1024 > u->in.size)
        return true;
    u->out.capacity = (size_t)claimed + 1;
    u->out.bytes = xalloc(u->out.capacity);
    return u->out.bytes || error_host_memory(err);
}

static bool unpack_frames(struct unpacking *u, struct error *err) {
    size_t hint = 1;
    while (u->in.pos < u->in.size || hint != 0) {
        if (!input_buffer_grow(&u->out, err))
            return false;
        ZSTD_outBuffer out = {.dst = u->out.bytes + u->out.used,
                              .size = u->out.capacity - u->out.used};
        size_t before = u->in.pos;
        hint = ZSTD_decompressStream(u->context, &out, &u->in);
        u->out.used += out.pos;
        if (ZSTD_isError(hint))
            return error_set(err, ERROR_BAD_INPUT, "damaged after %zu unpacked bytes: %s",
                             u->out.used, ZSTD_getErrorName(hint));
        if (hint != 0 && u->in.pos == u->in.size && before == u->in.pos && out.pos == 0)
            return error_set(err, ERROR_BAD_INPUT, "truncated after %zu unpacked bytes",
                             u->out.used);
    }
    return input_buffer_check(&u->out, err);
}

bool input_unpack_zstd(const uint8_t *data, size_t length, size_t limit, char **out,
                       size_t *out_length, struct error *err) {
    struct unpacking u = {
        .in = {.src = data, .size = length}, .out.limit = limit, .context = ZSTD_createDCtx()};
    if (!u.context)
        return error_host_memory(err);
    bool ok = reserve(&u, err) && unpack_frames(&u, err);
    ZSTD_freeDCtx(u.context);
    if (!ok) {
        xfree(u.out.bytes);
        return false;
    }
    *out = u.out.bytes;
    *out_length = u.out.used;
    return true;
}
