/* driver.c: replays a corpus through a fuzz target with any compiler: each file as it is, cut at
 * every byte when it is small, and changed by a fixed number of seeded random edits.
 *
 * usage: replay_NAME [-n EDITS] FILE-OR-FOLDER... */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

enum { CUT_BYTES = 1024, LARGEST_FILE = 1 << 20 };

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* One edit: a byte set, a bit flipped, a run copied elsewhere, or the end cut off. */
static size_t edit(uint8_t *data, size_t size, uint32_t *seed) {
    size_t at = next_random(seed) % size;
    switch (next_random(seed) % 4) {
    case 0:
        data[at] = (uint8_t)next_random(seed);
        return size;
    case 1:
        data[at] ^= (uint8_t)(1u << next_random(seed) % 8);
        return size;
    case 2: {
        size_t from = next_random(seed) % size, run = next_random(seed) % 16;
        if (from + run <= size && at + run <= size)
            memmove(data + at, data + from, run);
        return size;
    }
    default:
        return next_random(seed) % 8 == 0 && at > 0 ? at : size;
    }
}

static void run_edited(const uint8_t *data, size_t size, unsigned edits) {
    uint8_t *copy = malloc(size);
    uint32_t seed = (uint32_t)size;
    for (unsigned i = 0; copy && i < edits; i++) {
        size_t length = size;
        memcpy(copy, data, size);
        for (uint32_t left = 1 + next_random(&seed) % 6; left > 0; left--)
            length = edit(copy, length, &seed);
        LLVMFuzzerTestOneInput(copy, length);
    }
    free(copy);
}

/* Each run gets a copy of just its bytes, so that a read behind them is seen. */
static void run_cut(const uint8_t *data, size_t size) {
    for (size_t length = 0; length < size && size <= CUT_BYTES; length++) {
        uint8_t *copy = malloc(length > 0 ? length : 1);
        if (!copy)
            return;
        memcpy(copy, data, length);
        LLVMFuzzerTestOneInput(copy, length);
        free(copy);
    }
}

static int run_file(const char *path, unsigned edits) {
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(LARGEST_FILE);
    if (!f || !data) {
        fprintf(stderr, "%s: cannot read\n", path);
        free(data);
        if (f)
            fclose(f);
        return 1;
    }
    size_t size = fread(data, 1, LARGEST_FILE, f);
    fclose(f);
    LLVMFuzzerTestOneInput(data, size);
    run_cut(data, size);
    if (size > 0)
        run_edited(data, size, edits);
    free(data);
    return 0;
}

static int run_path(const char *path, unsigned edits) {
    struct stat st;
    DIR *folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    if (!folder)
        return run_file(path, edits);
    int failed = 0, files = 0;
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        char inner[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        failed |= run_file(inner, edits);
        files++;
    }
    closedir(folder);
    printf("%s: %d files\n", path, files);
    return failed || files == 0;
}

int main(int argc, char **argv) {
    unsigned edits = 300;
    int failed = 0, first = 1;
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        edits = (unsigned)strtoul(argv[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < argc; i++)
        failed |= run_path(argv[i], edits);
    return failed;
}
