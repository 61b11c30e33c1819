/* sdl_window.h: the viewer's window: events in, one streaming texture out. sdl_window.c is the only
 * file that names SDL.
 *
 * Ownership: borrows the application. One window a process (SDL's state is global). */
#ifndef SDL_WINDOW_H
#define SDL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct app;
struct error;
struct script;
struct text;
struct window;

/* `width`, `height` in window units. NULL: no display, with SDL's reason; ERROR_IO_WRITE. */
struct window *window_create(struct app *app, int width, int height, struct error *err);
void window_destroy(struct window *window);

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
