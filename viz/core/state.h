/* state.h: what is shown as one line of text, to be pasted into a command, a script or a message:
 *
 *   axis=events;group=module;at=event 1200;view=100..2000
 *
 * Fields are separated by ";", each at most once, in any order; what is left out stays as it is. They are
 * the rows of the table in state.c, which state_apply, state_write and state_print read alike. Theme,
 * language and size are a person's own and not part of it. */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>

struct app;
struct error;
struct text;

/* False: ERROR_USAGE with the field, what was found and expected (nothing is applied then but the fields
 * before it in the table), or ERROR_HOST_MEMORY. */
bool state_apply(struct app *app, const char *text, struct error *err);
/* All that is not as at the start; state_apply() of it shows the same. */
void state_write(struct app *app, struct text *out);
/* A line a field: "  at=PLACE   where the cursor is". */
void state_print(struct text *out);

#endif
