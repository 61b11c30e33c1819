/* library.c: finds scenarios/lib from where the program lies. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "source.h"

/* build/bin, build/PRESET/bin, an installation's bin */
static const char *const places[] = {"../../scenarios/lib", "../../../scenarios/lib",
                                     "../share/vramsim/lib", NULL};

/* As messages should name it: without "..". */
static bool normalise(char *path, size_t size) {
    char real[PATH_MAX];
    if (!realpath(path, real) || strlen(real) >= size)
        return false;
    memcpy(path, real, strlen(real) + 1);
    return true;
}

bool source_find_library(const char *executable, char *out, size_t size) {
    const char *slash = strrchr(executable, '/');
    int length = slash ? (int)(slash - executable) : 1;
    for (const char *const *place = places; *place; place++) {
        struct stat st;
        int n = snprintf(out, size, "%.*s/%s", length, slash ? executable : ".", *place);
        if (n > 0 && (size_t)n < size && stat(out, &st) == 0 && S_ISDIR(st.st_mode))
            return normalise(out, size);
    }
    return false;
}
