/* view_options.h: the command line of vramsim-view. Strings point into argv. */
#ifndef VIEW_OPTIONS_H
#define VIEW_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "app.h"
#include "palette.h"
#include "source.h"

struct error;
struct text;

enum { VIEW_SETS_MAX = 256, VIEW_FILES_MAX = 16 };

struct view_options {
    const char *files[VIEW_FILES_MAX];
    int file_count;
    struct source_options source;
    const char *sets[VIEW_SETS_MAX];
    struct app_options app;
    struct palette palette; /* of --palette */
    const char *script, *language;
    const char *at, *state; /* NULL: not said */
    bool window;            /* play the script in one */
    bool help, theme_given, no_remember;
    bool replay; /* the second timeline is the first file's run under the options' allocator */
    char library[4096]; /* room for source.library_dir */
};

/* In place: the struct must not be moved afterwards. */
bool view_options_parse(struct view_options *options, int argc, char **argv, struct error *err);
void view_options_help(struct text *out);

#endif
