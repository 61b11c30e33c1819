/* loader.h: reads files beside the window: on a thread of its own, which shares nothing
 * with the others until it is done.
 *
 * Ownership: copies the paths, borrows the options; what it has read is the caller's after
 * loader_take. */
#ifndef LOADER_H
#define LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario.h"
#include "view_options.h"

struct app;
struct error;
struct loader;
struct timeline;
struct vrt_tail;

struct loaded {
    struct timeline *timelines[VIEW_FILES_MAX];
    struct timeline *base;     /* of one file: it as opened, behind another run; NULL: none */
    int count, first, second;  /* of the files; which of them are shown */
    struct scenario_info info; /* of the first file; no scenario: no parameters */
    struct app *app;           /* of both, with its indexes built */
};

struct load {
    const struct view_options *options;
    const char *const *files;
    int file_count;
    bool replay; /* as in view_options */
    /* another run of the one file: */
    const char *const *sets; /* in place of the options'; NULL: these */
    size_t set_count;
    const char *named;             /* stands behind its title; NULL: nothing */
    const struct timeline *behind; /* the second; NULL: none */
    const struct loaded *kept;     /* the other files; `behind` and they stay whose they are */
    /* (optional) one a file: those that have grown since the last time are read on where that ended. The
     * thread's until it is done; it opens and closes them. NULL: all are read from the beginning */
    struct vrt_tail **tails;
    bool grown[VIEW_FILES_MAX];
};

/* NULL: no thread or no memory. Texts are copied; options and `behind` must outlive it. */
struct loader *loader_start(const struct load *what, struct error *err);
/* How far; `total` 0: unknown. Returns whether it is done, or has failed. */
bool loader_progress(struct loader *loader, uint64_t *done, uint64_t *total);
/* Soon it has failed with ERROR_INTERRUPTED. */
void loader_cancel(struct loader *loader);
/* Waits for it, and destroys it. False: what went wrong; nothing is loaded then. */
bool loader_take(struct loader *loader, struct loaded *out, struct error *err);
/* Where the cursor begins and what is shown, as the options say. */
bool loaded_start(struct loaded *loaded, const struct view_options *options, struct error *err);
void loaded_fini(struct loaded *loaded);

#endif
