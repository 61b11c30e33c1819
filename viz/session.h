/* session.h: a window and the files it shows: reads them beside it, again on request, when others are
 * dropped on it, and when they have changed on the disk.
 *
 * Ownership: borrows the options (the looks they ask for are those of the first run). One a process,
 * as the window. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

struct app;
struct error;
struct session;
struct view_options;
struct window;

/* Told of the application before its options are applied to it, and after: of the first run; `fresh` of
 * what stands in its place till then too. */
struct session_hooks {
    void *user;
    void (*fresh)(void *user, struct app *app);
    void (*begun)(void *user, struct app *app);
};

/* Opens the window and begins to read. `hooks` NULL: none. NULL: no window, or no memory. */
struct session *session_create(const struct view_options *options,
                               const struct session_hooks *hooks, struct error *err);
void session_destroy(struct session *session);
/* One round: input, what has been read, what has changed; waits `wait_ms` at most (< 0: as long as
 * nothing has to be done). False: the window failed, or the first files could not be read. */
bool session_step(struct session *session, int wait_ms, struct error *err);
/* Until the first files are there, or their reading was cancelled. */
bool session_load(struct session *session, struct error *err);
/* Until the user quits. */
bool session_run(struct session *session, struct error *err);
struct app *session_app(struct session *session); /* of now: each reading makes another */
struct window *session_window(struct session *session);
bool session_is_loading(const struct session *session);
/* Read of files that grow since it was seen that they do; 0 while a loader has them. */
uint64_t session_bytes_followed(const struct session *session);

#endif
