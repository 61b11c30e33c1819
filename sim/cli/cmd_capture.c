/* cmd_capture.c: starts a program with the capture library in it (trace/capture), waits, and says where the recording is. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "format.h"
#include "text.h"

enum { PATH_BYTES = 4200, OUTPUT_BYTES = 4000 /* what the library takes */ };

/* In VRAMSIM_CAPTURE's folder, beside this program, in lib. */
static bool find_library(const struct cli *cli, const char *name, char path[PATH_BYTES],
                         struct error *err) {
    static const char *const places[] = {"", "../lib/vramsim/"};
    const char *folder = getenv("VRAMSIM_CAPTURE"), *slash = strrchr(cli->executable, '/');
    if (folder && *folder) {
        snprintf(path, PATH_BYTES, "%.4000s/%s", folder, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, PATH_BYTES, "%.*s/%s%s", (int)(slash - cli->executable), cli->executable,
                 places[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return error_set(err, ERROR_IO_READ,
                     "%s is not beside vramsim; VRAMSIM_CAPTURE names the folder that has it",
                     name);
}

static bool has_cupti(void) {
    const char *named = getenv("VRAMSIM_CUPTI_LIB");
    if (named && *named)
        return true;
    void *library = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        library = dlopen("libcupti.so.12", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        dlclose(library);
    return library != NULL;
}

static bool set(const char *name, const char *value, struct error *err) {
    return setenv(name, value, 1) == 0 || error_host_memory(err);
}

/* What was set before goes on to it. */
static bool set_injection(const char *library, struct error *err) {
    const char *before = getenv("CUDA_INJECTION64_PATH");
    if (before && *before && strcmp(before, library) != 0 &&
        !set("VRAMSIM_NEXT_INJECTION", before, err))
        return false;
    return set("CUDA_INJECTION64_PATH", library, err) && set("NVTX_INJECTION64_PATH", library, err);
}

static bool set_preload(const char *library, struct error *err) {
    struct text both = {0};
    const char *before = getenv("LD_PRELOAD");
    text_add(&both, library);
    if (before && *before)
        text_format(&both, ":%s", before);
    bool ok = both.failed ? error_host_memory(err) : set("LD_PRELOAD", text_get(&both), err);
    text_fini(&both);
    return ok;
}

/* Before the program runs, perhaps for hours: what is said here can be mended at no cost. */
static bool check_output(const char *option, const char *path, struct error *err) {
    char folder[PATH_BYTES];
    struct stat st;
    if (*path == '\0' || strcmp(path, "-") == 0)
        return error_set(err, ERROR_USAGE,
                         "capture: %s '%s': a recording is a file; expected a name such as run.vrt",
                         option, path);
    for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%'))
        if (!at[1] || !strchr("hpr%", at[1]))
            return error_set(err, ERROR_USAGE,
                             "capture: %s %s: '%.2s': known are %%h (host), %%p (process), %%r "
                             "(RANK), %%%%",
                             option, path, at);
    if (!strchr(path, '%') && stat(path, &st) == 0)
        return error_set(err, ERROR_IO_WRITE,
                         "%s is there already: a recording does not replace a file", path);
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    if (!strchr(folder, '%') && access(folder, W_OK | X_OK) != 0)
        return error_set(err, ERROR_IO_WRITE, "%s: the folder %s: %s", path, folder,
                         strerror(errno));
    return true;
}

/* Absolute: the program may go to another folder. */
static bool set_output(const char *path, struct error *err) {
    char here[OUTPUT_BYTES] = "", absolute[OUTPUT_BYTES];
    if (*path != '/' && !getcwd(here, sizeof here))
        return error_set(err, ERROR_IO_READ, "the current folder: %s", strerror(errno));
    int length = snprintf(absolute, sizeof absolute, "%s%s%s", here, *here ? "/" : "", path);
    if (length < 0 || (size_t)length >= sizeof absolute)
        return error_set(err, ERROR_USAGE, "--output: a path of more than %d characters: %.60s...",
                         OUTPUT_BYTES - 1, path);
    return set("VRAMSIM_OUT", absolute, err);
}

/* NULL: the library's own name for it. */
static const char *output_of(const struct cli *cli) {
    const char *named = getenv("VRAMSIM_OUT");
    if (cli->output)
        return cli->output;
    return named && *named ? named : NULL;
}

static bool prepare(const struct cli *cli, struct error *err) {
    char library[PATH_BYTES];
    const char *output = output_of(cli);
    if (output && !check_output(cli->output ? "-o" : "VRAMSIM_OUT", output, err))
        return false;
    bool calls = cli->capture_calls || !has_cupti();
    if (!find_library(cli, calls ? "libvramsim-capture-calls.so" : "libvramsim-capture.so", library,
                      err))
        return false;
    if (calls && !cli->capture_calls && !cli->quiet)
        fprintf(stderr,
                "vramsim capture: no libcupti here: what the program's own one, or the CUDA "
                "runtime's entry points tell\n");
    return set_injection(library, err) && (!calls || set_preload(library, err)) &&
           (!output || set_output(output, err)) &&
           (!cli->kinds || set("VRAMSIM_KINDS", cli->kinds, err));
}

static void say(const struct text *what) {
    struct text safe = {0};
    format_safe(&safe, text_get(what));
    fprintf(stderr, "vramsim capture: %s\n", safe.failed ? "no memory" : text_get(&safe));
    text_fini(&safe);
}

/* The name as the library in a process makes it of the pattern. */
static void expand(struct text *path, const char *pattern, const char *process) {
    char host[256] = "host";
    const char *rank = getenv("RANK");
    gethostname(host, sizeof host - 1);
    for (; *pattern; pattern++) {
        char word = *pattern == '%' && pattern[1] ? *++pattern : '\0';
        if (word == 'h')
            text_add(path, host);
        else if (word == 'p')
            text_add(path, process);
        else if (word == 'r')
            text_add(path, rank ? rank : "0");
        else
            text_add_bytes(path, pattern, 1);
    }
}

/* Files of that name that have been written since, whatever the process. */
static size_t count_written(const struct text *any, time_t since) {
    glob_t found;
    size_t count = 0;
    if (glob(text_get(any), 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat st;
        count += stat(found.gl_pathv[i], &st) == 0 && st.st_mtime >= since;
    }
    globfree(&found);
    return count;
}

static void report(const struct cli *cli, pid_t child, time_t since) {
    const char *output = output_of(cli), *pattern = output ? output : "vramsim.%h.%p.vrt";
    struct text path = {0}, any = {0}, said = {0};
    struct stat st;
    char process[24];
    snprintf(process, sizeof process, "%ld", (long)child);
    expand(&path, pattern, process);
    expand(&any, pattern, "*");
    size_t written = count_written(&any, since);
    if (!path.failed && stat(text_get(&path), &st) == 0)
        text_format(&said, "recorded %s, %lld bytes; vramsim info %s", text_get(&path),
                    (long long)st.st_size, text_get(&path));
    else if (written > 0)
        text_format(&said, "recorded %s, %zu file%s of processes that the program started",
                    text_get(&any), written, written > 1 ? "s" : "");
    else
        text_add(&said, "nothing was recorded: the program did not use CUDA or NVTX, or not in a "
                        "way that can be seen");
    say(&said);
    text_fini(&path);
    text_fini(&any);
    text_fini(&said);
}

/* Whoever ends this process by its number means the program. */
static volatile pid_t running;

static void pass_on(int signal_number) {
    if (running > 0)
        kill(running, signal_number);
}

/* In the child; what went wrong goes through the pipe, which a program that was started closes. */
static _Noreturn void start(char **words, int tell) {
    signal(SIGINT, SIG_DFL);
    execvp(words[0], words);
    int error = errno;
    (void)!write(tell, &error, sizeof error);
    _exit(error == ENOENT ? 127 : 126);
}

/* 0: it was started. */
static int why_not_started(int told) {
    int error = 0;
    ssize_t n;
    while ((n = read(told, &error, sizeof error)) < 0 && errno == EINTR)
        ;
    close(told);
    return n == (ssize_t)sizeof error ? error : 0;
}

int cmd_capture(struct cli *cli) {
    struct error err = {0};
    int status = 0;
    if (!cli->rest || !cli->rest[0]) {
        error_set(&err, ERROR_USAGE,
                  "capture: which program? vramsim capture -o F.vrt -- PROGRAM "
                  "ARGUMENTS");
        return cli_fail(&err);
    }
    if (!prepare(cli, &err))
        return cli_fail(&err);
    fflush(NULL);
    time_t since = time(NULL);
    int told[2];
    if (pipe(told) != 0 || fcntl(told[1], F_SETFD, FD_CLOEXEC) != 0) {
        error_set(&err, ERROR_HOST_MEMORY, "cannot start a process: %s", strerror(errno));
        return cli_fail(&err);
    }
    pid_t child = fork();
    if (child < 0) {
        error_set(&err, ERROR_HOST_MEMORY, "cannot start a process: %s", strerror(errno));
        return cli_fail(&err);
    }
    if (child == 0) {
        close(told[0]);
        start(cli->rest, told[1]);
    }
    close(told[1]);
    running = child;
    signal(SIGINT, SIG_IGN); /* the terminal sends it to the program too */
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
    int error = why_not_started(told[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (error) {
        error_set(&err, ERROR_USAGE, "capture: %s: %s; nothing was started", cli->rest[0],
                  strerror(error));
        cli_fail(&err);
    } else if (!cli->quiet) {
        report(cli, child, since);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
