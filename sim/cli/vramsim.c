/* vramsim.c: the program: finds the command, reads its options, runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "file.h"
#include "format.h"
#include "large_pages.h"
#include "nearest.h"
#include "text.h"
#include "timeline.h"

static volatile sig_atomic_t interrupted;

const struct command commands[] = {
    {"run", "run SCENARIO.lua|CONFIG.json|TRACE [options]",
     "simulate a scenario, or read a trace, and report (the default)", 1, 1, cmd_run},
    {"render", "render FILE [FILE2] -o PICTURE [options]",
     "the viewer's picture or table of scenarios or traces, without a window", 1, 2, cmd_render},
    {"view", "view FILE [FILE2...] [options]", "open scenarios or traces in the viewer", 1, 16,
     cmd_view},
    {"validate", "validate SCENARIO.lua|CONFIG.json TRACE [options]",
     "compare a simulated run with a real one, request by request", 2, 2, cmd_validate},
    {"compare", "compare A B [options]",
     "two runs of a program, traces or scenarios: what grew, what shrank; exit 1 over --tolerance",
     2, 2, cmd_compare},
    {"info", "info TRACE... [options]", "what a trace holds; of several, the ranks of a run", 1,
     CLI_MAX_FILES, cmd_info},
    {"replay", "replay TRACE|SCENARIO.lua|CONFIG.json [options]",
     "a run under another allocator, other settings, another card; as it was without any", 1, 1,
     cmd_replay},
    {"convert", "convert TRACE|SCENARIO.lua|CONFIG.json -o FILE [options]",
     "a trace or a run in another format, told by FILE's ending", 1, 1, cmd_convert},
    {"capture", "capture [-o F.vrt] [options] -- PROGRAM ARGUMENTS",
     "run a program and record its GPU memory", 0, 0, cmd_capture},
    {"dump", "dump tape|schedule|requests|timeline FILE [options]", "any stage as text", 2, 2,
     cmd_dump},
    {"scenario", "scenario CONFIG.json [-o FILE.lua]",
     "a config of Transformers as a scenario, for editing", 1, 1, cmd_scenario},
    {"devices", "devices", "the cards", 0, 0, cmd_devices},
    {"frameworks", "frameworks", "the modelled releases", 0, 0, cmd_frameworks},
    {"allocators", "allocators", "the models of allocators", 0, 0, cmd_allocators},
    {"ops", "ops", "the ops that a scenario can call", 0, 0, cmd_ops},
    {0},
};

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* The limit of a file's size is an error of the write, which says so and takes away what it had written. A handler, unlike
 * a signal that is ignored, is not inherited by a program that is started. */
static void on_file_limit(int signal_number) {
    (void)signal_number;
}

/* The words of the command line. */
static char *const *typed;

/* A message may have lines, a name in it must not: a file's name could pass for a message of its own. */
static void join_names(char *said) {
    for (char *const *word = typed; word && *word; word++) {
        size_t length = strlen(*word);
        if (!strchr(*word, '\n'))
            continue;
        for (char *at = said; (at = strstr(at, *word)) != NULL; at += length)
            for (size_t i = 0; i < length; i++)
                at[i] = at[i] == '\n' ? '?' : at[i];
    }
}

void cli_tell(const char *said) {
    struct text plain = {0}, safe = {0};
    text_add(&plain, said);
    if (!plain.failed && plain.at) {
        join_names(plain.at);
        format_safe_lines(&safe, text_get(&plain), 0);
    }
    bool failed = plain.failed || safe.failed;
    fprintf(stderr, "vramsim: %s\n", failed ? "no memory" : text_get(&safe));
    text_fini(&plain);
    text_fini(&safe);
}

int cli_fail(const struct error *err) {
    cli_tell(err->text);
    switch (err->code) {
    case ERROR_NONE:
        return EXIT_FITS;
    case ERROR_USAGE:
    case ERROR_BAD_SCENARIO:
        return EXIT_USAGE;
    case ERROR_BAD_INPUT:
    case ERROR_IO_READ:
    case ERROR_LIMIT:
        return EXIT_BAD_TRACE;
    case ERROR_IO_WRITE:
    case ERROR_HOST_MEMORY:
        return EXIT_NO_WRITE;
    case ERROR_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case ERROR_CODE_COUNT:
        break;
    }
    return EXIT_NO_WRITE;
}

bool cli_write(const char *path, struct text *out, struct error *err) {
    bool ok =
        out->failed ? error_host_memory(err) : file_write(path, text_get(out), out->length, err);
    text_fini(out);
    return ok;
}

bool cli_reports(const struct cli *cli) {
    const char *const files[] = {cli->output, cli->json, cli->csv, cli->svg, cli->png};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i] && file_is_stdout(files[i]))
            return false;
    return !cli->quiet;
}

bool cli_has_history(const char *path, const struct timeline *tl, struct error *err) {
    return tl->events.count > 0 ||
           error_set(err, ERROR_BAD_INPUT,
                     "%s: the snapshot has no history, so there is nothing to compare; "
                     "torch.cuda.memory._record_memory_history() before the model is built records "
                     "it",
                     path);
}

bool cli_has_colour(const struct cli *cli) {
    if (cli->colour != CLI_AUTO)
        return cli->colour == CLI_ALWAYS;
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}

unsigned cli_width(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return 100;
}

static void print_help(void) {
    puts("vramsim: where the GPU memory of a training step goes\n\n"
         "usage: vramsim SCENARIO.lua|CONFIG.json|TRACE [options]\n"
         "       vramsim COMMAND ...\n");
    for (const struct command *c = commands; c->name; c++)
        printf("  %-56s %s\n", c->usage, c->doc);
    puts("\nvramsim COMMAND --help lists a command's options; --version prints the version.\n"
         "Exit codes: 0 fits, valid; 1 does not fit, differs; 2 usage or bad scenario; 3 bad "
         "trace; 4 cannot\nwrite or no memory; 130 interrupted.");
}

static const struct command *find_command(const char *name) {
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* The running program's own path, for what lies beside it. */
static void find_self(struct cli *cli) {
    ssize_t n = readlink("/proc/self/exe", cli->executable, sizeof cli->executable - 1);
    if (n <= 0)
        snprintf(cli->executable, sizeof cli->executable, "%s", cli->program);
    else
        cli->executable[n] = '\0';
    const char *library = getenv("VRAMSIM_LIB");
    if (library && *library)
        cli->source.library_dir = library;
    else if (source_find_library(cli->executable, cli->library, sizeof cli->library))
        cli->source.library_dir = cli->library;
}

static int run_command(struct cli *cli, const struct command *command, int argc, char **argv) {
    struct error err = {0};
    find_self(cli);
    if (!options_parse(cli, command, argc, argv, &err))
        return cli_fail(&err);
    if (cli->help) {
        printf("usage: vramsim %s\n%s\n\n", command->usage, command->doc);
        options_print(command);
        return EXIT_FITS;
    }
    size_t words = command->run == cmd_dump ? 1 : 0; /* the stage, before the file */
    if (!files_check(cli->files + words, cli->file_count - words, command->run != cmd_info, &err) ||
        !files_check_outputs(cli, &err))
        return cli_fail(&err);
    return command->run(cli);
}

/* What was typed in a command's place: a name that is nearly one, or a scenario without its end. */
static int unknown_command(const char *word) {
    struct error err = {0};
    struct nearest nearest = {.word = word};
    char hint[NEAREST_HINT_BYTES], path[128];
    struct stat st;
    if (stat(word, &st) == 0) {
        const char *const files[] = {word};
        if (files_check(files, 1, true, &err))
            error_set(&err, ERROR_USAGE,
                      "unknown command '%s'; the file of that name: vramsim ./%s", word, word);
        return cli_fail(&err);
    }
    for (const struct command *c = commands; c->name; c++)
        nearest_offer(&nearest, c->name);
    int n = snprintf(path, sizeof path, "scenarios/%s.lua", word);
    bool is_scenario = n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
    error_set(&err, ERROR_USAGE,
              "unknown command '%s'%s; vramsim --help lists them, a scenario is named by its "
              "file%s%s",
              word, nearest_hint(&nearest, hint), is_scenario ? ": vramsim " : ", NAME.lua",
              is_scenario ? path : "");
    return cli_fail(&err);
}

/* The exit code, or that of a failed write to standard output. */
static int flush_output(int code) {
    struct error err = {0};
    errno = 0;
    bool ok = fflush(stdout) == 0 && !ferror(stdout);
    if (ok || code == EXIT_NO_WRITE)
        return code;
    if (errno == 0 && putchar('\n') != EOF) /* an earlier write failed: why, the next one tells */
        fflush(stdout);
    error_set(&err, ERROR_IO_WRITE, "standard output: %s",
              errno ? strerror(errno) : "cannot be written");
    return cli_fail(&err);
}

/* What a scenario prints goes where it is not taken for the result. */
static void print_line(void *user, const char *text, size_t length) {
    (void)user;
    fwrite(text, 1, length, stderr);
    fputc('\n', stderr);
}

/* A stream that was closed stays closed for us: a file opened later must not take its number. */
static void guard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int run_program(int argc, char **argv) {
    struct cli cli = {.program = argv[0],
                      .interrupted = &interrupted,
                      .source = {.interrupted = &interrupted, .print = print_line}};
    struct sigaction action = {0};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = on_file_limit;
    sigaction(SIGXFSZ, &action, NULL);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help();
        return argc < 2 ? EXIT_USAGE : EXIT_FITS;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("vramsim " VRAMSIM_VERSION);
        return EXIT_FITS;
    }
    const struct command *command = find_command(argv[1]);
    if (command)
        return run_command(&cli, command, argc - 2, argv + 2);
    bool is_file = argv[1][0] == '-' || strchr(argv[1], '.') || strchr(argv[1], '/');
    return is_file ? run_command(&cli, find_command("run"), argc - 1, argv + 1)
                   : unknown_command(argv[1]);
}

int main(int argc, char **argv) {
    typed = argv;
    large_pages_for_heap();
    guard_streams();
    return flush_output(run_program(argc, argv));
}
