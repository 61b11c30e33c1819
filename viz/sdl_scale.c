/* sdl_scale.c: see sdl_scale.h. SDL2 tells nothing of X11's own scale, and its DPI is that of the
 * glass; so the display is asked by a connection of its own, through libX11 if it is there. */
#include "sdl_scale.h"

#include <SDL.h>
#include <stdbool.h>
#include <string.h>

#include "x_resources.h"

/* As in Xlib.h; a display is only handed on. */
typedef void *x_open_display(const char *name);
typedef char *x_resource_manager_string(void *display);
typedef int x_close_display(void *display);

struct x_library {
    x_open_display *open;
    x_resource_manager_string *resources;
    x_close_display *close;
};

/* An object's address as a function's: ISO C has no cast for it. */
static bool find(void *library, const char *name, void *function, size_t bytes) {
    void *address = SDL_LoadFunction(library, name);
    memcpy(function, &address, bytes);
    return address != NULL;
}

static int ask(const struct x_library *x) {
    void *display = x->open(NULL);
    int percent = display ? x_resources_scale_percent(x->resources(display)) : 0;
    if (display)
        x->close(display);
    return percent;
}

static int x11_percent(void) {
    const char *driver = SDL_GetCurrentVideoDriver();
    void *library = driver && strcmp(driver, "x11") == 0 ? SDL_LoadObject("libX11.so.6") : NULL;
    struct x_library x = {0};
    int percent = 0;
    if (library && find(library, "XOpenDisplay", &x.open, sizeof x.open) &&
        find(library, "XResourceManagerString", &x.resources, sizeof x.resources) &&
        find(library, "XCloseDisplay", &x.close, sizeof x.close))
        percent = ask(&x);
    if (library)
        SDL_UnloadObject(library);
    return percent;
}

int sdl_scale_percent(int output_width, int window_width) {
    if (window_width > 0 && output_width > window_width)
        return (int)((int64_t)output_width * 100 / window_width);
    int percent = x11_percent();
    return percent > 0 ? percent : 100;
}
