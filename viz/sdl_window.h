/* sdl_window.h: the viewer's window: events in, one streaming texture out. sdl_window.c is the only
 * file that names SDL.
 *
 * Ownership: borrows the application. One window a process (SDL's state is global). */
#ifndef SDL_WINDOW_H
#define SDL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "app.h"

struct error;
struct script;
struct text;
struct window;

/* `width`, `height` in window units. NULL: no display, with SDL's reason; ERROR_IO_WRITE. */
struct window *window_create(struct app *app, int width, int height, struct error *err);
void window_destroy(struct window *window);

/* What is asked of the window that it cannot do alone. */
struct window_host {
    void *user;
    void (*request)(void *user, enum app_request request); /* that the window does not know */
    void (*dropped)(void *user, const char *const *files, int count); /* one or two */
};
void window_set_host(struct window *window, const struct window_host *host);
/* Shows another application from now on; the one before is not touched any more. */
void window_set_app(struct window *window, struct app *app);
/* How much larger than usual the display wants things; 100: not. */
int window_scale_percent(const struct window *window);
/* How long nothing has to be done, if nothing happens. */
int window_wait_ms(const struct window *window);

/* Waits for events at most `wait_ms`, hands them all to the application, redraws when it is dirty.
 */
bool window_step(struct window *window, int wait_ms, struct error *err);
/* Until the application wants to quit. */
bool window_run(struct window *window, struct error *err);
/* Plays a script in the window, a line a frame, then returns. */
bool window_play(struct window *window, struct script *script, struct text *out, struct error *err);
/* What is on the screen, 0x00RRGGBB, of the application's size; for tests. */
bool window_read(struct window *window, uint32_t *pixels, struct error *err);

#endif
