/* bench_viewer.c: the viewer on a long timeline, through SDL's software renderer without a display:
 * scripted input at 1600 x 900, each frame timed from its events to what is shown, in
 * processor time.
 * usage: bench_viewer make FILE.vrt [EVENTS [LIVE]]   the recording of a made-up run
 *        bench_viewer run FILE                          a row each: what, figure, limit, figure / limit
 *        bench_viewer idle                              only the processor time of a window at rest
 * Exit 1 when something does not work at all; figures fail nothing. */
#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app_state.h"
#include "error.h"
#include "importer.h"
#include "sdl_window.h"
#include "viz_large.h"
#include "vrt_format.h"
#include "vrt_write.h"

enum { WIDTH = 1600, HEIGHT = 900, FRAMES = 300 };

struct bench {
    struct timeline *tl;
    struct app *app;
    struct window *window;
    double all[16 * FRAMES]; /* frames of every kind of motion */
    int count;
    double rest_ms; /* the longest until all blocks were there */
};

static double read_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Processor time of this one thread, which never waits within a frame: what an idle core would take,
 * and the same on a shared one. */
static double now_ms(void) {
    return read_ms(CLOCK_PROCESS_CPUTIME_ID);
}

static double wall_ms(void) {
    return read_ms(CLOCK_MONOTONIC);
}

static double resident_bytes(void) {
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &ignored, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
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

static void stop(const struct error *err) {
    fprintf(stderr, "bench_viewer: %s\n", err->text);
    exit(1);
}

static double frame(struct bench *b) {
    struct error err = {0};
    double start = now_ms();
    if (!window_step(b->window, 0, &err))
        stop(&err);
    return now_ms() - start;
}

static void push_motion(int x, int y) {
    SDL_Event e = {.motion = {.type = SDL_MOUSEMOTION, .x = x, .y = y}};
    SDL_PushEvent(&e);
}

static void push_button(bool down, int x, int y) {
    SDL_Event e = {.button = {.type = down ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP,
                              .button = SDL_BUTTON_LEFT,
                              .clicks = 1,
                              .x = x,
                              .y = y}};
    SDL_PushEvent(&e);
}

static void push_wheel(float y, bool bytes) {
    SDL_Event key = {.key = {.type = SDL_KEYUP}};
    key.key.keysym.mod = bytes ? KMOD_LSHIFT : 0;
    SDL_Event e = {.wheel = {.type = SDL_MOUSEWHEEL, .y = (int)y, .preciseY = y}};
    SDL_PushEvent(&key);
    SDL_PushEvent(&e);
}

static void push_key(SDL_Keycode sym) {
    SDL_Event e = {.key = {.type = SDL_KEYDOWN, .state = SDL_PRESSED}};
    e.key.keysym.sym = sym;
    SDL_PushEvent(&e);
}

/* As window_run: frames as fast as they come while there is something to do. */
static void rest(struct bench *b) {
    double start = now_ms();
    do
        frame(b);
    while (b->app->layers[0].missing > 0 && now_ms() - start < 5000);
    double took = now_ms() - start;
    b->rest_ms = took > b->rest_ms ? took : b->rest_ms;
}

static void keep(struct bench *b, const char *what, double *ms, int count, double p95_limit) {
    memcpy(b->all + b->count, ms, (size_t)count * sizeof *ms);
    b->count += count;
    qsort(ms, (size_t)count, sizeof *ms, compare);
    char name[100];
    snprintf(name, sizeof name, "%s: median", what);
    row(name, ms[count / 2], "ms", 0);
    snprintf(name, sizeof name, "%s: 95 of 100", what);
    row(name, ms[count * 95 / 100], "ms", p95_limit);
}

/* A press, FRAMES moves of the pointer, two events each, a release. */
static void drag(struct bench *b, const char *what, int y, double p95_limit) {
    double ms[FRAMES];
    push_button(true, 800, y);
    frame(b);
    for (int i = 0; i < FRAMES; i++) {
        int x = 800 + (i < FRAMES / 2 ? i * 4 : (FRAMES - i) * 4) - 300;
        push_motion(x - 1, y);
        push_motion(x, y + 1);
        ms[i] = frame(b);
    }
    push_button(false, 500, y);
    frame(b);
    keep(b, what, ms, FRAMES, p95_limit);
}

static void zoom(struct bench *b, const char *what, bool bytes) {
    double ms[FRAMES];
    push_motion(500, 300);
    frame(b);
    for (int i = 0; i < FRAMES; i++) {
        push_wheel(i % 60 < 30 ? 0.9f : -0.9f, bytes);
        ms[i] = frame(b);
    }
    keep(b, what, ms, FRAMES, 0);
}

/* The pointer over the plot, with nothing pressed. */
static void hover(struct bench *b) {
    double ms[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        push_motion(300 + i * 2, 300 + i % 50);
        ms[i] = frame(b);
    }
    keep(b, "pointer over the plot", ms, FRAMES, 8);
}

static void whole(struct bench *b) {
    push_wheel(0, false); /* no modifiers */
    push_key(SDLK_HOME);
    frame(b);
}

static void look(struct bench *b, const char *what, float wheel, float bytes) {
    char name[100];
    push_wheel(3, false); /* elsewhere first: what is there already takes no time */
    frame(b);
    whole(b);
    push_motion(500, 450);
    for (int i = 0; i < 20; i++) {
        push_wheel(wheel / 20, false);
        push_wheel(bytes / 20, true);
    }
    frame(b);
    b->rest_ms = 0;
    rest(b);
    snprintf(name, sizeof name, "%s: all blocks after rest", what);
    row(name, b->rest_ms, "ms", 200);
    snprintf(name, sizeof name, "%s: pan by a drag", what);
    drag(b, name, 300, 8);
    rest(b);
}

/* Other bands while the pointer scrubs; then motion with them. */
static void regroup(struct bench *b, enum owner_grouping by) {
    double ms[FRAMES], begin;
    int count = 0;
    whole(b);
    rest(b);
    push_button(true, 800, 300);
    frame(b);
    begin = now_ms();
    app_choose_bands(b->app, by);
    while (app_bands_are_building(b->app)) {
        push_motion(500 + count % 300, 300);
        ms[count % FRAMES] = frame(b);
        count++;
    }
    row("bands by stack: found while scrubbing", now_ms() - begin, "ms", 0);
    push_button(false, 500, 300);
    frame(b);
    keep(b, "bands by stack: scrub until then", ms, count < FRAMES ? count : FRAMES, 33);
    zoom(b, "bands by stack: zoom time", false);
    look(b, "bands by stack, whole", 0, 0);
    look(b, "bands by stack, 2 %", 17.5f, 0);
}

static void report(struct bench *b, double before) {
    double events = (double)b->tl->events.count;
    qsort(b->all, (size_t)b->count, sizeof *b->all, compare);
    row("all frames in motion: median", b->all[b->count / 2], "ms", 16.6);
    row("all frames in motion: 99 of 100", b->all[b->count * 99 / 100], "ms", 33);
    row("all frames in motion: longest", b->all[b->count - 1], "ms", 0);
    row("memory: the timeline", (double)timeline_bytes(b->tl) / events, "B/ev", 0);
    row("memory: resident, all of it", (resident_bytes() - before) / events, "B/ev", 120);
}

static bool append(void *user, const void *bytes, size_t count, struct error *err) {
    return fwrite(bytes, 1, count, user) == count ||
           error_set(err, ERROR_IO_WRITE, "the file cannot be written");
}

static int make(const char *path, uint32_t events, uint32_t live) {
    struct error err = {0};
    struct timeline *tl = large_timeline(events, live);
    struct vrt_out out = {.write = append, .user = fopen(path, "wb")};
    if (!out.user)
        error_set(&err, ERROR_IO_WRITE, "%s cannot be written", path);
    else if (vrt_write_all(&out, VRT_SIMULATOR, tl, &err) && fclose(out.user) != 0)
        error_set(&err, ERROR_IO_WRITE, "%s cannot be written", path);
    timeline_destroy(tl);
    if (err.code != ERROR_NONE)
        stop(&err);
    return 0;
}

static void start(struct bench *b) {
    struct error err = {0};
    struct app_options options = {.width = WIDTH, .height = HEIGHT, .embedded_font = true};
    b->app = app_create(&options, b->tl, NULL, &err);
    b->window = b->app ? window_create(b->app, WIDTH, HEIGHT, &err) : NULL;
    if (!b->window)
        stop(&err);
    frame(b);
}

static void end(struct bench *b) {
    window_destroy(b->window);
    app_destroy(b->app);
    timeline_destroy(b->tl);
}

/* In a real window: SDL's drivers without one look for events every millisecond. */
static int idle(void) {
    struct error err = {0};
    struct bench b = {.tl = large_timeline(100000, 500)};
    start(&b);
    while (app_is_busy(b.app))
        frame(&b);
    double cpu = now_ms(), begin = wall_ms();
    while (wall_ms() - begin < 2000)
        if (!window_step(b.window, 1000, &err))
            stop(&err);
    row("idle, in a window: processor time", (now_ms() - cpu) / (wall_ms() - begin) * 100, "%", 1);
    end(&b);
    return 0;
}

static void load(struct bench *b, const char *path) {
    struct error err = {0};
    struct stat s;
    double begin = now_ms();
    if (!trace_import(path, NULL, &b->tl, NULL, &err))
        stop(&err);
    double ms = now_ms() - begin, bytes = stat(path, &s) == 0 ? (double)s.st_size : 0;
    printf("%zu events, %zu blocks, a file of %.0f MB\n", b->tl->events.count, b->tl->blocks.count,
           bytes / 1e6);
    printf("%-46s %10s %-5s %8s %6s\n", "what", "value", "", "limit", "of it");
    row("load", ms, "ms", 0);
    row("load: of the file", bytes / 1e3 / ms, "MB/s", 0);
    row("load: events", (double)b->tl->events.count / 1e3 / ms, "M/s", 0);
}

static int run(const char *path) {
    static struct bench b;
    double before = resident_bytes();
    load(&b, path);
    double begin = now_ms();
    start(&b);
    row("first frame after load", now_ms() - begin, "ms", 1000);
    rest(&b);
    row("all its blocks", b.rest_ms, "ms", 0);
    while (app_is_busy(b.app))
        frame(&b);
    row("the index of blocks too", now_ms() - begin, "ms", 0);
    drag(&b, "scrub", 300, 8);
    hover(&b);
    zoom(&b, "zoom time", false);
    zoom(&b, "zoom bytes", true);
    look(&b, "whole trace", 0, 0);
    look(&b, "2 % of it", 17.5f, 0);
    look(&b, "0.02 % of it", 38, 0);
    look(&b, "whole trace, bytes x 64", 0, 18.6f);
    look(&b, "2 % of it, bytes x 1000", 17.5f, 31);
    regroup(&b, OWNER_BY_STACK);
    report(&b, before);
    end(&b);
    return 0;
}

int main(int argc, char **argv) {
    if (!getenv("SDL_VIDEODRIVER"))
        setenv("SDL_VIDEODRIVER", "dummy", 1);
    if (argc > 2 && strcmp(argv[1], "make") == 0)
        return make(argv[2], argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 10000000,
                    argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 5000);
    if (argc == 3 && strcmp(argv[1], "run") == 0)
        return run(argv[2]);
    if (argc == 2 && strcmp(argv[1], "idle") == 0)
        return idle();
    fprintf(stderr, "usage: bench_viewer make FILE.vrt [EVENTS [LIVE]] | run FILE | idle\n");
    return 2;
}
