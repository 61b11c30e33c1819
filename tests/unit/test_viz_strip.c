/* The track below the timeline: extremes of ranges, fragmentation and differences over time, against
 * looking at every moment. */
#include "suite.h"

#include "align.h"
#include "app_state.h"
#include "draw.h"
#include "failing_alloc.h"
#include "fragmentation.h"
#include "free_runs.h"
#include "golden.h"
#include "level.h"
#include "pyramid.h"
#include "state.h"
#include "text.h"
#include "tl_build.h"
#include "tl_random.h"
#include "viz_fixture.h"
#include "viz_play.h"

static struct extremes leaf(const void *row, uint32_t index) {
    int64_t value = ((const int64_t *)row)[index];
    return (struct extremes){value, value + (value & 3)};
}

TEST(extremes_of_any_range_are_those_of_its_numbers) {
    USE_STATE;
    enum { COUNT = 70000 };
    int64_t *row = malloc(COUNT * sizeof *row);
    struct pyramid p = {0};
    struct fixture random = {.random = 3};
    assert_non_null(row);
    for (uint32_t i = 0; i < COUNT; i++) {
        row[i] = (int64_t)fixture_random_below(&random, 1u << 30) - (1 << 29);
        assert_true(pyramid_add(&p, leaf(row, i)));
        if (i % 700 != 0 && i + 1 != COUNT)
            continue;
        for (int k = 0; k < 4; k++) { /* while it grows */
            uint32_t first = (uint32_t)fixture_random_below(&random, i + 1);
            uint32_t end = first + 1 + (uint32_t)fixture_random_below(&random, i + 1 - first);
            struct extremes want = leaf(row, first), got = pyramid_range(&p, first, end, leaf, row);
            for (uint32_t m = first; m < end; m++) {
                want.low = leaf(row, m).low < want.low ? leaf(row, m).low : want.low;
                want.high = leaf(row, m).high > want.high ? leaf(row, m).high : want.high;
            }
            assert_true(got.low == want.low && got.high == want.high);
        }
    }
    pyramid_fini(&p);
    free(row);
}

static void check_runs(const struct timeline *tl, uint32_t slice, uint32_t step) {
    struct free_runs runs;
    struct error err = {0};
    assert_true(free_runs_start(&runs, tl, 0));
    while (!runs.done)
        assert_true(free_runs_build(&runs, slice));
    assert_int_equal(runs.moments, tl->events.count + 1);
    for (uint32_t m = 0; m < runs.moments; m += step) {
        struct fragmentation want;
        assert_ok(fragmentation_find(tl, 0, m - 1, &want, &err), err);
        uint64_t all = want.all.free_bytes, run = want.all.largest_free_bytes;
        assert_bytes_equal(runs.free.at[m], all);
        assert_bytes_equal(runs.largest.at[m], run);
        struct extremes part = free_runs_range(&runs, FREE_RUNS_SCATTERED, m, m + 1);
        assert_int_equal(part.high, all ? (all - run) * 1000000 / all : 0);
    }
    free_runs_fini(&runs);
}

TEST(free_and_its_largest_run_equal_a_walk_of_all_events) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct timeline *tl = tl_random(seed, seed < 3 ? 500 : 4000);
        check_runs(tl, seed % 2 ? 1 : 777, seed < 3 ? 1 : 7);
        timeline_destroy(tl);
    }
}

/* 20 MiB in one piece, in two, in two segments, in a reservation with a hole. */
static const char by_hand[] =
    "segment s0 20MiB\n"           /* 0: 20 free, one run */
    "alloc a 4MiB at=s0+8388608\n" /* 1: 8 + 8 free */
    "segment s1 20MiB\n"           /* 2: 8 + 8 + 20: segments do not join */
    "alloc b 10MiB at=s1+0\n"      /* 3: 8 + 8 + 10 */
    "request a\n"                  /* 4: the same, a is still in use */
    "complete a\n"                 /* 5: 20 + 10 */
    "map e 4MiB\n"                 /* 6: 20 + 10 + 4 */
    "map e 4MiB\n"                 /* 7: 20 + 10 + 8: mapped ranges of one reservation join */
    "alloc d 1MiB at=e+4194304\n"  /* 8: 20 + 10 + 4 + 3 */
    "unmap e 0+4MiB\n"             /* 9: 20 + 10 + 3 */
    "free_segment s0\n";           /* 10: 10 + 3 */

TEST(hand_made_cases_of_fragmentation) {
    USE_STATE;
    static const unsigned free_mib[] = {0, 20, 16, 36, 26, 26, 30, 34, 38, 37, 33, 13},
                          run_mib[] = {0, 20, 8, 20, 10, 10, 20, 20, 20, 20, 20, 10};
    struct timeline *tl = tl_build(by_hand);
    struct free_runs runs;
    check_runs(tl, 3, 1);
    assert_true(free_runs_start(&runs, tl, 0) && free_runs_build(&runs, UINT32_MAX));
    assert_int_equal(runs.moments, 12);
    for (uint32_t m = 0; m < runs.moments; m++) {
        assert_bytes_equal(runs.free.at[m], (uint64_t)free_mib[m] << 20);
        assert_bytes_equal(runs.largest.at[m], (uint64_t)run_mib[m] << 20);
    }
    assert_int_equal(free_runs_range(&runs, FREE_RUNS_SCATTERED, 2, 3).high, 500000);
    struct extremes all = free_runs_range(&runs, FREE_RUNS_LARGEST, 1, 12);
    assert_true(all.low == 8 << 20 && all.high == 20 << 20);
    free_runs_fini(&runs);
    timeline_destroy(tl);
}

TEST(bad_addresses_and_lost_records_break_nothing) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct timeline *tl = tl_random(seed, 600);
        struct fixture random = {.random = seed};
        struct free_runs runs;
        for (size_t i = 0; i < tl->blocks.count; i++)
            if (fixture_random_below(&random, 3) == 0) {
                struct timeline_block *b = &tl->blocks.at[i];
                b->address += (uint64_t)fixture_random_below(&random, 5) * 512 * 40 - 512 * 80;
                b->segment = (uint32_t)fixture_random_below(&random, 30);
                b->block_bytes = fixture_random_below(&random, 4) ? b->block_bytes : UINT64_MAX;
            }
        for (size_t i = 0; i < tl->segments.count; i++)
            tl->segments.at[i].expandable = fixture_random_below(&random, 2) == 0;
        for (size_t i = 0; i < tl->events.count; i++)
            if (fixture_random_below(&random, 9) == 0)
                tl->events.at[i].kind = (uint8_t)fixture_random_below(&random, EVENT_KIND_COUNT);
        assert_true(free_runs_start(&runs, tl, 0) && free_runs_build(&runs, UINT32_MAX));
        for (uint32_t m = 0; m < runs.moments; m++)
            assert_true(runs.largest.at[m] <= runs.free.at[m]);
        free_runs_fini(&runs);
        timeline_destroy(tl);
    }
}

/* --- differences --- */

struct two {
    struct timeline *a, *b;
    struct track first, second;
    struct align align;
};

static void open_two(struct two *t, struct timeline *a, struct timeline *b) {
    struct error err = {0};
    t->a = a;
    t->b = b;
    assert_ok(track_build(&t->first, a, 0, &err), err);
    assert_ok(track_build(&t->second, b, 0, &err), err);
    assert_ok(align_build(&t->align, a, b, &err), err);
}

static void close_two(struct two *t) {
    align_fini(&t->align);
    track_fini(&t->first);
    track_fini(&t->second);
    timeline_destroy(t->a);
    timeline_destroy(t->b);
}

TEST(a_timeline_differs_from_itself_by_nothing_at_any_level) {
    USE_STATE;
    for (int i = 0; i < 3; i++) {
        struct two t;
        bool llama = i == 2;
        uint64_t seed = (uint64_t)i + 1;
        if (llama)
            open_two(&t, fixture_llama("x", false), fixture_llama("x", false));
        else
            open_two(&t, tl_random(seed, 2000), tl_random(seed, 2000));
        for (enum level level = LEVEL_ALLOCATED; level < LEVEL_COUNT; level++) {
            struct level_gap gap;
            assert_true(level_gap_start(&gap, &t.first, &t.second, &t.align, level));
            while (!gap.done)
                assert_true(level_gap_build(&gap, 100));
            assert_int_equal(gap.known, level != LEVEL_DEVICE || llama);
            if (gap.known) {
                assert_int_equal(gap.moments, t.first.lod.moments);
                struct extremes all = level_gap_range(&gap, 0, gap.moments);
                assert_true(all.low == 0 && all.high == 0);
            }
            level_gap_fini(&gap);
        }
        close_two(&t);
    }
}

/* Both extremes at each moment, from the definition: a moment of the first and each of the second that
 * it meets; where several of the first meet the same, in proportion. */
static void check_gap(struct two *t, enum level level) {
    struct level_gap gap;
    uint32_t moments = t->first.lod.moments, last_b = t->second.lod.moments - 1;
    assert_true(level_gap_start(&gap, &t->first, &t->second, &t->align, level));
    assert_true(level_gap_build(&gap, UINT32_MAX));
    assert_int_equal(gap.moments, moments);
    bool *met = calloc((size_t)last_b + 1, sizeof *met);
    assert_non_null(met);
    for (uint32_t first = 0, end; first < moments; first = end) {
        uint32_t b = align_map(&t->align, first);
        b = b < last_b ? b : last_b;
        uint32_t next = b;
        for (end = first + 1; end < moments && next == b; end++) {
            next = align_map(&t->align, end);
            next = next < last_b ? next : last_b;
        }
        end -= next != b;
        uint32_t count_b = next != b ? next - b : last_b + 1 - b, count_a = end - first;
        for (uint32_t i = 0; i < count_a; i++) {
            int64_t low = INT64_MAX, high = INT64_MIN;
            uint32_t steps = count_a > count_b ? count_a : count_b;
            for (uint32_t s = 0; s < steps; s++) {
                if ((uint64_t)s * count_a / steps != i)
                    continue;
                struct lod_state x, y;
                uint32_t k = b + (uint32_t)((uint64_t)s * count_b / steps);
                met[k] = true;
                lod_state_at(&t->first.lod, first + i, &x);
                lod_state_at(&t->second.lod, k, &y);
                int64_t d = (int64_t)(level_bytes(&t->first, level, &x) -
                                      level_bytes(&t->second, level, &y));
                low = d < low ? d : low;
                high = d > high ? d : high;
            }
            assert_true(gap.low.at[first + i] == low);
            assert_true(gap.high.at[first + i] == high);
        }
    }
    for (uint32_t k = 0; k <= last_b; k++)
        assert_true(met[k]); /* the merged list leaves none out */
    free(met);
    level_gap_fini(&gap);
}

TEST(differences_equal_a_walk_of_both_timelines) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct two t;
        open_two(&t, tl_random(seed, 1500), tl_random(seed + 9, seed % 2 ? 200 : 5000));
        check_gap(&t, LEVEL_ALLOCATED);
        check_gap(&t, LEVEL_RESERVED);
        close_two(&t);
    }
}

/* A spike of the second between two requests that both have. */
TEST(a_spike_that_only_the_second_has_is_seen) {
    USE_STATE;
    struct two t;
    open_two(&t, tl_build("segment s 64MiB\nbegin x\nalloc a 1MiB\nend\nbegin y\nfree a\nend\n"),
             tl_build("segment s 64MiB\nbegin x\nalloc a 1MiB\nalloc b 16MiB\nfree b\nend\nbegin "
                      "y\nfree a\nend\n"));
    struct level_gap gap;
    assert_true(level_gap_start(&gap, &t.first, &t.second, &t.align, LEVEL_ALLOCATED));
    assert_true(level_gap_build(&gap, UINT32_MAX));
    struct extremes all = level_gap_range(&gap, 0, gap.moments);
    assert_true(all.low <= -(16 << 20) && all.high <= 0);
    level_gap_fini(&gap);
    close_two(&t);
}

/* --- the pane --- */

static void dump(struct app *app, bool whole, struct text *out) {
    struct draw_list list = {0};
    struct error err = {0};
    if (whole) {
        assert_ok(app_frame(app, &list, &err), err);
    } else {
        draw_start(&list, app->width, app->height);
        pane_strip.draw(app, &list);
        assert_false(list.failed);
    }
    draw_dump(&list, out);
    draw_fini(&list);
}

TEST(f3_shows_the_one_then_the_other_and_q_changes_the_level) {
    USE_STATE;
    struct timeline *a = tl_random(1, 800), *b = fixture_random(2, 500, 20);
    struct error err = {0};
    struct app_options options = {.width = 900, .height = 700, .embedded_font = true};
    struct app *app = app_create(&options, a, b, &err);
    struct text out = {0};
    assert_non_null(app);
    viz_play(app, "expect strip 0\nkey F3\nexpect strip 1\n");
    dump(app, true, &out);
    assert_non_null(strstr(text_get(&out), "fragmentation"));
    text_fini(&out);
    viz_play(app, "key F3\nexpect strip 2\nkey q\nexpect level 1\nkey q\nexpect level 2\n");
    dump(app, true, &out);
    assert_non_null(strstr(text_get(&out), "device: not in this trace"));
    text_fini(&out);
    viz_play(app, "key q\nexpect level 0\nkey Alt+Right\n");
    dump(app, true, &out);
    assert_non_null(strstr(text_get(&out), "allocated   "));
    text_fini(&out);
    viz_play(app, "key F3\nexpect strip 0\n");
    app_destroy(app);
    timeline_destroy(b);
    b = fixture_random(2, 500, 20); /* without addresses */
    app = app_create(&options, b, NULL, &err);
    assert_non_null(app);
    viz_play(app, "key F3\nexpect strip 1\n");
    dump(app, true, &out);
    assert_non_null(strstr(text_get(&out), "not in this trace: addresses"));
    text_fini(&out);
    viz_play(app, "key F3\nexpect strip 0\n");
    app_destroy(app);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(a_state_tells_of_map_track_and_level) {
    USE_STATE;
    struct timeline *a = tl_random(1, 300);
    struct error err = {0};
    struct app_options options = {.width = 900, .height = 700, .embedded_font = true};
    struct app *two = app_create(&options, a, a, &err), *one = app_create(&options, a, NULL, &err);
    struct text out = {0};
    const char *state = "map=on;track=difference;level=reserved";
    assert_true(two && one);
    assert_ok(state_apply(two, state, &err), err);
    viz_play(two, "expect map 1\nexpect strip 2\nexpect level 1\n");
    state_write(two, &out);
    if (!strstr(text_get(&out), state))
        fail_msg("%s", text_get(&out));
    text_fini(&out);
    assert_false(state_apply(one, state, &err));
    assert_non_null(strstr(err.text, "there is one file"));
    assert_false(state_apply(one, "level=mapped", &err));
    assert_false(state_apply(one, "track=on", &err) || state_apply(one, "map=1", &err));
    assert_ok(state_apply(one, "track=fragmentation;map=off", &err), err);
    viz_play(one, "expect map 0\nexpect strip 1\n");
    app_destroy(two);
    app_destroy(one);
    timeline_destroy(a);
}

TEST(a_window_builds_it_in_slices) {
    USE_STATE;
    struct timeline *a = tl_random(4, 9000);
    struct error err = {0};
    struct app_options options = {.width = 900, .height = 700, .embedded_font = true};
    struct app *app = app_create(&options, a, NULL, &err);
    struct text out = {0};
    assert_non_null(app);
    app_use_layers(app, NULL);
    viz_play(app, "key F3\n");
    dump(app, true, &out);
    text_fini(&out);
    assert_true(app_is_busy(app) && !app->strip.runs.done);
    viz_play(app, "tick 16ms\ntick 16ms\n");
    assert_true(app->strip.runs.done);
    dump(app, true, &out);
    text_fini(&out);
    app_destroy(app);
    timeline_destroy(a);
}

TEST(the_pane_is_drawn_as_it_was) {
    USE_STATE;
    const struct {
        const char *golden;
        int scale;
        enum language language;
        enum strip_kind kind;
    } cases[] = {
        {"tests/viz/golden/strip-english.txt", 100, LANGUAGE_ENGLISH, STRIP_FRAGMENTATION},
        {"tests/viz/golden/strip-chinese.txt", 100, LANGUAGE_CHINESE, STRIP_DIFFERENCE},
        {"tests/viz/golden/strip-150.txt", 150, LANGUAGE_CHINESE, STRIP_FRAGMENTATION},
        {"tests/viz/golden/strip-200.txt", 200, LANGUAGE_ENGLISH, STRIP_DIFFERENCE},
    };
    struct timeline *a = tl_build(by_hand);
    struct timeline *b = tl_build("segment s 64MiB\nalloc a 2MiB\nalloc b 11MiB\nfree a\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        int scale = cases[i].scale;
        struct app_options options = {.width = 9 * scale,
                                      .height = 6 * scale,
                                      .scale_percent = scale,
                                      .language = cases[i].language,
                                      .embedded_font = true};
        struct app *app = app_create(&options, a, b, &err);
        struct text out = {0};
        assert_non_null(app);
        viz_play(app, cases[i].kind == STRIP_DIFFERENCE ? "key F3\nkey F3\ngoto event 3\n"
                                                        : "key F3\ngoto event 3\n");
        dump(app, false, &out);
        assert_golden(text_get(&out), cases[i].golden);
        text_fini(&out);
        app_destroy(app);
    }
    timeline_destroy(a);
    timeline_destroy(b);
}

static const struct timeline *failing[2];

static bool session(void) {
    struct error err = {0};
    struct app_options options = {.width = 700, .height = 500, .embedded_font = true};
    struct app *app = app_create(&options, failing[0], failing[1], &err);
    struct draw_list list = {0};
    bool good = app != NULL;
    for (int i = 0; app && i < 2; i++) {
        app_act(app, ACTION_STRIP);
        good = app_frame(app, &list, &err) && good;
    }
    draw_fini(&list);
    app_destroy(app);
    return good;
}

TEST(every_allocation_of_the_strip_may_fail) {
    USE_STATE;
    struct timeline *a = tl_build(by_hand), *b = tl_build(by_hand);
    size_t failures = 0;
    failing[0] = a;
    failing[1] = b;
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
    timeline_destroy(a);
    timeline_destroy(b);
}

SUITE(cmocka_unit_test(extremes_of_any_range_are_those_of_its_numbers),
      cmocka_unit_test(free_and_its_largest_run_equal_a_walk_of_all_events),
      cmocka_unit_test(hand_made_cases_of_fragmentation),
      cmocka_unit_test(bad_addresses_and_lost_records_break_nothing),
      cmocka_unit_test(a_timeline_differs_from_itself_by_nothing_at_any_level),
      cmocka_unit_test(differences_equal_a_walk_of_both_timelines),
      cmocka_unit_test(a_spike_that_only_the_second_has_is_seen),
      cmocka_unit_test(f3_shows_the_one_then_the_other_and_q_changes_the_level),
      cmocka_unit_test(a_state_tells_of_map_track_and_level),
      cmocka_unit_test(a_window_builds_it_in_slices), cmocka_unit_test(the_pane_is_drawn_as_it_was),
      cmocka_unit_test(every_allocation_of_the_strip_may_fail))
