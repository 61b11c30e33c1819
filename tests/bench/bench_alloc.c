/* bench_alloc.c: the caching allocator's model: requests a second of processor time, an alloc and its free counted as two, and
 * host memory a live block; beside it two peers with the same calls: the slow reference model of the property test, and the C
 * library's malloc (whose memory is never touched).
 * usage: bench_alloc, with the text of `vramsim dump requests` on standard input.
 * Prints lines "NAME VALUE": rates of the fastest of RUNS runs; bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "error.h"
#include "naive_caching.h"
#include "xalloc.h"

enum { RUNS = 5, LIVE = 1000, ROUNDS = 400000, NAIVE_ROUNDS = 2000, MANY = 1000000 };

/* One allocator as the workloads see it. */
struct peer {
    const char *name;
    int rounds; /* of a workload that is not replayed */
    void *(*make)(void);
    void (*destroy)(void *of);
    uint64_t (*take)(void *of, uint64_t bytes);
    void (*give)(void *of, uint64_t address);
};

struct request {
    bool is_free;
    size_t block; /* of the list, in order of allocation */
    uint64_t bytes;
};

/* Of this process: others on the machine do not count. */
static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    fprintf(stderr, "bench_alloc: %s\n", what);
    exit(1);
}

/* --- the model --- */

static void *make_model(void) {
    struct error err = {0};
    struct alloc_config config = {.total_bytes = UINT64_C(1) << 40,
                                  .capacity_bytes = UINT64_C(1) << 40};
    alloc_settings_default(&config.settings);
    struct alloc *al = alloc_create(alloc_row(0), &config, &err);
    if (!al)
        fail(err.text);
    return al;
}

static void destroy_model(void *of) {
    alloc_destroy(of);
}

static uint64_t take_model(void *of, uint64_t bytes) {
    uint64_t address = 0;
    if (alloc_take(of, bytes, 0, &address) != ALLOC_OK)
        fail("out of memory");
    return address;
}

static void give_model(void *of, uint64_t address) {
    alloc_free(of, address);
}

/* --- the reference model --- */

static void *make_naive(void) {
    struct naive *n = xcalloc(1, sizeof *n);
    if (!n)
        fail("out of host memory");
    alloc_settings_default(&n->set);
    n->minor = 15;
    n->total = n->capacity = UINT64_C(1) << 40;
    n->next_at = ALLOC_FIRST_ADDRESS;
    n->next_number = 1;
    n->fraction = 1;
    return n;
}

static void destroy_naive(void *of) {
    xfree(of);
}

static uint64_t take_naive(void *of, uint64_t bytes) {
    struct naive *n = of;
    uint64_t address = 0;
    n->logs = 0;
    if (ntake(n, bytes, 0, &address) != ALLOC_OK)
        fail("the reference model is out of memory");
    return address;
}

static void give_naive(void *of, uint64_t address) {
    struct naive *n = of;
    n->logs = 0;
    nfree(n, address);
}

/* --- malloc --- */

static void *make_malloc(void) {
    return NULL;
}

static void destroy_malloc(void *of) {
    (void)of;
}

static uint64_t take_malloc(void *of, uint64_t bytes) {
    (void)of;
    void *at = malloc(bytes);
    if (!at)
        fail("malloc failed");
    return (uint64_t)(uintptr_t)at;
}

static void give_malloc(void *of, uint64_t address) {
    (void)of;
    free((void *)(uintptr_t)address);
}

static const struct peer model = {"", ROUNDS, make_model, destroy_model, take_model, give_model};
static const struct peer naive = {"_naive",      NAIVE_ROUNDS, make_naive,
                                  destroy_naive, take_naive,   give_naive};
static const struct peer c_library = {"_malloc",      ROUNDS,      make_malloc,
                                      destroy_malloc, take_malloc, give_malloc};

/* --- workloads: each returns requests a second --- */

static double run_same_size(const struct peer *p) {
    void *of = p->make();
    double start = now_s();
    for (int i = 0; i < p->rounds; i++)
        p->give(of, p->take(of, 4096));
    double seconds = now_s() - start;
    p->destroy(of);
    return 2 * p->rounds / seconds;
}

/* A fixed generator: the same sizes in every run. */
static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static double run_random(const struct peer *p) {
    uint64_t live[LIVE], state = 1;
    void *of = p->make();
    for (size_t i = 0; i < LIVE; i++)
        live[i] = p->take(of, 1 + next(&state) % (8 << 20));
    double start = now_s();
    for (int i = 0; i < p->rounds; i++) {
        size_t at = next(&state) % LIVE;
        p->give(of, live[at]);
        live[at] = p->take(of, 1 + next(&state) % (8 << 20));
    }
    double seconds = now_s() - start;
    for (size_t i = 0; i < LIVE; i++)
        p->give(of, live[i]);
    p->destroy(of);
    return 2 * p->rounds / seconds;
}

struct log {
    struct request *list;
    size_t count, blocks;
    uint64_t *address; /* by block; 0: not live */
};

static size_t replay(const struct peer *p, void *of, const struct log *log) {
    size_t calls = log->count;
    for (size_t i = 0; i < log->count; i++) {
        uint64_t *at = &log->address[log->list[i].block];
        if (log->list[i].is_free) {
            p->give(of, *at);
            *at = 0;
        } else {
            *at = p->take(of, log->list[i].bytes);
        }
    }
    return calls;
}

static size_t give_rest(const struct peer *p, void *of, const struct log *log) {
    size_t calls = 0;
    for (size_t i = 0; i < log->blocks; i++)
        if (log->address[i]) {
            p->give(of, log->address[i]);
            log->address[i] = 0;
            calls++;
        }
    return calls;
}

/* Again and again for a while; blocks that the list leaves live are freed at its end. */
static double run_replay(const struct peer *p, const struct log *log) {
    size_t calls = 0;
    void *of = p->make();
    double start = now_s(), seconds;
    do {
        calls += replay(p, of, log);
        calls += give_rest(p, of, log);
        seconds = now_s() - start;
    } while (seconds < 0.2);
    p->destroy(of);
    return (double)calls / seconds;
}

static void bench(const struct peer *p, const struct log *log) {
    double best[3] = {0};
    for (int run = 0; run < RUNS; run++) {
        const double rates[] = {run_same_size(p), run_random(p),
                                log->blocks > 0 ? run_replay(p, log) : 0};
        for (size_t i = 0; i < 3; i++)
            best[i] = rates[i] > best[i] ? rates[i] : best[i];
    }
    static const char *const names[] = {"same_size", "random_1000_live", "replayed_step"};
    for (size_t i = 0; i < 3; i++)
        if (best[i] > 0)
            printf("%s%s %.0f\n", names[i], p->name, best[i]);
}

/* --- host memory --- */

static size_t held_bytes;

/* The size stands before what is handed out. */
static void *count_hook(void *user, void *old, size_t bytes) {
    (void)user;
    max_align_t *head = old ? (max_align_t *)old - 1 : NULL;
    size_t before = 0;
    if (head)
        memcpy(&before, head, sizeof before);
    if (bytes == 0) {
        held_bytes -= before;
        free(head);
        return NULL;
    }
    head = realloc(head, sizeof *head + bytes);
    if (!head)
        return NULL;
    held_bytes += bytes - before;
    memcpy(head, &bytes, sizeof bytes);
    return head + 1;
}

static void bench_memory(const struct log *log) {
    uint64_t state = 1;
    xalloc_set_hook(count_hook, NULL);
    void *of = make_model();
    for (size_t i = 0; i < MANY; i++)
        take_model(of, 1 + next(&state) % (64 << 10));
    printf("bytes_a_block_of_a_million %.1f\n", (double)held_bytes / MANY);
    destroy_model(of);
    size_t live = 0, most = 0;
    for (size_t i = 0; i < log->count; i++) {
        live += log->list[i].is_free ? (size_t)-1 : 1;
        most = live > most ? live : most;
    }
    of = make_model();
    replay(&model, of, log);
    if (most > 0)
        printf("bytes_a_block_of_the_step %.1f\n", (double)held_bytes / (double)most);
    destroy_model(of);
    memset(log->address, 0, log->blocks * sizeof *log->address);
    xalloc_set_hook(NULL, NULL);
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
    struct log log = {list, count, blocks, xcalloc(blocks + 1, sizeof *log.address)};
    if (!log.address)
        return 1;
    bench(&model, &log);
    bench(&naive, &log);
    bench(&c_library, &log);
    bench_memory(&log);
    xfree(log.address);
    xfree(list);
    return 0;
}
