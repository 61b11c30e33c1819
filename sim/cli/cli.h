/* cli.h: what the commands of the program vramsim share. Only files of this folder print, exit and
 * read the environment. */
#ifndef CLI_H
#define CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "palette.h"
#include "picture.h"
#include "source.h"

struct text;
struct timeline;

enum exit_code {
    EXIT_FITS = 0,      /* also: valid, done */
    EXIT_NOT = 1,       /* does not fit, outside tolerance, not equal */
    EXIT_USAGE = 2,     /* or a bad scenario, one that passes a limit too */
    EXIT_BAD_TRACE = 3, /* likewise */
    EXIT_NO_WRITE = 4,  /* or this machine's memory is exhausted */
    EXIT_INTERRUPTED = 130
};

enum { CLI_MAX_FILES = 4096, CLI_MAX_SETS = 256, CLI_MAX_OUTPUTS = 16 };

enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER };

struct cli {
    const char *program; /* argv[0] */
    char executable[4096], library[4096];
    const char *files[CLI_MAX_FILES];
    size_t file_count;
    const char *sets[CLI_MAX_SETS], *sets_b[CLI_MAX_SETS];
    size_t set_b_count; /* --set-b: of the second file alone */
    struct source_options source;
    const char *outputs[CLI_MAX_OUTPUTS]; /* of -o */
    size_t output_count;
    const char *output; /* the last of them */
    const char *format, *json, *csv, *png, *svg, *html, *size, *scale, *theme, *lang, *font,
        *palette_file;
    const char *max_requests, *max_instructions, *max_memory; /* as given; NULL: not said */
    char **rest;       /* the program after "--", ended by NULL; NULL: none */
    const char *kinds; /* of --kinds */
    bool capture_calls;
    const char *at;         /* the moment that --at names; NULL: none */
    uint64_t need_bytes;    /* of --need; 0: none */
    double memory_fraction; /* a trace's program had set; 0: not said */
    const char *state;      /* of --state; NULL: none */
    struct palette palette; /* of --palette, when has_palette */
    int scale_percent;      /* of --scale; 0: not said */
    int width, height;      /* of --size, in pixels; 0: not said */
    double tolerance;       /* < 0: none given, or in bytes */
    uint64_t tolerance_bytes;
    bool has_palette;
    bool summary, quiet, all, help_scenario, help;
    enum cli_when view, colour;
    bool shows_replay;                        /* the viewer opens the first file and its replay */
    const volatile sig_atomic_t *interrupted; /* set by SIGINT */
};

struct command {
    const char *name, *usage, *doc;
    unsigned files_min, files_max;
    int (*run)(struct cli *cli);
};

/* The commands in the order of the help; ended by a row without a name. */
extern const struct command commands[];

/* Reads the arguments after the command's name. False: err says what is wrong. */
bool options_parse(struct cli *cli, const struct command *command, int argc, char **argv,
                   struct error *err);
/* The options that a command takes, for its help. */
void options_print(const struct command *command);

/* False: the trace is a snapshot of a state without events, so there is nothing to compare. */
bool cli_has_history(const char *path, const struct timeline *tl, struct error *err);

/* files.c: before anything is read: false for a folder, standard input twice, or a file that is missing where one of
 * nearly the same name is there, which the error names. */
bool files_check(const char *const *files, size_t count, bool takes_scenarios, struct error *err);
/* False where a file is written that is also read, or is written twice: one of the two would be lost. */
bool files_check_outputs(const struct cli *cli, struct error *err);

int cmd_run(struct cli *cli);
int cmd_render(struct cli *cli);
int cmd_view(struct cli *cli);
int cmd_validate(struct cli *cli);
int cmd_info(struct cli *cli);
int info_ranks(const struct cli *cli); /* of several files: ranks of one run */
int cmd_replay(struct cli *cli);
int cmd_capture(struct cli *cli);
int cmd_dump(struct cli *cli);
int cmd_scenario(struct cli *cli);
int cmd_convert(struct cli *cli);
int cmd_compare(struct cli *cli);
int cmd_devices(struct cli *cli);
int cmd_frameworks(struct cli *cli);
int cmd_ops(struct cli *cli);
int cmd_allocators(struct cli *cli);

/* Prints "vramsim: said" on standard error; what a terminal would obey, in names of files say, is '?'. */
void cli_tell(const char *said);
/* Likewise what is wrong; returns the exit code of the error. */
int cli_fail(const struct error *err);
/* Writes a text to a file, "-" is standard output, and frees it. */
bool cli_write(const char *path, struct text *out, struct error *err);
/* Standard output is not taken by a file, and --quiet was not given. */
bool cli_reports(const struct cli *cli);
bool cli_has_colour(const struct cli *cli);
unsigned cli_width(void);

/* cmd_convert.c: writes -o in the format of its ending, or of --format. */
bool cli_write_timeline(const struct cli *cli, const struct timeline *tl, struct error *err);

/* view.c: starts vramsim-view with this command line's files and settings and waits. False: there
 * is none, or no window; *status is its exit code otherwise. */
bool view_start(const struct cli *cli, int *status);
bool view_is_wanted(const struct cli *cli);
/* Opens it where it is wanted. The run's exit code; a viewer that was asked for and cannot be had
 * changes it. */
int view_after(const struct cli *cli, int code);

/* write_picture.c: --png, --svg, --html; `overlay` may be NULL. */
bool cli_write_picture(const struct cli *cli, const struct timeline *tl,
                       const struct timeline *overlay, struct error *err);
/* The page of viz/page; kinds of pictures: picture_kind_of. */
bool cli_is_page(const char *path);
bool cli_write_page(const char *path, const struct timeline *tl, const struct timeline *overlay,
                    const struct picture_options *options, struct error *err);
/* The options that pictures heed, and a word on standard error about a character that no font has; 0:
 * none. */
struct picture_options cli_picture_options(const struct cli *cli);
void cli_font_hint(uint32_t missing);

/* progress.c: a bar on a terminal, nothing in a pipe. */
struct progress {
    const char *what;
    const volatile sig_atomic_t *interrupted;
    uint64_t last_drawn; /* per mille */
    bool drawn;
};
bool progress_show(void *user, uint64_t done, uint64_t total);
void progress_clear(struct progress *progress);
/* source_run with a bar. */
bool cli_source_run(const struct cli *cli, const char *path, const struct source_options *options,
                    struct source_result *result, struct error *err);

#endif
