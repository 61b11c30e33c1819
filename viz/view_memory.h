/* view_memory.h: the window remembers how it was left: settings.h in a file,
 * $XDG_CONFIG_HOME/vramsim/view or ~/.config/vramsim/view. The one place of the viewer that keeps
 * something between two starts. */
#ifndef VIEW_MEMORY_H
#define VIEW_MEMORY_H

#include <stdbool.h>

#include "settings.h"

struct app;
struct error;

enum { VIEW_MEMORY_PATH = 4096 };

struct view_memory {
    char path[VIEW_MEMORY_PATH]; /* "": nowhere to remember */
    bool is_there;               /* the file */
    struct settings remembered;  /* its fields */
    struct settings start;       /* as the window has begun */
};

/* Applies what is remembered but for `given`, the fields (1 << enum settings_field) that the command line
 * or the environment said: these win. False: the file cannot be read or understood (the error begins with its
 * path); the start is then the usual one. No file is no error. */
bool view_memory_recall(struct view_memory *memory, struct app *app, unsigned given,
                        struct error *err);
/* From here on a change is a person's. */
void view_memory_begin(struct view_memory *memory, const struct app *app);
/* Writes what was changed since, and what else was remembered; the file appears whole or not at all.
 * Nothing was changed: it stays as it is. */
bool view_memory_keep(const struct view_memory *memory, const struct app *app, struct error *err);

#endif
