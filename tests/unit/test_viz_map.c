/* The address map: what lies where at any moment, rows of pixels, what is under one, against walking
 * all events (analysis/placement.h) and against looking at each block. */
#include "suite.h"

#include "app_state.h"
#include "failing_alloc.h"
#include "fragmentation.h"
#include "golden.h"
#include "input.h"
#include "map.h"
#include "map_view.h"
#include "space.h"
#include "text.h"
#include "tl_build.h"
#include "tl_random.h"
#include "viz_fixture.h"
#include "viz_play.h"

/* Two pools, two streams, a reservation with a hole, a block that another stream still uses. */
static const char by_hand[] = "device 64MiB 8MiB A_card\n"
                              "start segment z 2MiB small\n"
                              "start block y 512 at=z+1024 parameter\n"
                              "segment s0 20MiB\n"
                              "alloc a 4MiB at=s0+0 activation owner=model.mlp name=weight\n"
                              "alloc b 2097000 block=2097152 at=s0+8388608 temporary\n"
                              "segment s1 2MiB small\n"
                              "alloc c 100 at=s1+512 input\n"
                              "map e 4MiB\n"
                              "map e 4MiB\n"
                              "map e 4MiB\n"
                              "alloc d 1MiB at=e+0 gradient\n"
                              "alloc f 1MiB at=e+8388608 gradient\n"
                              "unmap e 4194304+4MiB\n"
                              "request b\n"
                              "free a\n"
                              "free c\n"
                              "free_segment s1\n"
                              "complete b\n";

static void assert_same(const struct placement *got, const struct placement *want) {
    assert_int_equal(got->ranges.count, want->ranges.count);
    for (size_t i = 0; i < want->ranges.count; i++) {
        assert_bytes_equal(got->ranges.at[i].address, want->ranges.at[i].address);
        assert_bytes_equal(got->ranges.at[i].bytes, want->ranges.at[i].bytes);
        assert_int_equal(got->ranges.at[i].segment, want->ranges.at[i].segment);
    }
    assert_int_equal(got->blocks.count, want->blocks.count);
    for (size_t i = 0; i < want->blocks.count; i++)
        assert_int_equal(got->blocks.at[i], want->blocks.at[i]);
    assert_int_equal(got->gaps.count, want->gaps.count);
    for (size_t i = 0; i < want->gaps.count; i++) {
        assert_bytes_equal(got->gaps.at[i].address, want->gaps.at[i].address);
        assert_bytes_equal(got->gaps.at[i].bytes, want->gaps.at[i].bytes);
        assert_int_equal(got->gaps.at[i].range, want->gaps.at[i].range);
    }
}

static void check_sums(const struct map *map, const struct space *space) {
    struct fragmentation want;
    struct error err = {0};
    uint64_t bytes = 0, allocated = 0, free_bytes = 0, largest = 0, active = 0;
    assert_ok(fragmentation_find(space->tl, 0, space->moment - 1, &want, &err), err);
    for (size_t i = 0; i < map->items.count; i++) {
        const struct map_item *item = &map->items.at[i];
        assert_bytes_equal(item->used + item->pending + item->free, item->bytes);
        assert_true(item->span >= item->bytes && item->rounding <= item->used);
        bytes += item->bytes;
        allocated += item->used;
        active += item->used + item->pending;
        free_bytes += item->free;
        largest = item->largest_free > largest ? item->largest_free : largest;
    }
    assert_bytes_equal(bytes, want.all.reserved_bytes);
    assert_bytes_equal(allocated, want.all.allocated_bytes);
    assert_bytes_equal(active, want.all.active_bytes);
    assert_bytes_equal(free_bytes, want.all.free_bytes);
    assert_bytes_equal(largest, want.all.largest_free_bytes);
}

/* Every pixel of an item's width is covered, by what map_at says has the most of it. */
static void check_pixels(const struct map *map, const struct space *space) {
    const struct placement *p = &space->placement;
    for (int line = 0; line < map->lines; line++)
        for (int x = 0; x < map->look.width; x++) {
            uint64_t from = ((uint64_t)line * (uint64_t)map->look.width + (uint64_t)x) * MAP_FINE;
            struct map_hit hit = {0};
            const struct map_item *item = NULL;
            for (size_t i = 0; i < map->items.count; i++)
                if (map_place(map, &map->items.at[i], 0) <= from &&
                    map_place(map, &map->items.at[i], map->items.at[i].span) > from)
                    item = &map->items.at[i];
            assert_int_equal(map_at(map, space, line, x, &hit), item != NULL);
            if (!item)
                continue;
            assert_ptr_equal(hit.item, item);
            if (hit.range == TIMELINE_NONE)
                continue; /* a hole */
            const struct placement_range *r = &p->ranges.at[hit.range];
            assert_int_equal(map->ranges.at[hit.range].item, item - map->items.at);
            uint64_t at = map->ranges.at[hit.range].at + hit.address - r->address;
            assert_true(map_place(map, item, at) < from + MAP_FINE);
            assert_true(map_place(map, item, at + hit.bytes) > from);
            if (hit.block != TIMELINE_NONE)
                assert_bytes_equal(space->tl->blocks.at[hit.block].address, hit.address);
        }
}

static void check(const struct timeline *tl, uint64_t seed, int count) {
    uint32_t slice = seed % 2 ? UINT32_MAX : 100;
    struct space space;
    struct map map = {0};
    struct error err = {0};
    struct fixture random = {.random = seed};
    space_start(&space, tl, 0);
    while (!space.done)
        assert_true(space_build(&space, slice));
    for (int i = 0; i < count; i++) {
        struct placement want;
        uint32_t moment = (uint32_t)fixture_random_below(&random, tl->events.count + 1);
        if (i % 3) /* a few events on, or back */
            moment = space.moment + (uint32_t)fixture_random_below(&random, 5);
        moment = moment > tl->events.count ? (uint32_t)tl->events.count : moment;
        assert_true(space_read(&space, moment));
        assert_ok(placement_find(tl, 0, moment - 1, &want, &err), err);
        assert_same(&space.placement, &want);
        placement_fini(&want);
        assert_true(map_read(&map, &space));
        check_sums(&map, &space);
        struct map_look look = {.width = 40 + (int)fixture_random_below(&random, 200),
                                .gap = 2,
                                .least = 1 + (int)fixture_random_below(&random, 5),
                                .large = (double)(100 << fixture_random_below(&random, 12)),
                                .small = 4096};
        map_arrange(&map, &space, &look);
        if (i % 5 == 0 && map.lines < 200)
            check_pixels(&map, &space);
    }
    map_fini(&map);
    space_fini(&space);
}

TEST(what_lies_where_equals_a_walk_of_all_events) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct timeline *tl = tl_random(seed, seed % 2 ? 400 : 6000);
        check(tl, seed, 150);
        timeline_destroy(tl);
    }
    struct timeline *tl = tl_build(by_hand);
    check(tl, 1, 200);
    timeline_destroy(tl);
}

TEST(rows_are_sorted_by_pool_and_a_reservation_shows_its_hole) {
    USE_STATE;
    struct timeline *tl = tl_build(by_hand);
    struct space space;
    struct map map = {0};
    struct map_hit hit;
    space_start(&space, tl, 0);
    assert_true(space_build(&space, UINT32_MAX));
    assert_true(space_read(&space, (uint32_t)tl->events.count - 7)); /* after the unmap */
    assert_true(map_read(&map, &space));
    map_arrange(
        &map, &space,
        &(struct map_look){.width = 30, .gap = 2, .least = 3, .large = 1 << 20, .small = 1 << 17});
    assert_int_equal(map.sections.count, 2);
    assert_int_equal(map.items.count, 4);
    const struct map_item *plain = &map.items.at[0], *mapped = &map.items.at[1];
    assert_int_equal(tl->segments.at[plain->segment].bytes, 20 << 20);
    assert_int_equal(plain->width, 20);
    assert_true(tl->segments.at[mapped->segment].expandable);
    assert_int_equal(mapped->end - mapped->first, 2);
    assert_bytes_equal(mapped->bytes, 8 << 20);
    assert_bytes_equal(mapped->span, 12 << 20);
    assert_int_equal(mapped->line, 1); /* the first row has no room for it */
    assert_true(map_at(&map, &space, 1, 5, &hit));
    assert_int_equal(hit.range, TIMELINE_NONE);
    assert_bytes_equal(hit.bytes, 4 << 20);
    assert_true(map_at(&map, &space, 1, 8, &hit));
    assert_int_equal(hit.block, 5); /* f */
    assert_true(map_at(&map, &space, 0, 6, &hit));
    assert_int_equal(hit.block, TIMELINE_NONE);
    assert_bytes_equal(hit.bytes, 4 << 20);
    assert_int_equal(map.items.at[2].line, 2);
    assert_int_equal(map.items.at[2].width, 16); /* small ones have their own scale */
    assert_int_equal(map.items.at[3].line, 3);
    assert_bytes_equal(map.items.at[0].pending, 0);
    assert_true(space_read(&space, (uint32_t)tl->events.count - 6)); /* b's free is asked for */
    assert_true(map_read(&map, &space));
    assert_bytes_equal(map.items.at[0].pending, 2 << 20);
    assert_bytes_equal(map.items.at[0].used, 4 << 20);
    map_fini(&map);
    space_fini(&space);
    timeline_destroy(tl);
}

static struct app *open_app(const struct timeline *tl, int width, int height) {
    struct error err = {0};
    struct app_options options = {.width = width, .height = height, .embedded_font = true};
    struct app *app = app_create(&options, tl, NULL, &err);
    assert_non_null(app);
    return app;
}

static void frame(struct app *app) {
    struct error err = {0};
    struct draw_list list = {0};
    assert_ok(app_frame(app, &list, &err), err);
    draw_fini(&list);
}

static void send(struct app *app, enum input_kind kind, int x, int y, double wheel, unsigned mods) {
    struct input in = {.kind = kind,
                       .x = x,
                       .y = y,
                       .wheel = wheel,
                       .mods = mods,
                       .button = BUTTON_LEFT,
                       .clicks = 1};
    app_input(app, &in);
}

TEST(a_click_pins_the_wheel_scrolls_and_zooms) {
    USE_STATE;
    struct timeline *tl = tl_random(5, 3000);
    struct app *app = open_app(tl, 1000, 700);
    viz_play(app,
             "expect map 0\nkey Shift+Down\nkey Alt++\nexpect map.row 0\nkey F4\nexpect map 1\n");
    frame(app);
    struct map_places places = map_view_places(app);
    struct map_hit hit = {0};
    int x = places.rows.x, y = places.rows.y + places.bar / 2;
    while (!map_view_at(app, &places, x, y, &hit) || hit.block == TIMELINE_NONE) {
        assert_true(++x < places.rows.x + places.rows.w);
    }
    send(app, INPUT_MOTION, x, y, 0, 0);
    frame(app);
    send(app, INPUT_PRESS, x, y, 0, 0);
    assert_int_equal(app->selection.pin, hit.block);
    frame(app);
    send(app, INPUT_PRESS, x, y, 0, 0);
    assert_int_equal(app->selection.pin, SELECTION_NONE);
    for (int i = 0; i < 30; i++)
        send(app, INPUT_WHEEL, x, y, 1, MOD_CTRL);
    frame(app);
    assert_true(app->map.map.lines > places.shown);
    viz_play(app, "key Shift+Down\nkey Shift+Down\n");
    int row = app->map.scroll;
    assert_true(row >= 2);
    send(app, INPUT_WHEEL, x, y, 1, 0);
    assert_int_equal(app->map.scroll, row - 1);
    viz_play(app, "key Shift+Up\n");
    assert_int_equal(app->map.scroll, row - 2);
    for (int i = 0; i < 40; i++)
        viz_play(app, "key Alt+-\n");
    frame(app);
    assert_int_equal(app->map.scroll, 0);
    viz_play(app, "key F4\nexpect map 0\n");
    app_destroy(app);
    timeline_destroy(tl);
}

TEST(a_window_builds_it_in_slices) {
    USE_STATE;
    struct timeline *tl = tl_random(5, 9000);
    struct app *app = open_app(tl, 1000, 700);
    app_use_layers(app, NULL);
    viz_play(app, "key F4\n");
    frame(app);
    assert_true(app_is_busy(app) && !app->map.space.done && app->map.map.items.count == 0);
    viz_play(app, "tick 16ms\n");
    assert_true(app->map.space.done);
    frame(app);
    assert_true(app->map.map.items.count > 0);
    app_destroy(app);
    timeline_destroy(tl);
}

TEST(without_addresses_it_says_so) {
    USE_STATE;
    struct timeline *tl = fixture_random(1, 100, 10);
    struct app *app = open_app(tl, 1000, 700);
    struct draw_list list = {0};
    struct text out = {0};
    struct error err = {0};
    viz_play(app, "key F4\n");
    assert_ok(app_frame(app, &list, &err), err);
    draw_dump(&list, &out);
    assert_non_null(strstr(text_get(&out), "not in this trace: addresses"));
    text_fini(&out);
    draw_fini(&list);
    app_destroy(app);
    timeline_destroy(tl);
}

TEST(what_a_search_has_not_found_is_dim) {
    USE_STATE;
    struct timeline *tl = tl_build(by_hand);
    for (int searches = 0; searches < 2; searches++) {
        struct app *app = open_app(tl, 1000, 700);
        struct draw_list list = {0};
        int bright = 0;
        viz_play(app, "key F4\ngoto event 5\n");
        if (searches)
            viz_play(app, "key /\ntype cat:gradient\nkey Enter\ngoto event 5\n");
        draw_start(&list, app->width, app->height);
        pane_map.draw(app, &list);
        for (size_t i = 0; i < list.commands.count; i++) /* the activation's block */
            bright += list.commands.at[i].kind == DRAW_RECT && list.commands.at[i].w > 20 &&
                      list.commands.at[i].color ==
                          theme_shade(app_band(app, CATEGORY_ACTIVATION).color, 1);
        assert_int_equal(bright > 0, !searches);
        draw_fini(&list);
        app_destroy(app);
    }
    timeline_destroy(tl);
}

/* The pane alone, with the pointer on a block or nowhere. */
TEST(the_pane_is_drawn_as_it_was) {
    USE_STATE;
    const struct {
        const char *golden;
        int scale;
        enum language language;
        enum theme_id theme;
        bool pointer;
    } cases[] = {
        {"tests/viz/golden/map-english.txt", 100, LANGUAGE_ENGLISH, THEME_DARK, false},
        {"tests/viz/golden/map-chinese.txt", 100, LANGUAGE_CHINESE, THEME_LIGHT, true},
        {"tests/viz/golden/map-150.txt", 150, LANGUAGE_ENGLISH, THEME_DARK, true},
        {"tests/viz/golden/map-200.txt", 200, LANGUAGE_CHINESE, THEME_CONTRAST, false},
    };
    struct timeline *tl = tl_build(by_hand);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        int scale = cases[i].scale;
        struct app_options options = {.width = 9 * scale,
                                      .height = 6 * scale,
                                      .scale_percent = scale,
                                      .language = cases[i].language,
                                      .theme = cases[i].theme,
                                      .embedded_font = true};
        struct app *app = app_create(&options, tl, NULL, &err);
        struct draw_list list = {0};
        struct text out = {0};
        assert_non_null(app);
        app_act(app, ACTION_MAP);
        app_go_to(app, (uint32_t)tl->events.count - 6);
        app_pin(app, 1, false);
        struct map_places places = map_view_places(app);
        app->pointer_x = cases[i].pointer ? places.rows.x + places.rows.w / 20 : -1;
        app->pointer_y = places.rows.y + 2;
        draw_start(&list, app->width, app->height);
        pane_map.draw(app, &list);
        assert_false(list.failed);
        draw_dump(&list, &out);
        assert_golden(text_get(&out), cases[i].golden);
        text_fini(&out);
        draw_fini(&list);
        app_destroy(app);
    }
    timeline_destroy(tl);
}

static const struct timeline *failing;

static bool session(void) {
    struct error err = {0};
    struct app_options options = {.width = 900, .height = 600, .embedded_font = true};
    struct app *app = app_create(&options, failing, NULL, &err);
    struct draw_list list = {0};
    bool good = app != NULL;
    if (app) {
        app_act(app, ACTION_MAP);
        struct map_places places = map_view_places(app);
        app->pointer_x = places.rows.x + 3;
        app->pointer_y = places.rows.y + 3;
        good = app_frame(app, &list, &err);
        app->cursor = 7;
        good = app_frame(app, &list, &err) && good;
    }
    draw_fini(&list);
    app_destroy(app);
    return good;
}

/* A glyph that cannot be kept is left out: a session goes well then. */
TEST(every_allocation_of_the_map_may_fail) {
    USE_STATE;
    struct timeline *tl = tl_build(by_hand);
    failing = tl;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        xalloc_set_hook(failing_alloc_hook, &f);
        failures += !session();
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        if (f.seen < n)
            break;
    }
    assert_true(failures > 30);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(what_lies_where_equals_a_walk_of_all_events),
      cmocka_unit_test(rows_are_sorted_by_pool_and_a_reservation_shows_its_hole),
      cmocka_unit_test(a_click_pins_the_wheel_scrolls_and_zooms),
      cmocka_unit_test(a_window_builds_it_in_slices),
      cmocka_unit_test(without_addresses_it_says_so),
      cmocka_unit_test(what_a_search_has_not_found_is_dim),
      cmocka_unit_test(the_pane_is_drawn_as_it_was),
      cmocka_unit_test(every_allocation_of_the_map_may_fail))
