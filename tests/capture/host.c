/* host.c: a program that a capture listens to, on a machine without a GPU: it loads what CUDA_INJECTION64_PATH names, as the
 * driver would, and does what its standard input says, a command a line:
 *
 *   alloc|free DEVICE KIND ADDRESS BYTES [POOL POOL_BYTES]      pool OPERATION DEVICE ADDRESS BYTES
 *   device ORDINAL BYTES NAME          kernel NAME              unknown | drop N | hold 0|1
 *   reserve|unreserve|map|unmap ADDRESS BYTES [HANDLE]          create HANDLE BYTES DEVICE     release HANDLE
 *   push NAME | pop | domain_push NAME | push_wide | push_registered NAME | mark NAME
 *   threads N COUNT                    N threads, each COUNT allocations and frees, with ranges
 *   stream MS                          an allocation and a free each millisecond
 *   rate N MS                          N records of allocations and frees a second, evenly
 *   sleep MS                           say TEXT
 *   exit return|exit|_exit|abort|kill  fork                     exec */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "cupti_abi.h"
#include "fake_cupti.h"

/* --- NVTX, as nvtx3's headers have it in every program that uses it --- */

typedef void function(void);
static function *core[16], *core2[16];
static function **core_table[16], **core2_table[16];

struct attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, zero;
    uint64_t payload;
    int32_t text_type;
    uint32_t padding;
    const void *text;
};

static int module_table(int module, function ****table, unsigned *count) {
    if (module != 1 && module != 5)
        return 0;
    *table = module == 1 ? core_table : core2_table;
    *count = 16;
    return 1;
}

static const struct {
    size_t bytes;
    int (*module_table)(int module, function ****table, unsigned *count);
} callbacks = {sizeof callbacks, module_table};

static const void *export_table(uint32_t id) {
    return id == 1 ? &callbacks : NULL;
}

static void start_nvtx(void) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*entry)(const void *(*)(uint32_t)) = NULL;
    for (int i = 0; i < 16; i++) {
        core_table[i] = &core[i];
        core2_table[i] = &core2[i];
    }
    if (library)
        *(void **)&entry = dlsym(library, "InitializeInjectionNvtx2");
    if (entry)
        entry(export_table);
}

static void push(const char *name) {
    if (core[9])
        ((int (*)(const char *))core[9])(name);
}

static void pop(void) {
    if (core[11])
        ((int (*)(void))core[11])();
}

static void push_attributes(unsigned slot, const void *domain, int type, const void *text) {
    struct attributes a = {.version = 3, .bytes = sizeof a, .text_type = type, .text = text};
    if (slot == 8 && core[8])
        ((int (*)(const struct attributes *))core[8])(&a);
    else if (core2[4])
        ((int (*)(const void *, const struct attributes *))core2[4])(domain, &a);
}

static void domain_push(const char *name) {
    const void *domain = core2[12] ? ((void *(*)(const char *))core2[12])("NCCL") : NULL;
    push_attributes(4, domain, 1, name);
}

static void push_registered(const char *name) {
    const void *text =
        core2[10] ? ((void *(*)(const void *, const char *))core2[10])(NULL, name) : NULL;
    push_attributes(8, NULL, 3, text);
}

static void mark(const char *name) {
    if (core[2])
        ((void (*)(const char *))core[2])(name);
}

/* --- threads --- */

struct worker {
    unsigned long index, count;
};

static void *work(void *of) {
    const struct worker *w = of;
    for (unsigned long i = 0; i < w->count; i++) {
        uint64_t address = UINT64_C(0x7f0000000000) + (w->index << 36) + (i % 64 << 21);
        push("worker");
        fake_memory(1, 3, 0, address, 2 << 20, 7, 0, 0, NULL);
        fake_memory(2, 3, 0, address, 2 << 20, 7, 0, 0, NULL);
        pop();
    }
    return NULL;
}

static void run_threads(unsigned long threads, unsigned long count) {
    pthread_t id[64];
    struct worker workers[64];
    threads = threads < 64 ? threads : 64;
    for (unsigned long i = 0; i < threads; i++) {
        workers[i] = (struct worker){i, count};
        if (pthread_create(&id[i], NULL, work, &workers[i]) != 0)
            exit(2);
    }
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
}

/* --- commands --- */

static int leave(const char *how) {
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    return 1; /* from main */
}

/* The child uses what the parent has no longer a right to: it must come to nothing. */
static void fork_child(void) {
    pid_t child = fork();
    if (child == 0) {
        push("child");
        pop();
        exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void exec_child(char **argv) {
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "r", stdin);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void sleep_ms(unsigned long ms) {
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static void call_range(uint32_t id, uint64_t address, uint64_t bytes, uint64_t handle) {
    uint64_t value = address;
    if (id == CALL_ADDRESS_RESERVE) {
        const uint64_t params[5] = {(uint64_t)(uintptr_t)&value, bytes, 0, 0, 0};
        fake_call(id, params, 0);
    } else {
        const uint64_t params[5] = {address, bytes, 0, handle, 0};
        fake_call(id, params, 0);
    }
}

static void call_create(uint64_t handle, uint64_t bytes, uint32_t device) {
    uint32_t prop[8] = {1, 0, 1, device, 0, 0, 0, 0};
    uint64_t value = handle;
    const uint64_t params[4] = {(uint64_t)(uintptr_t)&value, bytes, (uint64_t)(uintptr_t)prop, 0};
    fake_call(CALL_CREATE, params, 0);
}

static void stream(unsigned long ms) {
    for (unsigned long i = 0; i < ms; i++) {
        uint64_t address = UINT64_C(0x7f0000000000) + (i % 64 << 21);
        fake_memory(1, 3, 0, address, 2 << 20, 7, 0, 0, NULL);
        sleep_ms(1);
        fake_memory(2, 3, 0, address, 2 << 20, 7, 0, 0, NULL);
    }
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What a late wake left undone is made up for. */
static void rate(unsigned long per_second, unsigned long ms) {
    uint64_t begin = now_ns(), done = 0, total = (uint64_t)per_second * ms / 1000;
    while (done < total) {
        uint64_t due = (now_ns() - begin) / 1000 * per_second / 1000000;
        for (; done < due && done < total; done++)
            fake_memory(1 + done % 2, 3, 0, UINT64_C(0x7f0000000000) + (done / 2 % 64 << 21),
                        2 << 20, 7, 0, 0, NULL);
        sleep_ms(1);
    }
}

/* Numbers in any base of C's. */
struct line {
    char word[512], text[512];
    uint64_t number[6];
    int count;
};

static void parse(char *from, struct line *line) {
    memset(line, 0, sizeof *line);
    char *rest = from;
    for (char *w = strtok_r(from, " \n", &rest); w; w = strtok_r(NULL, " \n", &rest)) {
        char *end;
        uint64_t value = strtoull(w, &end, 0);
        if (!line->word[0])
            snprintf(line->word, sizeof line->word, "%s", w);
        else if (*end == '\0' && line->count < 6)
            line->number[line->count++] = value;
        else
            snprintf(line->text, sizeof line->text, "%s", w);
    }
}

static int run_line(const struct line *l, char **argv) {
    const uint64_t *n = l->number;
    const char *w = l->word;
    if (strcmp(w, "alloc") == 0 || strcmp(w, "free") == 0)
        fake_memory(*w == 'a' ? 1 : 2, (uint32_t)n[1], (uint32_t)n[0], n[2], n[3], 7, n[4], n[5],
                    l->text[0] ? strdup(l->text) : NULL);
    else if (strcmp(w, "pool") == 0)
        fake_pool((uint32_t)n[0], (uint32_t)n[1], n[2], n[3]);
    else if (strcmp(w, "device") == 0)
        fake_device((uint32_t)n[0], n[1], strdup(l->text));
    else if (strcmp(w, "kernel") == 0)
        fake_kernel(0, strdup(l->text));
    else if (strcmp(w, "unknown") == 0)
        fake_unknown_kind();
    else if (strcmp(w, "drop") == 0)
        fake_drop(n[0]);
    else if (strcmp(w, "hold") == 0)
        fake_hold((int)n[0]);
    else if (strcmp(w, "reserve") == 0)
        call_range(CALL_ADDRESS_RESERVE, n[0], n[1], 0);
    else if (strcmp(w, "unreserve") == 0)
        call_range(CALL_ADDRESS_FREE, n[0], n[1], 0);
    else if (strcmp(w, "map") == 0)
        call_range(CALL_MAP, n[0], n[1], n[2]);
    else if (strcmp(w, "unmap") == 0)
        call_range(CALL_UNMAP, n[0], n[1], 0);
    else if (strcmp(w, "create") == 0)
        call_create(n[0], n[1], (uint32_t)n[2]);
    else if (strcmp(w, "release") == 0)
        fake_call(CALL_RELEASE, n, 0);
    else if (strcmp(w, "push") == 0)
        push(l->text);
    else if (strcmp(w, "pop") == 0)
        pop();
    else if (strcmp(w, "domain_push") == 0)
        domain_push(l->text);
    else if (strcmp(w, "push_registered") == 0)
        push_registered(l->text);
    else if (strcmp(w, "push_wide") == 0)
        push_attributes(8, NULL, 2, L"\u524d\u5411");
    else if (strcmp(w, "mark") == 0)
        mark(l->text);
    else if (strcmp(w, "threads") == 0)
        run_threads((unsigned long)n[0], (unsigned long)n[1]);
    else if (strcmp(w, "stream") == 0)
        stream((unsigned long)n[0]);
    else if (strcmp(w, "rate") == 0)
        rate((unsigned long)n[0], (unsigned long)n[1]);
    else if (strcmp(w, "sleep") == 0)
        sleep_ms((unsigned long)n[0]);
    else if (strcmp(w, "say") == 0)
        printf("%s %llu\n", l->text, (unsigned long long)n[0]), fflush(stdout);
    else if (strcmp(w, "fork") == 0)
        fork_child();
    else if (strcmp(w, "exec") == 0)
        exec_child(argv);
    else if (strcmp(w, "exit") == 0)
        return leave(l->text);
    else if (*w && *w != '#')
        return fprintf(stderr, "host: '%s': no such command\n", w), 2;
    return 0;
}

int main(int argc, char **argv) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*entry)(void) = NULL;
    char text[1024];
    (void)argc;
    start_nvtx();
    if (path && *path && !library)
        fprintf(stderr, "host: %s\n", dlerror());
    if (library)
        *(void **)&entry = dlsym(library, "InitializeInjection");
    if (entry)
        entry();
    while (fgets(text, sizeof text, stdin)) {
        struct line line;
        parse(text, &line);
        int end = run_line(&line, argv);
        if (end != 0)
            return end == 1 ? 0 : end;
    }
    return 0;
}
