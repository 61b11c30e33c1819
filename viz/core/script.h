/* script.h: a session as text, one command a line, so that what the viewer does can be repeated and
 * checked.
 *
 *   key p              wheel X Y N           move X Y          resize W H
 *   click X Y [HOW]    drag X0 Y0 X1 Y1 [HOW]      HOW: left, middle, right, double, shift, ctrl
 *   type TEXT          as from a keyboard, to the end of the line
 *   goto PLACE (place.h)                     tick 16ms
 *   expect NAME VALUE  show NAME             # a comment
 *   state              prints what is shown (state.h)          state TEXT        shows it
 *   shot FILE.png|.svg|.draw|.csv|.json [WxH]
 *   svg FILE           dump FILE             copy FILE         csv FILE
 *
 * NAME as app_query; time passes only by tick. Errors carry the line: "session.txt:3: ...". An
 * expectation that fails is ERROR_BAD_INPUT with found and expected, a line that cannot be read
 * ERROR_USAGE. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "picture.h"

struct app;
struct error;
struct text;

struct script {
    const char *name, *at; /* what is left of the text */
    unsigned line;
};

/* `text` must outlive the script. */
void script_start(struct script *script, const char *name, const char *text);
bool script_is_done(const struct script *script);
/* One line. What `show` says is added to `out`. */
bool script_step(struct script *script, struct app *app, struct text *out, struct error *err);

/* The picture of the application, or its table, in a file. */
bool script_save(struct app *app, enum picture_kind kind, const char *path, struct error *err);

#endif
