/* vramsim_view.c: the program vramsim-view: opens one or two timelines in a window, or runs a
 * script on them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "again.h"
#include "app.h"
#include "error.h"
#include "file.h"
#include "font.h"
#include "format.h"
#include "loader.h"
#include "picture.h"
#include "script.h"
#include "sdl_window.h"
#include "session.h"
#include "source.h"
#include "text.h"
#include "view_memory.h"
#include "view_options.h"
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

/* In a window, or else what has been loaded without one. */
static bool play_script(const struct view_options *o, struct loaded *loaded, struct window *window,
                        struct error *err) {
    char *commands;
    size_t length;
    if (!file_read(o->script, SCRIPT_BYTES_MAX, &commands, &length, err))
        return false;
    struct script script;
    struct text out = {0};
    script_start(&script, o->script, commands);
    bool good = true;
    if (window)
        good = window_play(window, &script, &out, err);
    while (good && !window && !script_is_done(&script)) {
        good = script_step(&script, loaded->app, &out, err);
        again_serve(loaded, o, app_take_request(loaded->app));
    }
    fputs(text_get(&out), stdout);
    text_fini(&out);
    xfree(commands);
    return good;
}

static int run_script(const struct view_options *o, struct loaded *loaded, struct window *window,
                      struct error *err) {
    if (play_script(o, loaded, window, err))
        return 0;
    return err->code == ERROR_BAD_INPUT ? 1 : exit_code(err);
}

/* Asked before SDL is: its display libraries complain on their own. A named driver needs no
 * display. */
static bool has_display(void) {
    static const char *const names[] = {"WAYLAND_DISPLAY", "DISPLAY", "SDL_VIDEODRIVER", NULL};
    return first_set(names) != NULL;
}

/* Names of files are not to be obeyed by a terminal. */
static void tell(const char *before, const char *said, const char *after) {
    struct text safe = {0};
    format_safe_lines(&safe, said, 0);
    fprintf(stderr, "vramsim-view: %s%s%s\n", before, text_get(&safe), after);
    text_fini(&safe);
}

/* A limit of a file's size is an error of the write. */
static void on_file_limit(int signal_number) {
    (void)signal_number;
}

static void heed_file_limit(void) {
    struct sigaction action = {0};
    action.sa_handler = on_file_limit;
    sigaction(SIGXFSZ, &action, NULL);
}

/* When what was drawn is known. */
static void hint(struct app *app, const struct view_options *o) {
    char line[PICTURE_HINT_BYTES];
    uint32_t missing = o->app.embedded_font ? 0 : font_missing(app_font(app));
    const char *text = picture_font_hint(missing, line);
    if (text)
        tell("", text, "");
}

struct keeper {
    const struct view_options *options;
    struct view_memory memory;
    bool said, begun;
};

/* As the last window was left; a file that cannot be read is worth a line and no more. */
static void recall(void *user, struct app *app) {
    struct keeper *keeper = user;
    const struct view_options *o = keeper->options;
    static const char *const languages[] = {"VRAMSIM_LANG", NULL};
    bool language = o->language || first_set(languages);
    unsigned given = (unsigned)o->theme_given << SETTINGS_THEME |
                     (unsigned)language << SETTINGS_LANGUAGE |
                     (unsigned)(o->app.scale_percent > 0) << SETTINGS_SCALE;
    struct error err = {0};
    if (!view_memory_recall(&keeper->memory, app, given, &err) && !keeper->said)
        tell("", err.text, "; begins as usual");
    keeper->said = true;
}

static void begin(void *user, struct app *app) {
    struct keeper *keeper = user;
    view_memory_begin(&keeper->memory, app);
    keeper->begun = true;
}

static void remember(const struct keeper *keeper, const struct app *app) {
    struct error err = {0};
    if (keeper->begun && !view_memory_keep(&keeper->memory, app, &err))
        tell("not remembered: ", err.text, "");
}

/* That one of them is not there is worth more than that there is no display. */
static bool files_are_there(const struct view_options *o, struct error *err) {
    for (int i = 0; i < o->file_count; i++)
        if (access(o->files[i], F_OK) != 0)
            return error_set(err, ERROR_IO_READ, "%s: %s", o->files[i], strerror(errno));
    return true;
}

static int run_window(const struct view_options *o, struct error *err) {
    struct session *session = NULL;
    struct keeper keeper = {.options = o};
    const struct session_hooks hooks = {&keeper, recall, begin};
    if (!files_are_there(o, err))
        return exit_code(err);
    if (!has_display())
        error_set(err, ERROR_IO_WRITE,
                  "no window: there is no display (DISPLAY and WAYLAND_DISPLAY are not set)");
    else
        session = session_create(o, o->no_remember ? NULL : &hooks, err);
    if (!session)
        return exit_code(err);
    int code = 0;
    if (o->script && session_load(session, err))
        code = run_script(o, NULL, session_window(session), err);
    else if (o->script || !session_run(session, err))
        code = exit_code(err);
    hint(session_app(session), o);
    remember(&keeper, session_app(session));
    session_destroy(session);
    return code;
}

/* Without a window nobody waits meanwhile. */
static int run_without_window(const struct view_options *o, struct error *err) {
    struct loaded loaded = {0};
    const struct load what = {
        .options = o, .files = o->files, .file_count = o->file_count, .replay = o->replay};
    struct loader *loader = loader_start(&what, err);
    if (!loader || !loader_take(loader, &loaded, err))
        return exit_code(err);
    int code = loaded_start(&loaded, o, err) ? run_script(o, &loaded, NULL, err) : exit_code(err);
    hint(loaded.app, o);
    loaded_fini(&loaded);
    return code;
}

int main(int argc, char **argv) {
    struct error err = {0};
    struct view_options options;
    heed_file_limit();
    if (!view_options_parse(&options, argc, argv, &err)) {
        tell("", err.text, "");
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
    int code = options.script && !options.window ? run_without_window(&options, &err)
                                                 : run_window(&options, &err);
    if (err.code != ERROR_NONE)
        tell("", err.text, "");
    return code;
}
