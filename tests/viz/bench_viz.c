/* bench_viz.c: how long the viewer takes on many events: builds, frames at several zooms, seeks.
 * Not a test: prints. Usage: bench_viz [EVENTS [LIVE]] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app.h"
#include "app_state.h"
#include "draw.h"
#include "error.h"
#include "input.h"
#include "live.h"
#include "lod.h"
#include "peaks.h"
#include "raster.h"
#include "viz_fixture.h"

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_times(const char *what, double *ms, int count) {
    qsort(ms, (size_t)count, sizeof *ms, compare);
    printf("%-44s median %7.2f  p95 %7.2f  max %7.2f ms\n", what, ms[count / 2],
           ms[count * 95 / 100], ms[count - 1]);
}

static void frame(struct app *app, struct draw_list *list, struct canvas *canvas, double *draw,
                  double *paint) {
    struct error err = {0};
    double t0 = now_ms();
    if (!app_frame(app, list, &err))
        exit(1);
    double t1 = now_ms();
    raster_paint(canvas, list, app_font(app));
    *draw = t1 - t0;
    *paint = now_ms() - t1;
}

enum { FRAMES = 100 };

/* `zoom` times the wheel, then pans by 16 pixels a frame, or scrubs. */
static void bench_view(struct app *app, struct canvas *canvas, const char *what, double zoom,
                       bool scrub) {
    struct draw_list list = {0};
    double draw[FRAMES], paint[FRAMES], whole[FRAMES];
    char name[100];
    app_act(app, ACTION_WHOLE);
    struct input in = {.kind = INPUT_WHEEL, .x = 700, .y = 300, .wheel = zoom};
    app_input(app, &in);
    for (int i = 0; i < FRAMES; i++) {
        if (scrub)
            app->cursor =
                (uint32_t)((uint64_t)app->a.lod.moments * (uint64_t)(i * 37 % FRAMES) / FRAMES);
        else
            plot_cache_drop(&app->plot); /* as a pan does */
        frame(app, &list, canvas, &draw[i], &paint[i]);
        whole[i] = draw[i] + paint[i];
    }
    draw_fini(&list);
    snprintf(name, sizeof name, "%s: draw list", what);
    print_times(name, draw, FRAMES);
    snprintf(name, sizeof name, "%s: pixels", what);
    print_times(name, paint, FRAMES);
    snprintf(name, sizeof name, "%s: frame", what);
    print_times(name, whole, FRAMES);
}

int main(int argc, char **argv) {
    uint32_t events = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000000;
    uint32_t live_blocks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000;
    struct error err = {0};
    double t = now_ms();
    struct timeline *tl = fixture_random(1, events, live_blocks);
    printf("%u events, %zu blocks made in %.0f ms\n", (unsigned)tl->events.count, tl->blocks.count,
           now_ms() - t);
    struct lod lod;
    struct live live;
    struct peaks peaks;
    t = now_ms();
    bool good = lod_build(&lod, tl, 0, NULL, &err);
    printf("levels of detail       %7.1f ms, %.1f bytes an event\n", now_ms() - t,
           (double)lod.node_count[0] * (sizeof(struct lod_bucket) + sizeof(struct lod_node)) * 8 /
               7 / events);
    t = now_ms();
    good = good && live_build(&live, tl, 0, &err);
    printf("keyframes              %7.1f ms, %.1f bytes an event\n", now_ms() - t,
           (double)live.ids.capacity * 4 / events);
    t = now_ms();
    good = good && peaks_find(&lod, &peaks, &err);
    printf("local peaks            %7.1f ms\n", now_ms() - t);
    live_fini(&live);
    lod_fini(&lod);
    t = now_ms();
    struct app_options options = {.width = 1600, .height = 900};
    struct app *app = good ? app_create(&options, tl, NULL, &err) : NULL;
    if (!app) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    struct canvas canvas = {.width = 1600, .height = 900, .pitch = 1600};
    canvas.pixels = calloc(1600 * 900, sizeof *canvas.pixels);
    struct draw_list list = {0};
    double draw, paint;
    frame(app, &list, &canvas, &draw, &paint);
    printf("first picture          %7.1f ms after the load\n", now_ms() - t);
    draw_fini(&list);
    bench_view(app, &canvas, "pan, whole trace", 0, false);
    bench_view(app, &canvas, "pan, 2 % of it", 17.5, false);
    bench_view(app, &canvas, "pan, 0.02 % of it", 38, false);
    bench_view(app, &canvas, "scrub, whole trace", 0, true);
    free(canvas.pixels);
    app_destroy(app);
    timeline_destroy(tl);
    return 0;
}
