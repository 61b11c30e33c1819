/* file.c: reading; see file.h. */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "xalloc.h"

static bool read_stream(FILE *f, const char *path, size_t limit, char **data, size_t *length,
                        struct error *err) {
    size_t capacity = 64 * 1024, used = 0;
    char *buffer = xalloc(capacity + 1);
    if (!buffer)
        return error_host_memory(err);
    for (;;) {
        size_t got = fread(buffer + used, 1, capacity - used, f);
        used += got;
        if (got == 0)
            break;
        if (used > limit) {
            xfree(buffer);
            return error_set(err, ERROR_LIMIT, "%s: larger than %zu bytes", path, limit);
        }
        if (used == capacity) {
            char *moved = xrealloc(buffer, capacity * 2 + 1);
            if (!moved) {
                xfree(buffer);
                return error_host_memory(err);
            }
            buffer = moved;
            capacity *= 2;
        }
    }
    if (ferror(f)) {
        xfree(buffer);
        return error_set(err, ERROR_IO_READ, "%s: %s", path, strerror(errno));
    }
    buffer[used] = '\0';
    *data = buffer;
    *length = used;
    return true;
}

const char *file_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool file_read(const char *path, size_t limit, char **data, size_t *length, struct error *err) {
    struct stat st;
    if (stat(path, &st) != 0)
        return error_set(err, ERROR_IO_READ, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return error_set(err, ERROR_IO_READ, "%s: is a directory, expected a file", path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return error_set(err, ERROR_IO_READ, "%s: %s", path, strerror(errno));
    bool ok = read_stream(f, path, limit, data, length, err);
    fclose(f);
    return ok;
}
