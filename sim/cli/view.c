/* view.c: finds vramsim-view and starts it with the same files and settings: the run is
 * deterministic and takes milliseconds, so no temporary file is needed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

static bool has_display(void) {
    const char *wayland = getenv("WAYLAND_DISPLAY"), *x11 = getenv("DISPLAY");
    return (wayland && *wayland) || (x11 && *x11);
}

bool view_is_wanted(const struct cli *cli) {
    if (cli->view != CLI_AUTO)
        return cli->view == CLI_ALWAYS;
    return has_display() && isatty(STDOUT_FILENO);
}

/* $VRAMSIM_VIEW, beside this program, in libexec; else left to the PATH. */
static const char *find_viewer(const struct cli *cli, char *out, size_t size) {
    static const char *const places[] = {"vramsim-view", "../libexec/vramsim/vramsim-view"};
    const char *named = getenv("VRAMSIM_VIEW");
    if (named && *named)
        return named;
    const char *slash = strrchr(cli->executable, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        int n = snprintf(out, size, "%.*s/%s", (int)(slash - cli->executable), cli->executable,
                         places[i]);
        if (n > 0 && (size_t)n < size && access(out, X_OK) == 0)
            return out;
    }
    return "vramsim-view";
}

enum { VIEW_MAX_ARGS = 2 * CLI_MAX_SETS + CLI_MAX_FILES + 48 };

struct view_args {
    const char *at[VIEW_MAX_ARGS];
    size_t count;
};

static void add(struct view_args *args, const char *option, const char *value) {
    if (!value || args->count + 3 > VIEW_MAX_ARGS)
        return;
    if (option)
        args->at[args->count++] = option;
    args->at[args->count++] = value;
}

static void fill(struct view_args *args, const struct cli *cli, const char *viewer) {
    add(args, NULL, viewer);
    for (size_t i = 0; i < cli->file_count; i++)
        add(args, NULL, cli->files[i]);
    for (size_t i = 0; i < cli->source.set_count; i++)
        add(args, "--set", cli->source.sets[i]);
    add(args, "--framework", cli->source.framework);
    add(args, "--cudnn", cli->source.cudnn);
    add(args, "--device", cli->source.device);
    add(args, "--alloc", cli->source.alloc_settings);
    add(args, "--allocator", cli->source.allocator);
    add(args, "--max-requests", cli->max_requests);
    add(args, "--max-instructions", cli->max_instructions);
    add(args, "--max-memory", cli->max_memory);
    add(args, NULL, cli->shows_replay ? "--replay" : NULL);
    add(args, "--size", cli->size);
    add(args, "--scale", cli->scale);
    add(args, "--theme", cli->theme);
    add(args, "--palette", cli->palette_file);
    add(args, "--lang", cli->lang);
    add(args, "--font", cli->font);
    add(args, "--at", cli->at);
    add(args, "--state", cli->state);
    args->at[args->count] = NULL;
}

bool view_start(const struct cli *cli, int *status) {
    char path[sizeof cli->executable];
    struct view_args args = {.count = 0};
    fill(&args, cli, find_viewer(cli, path, sizeof path));
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        fprintf(stderr, "vramsim: cannot start the viewer: %s\n", strerror(errno));
        return false;
    }
    if (child == 0) {
        char *argv[VIEW_MAX_ARGS];
        memcpy(argv, args.at, sizeof argv);
        execvp(argv[0], argv);
        fprintf(stderr, "vramsim: the viewer '%s' cannot be started: %s%s\n", argv[0],
                strerror(errno),
                errno == ENOENT ? " (it is built where libsdl2-dev is installed)" : "");
        _exit(127);
    }
    int state;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return false;
    *status = WIFEXITED(state) ? WEXITSTATUS(state) : EXIT_NO_WRITE;
    return *status != 127;
}

int view_after(const struct cli *cli, int code) {
    int status;
    if ((code != EXIT_FITS && code != EXIT_NOT) || !view_is_wanted(cli))
        return code;
    bool good = view_start(cli, &status) && status != EXIT_NO_WRITE;
    return good || cli->view != CLI_ALWAYS ? code : EXIT_NO_WRITE;
}

int cmd_view(struct cli *cli) {
    struct error err = {0};
    if (!source_check_options(cli->files, cli->file_count, &cli->source, &err))
        return cli_fail(&err);
    int status;
    if (!view_start(cli, &status))
        return EXIT_NO_WRITE;
    if (status == EXIT_NO_WRITE && !has_display())
        fprintf(stderr,
                "vramsim: without a display, vramsim render %s -o FILE.png (or .svg) "
                "writes the picture\n",
                cli->files[0]);
    return status;
}
