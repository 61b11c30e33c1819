/* bench_map.c: how long the address map takes: its build, a seek to any moment with everything read and
 * arranged, the same a few events on, the pane's draw list. Not a test: prints. Usage: bench_map
 * [EVENTS [LIVE]]; a thousand segments, blocks of many sizes where there is room, no allocator. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app.h"
#include "app_state.h"
#include "draw.h"
#include "error.h"
#include "viz_fixture.h"

enum { SEGMENTS = 1000, SLOTS = 64 };

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
    printf("%-44s median %7.3f  p95 %7.3f  max %7.3f ms\n", what, ms[count / 2],
           ms[count * 95 / 100], ms[count - 1]);
}

/* Each segment has slots of one size; a slot is taken or not. */
static struct timeline *make(uint32_t events, uint32_t live_blocks) {
    struct fixture f = fixture_start("slots");
    uint32_t *of_slot = malloc((size_t)SEGMENTS * SLOTS * sizeof *of_slot), live = 0;
    fixture_need(of_slot != NULL);
    f.tl->has |= TIMELINE_HAS_ADDRESS;
    fixture_device(&f, "A card", UINT64_C(80) << 30, 500 << 20);
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        uint64_t bytes = (uint64_t)SLOTS << (12 + i % 10);
        fixture_segment(&f, bytes);
        array_last(&f.tl->segments)->address =
            (UINT64_C(0x7f) << 40) + ((uint64_t)(i * 7919 % SEGMENTS) << 30);
        array_last(&f.tl->segments)->small_pool = i % 10 < 3;
    }
    for (size_t i = 0; i < (size_t)SEGMENTS * SLOTS; i++)
        of_slot[i] = TIMELINE_NONE;
    while (f.tl->events.count < events) {
        size_t slot = (size_t)fixture_random_below(&f, (uint64_t)SEGMENTS * SLOTS);
        uint32_t segment = (uint32_t)(slot / SLOTS);
        const struct timeline_segment *s = &f.tl->segments.at[segment];
        f.time_ns += 10;
        if (of_slot[slot] != TIMELINE_NONE) {
            struct timeline_block *b = &f.tl->blocks.at[of_slot[slot]];
            b->free_event = fixture_event(&f, EVENT_FREE_REQUESTED, of_slot[slot], 0);
            b->complete_event = fixture_event(&f, EVENT_FREE_COMPLETED, of_slot[slot], 0);
            of_slot[slot] = TIMELINE_NONE;
            live--;
        } else if (live < live_blocks) {
            uint64_t bytes = s->bytes / SLOTS;
            struct timeline_block b = {.address = s->address + slot % SLOTS * bytes,
                                       .requested_bytes = bytes - 100,
                                       .block_bytes = bytes,
                                       .free_event = TIMELINE_NONE,
                                       .complete_event = TIMELINE_NONE,
                                       .segment = segment,
                                       .phase = TIMELINE_NONE,
                                       .category = (uint8_t)(slot % CATEGORY_COUNT)};
            of_slot[slot] = (uint32_t)f.tl->blocks.count;
            b.alloc_event = fixture_event(&f, EVENT_ALLOC, of_slot[slot], bytes);
            fixture_need(timeline_add_block(f.tl, &b) != TIMELINE_NONE);
            live++;
        }
    }
    free(of_slot);
    return f.tl;
}

enum { FRAMES = 1000 };

static void bench_seeks(struct app *app, const char *what, uint32_t step) {
    struct map_places places = map_view_places(app);
    struct fixture random = {.random = 5};
    double ms[FRAMES], facts[FRAMES];
    char name[100];
    for (int i = 0; i < FRAMES; i++) {
        app->cursor =
            step ? app->cursor + step : (uint32_t)fixture_random_below(&random, app->a.lod.moments);
        app->cursor %= app->a.lod.moments;
        double t = now_ms();
        if (!map_view_read(app, &places))
            exit(1);
        ms[i] = now_ms() - t;
        t = now_ms();
        if (!map_view_read_facts(app))
            exit(1);
        facts[i] = now_ms() - t;
    }
    snprintf(name, sizeof name, "%s: map", what);
    print_times(name, ms, FRAMES);
    snprintf(name, sizeof name, "%s: what pins, what would be served", what);
    print_times(name, facts, FRAMES);
}

int main(int argc, char **argv) {
    uint32_t events = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000000;
    uint32_t live = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000;
    struct error err = {0};
    struct timeline *tl = make(events, live);
    struct app_options options = {.width = 1600, .height = 900};
    struct app *app = app_create(&options, tl, NULL, &err);
    if (!app) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%zu events, %zu blocks, %u live\n", tl->events.count, tl->blocks.count, live);
    app_act(app, ACTION_MAP);
    struct map_places places = map_view_places(app);
    double t = now_ms();
    if (!map_view_read(app, &places))
        return 1;
    printf("build                  %7.1f ms\n", now_ms() - t);
    bench_seeks(app, "any moment", 0);
    bench_seeks(app, "three events on", 3);
    t = now_ms();
    if (!free_runs_start(&app->strip.runs, tl, 0) || !free_runs_build(&app->strip.runs, UINT32_MAX))
        return 1;
    printf("fragmentation track    %7.1f ms\n", now_ms() - t);
    struct draw_list list = {0};
    double ms[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        t = now_ms();
        draw_start(&list, app->width, app->height);
        pane_map.draw(app, &list);
        ms[i] = now_ms() - t;
    }
    print_times("draw list of the pane", ms, FRAMES);
    draw_fini(&list);
    app_destroy(app);
    timeline_destroy(tl);
    return 0;
}
