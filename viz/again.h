/* again.h: another run of the scenario that is shown, with the parameters as a person has changed them.
 * It comes before the second file, or before the run as it was opened. */
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
/* Does at once what an application without a window asks for. */
void again_serve(struct loaded *shown, const struct view_options *options,
                 enum app_request request);

#endif
