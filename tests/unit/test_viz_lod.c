/* Levels of detail and columns against walking all events. */
#include "suite.h"

#include "column.h"
#include "counters.h"
#include "failing_alloc.h"
#include "lod.h"
#include "ruler.h"
#include "timeline.h"
#include "view.h"
#include "viz_fixture.h"

/* The state at every moment, by counters.h; groups by the blocks that are allocated. */
struct brute {
    struct lod_state *at;
    uint32_t moments;
};

static struct brute brute_make(const struct timeline *tl) {
    struct brute b = {calloc(tl->events.count + 1, sizeof *b.at), (uint32_t)tl->events.count + 1};
    struct counters c;
    assert_non_null(b.at);
    counters_start(tl, 0, &c);
    for (uint32_t m = 0; m < b.moments; m++) {
        struct lod_state *s = &b.at[m];
        if (m > 0) {
            *s = b.at[m - 1];
            const struct timeline_event *e = &tl->events.at[m - 1];
            counters_apply(tl, 0, m - 1, &c);
            if (e->kind == EVENT_ALLOC)
                s->group[tl->blocks.at[e->ref].category] += tl->blocks.at[e->ref].block_bytes;
            if (e->kind == EVENT_FREE_REQUESTED)
                s->group[tl->blocks.at[e->ref].category] -= tl->blocks.at[e->ref].block_bytes;
        }
        s->total = c.allocated;
        s->reserved = c.reserved;
    }
    return b;
}

static struct lod_node brute_range(const struct brute *b, uint32_t first, uint32_t end) {
    struct lod_node n = {b->at[first].total, b->at[first].total, b->at[first].reserved, first};
    for (uint32_t m = first + 1; m < end; m++) {
        if (b->at[m].total > n.max) {
            n.max = b->at[m].total;
            n.arg = m;
        }
        n.min = b->at[m].total < n.min ? b->at[m].total : n.min;
        n.reserved_max = b->at[m].reserved > n.reserved_max ? b->at[m].reserved : n.reserved_max;
    }
    return n;
}

TEST(states_and_ranges_equal_brute_force) {
    USE_STATE;
    const uint32_t sizes[] = {1, 62, 63, 64, 65, 127, 513, 4095, 4600, 40000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct timeline *tl = fixture_random(i + 1, sizes[i], 50);
        struct error err = {0};
        struct lod lod;
        assert_ok(timeline_check(tl, &err), err);
        assert_ok(lod_build(&lod, tl, 0, NULL, &err), err);
        struct brute b = brute_make(tl);
        for (uint32_t m = 0; m < b.moments; m += 1 + b.moments / 3000) {
            struct lod_state s;
            lod_state_at(&lod, m, &s);
            assert_memory_equal(&s, &b.at[m], sizeof s);
        }
        struct fixture random = {.random = i};
        for (int k = 0; k < 3000; k++) {
            uint32_t first = (uint32_t)fixture_random_below(&random, b.moments);
            uint32_t end = first + 1 + (uint32_t)fixture_random_below(&random, b.moments - first);
            struct lod_node got, want = brute_range(&b, first, end);
            uint64_t group[LOD_GROUPS];
            lod_range(&lod, first, end, &got);
            assert_bytes_equal(got.max, want.max);
            assert_bytes_equal(got.min, want.min);
            assert_bytes_equal(got.arg, want.arg);
            assert_bytes_equal(got.reserved_max, want.reserved_max);
            lod_groups_at_max(&lod, &got, group);
            assert_memory_equal(group, b.at[got.arg].group, sizeof group);
        }
        free(b.at);
        lod_fini(&lod);
        timeline_destroy(tl);
    }
}

static void check_columns(const struct lod *lod, const struct brute *b, enum ruler_mode mode,
                          const struct view *view, int width) {
    struct ruler ruler = ruler_of(lod, mode);
    uint32_t edges[701];
    struct column columns[700];
    struct column_grid grid = {0};
    column_grid_move(&grid, &ruler, view, width);
    column_edges(&ruler, &grid, 0, width, edges);
    column_read_all(lod, edges, width, columns);
    for (int i = 0; i < width; i++) {
        uint64_t sum = 0;
        assert_true(edges[i] <= edges[i + 1]);
        for (int g = 0; g < LOD_GROUPS; g++)
            sum += columns[i].group[g];
        assert_bytes_equal(sum, columns[i].max);
        uint32_t first = edges[i], end = edges[i + 1];
        if (first == end) { /* repeats the state before */
            first = first > 0 ? first - 1 : 0;
            end = first + 1;
        }
        struct lod_node want = brute_range(b, first, end);
        assert_bytes_equal(columns[i].max, want.max);
        assert_bytes_equal(columns[i].min, want.min);
        assert_bytes_equal(columns[i].reserved, want.reserved_max);
    }
}

TEST(no_zoom_loses_a_spike) {
    USE_STATE;
    struct timeline *tl = fixture_random(11, 70000, 300);
    struct lod lod;
    struct error err = {0};
    assert_ok(lod_build(&lod, tl, 0, NULL, &err), err);
    struct brute b = brute_make(tl);
    for (int mode = RULER_EVENTS; mode <= RULER_TIME; mode++) {
        struct ruler ruler = ruler_of(&lod, (enum ruler_mode)mode);
        struct view_limits limits = {.top = 1};
        struct view view = {0};
        ruler_limits(&ruler, &limits);
        view_fit_x(&view, &limits);
        double at = ruler_position(&ruler, lod.peak.arg);
        for (int zoom = 0; zoom < 60; zoom++) {
            const int widths[] = {700, 333, 64, 1};
            for (int k = 0; k < 4; k++)
                check_columns(&lod, &b, (enum ruler_mode)mode, &view, widths[k]);
            /* the peak is in view: so it is the highest column */
            uint32_t edges[701];
            struct column columns[700];
            uint64_t highest = 0;
            struct column_grid grid = {0};
            column_grid_move(&grid, &ruler, &view, 700);
            column_edges(&ruler, &grid, 0, 700, edges);
            column_read_all(&lod, edges, 700, columns);
            for (int i = 0; i < 700; i++)
                highest = columns[i].max > highest ? columns[i].max : highest;
            assert_bytes_equal(highest, lod.peak.max);
            view_zoom_x(&view, &limits, at, 0.8);
        }
    }
    free(b.at);
    lod_fini(&lod);
    timeline_destroy(tl);
}

TEST(every_moment_is_in_exactly_one_column) {
    USE_STATE;
    struct timeline *tl = fixture_random(5, 200000, 100);
    struct lod lod;
    struct error err = {0};
    assert_ok(lod_build(&lod, tl, 0, NULL, &err), err);
    struct ruler ruler = ruler_of(&lod, RULER_TIME);
    struct view_limits limits = {.top = 1};
    struct view view = {0};
    uint32_t edges[301];
    ruler_limits(&ruler, &limits);
    view_fit_x(&view, &limits);
    struct column_grid grid = {0};
    column_grid_move(&grid, &ruler, &view, 300);
    column_edges(&ruler, &grid, 0, 300, edges);
    assert_int_equal(edges[0], 0);
    assert_int_equal(edges[300], lod.moments);
    int aligned = 0;
    for (int i = 1; i < 300; i++) {
        assert_true(edges[i] >= edges[i - 1]);
        aligned += edges[i] % LOD_BUCKET == 0;
    }
    assert_true(aligned > 250); /* wide columns are whole buckets */
    lod_fini(&lod);
    timeline_destroy(tl);
}

TEST(the_peak_is_the_first_of_equal_ones) {
    USE_STATE;
    struct fixture f = fixture_start("ties");
    for (int i = 0; i < 300; i++) {
        f.time_ns += 10;
        uint32_t block = fixture_alloc(&f, 4096, CATEGORY_ACTIVATION, "a", "op");
        fixture_free(&f, block);
    }
    struct lod lod;
    struct error err = {0};
    assert_ok(lod_build(&lod, f.tl, 0, NULL, &err), err);
    assert_bytes_equal(lod.peak.max, 4096);
    assert_int_equal(lod.peak.arg, 2); /* after the segment and the first alloc */
    lod_fini(&lod);
    timeline_destroy(f.tl);
}

TEST(an_empty_timeline_is_one_moment) {
    USE_STATE;
    struct timeline *tl = timeline_create();
    struct timeline_block b = {.block_bytes = 512,
                               .requested_bytes = 1,
                               .category = CATEGORY_PARAMETER,
                               .alloc_event = TIMELINE_NONE,
                               .free_event = TIMELINE_NONE,
                               .complete_event = TIMELINE_NONE,
                               .segment = TIMELINE_NONE,
                               .phase = TIMELINE_NONE};
    timeline_add_block(tl, &b);
    struct lod lod;
    struct error err = {0};
    assert_ok(lod_build(&lod, tl, 0, NULL, &err), err);
    assert_int_equal(lod.moments, 1);
    assert_bytes_equal(lod.peak.max, 512);
    assert_false(lod.time_known);
    struct ruler ruler = ruler_of(&lod, RULER_TIME);
    struct view_limits limits = {.top = 1};
    struct view view = {0};
    uint32_t edges[5];
    struct column columns[4];
    ruler_limits(&ruler, &limits);
    view_fit_x(&view, &limits);
    struct column_grid grid = {0};
    column_grid_move(&grid, &ruler, &view, 4);
    column_edges(&ruler, &grid, 0, 4, edges);
    column_read_all(&lod, edges, 4, columns);
    for (int i = 0; i < 4; i++)
        assert_bytes_equal(columns[i].group[CATEGORY_PARAMETER], 512);
    lod_fini(&lod);
    timeline_destroy(tl);
}

TEST(what_contradicts_the_timeline_counts_for_nothing) {
    USE_STATE;
    struct fixture f = fixture_start("lies");
    fixture_event(&f, EVENT_ALLOC, 99, 1);
    fixture_event(&f, EVENT_FREE_REQUESTED, TIMELINE_NONE, 1);
    struct timeline_event strange = {.kind = 250, .bytes = 1};
    timeline_add_event(f.tl, &strange);
    struct lod lod;
    struct error err = {0};
    assert_ok(lod_build(&lod, f.tl, 0, NULL, &err), err);
    assert_bytes_equal(lod.peak.max, 0);
    lod_fini(&lod);
    timeline_destroy(f.tl);
}

TEST(time_that_goes_back_is_unknown) {
    USE_STATE;
    struct fixture f = fixture_start("backwards");
    f.time_ns = 100;
    fixture_alloc(&f, 512, CATEGORY_INPUT, "a", "op");
    f.time_ns = 50;
    fixture_alloc(&f, 512, CATEGORY_INPUT, "a", "op");
    struct lod lod;
    struct error err = {0};
    assert_ok(lod_build(&lod, f.tl, 0, NULL, &err), err);
    assert_false(lod.time_known);
    assert_int_equal(ruler_of(&lod, RULER_TIME).mode, RULER_EVENTS);
    lod_fini(&lod);
    timeline_destroy(f.tl);
}

TEST(a_failed_build_leaves_nothing) {
    USE_STATE;
    struct timeline *tl = fixture_random(1, 5000, 40);
    for (struct failing_alloc f = {.fail_at = 1};;
         f = (struct failing_alloc){.fail_at = f.fail_at + 1}) {
        struct lod lod;
        struct error err = {0};
        xalloc_set_hook(failing_alloc_hook, &f);
        bool built = lod_build(&lod, tl, 0, NULL, &err);
        if (built)
            lod_fini(&lod);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        if (built)
            break;
        assert_int_equal(err.code, ERROR_HOST_MEMORY);
    }
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(states_and_ranges_equal_brute_force),
      cmocka_unit_test(no_zoom_loses_a_spike),
      cmocka_unit_test(every_moment_is_in_exactly_one_column),
      cmocka_unit_test(the_peak_is_the_first_of_equal_ones),
      cmocka_unit_test(an_empty_timeline_is_one_moment),
      cmocka_unit_test(what_contradicts_the_timeline_counts_for_nothing),
      cmocka_unit_test(time_that_goes_back_is_unknown),
      cmocka_unit_test(a_failed_build_leaves_nothing))
