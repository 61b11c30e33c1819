/* The plot that a window keeps as pixels: after any input it is what a picture made at once would be;
 * columns kept through a pan are those read anew. */
#include "suite.h"

#include <string.h>

#include "app_state.h"
#include "failing_alloc.h"
#include "input.h"
#include "raster.h"
#include "viz_fixture.h"

enum { WIDTH = 700, HEIGHT = 480 };

static struct app *open_app(const struct timeline *a, const struct timeline *b) {
    struct error err = {0};
    struct app_options options = {.width = WIDTH, .height = HEIGHT, .embedded_font = true};
    struct app *app = app_create(&options, a, b, &err);
    assert_non_null(app);
    return app;
}

static void paint(struct app *app, uint32_t *pixels) {
    struct draw_list list = {0};
    struct error err = {0};
    struct canvas canvas = {
        .pixels = pixels, .width = app->width, .height = app->height, .pitch = (size_t)app->width};
    assert_ok(app_frame(app, &list, &err), err);
    raster_paint(&canvas, &list, app_font(app));
    draw_fini(&list);
}

static void send(struct app *app, enum input_kind kind, int x, int y, double wheel, unsigned mods) {
    struct input in = {.kind = kind,
                       .x = x,
                       .y = y,
                       .wheel = wheel,
                       .wheel_x = kind == INPUT_WHEEL && mods == 0 ? wheel / 7 : 0,
                       .mods = mods,
                       .button = BUTTON_LEFT,
                       .clicks = 1,
                       .milliseconds = 16};
    app_input(app, &in);
}

static void press(struct app *app, uint32_t key, unsigned mods) {
    struct input in = {.kind = INPUT_KEY, .key = key, .mods = mods};
    app_input(app, &in);
}

/* A pan, a zoom, a change of what is shown, by turns; few zooms out, so that all depths are seen. */
static void act(struct app *app, struct fixture *random) {
    enum { KEY_BANDS = 'c' }; /* with Alt: other bands */
    static const uint32_t keys[] = {'a', 'd', 'a', 'd', 'w', 'y',      't',
                                    'v', '3', '0', 'x', 'p', KEY_BANDS};
    const struct rect *r = &app->layout.plot;
    int x = r->x + (int)fixture_random_below(random, (uint64_t)r->w);
    int y = r->y + (int)fixture_random_below(random, (uint64_t)r->h);
    uint32_t key;
    switch (fixture_random_below(random, 5)) {
    case 0:
        send(app, INPUT_WHEEL, x, y, (double)fixture_random_below(random, 7) - 2, 0);
        break;
    case 1:
        send(app, INPUT_WHEEL, x, y, (double)fixture_random_below(random, 5) - 2, MOD_SHIFT);
        break;
    case 2:
        key = keys[fixture_random_below(random, sizeof keys / sizeof keys[0])];
        press(app, key, key == KEY_BANDS ? MOD_ALT : 0);
        break;
    default:
        send(app, INPUT_PRESS, x, y, 0, 0);
        send(app, INPUT_MOTION, x + (int)fixture_random_below(random, 300) - 150, y, 0, 0);
        send(app, INPUT_RELEASE, x + (int)fixture_random_below(random, 300) - 150, y, 0, 0);
    }
}

static void assert_same(const uint32_t *got, const uint32_t *want, int step, const char *when) {
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        if (got[i] != want[i])
            fail_msg("step %d, %s: pixel %zu, %zu is %06x, expected %06x", step, when, i % WIDTH,
                     i / WIDTH, got[i], want[i]);
}

static void check_layers(const struct timeline *a, const struct timeline *b, uint64_t seed) {
    struct app *app = open_app(a, b);
    struct fixture random = {.random = seed};
    uint32_t *got = calloc((size_t)WIDTH * HEIGHT, 4), *want = calloc((size_t)WIDTH * HEIGHT, 4);
    assert_true(got && want);
    app_use_layers(app, NULL);
    app->bands_at_once = seed % 2 ? 0 : app->bands_at_once;
    for (int step = 0; step < 60; step++) {
        do { /* other bands come with a tick: another frame, another tick */
            paint(app, got);
            send(app, INPUT_TICK, 0, 0, 0, 0);
        } while (app->layers[0].look.serial != app->plot.serial);
        assert_false(app_is_busy(app));
        paint(app, got);
        app->layered = false;
        paint(app, want);
        app->layered = true;
        assert_same(got, want, step, "refined");
        act(app, &random);
    }
    free(got);
    free(want);
    app_destroy(app);
}

TEST(layers_are_what_a_picture_made_at_once_is) {
    USE_STATE;
    struct timeline *a = fixture_random(3, 8000, 150), *b = fixture_random(4, 5000, 60);
    struct fixture one = fixture_start("one");
    fixture_alloc(&one, 1 << 20, CATEGORY_INPUT, "a", "op");
    check_layers(a, NULL, 1);
    check_layers(a, b, 2);
    check_layers(one.tl, a, 3);
    timeline_destroy(a);
    timeline_destroy(b);
    timeline_destroy(one.tl);
}

/* With a clock that is always late, a tick refines nothing it need not: groups stay. */
static uint64_t late_ns;
static uint64_t late(void) {
    return late_ns += 1000000;
}

TEST(blocks_come_in_slices_from_the_pointer_outwards) {
    USE_STATE;
    struct timeline *a = fixture_random(5, 60000, 300);
    struct app *app = open_app(a, NULL);
    uint32_t *pixels = calloc((size_t)WIDTH * HEIGHT, 4);
    assert_non_null(pixels);
    app_use_layers(app, late);
    const struct plot_layer *layer = &app->layers[0];
    send(app, INPUT_MOTION, app->layout.plot.x + 200, app->layout.plot.y + 50, 0, 0);
    paint(app, pixels);
    assert_int_equal(layer->missing, layer->width);
    send(app, INPUT_TICK, 0, 0, 0, 0); /* 16 ms after a zoom: not yet */
    assert_int_equal(layer->missing, layer->width);
    int ticks = 0, before = layer->width;
    for (; layer->missing > 0; ticks++) {
        send(app, INPUT_TICK, 0, 0, 0, 0);
        assert_true(layer->missing == before || app_is_dirty(app));
        if (layer->missing < before && layer->missing > layer->width / 2)
            assert_int_equal(layer->detail.at[200], LAYER_BLOCKS);
        assert_true(before - layer->missing <= 7 * LAYER_TILE);
        before = layer->missing;
        paint(app, pixels);
        assert_true(ticks < 1000);
    }
    assert_true(ticks > 2);
    while (app_is_busy(app)) /* then the index of blocks */
        send(app, INPUT_TICK, 0, 0, 0, 0);
    assert_true(app->a.streams.done);
    send(app, INPUT_MOTION, app->layout.plot.x + 20, app->layout.plot.y + 50, 0, 0);
    paint(app, pixels);
    assert_int_equal(layer->missing, 0); /* a moved pointer costs nothing */
    free(pixels);
    app_destroy(app);
    timeline_destroy(a);
}

static void assert_columns(const struct column *a, const struct column *b) {
    assert_bytes_equal(a->max, b->max);
    assert_bytes_equal(a->min, b->min);
    assert_bytes_equal(a->reserved, b->reserved);
    assert_int_equal(a->arg, b->arg);
    assert_memory_equal(a->group, b->group, sizeof a->group);
}

static void check_cache(const struct plot_cache *cache, const struct ruler *ruler) {
    uint32_t edges[WIDTH + 1];
    struct column columns[WIDTH];
    int width = cache->grid.width;
    column_edges(ruler, &cache->grid, 0, width, edges);
    column_read_all(ruler->lod, edges, width, columns);
    for (int i = 0; i < width; i++) {
        assert_int_equal(cache->edges.at[i], edges[i]);
        assert_columns(&cache->first.at[i], &columns[i]);
    }
    assert_int_equal(cache->edges.at[width], edges[width]);
}

TEST(columns_kept_through_a_pan_are_those_read_anew) {
    USE_STATE;
    struct timeline *tl = fixture_random(7, 90000, 300);
    struct app *app = open_app(tl, NULL);
    struct fixture random = {.random = 5};
    for (int i = 0; i < 300; i++) {
        struct ruler ruler = app_ruler(app);
        uint32_t serial = app->plot.serial;
        assert_true(app_settle_view(app));
        check_cache(&app->plot, &ruler);
        struct view before = app->view;
        serial = app->plot.serial;
        assert_true(app_settle_view(app)); /* settled: stays */
        assert_int_equal(app->plot.serial, serial);
        assert_true(app->view.x0 == before.x0 && app->view.x1 == before.x1);
        act(app, &random);
    }
    app_destroy(app);
    timeline_destroy(tl);
}

TEST(both_ends_of_a_trace_can_be_seen) {
    USE_STATE;
    struct timeline *tl = fixture_random(8, 5000, 100);
    for (int axis = 0; axis < 2; axis++) {
        struct app *app = open_app(tl, NULL);
        if (axis == 1)
            press(app, 'x', 0);
        for (int zoom = 0; zoom < 20; zoom++) {
            send(app, INPUT_WHEEL, 333, 300, 1, MOD_CTRL);
            assert_true(app_settle_view(app));
            for (int i = 0; i < 200; i++) {
                press(app, 'd', 0);
                assert_true(app_settle_view(app));
            }
            assert_int_equal(app->plot.edges.at[app->plot.grid.width], app->a.lod.moments);
            for (int i = 0; i < 200; i++) {
                press(app, 'a', 0);
                assert_true(app_settle_view(app));
            }
            assert_int_equal(app->plot.edges.at[0], 0);
        }
        app_destroy(app);
    }
    timeline_destroy(tl);
}

static struct timeline *failing_tl;
static bool session(void) {
    struct error err = {0};
    struct app_options options = {.width = 300, .height = 200, .embedded_font = true};
    struct app *app = app_create(&options, failing_tl, NULL, &err);
    struct draw_list list = {0};
    bool good = app != NULL;
    if (good) {
        app_use_layers(app, NULL);
        for (int i = 0; i < 3; i++) {
            good = app_frame(app, &list, &err) && good;
            send(app, INPUT_TICK, 0, 0, 0, 0);
            send(app, INPUT_WHEEL, 100, 100, 2, 0);
        }
        good = good && app->a.streams.done;
    }
    draw_fini(&list);
    app_destroy(app);
    return good;
}

TEST(every_allocation_may_fail) {
    USE_STATE;
    failing_tl = fixture_random(1, 300, 20);
    assert_true(fail_each_allocation(session) > 10);
    timeline_destroy(failing_tl);
}

SUITE(cmocka_unit_test(layers_are_what_a_picture_made_at_once_is),
      cmocka_unit_test(blocks_come_in_slices_from_the_pointer_outwards),
      cmocka_unit_test(columns_kept_through_a_pan_are_those_read_anew),
      cmocka_unit_test(both_ends_of_a_trace_can_be_seen),
      cmocka_unit_test(every_allocation_may_fail))
