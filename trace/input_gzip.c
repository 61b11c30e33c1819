/* input_gzip.c: unpacks gzip, one member or several in a row. The only file that names zlib. */
#define ZLIB_CONST /* input is not written to */
#include <string.h>
#include <zlib.h>

#include "error.h"
#include "input.h"
#include "input_buffer.h"
#include "xalloc.h"

bool input_is_gzip(const uint8_t *data, size_t length) {
    return length >= 3 && data[0] == 0x1f && data[1] == 0x8b && data[2] == 8;
}

struct unpacking {
    z_stream z;
    const uint8_t *data;
    size_t left; /* input not yet given to zlib */
    struct input_buffer out;
};

/* zlib counts in 32 bits. */
static uInt clamp(size_t n) {
    return n > 1u << 30 ? 1u << 30 : (uInt)n;
}

static bool step(struct unpacking *u, int *status, struct error *err) {
    if (!input_buffer_grow(&u->out, err))
        return false;
    uInt in = clamp(u->left), out = clamp(u->out.capacity - u->out.used);
    u->z.next_in = u->data;
    u->z.avail_in = in;
    u->z.next_out = (Bytef *)u->out.bytes + u->out.used;
    u->z.avail_out = out;
    *status = inflate(&u->z, Z_NO_FLUSH);
    u->data += in - u->z.avail_in;
    u->left -= in - u->z.avail_in;
    u->out.used += out - u->z.avail_out;
    if (*status == Z_MEM_ERROR)
        return error_host_memory(err);
    if (*status != Z_OK && *status != Z_STREAM_END && *status != Z_BUF_ERROR)
        return error_set(err, ERROR_BAD_INPUT, "damaged after %zu unpacked bytes: %s", u->out.used,
                         u->z.msg ? u->z.msg : "bad data");
    if (*status != Z_STREAM_END && u->left == 0 && u->z.avail_out > 0)
        return error_set(err, ERROR_BAD_INPUT, "truncated after %zu unpacked bytes", u->out.used);
    return true;
}

static bool unpack_members(struct unpacking *u, struct error *err) {
    for (;;) {
        int status;
        if (!step(u, &status, err))
            return false;
        if (status != Z_STREAM_END)
            continue;
        if (!input_is_gzip(u->data,
                           u->left)) /* padding behind the last member is ignored, as gzip does */
            break;
        if (inflateReset(&u->z) != Z_OK)
            return error_host_memory(err);
    }
    return input_buffer_check(&u->out, err);
}

bool input_unpack_gzip(const uint8_t *data, size_t length, size_t limit, char **out,
                       size_t *out_length, struct error *err) {
    struct unpacking u = {.data = data, .left = length, .out.limit = limit};
    if (inflateInit2(&u.z, 15 + 16) != Z_OK) /* 15: largest window; 16: a gzip header */
        return error_host_memory(err);
    bool ok = unpack_members(&u, err);
    inflateEnd(&u.z);
    if (!ok) {
        xfree(u.out.bytes);
        return false;
    }
    *out = u.out.bytes;
    *out_length = u.out.used;
    return true;
}
