/* writer.h: a timeline -> a file that other programs read. One writer a format: a row in the table of writer.c and its
 * own file; the ending of a file's name says which.
 *
 * A format that cannot hold all of a timeline says so: what is lost is told, a line each, and nothing is made up. */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct text;
struct timeline;

struct writer {
    const char *name, *doc;
    const char *ending; /* of file names, ".vrt" */
    /* Adds the file to `out` and lines ("no frames: ...\n") of what it cannot hold of this timeline to
     * `losses`. False: host memory, or a limit of the format. */
    bool (*write)(const struct timeline *tl, struct text *out, struct text *losses,
                  struct error *err);
};

/* Ended by NULL. */
extern const struct writer *const writers[];

/* By its name ("vrt"), else by the ending of a path. NULL: the error lists the known ones. */
const struct writer *writer_find(const char *name, const char *path, struct error *err);

extern const struct writer writer_vrt;
extern const struct writer writer_json;
extern const struct writer writer_csv;
extern const struct writer writer_perfetto;
extern const struct writer writer_pickle;

#endif
