/* view_memory.c: see view_memory.h. */
#include "view_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "file.h"
#include "text.h"
#include "xalloc.h"

enum { FILE_MAX = 64 << 10 };

/* An XDG path that is not absolute is to be ignored, says its specification. */
static void find_path(char out[VIEW_MEMORY_PATH]) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = 0;
    if (config && config[0] == '/')
        length = snprintf(out, VIEW_MEMORY_PATH, "%s/vramsim/view", config);
    else if (home && home[0] == '/')
        length = snprintf(out, VIEW_MEMORY_PATH, "%s/.config/vramsim/view", home);
    if (length <= 0 || length >= VIEW_MEMORY_PATH)
        out[0] = '\0';
}

static bool read_file(struct view_memory *memory, struct error *err) {
    char *text;
    size_t length;
    if (!file_read(memory->path, FILE_MAX, &text, &length, err))
        return false;
    bool good = strlen(text) == length ? settings_read(text, &memory->remembered, err)
                                       : error_set(err, ERROR_BAD_INPUT, "not a text");
    xfree(text);
    return good || error_wrap(err, "%s", memory->path);
}

void view_memory_begin(struct view_memory *memory, const struct app *app) {
    settings_of(app, &memory->start);
}

bool view_memory_recall(struct view_memory *memory, struct app *app, unsigned given,
                        struct error *err) {
    memset(memory, 0, sizeof *memory);
    find_path(memory->path);
    memory->is_there = memory->path[0] && access(memory->path, F_OK) == 0;
    bool read = !memory->is_there || read_file(memory, err);
    struct settings begin = memory->remembered;
    begin.has &= ~given;
    settings_apply(app, &begin);
    view_memory_begin(memory, app);
    return read;
}

/* The folders above the file. */
static bool make_folders(const char *path, struct error *err) {
    char folder[VIEW_MEMORY_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return error_set(err, ERROR_IO_WRITE, "%s: %s", folder, strerror(errno));
        *slash = '/';
    }
    return true;
}

bool view_memory_keep(const struct view_memory *memory, const struct app *app, struct error *err) {
    struct settings now, kept = memory->remembered;
    struct text text = {0};
    settings_of(app, &now);
    unsigned changes = settings_changes(&now, &memory->start);
    if (!memory->path[0] || changes == 0)
        return true;
    settings_take(&kept, &now, changes);
    settings_write(&kept, &text);
    bool good = text.failed ? error_host_memory(err)
                            : make_folders(memory->path, err) &&
                                  file_write(memory->path, text_get(&text), text.length, err);
    text_fini(&text);
    return good;
}
