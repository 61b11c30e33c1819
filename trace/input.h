/* input.h: a trace file as bytes: as it lies there (mapped), or unpacked from gzip or zstd, told
 * apart by content. */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct input {
    const uint8_t *data; /* unpacked */
    size_t length;
    const uint8_t *file; /* as it lies there; the same as data when it is not packed */
    size_t file_length;
    const char *packing; /* "gzip", "zstd"; NULL: plain */
    void *mapped;        /* private: how to give it back */
    char *read, *unpacked;
    size_t forgotten;
};

/* "-" is standard input. At most `limit` bytes, packed and unpacked each (more: ERROR_LIMIT). 0: 16 GiB; unpacked at most
 * 1024 times the packed size (snapshots pack to a fiftieth) but 256 MiB if that is less, and half of
 * this machine's memory. A directory, an empty or a missing file are errors that say so and name the
 * path. On failure there is nothing to close. */
bool input_open(struct input *in, const char *name, size_t limit, struct error *err);
void input_close(struct input *in);
/* The first `bytes` of `data` will not be read again: they need no memory any more. `file` stays as it is. */
void input_forget(struct input *in, size_t bytes);

/* Unpackers, each in its own file. *out is xalloc'ed. */
bool input_is_gzip(const uint8_t *data, size_t length);
bool input_unpack_gzip(const uint8_t *data, size_t length, size_t limit, char **out,
                       size_t *out_length, struct error *err);
bool input_is_zstd(const uint8_t *data, size_t length);
bool input_unpack_zstd(const uint8_t *data, size_t length, size_t limit, char **out,
                       size_t *out_length, struct error *err);

#endif
