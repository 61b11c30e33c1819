/* file_write.c: writing; see file.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "file.h"
#include "xalloc.h"

static bool fail(const char *path, int reason, struct error *err) {
    return error_set(err, ERROR_IO_WRITE, "%s: %s", path, strerror(reason));
}

static bool write_stdout(const void *data, size_t length, struct error *err) {
    if (fwrite(data, 1, length, stdout) != length || fflush(stdout) != 0)
        return fail("standard output", errno, err);
    return true;
}

/* Closes the file too. 0, or the first failure as an errno, which a later success must not hide. */
static int write_and_close(FILE *f, const void *data, size_t length) {
    errno = 0;
    bool ok = fwrite(data, 1, length, f) == length;
    int reason = ok ? 0 : errno ? errno : EIO;
    if (fclose(f) != 0 && ok)
        reason = errno;
    return reason;
}

/* Over what is there, which may be a device or a pipe: nothing to rename. */
static bool write_in_place(const char *path, const void *data, size_t length, struct error *err) {
    FILE *f = fopen(path, "wb");
    int reason = f ? write_and_close(f, data, length) : errno;
    return reason == 0 || fail(path, reason, err);
}

/* Where a write to `path` goes, past symbolic links; the last one may name what is not there yet.
 * xalloc'ed; NULL: host memory, or a chain of links that leads nowhere (errno ELOOP). */
static char *resolve(const char *path) {
    enum { MOST_LINKS = 40 };
    char *at = xstrdup(path), link[PATH_MAX];
    for (int i = 0; at && i < MOST_LINKS; i++) {
        ssize_t n = readlink(at, link, sizeof link);
        if (n < 0 || n == (ssize_t)sizeof link)
            return at;
        const char *slash = strrchr(at, '/');
        size_t folder = link[0] != '/' && slash ? (size_t)(slash - at) + 1 : 0;
        char *next = xalloc(folder + (size_t)n + 1);
        if (next) {
            memcpy(next, at, folder);
            memcpy(next + folder, link, (size_t)n);
            next[folder + (size_t)n] = '\0';
        }
        xfree(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    xfree(at);
    return NULL;
}

/* A temporary beside the target, with the rights that the target has, if it is there. */
static FILE *create_temporary(const char *temporary, const struct stat *old) {
    FILE *f = fopen(temporary, "wb");
    if (f && old)
        (void)!fchmod(fileno(f), old->st_mode & 0777);
    return f;
}

/* `old`: what is there, NULL: nothing. */
static bool write_and_rename(const char *target, const struct stat *old, const void *data,
                             size_t length, struct error *err) {
    size_t size = strlen(target) + 32;
    char *temporary = xalloc(size);
    if (!temporary)
        return error_host_memory(err);
    snprintf(temporary, size, "%s.%ld.tmp", target, (long)getpid());
    FILE *f = create_temporary(temporary, old);
    if (!f && old) { /* a folder that takes no new file, or a name too long for one more */
        xfree(temporary);
        return write_in_place(target, data, length, err);
    }
    int reason = f ? write_and_close(f, data, length) : errno;
    if (reason == 0 && rename(temporary, target) != 0)
        reason = errno;
    if (reason != 0 && f)
        remove(temporary);
    xfree(temporary);
    return reason == 0 || fail(target, reason, err);
}

bool file_is_stdout(const char *path) {
    struct stat st, out;
    if (strcmp(path, "-") == 0)
        return true;
    return stat(path, &st) == 0 && fstat(STDOUT_FILENO, &out) == 0 && st.st_dev == out.st_dev &&
           st.st_ino == out.st_ino;
}

bool file_write(const char *path, const void *data, size_t length, struct error *err) {
    if (file_is_stdout(path))
        return write_stdout(data, length, err);
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return error_set(err, ERROR_IO_WRITE, "%s: is a directory", path);
    if (exists && access(path, W_OK) != 0) /* renaming would not ask */
        return fail(path, errno, err);
    if (exists && !S_ISREG(st.st_mode))
        return write_in_place(path, data, length, err);
    char *target = resolve(path);
    if (!target)
        return errno == ENOMEM ? error_host_memory(err) : fail(path, errno, err);
    bool ok = write_and_rename(target, exists ? &st : NULL, data, length, err);
    xfree(target);
    return ok;
}
