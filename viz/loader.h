/* loader.h: reads one or two files beside the window: on a thread of its own, which shares nothing
 * with the others until it is done.
 *
 * Ownership: copies the paths, borrows the options; what it has read is the caller's after
 * loader_take. */
#ifndef LOADER_H
#define LOADER_H

#include <stdbool.h>
#include <stdint.h>

struct app;
struct error;
struct loader;
struct timeline;
struct view_options;

struct loaded {
    struct timeline *timelines[2]; /* the second NULL: one file */
    struct app *app;               /* of both, with its indexes built */
};

/* `replay` as in view_options. NULL: no thread or no memory. */
struct loader *loader_start(const struct view_options *options, const char *const *files,
                            int file_count, bool replay, struct error *err);
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
