/* file.h: whole files, in and out. A write goes to a temporary beside the target and is renamed, so nothing is ever
 * half-written: past symbolic links, which stay, and with the rights of a file that is there. Devices and pipes are
 * written as they are. "-" as a path of file_write is standard output, as is any path to the same file. Messages name
 * the path. */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* What follows the last slash of a path: in it. */
const char *file_base(const char *path);
/* Reads at most `limit` bytes (more: ERROR_LIMIT). *data is xalloc'ed, NUL-terminated beyond *length; the caller
 * frees it with xfree. A directory or a missing file is ERROR_IO_READ. */
bool file_read(const char *path, size_t limit, char **data, size_t *length, struct error *err);
/* "-", or another name of the file that standard output goes to. */
bool file_is_stdout(const char *path);
bool file_write(const char *path, const void *data, size_t length, struct error *err);

#endif
