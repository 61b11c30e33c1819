/* Resampling keeps every spike. */
#include "suite.h"

#include "counters.h"
#include "curve.h"
#include "tl_build.h"
#include "tl_random.h"

static struct curve build(const struct timeline *tl, enum curve_axis axis, uint32_t columns) {
    struct curve curve;
    struct error err = {0};
    struct curve_options options = {.axis = axis, .columns = columns};
    assert_ok(curve_build(tl, &options, &curve, &err), err);
    assert_bytes_equal(curve.columns.count, columns);
    return curve;
}

TEST(a_spike_between_two_columns_is_kept) {
    USE_STATE;
    struct timeline *tl =
        tl_build("alloc a 512 parameter\nalloc b 5120 temporary\nfree b\nalloc c 512\nfree c\n");
    struct curve c = build(tl, CURVE_BY_EVENT, 2); /* events 0..3, 4..6 */
    assert_bytes_equal(c.columns.at[0].allocated, 5632);
    assert_bytes_equal(c.columns.at[0].top_event, 1);
    assert_bytes_equal(c.columns.at[0].by_category[CATEGORY_TEMPORARY], 5120);
    assert_bytes_equal(c.columns.at[1].allocated, 1024);
    assert_bytes_equal(c.columns.at[1].first_event, 4);
    assert_bytes_equal(c.columns.at[1].end_event, 7);
    curve_fini(&c);
    timeline_destroy(tl);
}

TEST(columns_without_events_repeat_the_state_before) {
    USE_STATE;
    struct timeline *tl = tl_build("t=0\nalloc a 512\nt=99\nalloc b 512\n");
    struct curve c = build(tl, CURVE_BY_TIME, 10);
    for (uint32_t i = 0; i < 9; i++)
        assert_bytes_equal(c.columns.at[i].allocated, 512);
    assert_bytes_equal(c.columns.at[9].allocated, 1024);
    assert_bytes_equal(c.columns.at[5].top_event, TIMELINE_NONE);
    assert_bytes_equal(curve_column_of(&c, 0), 0);
    assert_bytes_equal(curve_column_of(&c, 1), 9);
    curve_fini(&c);
    c = build(tl, CURVE_BY_EVENT, 5);
    assert_bytes_equal(c.columns.at[1].allocated, 512);
    assert_bytes_equal(c.columns.at[4].allocated, 1024);
    curve_fini(&c);
    timeline_destroy(tl);
}

TEST(an_empty_timeline_is_flat) {
    USE_STATE;
    struct timeline *tl = tl_build("start segment s 2MiB small\nstart block a 512 at=s+0\n");
    struct curve c = build(tl, CURVE_BY_EVENT, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_bytes_equal(c.columns.at[i].allocated, 512);
    curve_fini(&c);
    c = build(tl, CURVE_BY_TIME, 3);
    assert_bytes_equal(c.columns.at[2].reserved, 2 * MIB);
    curve_fini(&c);
    timeline_destroy(tl);
}

TEST(a_window_shows_only_its_events) {
    USE_STATE;
    struct timeline *tl = tl_build("alloc a 5120\nfree a\nalloc b 512\nalloc c 512\nalloc d 512\n");
    struct curve c;
    struct error err = {0};
    struct curve_options options = {.columns = 1, .first_event = 3, .end_event = 5};
    assert_ok(curve_build(tl, &options, &c, &err), err);
    assert_bytes_equal(c.columns.at[0].allocated, 1024);
    curve_fini(&c);
    options.first_event = 77; /* beyond the end */
    assert_ok(curve_build(tl, &options, &c, &err), err);
    curve_fini(&c);
    timeline_destroy(tl);
}

TEST(columns_of_random_timelines_are_the_maxima_of_their_events) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct timeline *tl = tl_random(seed, 400);
        for (uint32_t columns = 1; columns < 2000; columns = columns * 3 + 1) {
            struct curve c = build(tl, seed % 2 ? CURVE_BY_EVENT : CURVE_BY_TIME, columns);
            struct counters now;
            counters_start(tl, 0, &now);
            uint32_t event = 0;
            for (uint32_t i = 0; i < columns; i++) {
                const struct curve_column *col = &c.columns.at[i];
                bool counts_start = seed % 2 == 0 || col->first_event == col->end_event;
                uint64_t active = counts_start ? now.active : 0,
                         reserved = counts_start ? now.reserved : 0;
                assert_bytes_equal(col->first_event, event);
                for (; event < col->end_event; event++) {
                    counters_apply(tl, 0, event, &now);
                    active = now.active > active ? now.active : active;
                    reserved = now.reserved > reserved ? now.reserved : reserved;
                    assert_bytes_equal(curve_column_of(&c, event), i);
                }
                uint64_t sum = 0;
                for (size_t k = 0; k < CATEGORY_COUNT; k++)
                    sum += col->by_category[k];
                assert_bytes_equal(col->active, active);
                assert_bytes_equal(col->reserved, reserved);
                assert_bytes_equal(sum, active);
            }
            assert_bytes_equal(event, tl->events.count);
            curve_fini(&c);
        }
        timeline_destroy(tl);
    }
}

SUITE(cmocka_unit_test(a_spike_between_two_columns_is_kept),
      cmocka_unit_test(columns_without_events_repeat_the_state_before),
      cmocka_unit_test(an_empty_timeline_is_flat), cmocka_unit_test(a_window_shows_only_its_events),
      cmocka_unit_test(columns_of_random_timelines_are_the_maxima_of_their_events))
