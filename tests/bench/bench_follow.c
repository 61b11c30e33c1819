/* bench_follow.c: the viewer on a recording that is being written, through SDL's software renderer without a display: a
 * file of EVENTS events that grows by 10,000 each half second, while a pointer scrubs at 60 frames a second.
 * usage: bench_follow FILE.vrt [EVENTS [SECONDS]]     a row each: what, figure, limit, figure / limit
 * Frames are timed in the processor time of the one thread that draws and, beside it, on the clock on the wall, which on a
 * shared machine has the time of others too. */
#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "error.h"
#include "sdl_window.h"
#include "session.h"
#include "view_options.h"
#include "viz_large.h"
#include "vrt_format.h"
#include "vrt_write.h"

enum {
    WIDTH = 1600,
    HEIGHT = 900,
    LIVE = 5000,
    STEP_EVENTS = 10000,
    STEP_MS = 500,
    FRAME_MS = 16,
    FRAMES = 1 << 16
};

static double read_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void row(const char *what, double value, const char *unit, double limit) {
    if (limit > 0)
        printf("%-46s %10.2f %-5s %8.6g %6.2f\n", what, value, unit, limit, value / limit);
    else
        printf("%-46s %10.2f %-5s %8s %6s\n", what, value, unit, "-", "-");
}

static void rows(const char *what, double *ms, int count, double median, double most) {
    char name[100];
    qsort(ms, (size_t)count, sizeof *ms, compare);
    snprintf(name, sizeof name, "%s: median", what);
    row(name, ms[count / 2], "ms", median);
    snprintf(name, sizeof name, "%s: 99 of 100", what);
    row(name, ms[count * 99 / 100], "ms", most);
    snprintf(name, sizeof name, "%s: longest", what);
    row(name, ms[count - 1], "ms", 0);
}

static void need(bool good, const struct error *err) {
    if (good)
        return;
    fprintf(stderr, "bench_follow: %s\n", err->text);
    exit(1);
}

static bool append(void *user, const void *bytes, size_t count, struct error *err) {
    return fwrite(bytes, 1, count, user) == count ||
           error_set(err, ERROR_IO_WRITE, "the file cannot be written");
}

/* What is recorded, and its file. */
struct growth {
    struct large large;
    struct vrt_out out;
    struct vrt_writer writer;
    uint32_t events;
};

static void grow(struct growth *g, uint32_t events) {
    struct error err = {0};
    g->events += events;
    large_phase(&g->large, g->events / STEP_EVENTS % 2, g->events, LIVE);
    need(vrt_writer_add(&g->writer, g->large.f.tl, &err), &err);
    fflush(g->out.user);
}

static void move(int x, int y) {
    SDL_Event e = {.motion = {.type = SDL_MOUSEMOTION, .x = x, .y = y}};
    SDL_PushEvent(&e);
}

static uint64_t value(struct session *s, const char *name) {
    uint64_t v = 0;
    app_query(session_app(s), name, &v);
    return v;
}

static void measure(struct growth *g, struct session *s, double seconds) {
    static double cpu[FRAMES], wall[FRAMES], lag[FRAMES];
    struct error err = {0};
    double begin = read_ms(CLOCK_MONOTONIC), grown = begin;
    uint64_t seen = value(s, "events"), first = seen;
    int frames = 0, lags = 0;
    for (; frames < FRAMES && read_ms(CLOCK_MONOTONIC) - begin < seconds * 1e3; frames++) {
        double start = read_ms(CLOCK_MONOTONIC), start_cpu = read_ms(CLOCK_THREAD_CPUTIME_ID);
        move(300 + frames * 7 % 900, 300);
        need(session_step(s, 0, &err), &err);
        cpu[frames] = read_ms(CLOCK_THREAD_CPUTIME_ID) - start_cpu;
        double now = read_ms(CLOCK_MONOTONIC);
        wall[frames] = now - start;
        if (value(s, "events") > seen) {
            seen = value(s, "events");
            lag[lags++] = now - grown;
        }
        if (now - grown >= STEP_MS) {
            grow(g, STEP_EVENTS);
            grown = read_ms(CLOCK_MONOTONIC);
        }
        if (now - start < FRAME_MS) {
            struct timespec nap = {0, (long)((FRAME_MS - (now - start)) * 1e6)};
            nanosleep(&nap, NULL);
        }
    }
    printf("%d frames, %d times more events, %llu more in all\n", frames, lags,
           (unsigned long long)(seen - first));
    printf("%-46s %10s %-5s %8s %6s\n", "what", "value", "", "limit", "of it");
    rows("frames, processor time", cpu, frames, 16.6, 33);
    rows("frames, on the wall", wall, frames, 16.6, 33);
    if (lags > 0)
        rows("events on the screen after they were written", lag, lags, 0, 0);
}

int main(int argc, char **argv) {
    struct error err = {0};
    static struct view_options options;
    static struct growth g;
    const char *path = argc > 1 ? argv[1] : NULL;
    const struct vrt_header header = {.producer = VRT_CAPTURE};
    if (!path) {
        fprintf(stderr, "usage: bench_follow FILE.vrt [EVENTS [SECONDS]]\n");
        return 2;
    }
    if (!getenv("SDL_VIDEODRIVER"))
        setenv("SDL_VIDEODRIVER", "dummy", 1);
    g.out = (struct vrt_out){.write = append, .user = fopen(path, "wb")};
    need(g.out.user || error_set(&err, ERROR_IO_WRITE, "%s cannot be written", path), &err);
    need(vrt_writer_begin(&g.writer, &g.out, &header, false, &err), &err);
    large_start(&g.large, LIVE);
    uint32_t events = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000;
    while (g.events < events)
        grow(&g, STEP_EVENTS);
    options.files[0] = path;
    options.file_count = 1;
    options.app = (struct app_options){.width = WIDTH, .height = HEIGHT, .embedded_font = true};
    options.source.sets = options.sets;
    struct session *s = session_create(&options, NULL, &err);
    need(s && session_load(s, &err), &err);
    measure(&g, s, argc > 3 ? strtod(argv[3], NULL) : 20);
    while (session_is_loading(s))
        need(session_step(s, 1, &err), &err);
    row("read of the file since it grows",
        (double)session_bytes_followed(s) / (double)ftell(g.out.user), "files", 1.1);
    session_destroy(s);
    vrt_writer_fini(&g.writer);
    fclose(g.out.user);
    timeline_destroy(large_end(&g.large));
    return 0;
}
