/* viz_window.c: the viewer's window on a made-up training run, for xvfb.sh: independent of
 * scenarios and importers. */
#include <stdio.h>

#include "app.h"
#include "error.h"
#include "sdl_window.h"
#include "viz_fixture.h"

int main(void) {
    struct error err = {0};
    struct timeline *tl = fixture_llama("made_up.lua", false);
    struct app_options options = {.width = 1024, .height = 640, .embedded_font = true};
    struct app *app = app_create(&options, tl, NULL, &err);
    struct window *window = app ? window_create(app, options.width, options.height, &err) : NULL;
    bool good = window && window_run(window, &err);
    if (!good)
        fprintf(stderr, "%s\n", err.text);
    window_destroy(window);
    app_destroy(app);
    timeline_destroy(tl);
    return good ? 0 : 4;
}
