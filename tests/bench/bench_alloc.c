/* bench_alloc.c: requests a second of the caching allocator's model; a request is one alloc with its free.
 * usage: bench_alloc, the text of `vramsim dump requests` on standard input, replayed as often as a second takes.
 * Prints one line a workload: NAME REQUESTS_PER_SECOND. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "error.h"
#include "xalloc.h"

enum { LIVE = 1000, ROUNDS = 2000000 };

struct request {
    bool is_free;
    size_t block; /* of the list, in order of allocation */
    uint64_t bytes;
};

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct alloc *make(void) {
    struct error err = {0};
    struct alloc_config config = {.total_bytes = UINT64_C(1) << 40,
                                  .capacity_bytes = UINT64_C(1) << 40};
    alloc_settings_default(&config.settings);
    struct alloc *al = alloc_create(alloc_row(0), &config, &err);
    if (!al) {
        fprintf(stderr, "bench_alloc: %s\n", err.text);
        exit(1);
    }
    return al;
}

static uint64_t take(struct alloc *al, uint64_t bytes) {
    uint64_t address;
    if (alloc_take(al, bytes, 0, &address) != ALLOC_OK) {
        fprintf(stderr, "bench_alloc: out of memory\n");
        exit(1);
    }
    return address;
}

static void bench_same_size(void) {
    struct alloc *al = make();
    double start = now_s();
    for (int i = 0; i < ROUNDS; i++)
        alloc_free(al, take(al, 4096));
    printf("same_size %.0f\n", ROUNDS / (now_s() - start));
    alloc_destroy(al);
}

/* A fixed generator: the same sizes in every run. */
static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void bench_random(void) {
    uint64_t live[LIVE], state = 1;
    struct alloc *al = make();
    for (size_t i = 0; i < LIVE; i++)
        live[i] = take(al, 1 + next(&state) % (8 << 20));
    double start = now_s();
    for (int i = 0; i < ROUNDS / 2; i++) {
        size_t at = next(&state) % LIVE;
        alloc_free(al, live[at]);
        live[at] = take(al, 1 + next(&state) % (8 << 20));
    }
    printf("random_1000_live %.0f\n", ROUNDS / 2 / (now_s() - start));
    alloc_destroy(al);
}

/* Replays until a second has passed; blocks that the list leaves live are freed at its end. */
static void bench_replay(const struct request *list, size_t count, size_t blocks) {
    uint64_t *address = xcalloc(blocks + 1, sizeof *address);
    uint64_t done = 0;
    if (!address || blocks == 0) {
        xfree(address);
        return;
    }
    struct alloc *al = make();
    double start = now_s(), now;
    do {
        for (size_t i = 0; i < count; i++) {
            uint64_t *at = &address[list[i].block];
            if (list[i].is_free) {
                alloc_free(al, *at);
                *at = 0;
            } else {
                *at = take(al, list[i].bytes);
            }
        }
        for (size_t i = 0; i < blocks; i++)
            if (address[i]) {
                alloc_free(al, address[i]);
                address[i] = 0;
            }
        done += blocks;
        now = now_s();
    } while (now - start < 1);
    printf("replayed_step %.0f\n", (double)done / (now - start));
    alloc_destroy(al);
    xfree(address);
}

/* Lines "N alloc bID BYTES ..." and "N free_requested bID ..." of the dump; the rest says nothing to an allocator. */
static bool read_request(const char *line, struct request *out) {
    char kind[32];
    size_t block;
    uint64_t bytes = 0;
    int got = sscanf(line, "%*u %31s b%zu %" SCNu64, kind, &block, &bytes);
    if (got == 3 && strcmp(kind, "alloc") == 0 && bytes > 0)
        *out = (struct request){false, block, bytes};
    else if (got >= 2 && strncmp(kind, "free", 4) == 0 && strcmp(kind, "free_completed") != 0)
        *out = (struct request){true, block, 0};
    else
        return false;
    return true;
}

int main(void) {
    char line[1024];
    size_t count = 0, capacity = 0, blocks = 0;
    struct request *list = NULL;
    while (fgets(line, sizeof line, stdin)) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            struct request *moved = xrealloc(list, capacity * sizeof *list);
            if (!moved) {
                xfree(list);
                return 1;
            }
            list = moved;
        }
        if (!read_request(line, &list[count]))
            continue;
        if (list[count].block >= blocks)
            blocks = list[count].block + 1;
        count++;
    }
    bench_same_size();
    bench_random();
    bench_replay(list, count, blocks);
    xfree(list);
    return 0;
}
