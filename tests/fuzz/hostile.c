/* hostile.c: the program's own commands on real files that somebody has damaged: bytes flipped, cut out, put in, doubled, numbers
 * made huge, negative, no numbers. Each mutant has a process of its own, in which every command runs; a crash, a leak, a
 * sanitizer's word, an exit code that no bad file has, more than LIMIT_S seconds or LIMIT_MIB of memory save the mutant and end
 * in exit code 1. Built with the sanitizers by the dev preset.
 *
 * usage: hostile [-n MUTANTS] [-s SEED] SCENARIO.lua FILE... */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "input.h"
#include "vrt_seal.h"

int vramsim_main(int argc, char **argv); /* sim/cli/vramsim.c */

enum { LIMIT_S = 20, LIMIT_MIB = 1500, MOST_BYTES = 4 << 20, CODE_BAD = 66 };

static uint64_t state;

static size_t next_random(size_t limit) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(state >> 20) % (limit > 0 ? limit : 1);
}

/* --- mutants --- */

struct bytes {
    uint8_t *at;
    size_t count, room;
};

/* Replaces [from, to) by `count` bytes, which may lie in it. */
static void splice(struct bytes *b, size_t from, size_t to, const void *with, size_t count) {
    uint8_t kept[4096];
    if (count > sizeof kept || b->count - (to - from) + count > b->room)
        return;
    memcpy(kept, with, count);
    memmove(b->at + from + count, b->at + to, b->count - to);
    memcpy(b->at + from, kept, count);
    b->count = b->count - (to - from) + count;
}

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

/* A number of a text, somewhere, becomes another. */
static void change_number(struct bytes *b) {
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "18446744073709551615",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "NaN",
                                          "1e308",
                                          "4294967296",
                                          "1.5",
                                          "1e-9",
                                          "123456789012345678901234567890",
                                          "null",
                                          "\"\"",
                                          "[]",
                                          "{}",
                                          "-0",
                                          "281474976710656"};
    size_t from = next_random(b->count), tries = 0;
    while (tries++ < 4096 && from < b->count && !is_digit(b->at[from]))
        from++;
    size_t to = from;
    while (to < b->count && is_digit(b->at[to]))
        to++;
    const char *number = numbers[next_random(sizeof numbers / sizeof numbers[0])];
    if (to > from)
        splice(b, from, to, number, strlen(number));
}

/* A number of a binary file. */
static void change_word(struct bytes *b) {
    static const uint64_t words[] = {0,          1,        UINT64_MAX, INT64_MAX, UINT64_C(1) << 63,
                                     UINT32_MAX, 1u << 31, 0x10000};
    size_t width = (size_t)1 << next_random(4), at = next_random(b->count);
    uint64_t word = words[next_random(sizeof words / sizeof words[0])];
    if (at + width <= b->count)
        memcpy(b->at + at, &word, width);
}

static void change(struct bytes *b) {
    if (b->count < 16)
        return;
    size_t at = next_random(b->count), run = 1 + next_random(next_random(2) ? 8 : 2000);
    size_t end = at + run < b->count ? at + run : b->count;
    uint8_t any[64];
    switch (next_random(9)) {
    case 0:
        b->at[at] ^= (uint8_t)(1u << next_random(8));
        break;
    case 1:
        b->at[at] = (uint8_t)next_random(256);
        break;
    case 2:
        splice(b, at, end, "", 0);
        break;
    case 3:
        for (size_t i = 0; i < sizeof any; i++)
            any[i] = (uint8_t)next_random(256);
        splice(b, at, at, any, 1 + next_random(sizeof any - 1));
        break;
    case 4:
        splice(b, at, at, b->at + at, end - at); /* doubled */
        break;
    case 5: {
        size_t from = next_random(b->count - (end - at) + 1);
        memmove(b->at + at, b->at + from, end - at); /* another place's */
        break;
    }
    case 6:
        if (next_random(4) == 0)
            b->count = at + 1;
        break;
    case 7:
        change_word(b);
        break;
    default:
        change_number(b);
    }
}

static void mutate(const struct input *in, struct bytes *b) {
    b->count = in->length < b->room ? in->length : b->room;
    memcpy(b->at, in->data, b->count);
    for (size_t left = 1 + next_random(next_random(3) ? 3 : 40); left > 0; left--)
        change(b);
    if (b->count > 8 && memcmp(in->data, VRT_MAGIC, 8) == 0 && next_random(4) > 0)
        vrt_seal(b->at, b->count);
}

/* --- the commands --- */

static char *scenario, *mutant, *original, *written;

static int run(int argc, const char *const *words) {
    char *argv[16], program[] = "vramsim";
    argv[0] = program;
    for (int i = 0; i < argc; i++)
        argv[i + 1] = strdup(words[i]);
    argv[argc + 1] = NULL;
    int code = vramsim_main(argc + 1, argv);
    for (int i = 0; i < argc; i++)
        free(argv[i + 1]);
    return code;
}

#define RUN(...)                                                                                   \
    do {                                                                                           \
        const char *const words_[] = {__VA_ARGS__};                                                \
        int code_ = run(sizeof words_ / sizeof words_[0], words_);                                 \
        if (code_ < 0 || code_ > 3)                                                                \
            exit(CODE_BAD + code_);                                                                \
    } while (0)

/* In a process of its own. */
static void run_all(void) {
    static const char *const formats[] = {"vrt", "json", "csv", "perfetto", "pickle"};
    alarm(LIMIT_S);
    RUN("info", mutant);
    RUN("info", mutant, "--json", "-");
    RUN("validate", scenario, mutant, "--no-view");
    RUN("compare", original, mutant);
    RUN("replay", mutant, "--no-view");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        RUN("convert", mutant, "-o", written, "--format", formats[i]);
    exit(0);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool write_file(const char *path, const uint8_t *at, size_t count) {
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(at, 1, count, f) == count;
    return (!f || fclose(f) == 0) && ok;
}

struct worst {
    double seconds;
    long mib;
};

/* False: it failed, and says how. */
static bool try_mutant(struct worst *worst) {
    int status = 0;
    struct rusage used;
    double start = now_s();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        if (!getenv("HOSTILE_SHOW"))
            dup2(null, STDERR_FILENO);
        run_all();
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        return false;
    double seconds = now_s() - start;
    long mib = used.ru_maxrss / 1024;
    worst->seconds = seconds > worst->seconds ? seconds : worst->seconds;
    worst->mib = mib > worst->mib ? mib : worst->mib;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && mib < LIMIT_MIB)
        return true;
    if (WIFSIGNALED(status))
        printf("signal %d", WTERMSIG(status));
    else
        printf("exit code %d", WEXITSTATUS(status));
    printf(" after %.1f s, %ld MiB\n", seconds, mib);
    return false;
}

static int run_file(const char *path, unsigned mutants) {
    struct input in;
    struct error err = {0};
    struct worst worst = {0};
    int failed = 0;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct bytes b = {.at = malloc(MOST_BYTES), .room = MOST_BYTES};
    if (!b.at || !input_open(&in, path, 0, &err)) {
        fprintf(stderr, "%s\n", err.text);
        free(b.at);
        return 1;
    }
    if (!write_file(original, in.data, in.length))
        return 1;
    for (unsigned i = 0; i < mutants; i++) {
        char saved[256];
        mutate(&in, &b);
        if (!write_file(mutant, b.at, b.count))
            return 1;
        if (try_mutant(&worst))
            continue;
        snprintf(saved, sizeof saved, "hostile-%.200s.%u", name, i);
        write_file(saved, b.at, b.count);
        printf("%s: mutant %u fails: %s\n", name, i, saved);
        failed = 1;
    }
    printf("%-44s %u mutants, at most %.1f s and %ld MiB\n", name, mutants, worst.seconds,
           worst.mib);
    input_close(&in);
    free(b.at);
    return failed;
}

static char *in_folder(const char *folder, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return strdup(path);
}

int main(int argc, char **argv) {
    unsigned mutants = 100;
    int option, failed = 0;
    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            mutants = (unsigned)strtoul(optarg, NULL, 10);
        else
            state = strtoull(optarg, NULL, 10);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    char folder[] = "/tmp/hostile-XXXXXX";
    if (optind + 2 > argc || !mkdtemp(folder))
        return 2;
    scenario = argv[optind];
    mutant = in_folder(folder, "mutant");
    original = in_folder(folder, "original");
    written = in_folder(folder, "written");
    for (int i = optind + 1; i < argc; i++)
        failed |= run_file(argv[i], mutants);
    unlink(mutant);
    unlink(original);
    unlink(written);
    rmdir(folder);
    free(mutant);
    free(original);
    free(written);
    return failed;
}
