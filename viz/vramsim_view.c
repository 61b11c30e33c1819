/* vramsim_view.c: the program vramsim-view: opens one or two timelines in a window, or runs a
 * script on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "error.h"
#include "file.h"
#include "picture.h"
#include "place.h"
#include "script.h"
#include "sdl_window.h"
#include "source.h"
#include "state.h"
#include "text.h"
#include "timeline.h"
#include "view_memory.h"
#include "view_options.h"
#include "what_if.h"
#include "xalloc.h"

enum { SCRIPT_BYTES_MAX = 16 << 20 };

static int exit_code(const struct error *err) {
    switch (err->code) {
    case ERROR_NONE:
        return 0;
    case ERROR_USAGE:
    case ERROR_BAD_SCENARIO:
        return 2;
    case ERROR_BAD_INPUT:
    case ERROR_IO_READ:
    case ERROR_LIMIT:
        return 3;
    case ERROR_IO_WRITE:
    case ERROR_HOST_MEMORY:
        return 4;
    case ERROR_INTERRUPTED:
        return 130;
    case ERROR_CODE_COUNT:
        break;
    }
    return 4;
}

static const char *first_set(const char *const *names) {
    for (; *names; names++) {
        const char *value = getenv(*names);
        if (value && *value)
            return value;
    }
    return NULL;
}

/* The command line wins over the environment. */
static void read_environment(struct view_options *o) {
    static const char *const languages[] = {"VRAMSIM_LANG", "LC_ALL", "LC_MESSAGES", "LANG", NULL};
    static const char *const scales[] = {"VRAMSIM_SCALE", NULL}, *const fonts[] = {"VRAMSIM_FONT",
                                                                                   NULL};
    o->app.language = i18n_language(o->language ? o->language : first_set(languages));
    if (!o->app.font && !o->app.embedded_font)
        o->app.font = first_set(fonts);
    const char *scale = o->app.scale_percent ? NULL : first_set(scales);
    struct error ignored = {0}; /* one that is not a scale: as without it */
    if (scale)
        picture_parse_scale(scale, &o->app.scale_percent, &ignored);
}

/* Where scenarios/lib lies: beside this program, as for vramsim. */
static void find_library(struct view_options *o, const char *program) {
    static const char *const names[] = {"VRAMSIM_LIB", NULL};
    char self[sizeof o->library];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(self + (n > 0 ? n : 0), sizeof self - (size_t)(n > 0 ? n : 0), "%s",
             n > 0 ? "" : program);
    o->source.library_dir = first_set(names);
    if (!o->source.library_dir && source_find_library(self, o->library, sizeof o->library))
        o->source.library_dir = o->library;
}

static bool play_script(struct app *app, struct window *window, const char *path,
                        struct error *err) {
    char *commands;
    size_t length;
    if (!file_read(path, SCRIPT_BYTES_MAX, &commands, &length, err))
        return false;
    struct script script;
    struct text out = {0};
    script_start(&script, path, commands);
    bool good = true;
    if (window)
        good = window_play(window, &script, &out, err);
    while (good && !window && !script_is_done(&script))
        good = script_step(&script, app, &out, err);
    fputs(text_get(&out), stdout);
    text_fini(&out);
    xfree(commands);
    return good;
}

static int run_script(struct app *app, struct window *window, const struct view_options *o,
                      struct error *err) {
    if (play_script(app, window, o->script, err))
        return 0;
    return err->code == ERROR_BAD_INPUT ? 1 : exit_code(err);
}

/* Asked before SDL is: its display libraries complain on their own. A named driver needs no
 * display. */
static bool has_display(void) {
    static const char *const names[] = {"WAYLAND_DISPLAY", "DISPLAY", "SDL_VIDEODRIVER", NULL};
    return first_set(names) != NULL;
}

/* Where the cursor begins, and what is shown. */
static bool start(struct app *app, const struct view_options *o, struct timeline *timelines[2],
                  struct error *err) {
    uint32_t moment;
    if (o->at) {
        if (!place_find(timelines[0], timelines[1], o->app.device, o->at, &moment, err))
            return error_wrap(err, "--at %s", o->at);
        app_go_to(app, moment);
    }
    return !o->state || state_apply(app, o->state, err);
}

/* As the last window was left; a file that cannot be read is worth a line and no more. */
static void recall(struct view_memory *memory, struct app *app, const struct view_options *o) {
    static const char *const languages[] = {"VRAMSIM_LANG", NULL};
    bool language = o->language || first_set(languages);
    unsigned given = (unsigned)o->theme_given << SETTINGS_THEME |
                     (unsigned)language << SETTINGS_LANGUAGE |
                     (unsigned)(o->app.scale_percent > 0) << SETTINGS_SCALE;
    struct error err = {0};
    if (!view_memory_recall(memory, app, given, &err))
        fprintf(stderr, "vramsim-view: %s; begins as usual\n", err.text);
}

static void remember(const struct view_memory *memory, const struct app *app) {
    struct error err = {0};
    if (!view_memory_keep(memory, app, &err))
        fprintf(stderr, "vramsim-view: not remembered: %s\n", err.text);
}

static int run(struct app *app, const struct view_options *o, struct error *err) {
    if (o->script && !o->window)
        return run_script(app, NULL, o, err);
    struct window *window = NULL;
    if (!has_display())
        error_set(err, ERROR_IO_WRITE,
                  "no window: there is no display (DISPLAY and WAYLAND_DISPLAY are not set)");
    else
        window = window_create(app, o->app.width, o->app.height, err);
    if (!window)
        return exit_code(err);
    int code = 0;
    if (o->script)
        code = run_script(app, window, o, err);
    else if (!window_run(window, err))
        code = exit_code(err);
    window_destroy(window);
    return code;
}

/* As `vramsim replay` does it: the card alone is the change, beside other settings it is of both. */
static bool open_replay(const struct view_options *o, struct timeline *out[2], struct error *err) {
    const struct what_if change = {.settings = o->source.alloc_settings,
                                   .allocator = o->source.allocator,
                                   .device = o->source.device};
    struct source_options options = o->source;
    struct source_result base;
    struct replay_result result;
    if (!change.settings && !change.allocator)
        options.device = NULL;
    if (!what_if_base(o->files[0], &options, &base, err))
        return false;
    bool ok = what_if_run(o->files[0], &o->source, &base, &change, &result, err);
    if (ok) {
        out[0] = base.timeline;
        out[1] = result.timeline;
        base.timeline = result.timeline = NULL;
        replay_result_fini(&result);
    }
    source_result_fini(&base);
    return ok;
}

static int view(struct view_options *o, struct error *err) {
    struct timeline *timelines[2] = {NULL, NULL};
    int code = 0;
    if (o->replay && !open_replay(o, timelines, err))
        code = exit_code(err);
    for (int i = 0; i < o->file_count && code == 0 && !o->replay; i++)
        if (!source_open(o->files[i], &o->source, &timelines[i], err))
            code = exit_code(err);
    if (code == 0) {
        struct app *app = app_create(&o->app, timelines[0], timelines[1], err);
        const char *hint = app ? picture_font_hint(app_font(app), o->app.language) : NULL;
        if (hint)
            fprintf(stderr, "vramsim-view: %s\n", hint);
        bool remembers = app && !o->no_remember && (!o->script || o->window);
        struct view_memory memory;
        if (remembers)
            recall(&memory, app, o);
        bool started = app && start(app, o, timelines, err);
        if (remembers)
            view_memory_begin(&memory, app);
        code = started ? run(app, o, err) : exit_code(err);
        if (remembers)
            remember(&memory, app);
        app_destroy(app);
    }
    timeline_destroy(timelines[0]);
    timeline_destroy(timelines[1]);
    return code;
}

int main(int argc, char **argv) {
    struct error err = {0};
    struct view_options options;
    if (!view_options_parse(&options, argc, argv, &err)) {
        fprintf(stderr, "vramsim-view: %s\n", err.text);
        return exit_code(&err);
    }
    if (options.help) {
        struct text help = {0};
        view_options_help(&help);
        fputs(text_get(&help), stdout);
        text_fini(&help);
        return 0;
    }
    read_environment(&options);
    find_library(&options, argv[0]);
    if (options.app.width == 0) {
        options.app.width = 1280;
        options.app.height = 800;
    }
    int code = view(&options, &err);
    if (err.code != ERROR_NONE)
        fprintf(stderr, "vramsim-view: %s\n", err.text);
    return code;
}
