/* files.c: what is named in a file's place and cannot be one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "file.h"

/* A scenario's name without its ending, its folder, or both. */
static bool find_meant(const char *path, char *out, size_t size) {
    static const struct {
        const char *folder, *ending;
    } forms[] = {{"", ".lua"}, {"scenarios/", ""}, {"scenarios/", ".lua"}};
    struct stat st;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int n = snprintf(out, size, "%s%s%s", forms[i].folder, path, forms[i].ending);
        if (n > 0 && (size_t)n < size && stat(out, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

static bool check(const char *path, bool takes_scenarios, struct error *err) {
    struct stat st;
    char meant[256];
    if (stat(path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return true;
        size_t length = strlen(path);
        const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
        if (!takes_scenarios)
            return error_set(err, ERROR_USAGE, "%s: a folder; expected a trace, as %s%sNAME.pickle",
                             path, path, slash);
        return error_set(err, ERROR_USAGE,
                         "%s: a folder; expected a scenario or a trace, as %s%sNAME.lua", path,
                         path, slash);
    }
    if (errno != ENOENT || !find_meant(path, meant, sizeof meant))
        return true; /* whoever opens it says why not */
    return error_set(err, ERROR_USAGE, "%s: no such file (did you mean '%s'?)", path, meant);
}

bool files_check(const char *const *files, size_t count, bool takes_scenarios, struct error *err) {
    size_t from_stdin = 0;
    for (size_t i = 0; i < count; i++) {
        from_stdin += strcmp(files[i], "-") == 0;
        if (!check(files[i], takes_scenarios, err))
            return false;
    }
    return from_stdin < 2 || error_set(err, ERROR_USAGE,
                                       "'-' stands %zu times: standard input can be read once; "
                                       "expected a file for the others",
                                       from_stdin);
}

/* --- what is written --- */

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && S_ISREG(x.st_mode) && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Devices and pipes take whatever comes. */
static bool is_plain(const char *path) {
    struct stat st;
    return !file_is_stdout(path) && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

static bool check_output(const struct cli *cli, const char *const *written, size_t i,
                         struct error *err) {
    for (size_t f = 0; f < cli->file_count; f++)
        if (!file_is_stdout(written[i]) && is_same_file(written[i], cli->files[f]))
            return error_set(err, ERROR_USAGE,
                             "%s is read: writing it would replace it; expected another name",
                             written[i]);
    for (size_t k = 0; k < i; k++)
        if (written[k] && strcmp(written[k], written[i]) == 0 && is_plain(written[i]))
            return error_set(err, ERROR_USAGE,
                             "%s would be written twice; expected a name for each", written[i]);
    return true;
}

bool files_check_outputs(const struct cli *cli, struct error *err) {
    const char *written[CLI_MAX_OUTPUTS + 5] = {cli->json, cli->csv, cli->png, cli->svg, cli->html};
    for (size_t i = 0; i < cli->output_count; i++)
        written[5 + i] = cli->outputs[i];
    for (size_t i = 0; i < 5 + cli->output_count; i++)
        if (written[i] && !check_output(cli, written, i, err))
            return false;
    return true;
}
