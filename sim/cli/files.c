/* files.c: what is named in a file's place and cannot be one. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli.h"

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

static bool check(const char *path, struct error *err) {
    struct stat st;
    char meant[256];
    if (stat(path, &st) == 0)
        return !S_ISDIR(st.st_mode) ||
               error_set(err, ERROR_USAGE, "%s: a folder; expected a file, as %s/NAME.lua", path,
                         path);
    if (errno != ENOENT || !find_meant(path, meant, sizeof meant))
        return true; /* whoever opens it says why not */
    return error_set(err, ERROR_USAGE, "%s: no such file (did you mean '%s'?)", path, meant);
}

bool files_check(const char *const *files, size_t count, struct error *err) {
    for (size_t i = 0; i < count; i++)
        if (!check(files[i], err))
            return false;
    return true;
}
