/* capture.c: see capture.h: start, the flush thread, the end, forks. */
#include "capture.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "ring.h"
#include "sink.h"
#include "strings.h"

enum { RING_BYTES = 1 << 20, THREADS = 1024, FLUSH_MS = 100, SAMPLE_EVERY = 5 };

static struct {
    pthread_once_t once;
    atomic_bool on;
    pid_t pid;
    struct strings *strings;
    struct rings *rings;
    struct sink *sink;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ends; /* under the lock */
    long flush_ms;
    _Atomic(uint64_t) armed, dropped;
} the = {.once = PTHREAD_ONCE_INIT};

bool capture_is_on(void) {
    return atomic_load_explicit(&the.on, memory_order_acquire);
}

void capture_put(struct record_head *record) {
    bool pressing;
    if (!capture_is_on())
        return;
    rings_put(the.rings, record, &pressing);
    if (pressing)
        pthread_cond_signal(&the.wake);
}

void capture_add(const uint8_t *records, size_t bytes) {
    if (capture_is_on())
        sink_add(the.sink, records, bytes);
}

uint32_t capture_text(const char *text) {
    return capture_is_on() ? strings_id(the.strings, text) : 0;
}

uint32_t capture_text_wide(const void *wide) {
    return capture_is_on() ? strings_id_wide(the.strings, wide) : 0;
}

void capture_note(enum note_severity severity, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (severity != NOTE_INFO)
        fprintf(stderr, "vramsim capture: %s\n", text);
    struct record_note note = {
        .head = CAPTURE_HEAD(note, RECORD_NOTE), .severity = severity, .text = capture_text(text)};
    capture_put(&note.head);
}

void capture_lost(uint32_t source, uint64_t count) {
    struct record_dropped record = {
        .head = CAPTURE_HEAD(record, RECORD_DROPPED), .source = source, .count = count};
    atomic_fetch_add(&the.dropped, count);
    if (capture_is_on())
        sink_add(the.sink, (const uint8_t *)&record, sizeof record);
}

/* --- the header --- */

static void add_json(char *out, size_t room, const char *key, const char *value) {
    size_t used = strlen(out);
    if (!value || used + 2 * strlen(value) + strlen(key) + 16 > room) /* 16: signs around them */
        return;
    used += (size_t)snprintf(out + used, room - used, "%s\"%s\":\"", used > 1 ? "," : "", key);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (c == '"' || c == '\\')
            out[used++] = '\\';
        out[used++] = c < 0x20 ? ' ' : (char)c;
    }
    out[used++] = '"';
    out[used] = '\0';
}

/* A list of variables that say how the run was set up; never the whole environment, nor the arguments. */
static void describe(void) {
    static const char *const kept[] = {"CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF",
                                       "PYTORCH_ALLOC_CONF",   "RANK",
                                       "LOCAL_RANK",           "WORLD_SIZE"};
    char json[3000] = "{", host[256] = "", program[1024] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *slash = length > 0 ? strrchr(program, '/') : NULL;
    add_json(json, sizeof json, "program", slash ? slash + 1 : NULL);
    if (gethostname(host, sizeof host - 1) == 0)
        add_json(json, sizeof json, "host", host);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        add_json(json, sizeof json, kept[i], getenv(kept[i]));
    size_t used = strlen(json); /* add_json has left room */
    json[used] = '}';
    json[used + 1] = '\0';
    sink_set_header(the.sink, atomic_load(&the.armed), json);
}

void capture_armed(uint64_t sources) {
    uint64_t before = atomic_fetch_or(&the.armed, sources);
    if ((before | sources) != before && capture_is_on())
        describe(); /* until the header is out; then the records themselves tell */
}

bool capture_has(uint64_t sources) {
    return (atomic_load(&the.armed) & sources) != 0;
}

/* --- flushing --- */

static void flush(bool forced) {
    struct record_clock clock = {.head = CAPTURE_HEAD(clock, RECORD_CLOCK),
                                 .monotonic = clock_monotonic(),
                                 .cupti = RECORD_UNKNOWN64};
    cupti_flush(forced);
    uint64_t dropped = rings_take_dropped(the.rings);
    if (dropped > 0)
        capture_lost(0, dropped);
    sink_add(the.sink, (const uint8_t *)&clock, sizeof clock);
    sink_flush(the.sink, the.rings);
}

static bool wait_for_next(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += the.flush_ms % 1000 * 1000000;
    until.tv_sec += the.flush_ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&the.lock);
    if (!the.ends)
        pthread_cond_timedwait(&the.wake, &the.lock, &until);
    bool ends = the.ends;
    pthread_mutex_unlock(&the.lock);
    return !ends;
}

static void *run(void *unused) {
    (void)unused;
    for (unsigned round = 0; wait_for_next(); round++) {
        if (!sink_is_open(the.sink)) {
            atomic_store(&the.on, false);
            break;
        }
        if (round % SAMPLE_EVERY == 0)
            sample_take();
        flush(false);
    }
    return NULL;
}

static bool start_thread(void) {
    pthread_condattr_t attributes;
    sigset_t all, before;
    if (pthread_mutex_init(&the.lock, NULL) != 0 || pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (pthread_cond_init(&the.wake, &attributes) != 0)
        return false;
    sigfillset(&all); /* the program's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    the.has_thread = pthread_create(&the.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return the.has_thread;
}

/* --- the end --- */

static void finish(void) {
    if (!capture_is_on() || getpid() != the.pid)
        return;
    pthread_mutex_lock(&the.lock);
    the.ends = true;
    pthread_cond_signal(&the.wake);
    pthread_mutex_unlock(&the.lock);
    if (the.has_thread)
        pthread_join(the.thread, NULL);
    flush(true);
    atomic_store(&the.on, false);
    sink_end(the.sink, atomic_load(&the.dropped), END_EXIT);
}

/* CUDA cannot be used in a forked child, and threads and locks of ours are not there. */
static void in_child(void) {
    atomic_store(&the.on, false);
    if (the.sink)
        sink_forget(the.sink);
    cupti_forget();
}

/* --- the start --- */

/* Never unloaded: CUPTI and NVTX keep pointers into it. */
static void pin_itself(void) {
    Dl_info info;
    if (dladdr((void *)&the, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NODELETE | RTLD_NOLOAD);
}

static void chain(void) {
    const char *path = getenv("VRAMSIM_NEXT_INJECTION");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*entry)(void) = NULL;
    if (!path || !*path)
        return;
    if (library)
        *(void **)&entry = dlsym(library, "InitializeInjection");
    if (entry)
        entry();
    else
        capture_note(NOTE_WARNING, "%s: the injection that was set before cannot be loaded", path);
}

static void start(void) {
    const char *path = getenv("VRAMSIM_OUT"), *ms = getenv("VRAMSIM_FLUSH_MS");
    the.pid = getpid();
    the.flush_ms = ms ? strtol(ms, NULL, 10) : FLUSH_MS;
    if (the.flush_ms < 1 || the.flush_ms > 60000)
        the.flush_ms = FLUSH_MS;
    the.strings = strings_create();
    the.rings = the.strings ? rings_create(RING_BYTES, THREADS) : NULL;
    the.sink =
        the.rings ? sink_open(path && *path ? path : "vramsim.%h.%p.vrt", the.strings) : NULL;
    if (!the.sink)
        return;
    pin_itself();
    atomic_store(&the.on, true);
    describe();
    chain();
    cupti_arm();
    sample_start();
    describe();
    if (!start_thread()) {
        atomic_store(&the.on, false);
        sink_end(the.sink, 0, END_CLOSED);
        fprintf(stderr, "vramsim capture: no thread to write with; nothing is recorded\n");
        return;
    }
    pthread_atfork(NULL, NULL, in_child);
    atexit(finish);
}

bool capture_start(void) {
    pthread_once(&the.once, start);
    return capture_is_on();
}

/* The driver calls it when CUDA starts. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void) {
    capture_start();
    return 1;
}
