/* test_scenario_files.c: runs the scenarios of a folder, each beside what it must say: NAME.lua, NAME.expect.
 *
 * The first lines of a scenario may say, as comments, how it is run:
 *   -- set: batch=-1          a --set option
 *   -- limit: 1000000         Lua instructions
 *   -- memory: 16             MiB of Lua memory
 *   -- oom: 5                 the fifth request is out of memory
 *   -- log: requests          lines of requests instead of lifetimes (support/log_sink.h); "none": the outcome alone
 *
 * usage: test_scenario_files FOLDER...      VRAMSIM_REGOLD=1 rewrites the expectations
 *        test_scenario_files --print FILE... the logs to standard output */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "scenario_run.h"

enum { MAX_SETS = 8, MAX_FILES = 512 };

struct directives {
    char line[MAX_SETS][160];
    const char *sets[MAX_SETS];
    struct scenario_options options;
    uint64_t fail_at;
    bool requests, quiet;
};

static void read_directive(struct directives *d, const char *line) {
    size_t n = d->options.set_count;
    char word[32];
    if (n < MAX_SETS && sscanf(line, "-- set: %159[^\n]", d->line[n]) == 1) {
        d->sets[n] = d->line[n];
        d->options.set_count = n + 1;
    }
    if (strncmp(line, "-- limit: ", 10) == 0)
        d->options.max_instructions = strtoull(line + 10, NULL, 10);
    if (strncmp(line, "-- memory: ", 11) == 0)
        d->options.max_lua_bytes = strtoull(line + 11, NULL, 10) << 20;
    if (strncmp(line, "-- oom: ", 8) == 0)
        d->fail_at = strtoull(line + 8, NULL, 10);
    if (sscanf(line, "-- log: %31s", word) == 1) {
        d->requests = strcmp(word, "requests") == 0;
        d->quiet = strcmp(word, "none") == 0;
    }
}

static void read_directives(struct directives *d, const char *path) {
    char line[256];
    FILE *f = fopen(path, "r");
    memset(d, 0, sizeof *d);
    d->options.sets = d->sets;
    while (f && fgets(line, sizeof line, f) && strncmp(line, "-- ", 3) == 0)
        read_directive(d, line);
    if (f)
        fclose(f);
}

static void add_line(void *user, const char *text, size_t length) {
    text_format(user, "print: %.*s\n", (int)length, text);
}

/* The log of a run, how it ended, and what is left. */
static void run_file(const char *path, const char *library_dir, struct text *out) {
    struct directives d;
    struct scenario_case c = {.ok = false};
    read_directives(&d, path);
    struct text printed = {0};
    d.options.library_dir = library_dir;
    d.options.print = add_line;
    d.options.print_user = &printed;
    c.sink.gaps = !d.requests && !d.quiet;
    c.sink.quiet = d.quiet;
    c.sink.fail_at = d.fail_at;
    bool ok = scenario_case_run(&c, path, &d.options);
    log_sink_end_gap(&c.sink);
    if (c.sink.gaps && ok && c.tape.status == TAPE_OK)
        text_add(&c.sink.log, "end\n");
    text_add(out, text_get(&c.sink.log));
    text_add(out, text_get(&printed));
    text_fini(&printed);
    for (size_t i = 0; i < c.info.notes.count; i++)
        text_format(out, "note: %s\n", c.info.notes.at[i]);
    scenario_case_relative(c.error.text);
    if (!ok)
        text_format(out, "%s: %s\n", error_code_text(c.error.code), c.error.text);
    else if (c.tape.status == TAPE_OUT_OF_MEMORY)
        text_add(out, "out of memory\n");
    if (c.sink.broken)
        text_add(out, "BROKEN: the sink was told something impossible\n");
    if (ok && c.tape.status == TAPE_OK && c.sink.live_count > 0)
        text_format(out, "held to the end: %llu\n", (unsigned long long)c.sink.live_count);
    scenario_case_fini(&c);
}

static bool check_file(const char *path) {
    char expect[1024];
    struct text found = {0};
    struct error err = {0};
    char *wanted = NULL;
    size_t length;
    snprintf(expect, sizeof expect, "%.*s.expect", (int)(strlen(path) - 4), path);
    run_file(path, "scenarios/lib", &found);
    const char *regold = getenv("VRAMSIM_REGOLD");
    bool ok;
    if (regold && *regold == '1') {
        ok = file_write(expect, text_get(&found), found.length, &err);
    } else {
        ok = file_read(expect, 1 << 22, &wanted, &length, &err) &&
             strcmp(wanted, text_get(&found)) == 0;
        if (!ok)
            printf("%s differs from its expectation%s%s\n--- expected\n%s--- found\n%s", path,
                   err.code ? ": " : "", err.code ? err.text : "", wanted ? wanted : "",
                   text_get(&found));
    }
    xfree(wanted);
    text_fini(&found);
    return ok;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

static unsigned check_folder(const char *folder, unsigned *failed) {
    static char names[MAX_FILES][256];
    unsigned count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && count < MAX_FILES; e = readdir(dir)) {
        size_t n = strlen(e->d_name);
        if (n > 4 && strcmp(e->d_name + n - 4, ".lua") == 0)
            memcpy(names[count++], e->d_name, n + 1);
    }
    if (dir)
        closedir(dir);
    qsort(names, count, sizeof *names, compare_names);
    for (unsigned i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%.255s", folder, names[i]);
        if (!check_file(path))
            ++*failed;
    }
    return count;
}

static int print_files(int count, char **paths) {
    for (int i = 0; i < count; i++) {
        struct text out = {0};
        run_file(paths[i], NULL, &out);
        printf("%s%s", text_get(&out), count > 1 ? "====\n" : "");
        text_fini(&out);
    }
    return 0;
}

/* Messages name a file by its path, which Lua cuts when it is long: the tests run in the repository's root. */
static const char *from_root(const char *path) {
    static const char root[] = SOURCE_DIR "/";
    return strncmp(path, root, sizeof root - 1) == 0 ? path + sizeof root - 1 : path;
}

int main(int argc, char **argv) {
    unsigned files = 0, failed = 0;
    if (argc > 1 && strcmp(argv[1], "--print") == 0)
        return print_files(argc - 2, argv + 2);
    if (chdir(SOURCE_DIR) != 0)
        return 1;
    for (int i = 1; i < argc; i++)
        files += check_folder(from_root(argv[i]), &failed);
    printf("%u scenarios, %u failed\n", files, failed);
    return failed > 0 || files == 0;
}
