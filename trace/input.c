/* input.c: see input.h. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "file.h"
#include "machine.h"
#include "xalloc.h"

static const struct {
    const char *name;
    bool (*is)(const uint8_t *data, size_t length);
    bool (*unpack)(const uint8_t *data, size_t length, size_t limit, char **out, size_t *out_length,
                   struct error *err);
} packings[] = {
    {"gzip", input_is_gzip, input_unpack_gzip},
    {"zstd", input_is_zstd, input_unpack_zstd},
};

#define MOST_BYTES                                                                                 \
    (SIZE_MAX / 2 < (UINT64_C(16) << 30) ? SIZE_MAX / 2 : (size_t)(UINT64_C(16) << 30))
#define LEAST_UNPACKED_BYTES ((size_t)256 << 20)
enum { UNPACK_RATIO = 1024 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t unpacked_limit(size_t packed, size_t limit) {
    if (limit > 0)
        return limit;
    size_t plausible = packed > SIZE_MAX / UNPACK_RATIO ? SIZE_MAX : packed * UNPACK_RATIO;
    if (plausible < LEAST_UNPACKED_BYTES)
        plausible = LEAST_UNPACKED_BYTES;
    return smaller(smaller(plausible, machine_memory_bytes() / 2), MOST_BYTES);
}

static bool map_file(struct input *in, const char *path, size_t length, struct error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, ERROR_IO_READ, "%s: %s", path, strerror(errno));
    void *mapped = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    int reason = errno;
    close(fd);
    if (mapped == MAP_FAILED)
        return error_set(err, ERROR_IO_READ, "%s: %s", path, strerror(reason));
    (void)posix_madvise(mapped, length, POSIX_MADV_WILLNEED);
    in->mapped = mapped;
    in->file = mapped;
    in->file_length = length;
    return true;
}

/* One without end must not fill this machine. */
static bool read_pipe(struct input *in, const char *path, size_t limit, struct error *err) {
    if (file_read(path, limit, &in->read, &in->file_length, err)) /* says so of a directory */
        return true;
    if (err->code == ERROR_LIMIT)
        error_set(
            err, ERROR_LIMIT,
            "%s: a pipe or device with more than %zu bytes, the limit; --max-memory raises it",
            path, limit);
    return false;
}

/* Regular files are mapped; pipes and devices are read. */
static bool load_file(struct input *in, const char *path, size_t limit, struct error *err) {
    struct stat st;
    if (stat(path, &st) != 0)
        return error_set(err, ERROR_IO_READ, "%s: %s", path, strerror(errno));
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        if ((uint64_t)st.st_size > limit)
            return error_set(err, ERROR_LIMIT,
                             "%s: %llu bytes, the limit is %zu; --max-memory raises it", path,
                             (unsigned long long)st.st_size, limit);
        return map_file(in, path, (size_t)st.st_size, err);
    }
    if (!S_ISREG(st.st_mode)) {
        if (!read_pipe(in, path, limit, err))
            return false;
        in->file = (const uint8_t *)in->read;
    }
    return in->file_length > 0 ||
           error_set(err, ERROR_BAD_INPUT, "%s: is empty, expected a trace", path);
}

static bool unpack(struct input *in, size_t limit, struct error *err) {
    in->data = in->file;
    in->length = in->file_length;
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        if (!packings[i].is(in->file, in->file_length))
            continue;
        if (!packings[i].unpack(in->file, in->file_length, unpacked_limit(in->file_length, limit),
                                &in->unpacked, &in->length, err))
            return error_wrap(err, "%s", packings[i].name);
        in->packing = packings[i].name;
        in->data = (const uint8_t *)in->unpacked;
        return in->length > 0 ||
               error_set(err, ERROR_BAD_INPUT, "%s: holds nothing", packings[i].name);
    }
    return true;
}

bool input_open(struct input *in, const char *name, size_t limit, struct error *err) {
    memset(in, 0, sizeof *in);
    struct stat st;
    const char *path = strcmp(name, "-") == 0 ? "/dev/stdin" : name;
    bool is_mapped = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    size_t most = is_mapped ? MOST_BYTES : smaller(machine_memory_bytes() / 8, MOST_BYTES);
    if (!load_file(in, path, limit > 0 ? limit : most, err)) {
        input_close(in);
        return false;
    }
    if (unpack(in, limit, err))
        return true;
    input_close(in);
    return error_wrap(err, "%s", path);
}

/* Pages of a mapped file come back when they are read after all (the digest of the file); those of unpacked bytes are
 * zero then. What was read from a pipe is the file itself and stays. */
void input_forget(struct input *in, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)in->data + in->forgotten + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)in->data + bytes) / page * page;
    if ((!in->mapped && !in->unpacked) || bytes > in->length || end <= begin)
        return;
    (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    in->forgotten = end - (uintptr_t)in->data;
}

void input_close(struct input *in) {
    if (in->mapped)
        munmap(in->mapped, in->file_length);
    xfree(in->read);
    xfree(in->unpacked);
    memset(in, 0, sizeof *in);
}
