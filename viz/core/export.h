/* export.h: the table at the cursor as JSON: exact bytes, English words, whatever the language of the
 * screen. The moment, the peak, the owners with their bytes by category, which sum to the allocated bytes
 * of the moment; of a second timeline its allocated bytes there; the table of another open tab after
 * them. As CSV: app_export. */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdbool.h>

struct app;
struct error;
struct text;

/* False: host memory. */
bool export_json(struct app *app, struct text *out, struct error *err);

#endif
