/* importer.h: a trace file of any known kind -> timeline. One importer a format: a row in the table
 * of importer.c and its own files; a file's kind is told by its content, never by its name. */
#ifndef IMPORTER_H
#define IMPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts.h"

struct error;
struct timeline;

/* Zero bytes are the defaults. */
struct trace_options {
    size_t max_file_bytes; /* packed and unpacked each; 0: see input.h */
    /* host memory of the import; 0: 256 MiB + 24 times the unpacked file, at most three quarters
     * of this machine's */
    size_t max_memory_bytes;
    bool want_sha256; /* of the file; as slow as the whole import */
    /* (optional) now and then; false cancels: ERROR_INTERRUPTED */
    bool (*progress)(void *user, uint64_t bytes_done, uint64_t bytes_total);
    void *user;
    /* private: importers that read once tell how far they are, so that the bytes before need no memory any more */
    void (*passed)(void *user, size_t bytes);
    void *passed_user;
};

struct importer {
    const char *name, *doc;
    /* Does a file that begins with these bytes (4 KiB, or all of it) look like one? */
    bool (*probe)(const uint8_t *head, size_t length);
    /* Fills both; on failure both are left empty. */
    bool (*import)(const uint8_t *data, size_t length, const struct trace_options *options,
                   struct timeline *tl, struct trace_facts *facts, struct error *err);
};

/* In order of probing, ended by NULL. */
extern const struct importer *const importers[];

/* On success the caller owns *tl (timeline_destroy) and *facts (trace_facts_fini). `options` and
 * `facts` may be NULL. Errors name the path: IO_READ (missing, a directory), BAD_INPUT (foreign,
 * damaged, not plain data), LIMIT, HOST_MEMORY, INTERRUPTED. */
bool trace_import(const char *path, const struct trace_options *options, struct timeline **tl,
                  struct trace_facts *facts, struct error *err);
/* The same of bytes in memory, already unpacked; `name` stands for the path. */
bool trace_import_bytes(const char *name, const void *data, size_t length,
                        const struct trace_options *options, struct timeline **tl,
                        struct trace_facts *facts, struct error *err);

extern const struct importer importer_snapshot, importer_profiler, importer_memory_timeline,
    importer_smi, importer_smi_monitor, importer_nsight, importer_pprof, importer_vrt,
    importer_json;

#endif
