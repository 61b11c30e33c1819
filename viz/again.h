/* again.h: what is shown, otherwise: another run of the scenario, with the parameters as a person has
 * changed them, before the second file or before the run as it was opened; other ones of the files as
 * first and second. */
#ifndef AGAIN_H
#define AGAIN_H

#include <stdbool.h>

#include "app.h"

struct error;
struct loaded;
struct loader;
struct view_options;

/* Tells the application the parameters of `loaded`. False: host memory. */
bool again_tell(struct loaded *loaded);
/* Begins the run that `shown` asks for; loader.h. `path`: of its first file. */
struct loader *again_start(const struct loaded *shown, const char *path,
                           const struct view_options *options, struct error *err);
/* What has been loaded takes the place of what was shown, whose other timelines it keeps; what is left
 * of it goes. */
void again_show(struct loaded *shown, struct loaded *fresh);
/* Another application over the files that the one that is shown wishes for: takes its place. False: it
 * stays. */
bool again_choose(struct loaded *shown, const struct view_options *options,
                  void (*take)(void *user, struct app *app), void *user, struct error *err);
/* Does at once what an application without a window asks for. */
void again_serve(struct loaded *shown, const struct view_options *options,
                 enum app_request request);

#endif
