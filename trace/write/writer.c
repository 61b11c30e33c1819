/* writer.c: see writer.h. */
#include "writer.h"

#include <string.h>

#include "error.h"
#include "text.h"

const struct writer *const writers[] = {&writer_vrt,      &writer_json,   &writer_csv,
                                        &writer_perfetto, &writer_pickle, NULL};

static bool ends_in(const char *path, const char *ending) {
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

/* The longest ending wins: x.perfetto.json is no plain JSON. */
static const struct writer *find_by_path(const char *path) {
    const struct writer *best = NULL;
    for (const struct writer *const *w = writers; *w; w++)
        if (ends_in(path, (*w)->ending) && (!best || strlen((*w)->ending) > strlen(best->ending)))
            best = *w;
    return best;
}

static const struct writer *find_by_name(const char *name) {
    for (const struct writer *const *w = writers; *w; w++)
        if (strcmp((*w)->name, name) == 0)
            return *w;
    return NULL;
}

const struct writer *writer_find(const char *name, const char *path, struct error *err) {
    const struct writer *found = name ? find_by_name(name) : find_by_path(path);
    if (found)
        return found;
    struct text known = {0};
    for (const struct writer *const *w = writers; *w; w++)
        text_format(&known, " %s", name ? (*w)->name : (*w)->ending);
    if (name)
        error_set(err, ERROR_USAGE, "unknown format '%s'; known:%s", name, text_get(&known));
    else
        error_set(err, ERROR_USAGE,
                  "%s: the ending of the name says the format; known:%s (or --format NAME)", path,
                  text_get(&known));
    text_fini(&known);
    return NULL;
}
