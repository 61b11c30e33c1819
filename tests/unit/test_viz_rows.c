/* More than two timelines as rows: on the axis of the first, with which of them are first and second. */
#include "suite.h"

#include <string.h>

#include "failing_alloc.h"
#include "timeline.h"
#include "track_rows.h"
#include "viz_fixture.h"
#include "viz_session.h"

enum { RANKS = 4 };

static void open_ranks(struct timeline *ranks[RANKS]) {
    for (uint32_t i = 0; i < RANKS; i++) {
        const struct fixture_model m = {.layers = 4,
                                        .steps = 2,
                                        .hidden = 1024,
                                        .inner = 2048 + 512 * i,
                                        .vocab = 8000,
                                        .tokens = 512,
                                        .recompute = i == 3};
        char title[32];
        snprintf(title, sizeof title, "runs/rank%u.pickle", i);
        ranks[i] = fixture_step(&m, title);
    }
}

static const struct timeline *const *as_const(struct timeline *const *ranks) {
    return (const struct timeline *const *)ranks;
}

static void close_ranks(struct timeline *ranks[RANKS]) {
    for (int i = 0; i < RANKS; i++)
        timeline_destroy(ranks[i]);
}

TEST(a_row_shows_the_highest_of_what_lies_under_each_stretch) {
    USE_STATE;
    struct timeline *ranks[RANKS];
    struct track_rows rows;
    struct error err = {0};
    struct fixture random = {.random = 4};
    open_ranks(ranks);
    assert_ok(track_rows_init(&rows, as_const(ranks), RANKS, 0, &err), err);
    assert_true(rows.first == 0 && rows.second == 1);
    for (size_t first = 0; first < RANKS; first++) {
        assert_ok(track_rows_choose(&rows, first, (first + 1) % RANKS, &err), err);
        uint32_t moments = rows.rows.at[first].lod.moments;
        for (int i = 0; i < 300; i++) {
            size_t row = fixture_random_below(&random, RANKS);
            uint32_t a = (uint32_t)fixture_random_below(&random, moments + 1);
            uint32_t b = a + (uint32_t)fixture_random_below(&random, 90);
            b = b < moments ? b : moments;
            const struct track_row *r = &rows.rows.at[row];
            uint32_t x = row == first ? a : align_map(&r->align, a);
            uint32_t y = row == first ? b : align_map(&r->align, b);
            uint64_t most = 0;
            struct lod_state state;
            if (x >= y)
                x = x > 0 ? x - 1 : 0, y = x + 1;
            for (uint32_t m = x; m < y && m < r->lod.moments; m++) {
                lod_state_at(&r->lod, m, &state);
                most = state.total > most ? state.total : most;
            }
            assert_bytes_equal(track_rows_max(&rows, row, a, b), most);
        }
        for (size_t row = 0; row < RANKS; row++) { /* the peak is in the stretch that ends there */
            uint32_t at = track_rows_peak(&rows, row);
            assert_true(at < moments);
            assert_bytes_equal(track_rows_max(&rows, row, at > 0 ? at - 1 : 0, at + 1),
                               rows.rows.at[row].lod.peak.max);
        }
    }
    assert_ok(track_rows_choose(&rows, 2, 2, &err), err); /* twice the same: the old first */
    assert_true(rows.first == 2 && rows.second == 3);
    track_rows_fini(&rows);
    close_ranks(ranks);
}

/* What the host does with a wish. */
static void serve(struct session *s, struct timeline *ranks[RANKS]) {
    struct error err = {0};
    size_t first, second;
    assert_int_equal(app_take_request(s->app), APP_SHOW_ROWS);
    app_wished_rows(s->app, &first, &second);
    const struct app_options options = {.width = 1200, .height = 800, .embedded_font = true};
    struct app *app = app_create(&options, ranks[first], ranks[second], &err);
    assert_non_null(app);
    app_adopt(app, s->app, true);
    assert_ok(app_carry_rows(app, s->app, first, second, &err), err);
    app_carry_parameters(app, s->app);
    app_destroy(s->app);
    s->app = app;
}

TEST(keys_and_clicks_choose_the_first_and_the_second) {
    USE_STATE;
    struct timeline *ranks[RANKS];
    struct error err = {0};
    open_ranks(ranks);
    struct session s =
        session_open(&(struct app_options){.width = 1200, .height = 800}, ranks[0], ranks[1]);
    session_play(&s, "key Alt+S\nexpect rows 0\n");
    assert_int_equal(app_take_request(s.app), APP_NOTHING);
    assert_ok(app_set_rows(s.app, as_const(ranks), RANKS, &err), err);
    session_play(
        &s, "key p\nkey t\nexpect rows 4\nexpect rows.first 1\nexpect rows.second 2\nkey Alt+S\n");
    serve(&s, ranks);
    session_play(&s, "expect rows.first 1\nexpect rows.second 3\nexpect theme 1\nkey Alt+F\n");
    serve(&s, ranks);
    session_play(&s, "expect rows.first 2\nexpect rows.second 3\nkey Alt+F\n");
    serve(&s, ranks); /* the second is the first now: the old first takes its place */
    session_play(&s, "expect rows.first 3\nexpect rows.second 2\n");
    assert_bytes_equal(session_value(&s, "peak.allocated"), s.app->rows->rows.at[2].lod.peak.max);
    assert_int_equal(session_value(&s, "cursor.moment"), session_value(&s, "peak.event") + 1);
    session_frame(&s);
    const struct rect r = s.app->layout.rows; /* a copy: its application goes */
    assert_true(r.h > 60);
    char line[64];
    snprintf(line, sizeof line, "click %d %d\n", r.x + 300, r.y + r.h - 5);
    session_play(&s, line);
    serve(&s, ranks);
    session_play(&s, "expect rows.first 3\nexpect rows.second 4\n");
    snprintf(line, sizeof line, "click %d %d shift\n", r.x + 300, r.y + 5);
    session_play(&s, line);
    serve(&s, ranks);
    session_play(&s, "expect rows.first 1\nexpect rows.second 4\n");
    session_close(&s);
    close_ranks(ranks);
}

TEST(rows_are_as_they_were) {
    USE_STATE;
    struct timeline *ranks[RANKS];
    struct error err = {0};
    open_ranks(ranks);
    const struct {
        const char *name;
        struct app_options options;
    } cases[] = {
        {"rows-english.txt", {.width = 800, .height = 700}},
        {"rows-chinese.txt",
         {.width = 800, .height = 700, .language = LANGUAGE_CHINESE, .theme = THEME_LIGHT}},
        {"rows-150.txt", {.width = 1200, .height = 1000, .scale_percent = 150}},
        {"rows-200.txt", {.width = 1600, .height = 1300, .scale_percent = 200}},
        {"rows-low.txt", {.width = 700, .height = 260}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session s = session_open(&cases[i].options, ranks[0], ranks[1]);
        assert_ok(app_set_rows(s.app, as_const(ranks), RANKS, &err), err);
        session_play(&s, "key p\n");
        session_golden(&s, &pane_rows, cases[i].name);
        session_close(&s);
    }
    close_ranks(ranks);
}

TEST(every_allocation_of_rows_may_fail) {
    USE_STATE;
    struct timeline *tl[3] = {fixture_random(1, 300, 20), fixture_random(2, 300, 20),
                              fixture_random(3, 300, 20)};
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        struct error err = {0};
        struct track_rows rows;
        xalloc_set_hook(failing_alloc_hook, &f);
        bool good = track_rows_init(&rows, as_const(tl), 3, 0, &err);
        bool chosen = good && track_rows_choose(&rows, 2, 0, &err);
        assert_true(!good || chosen || (rows.first == 0 && rows.second == 1));
        if (good)
            track_rows_fini(&rows);
        bool reached = f.seen >= n;
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_true(chosen == !reached);
        if (!reached)
            break;
    }
    for (int i = 0; i < 3; i++)
        timeline_destroy(tl[i]);
}

SUITE(cmocka_unit_test(a_row_shows_the_highest_of_what_lies_under_each_stretch),
      cmocka_unit_test(keys_and_clicks_choose_the_first_and_the_second),
      cmocka_unit_test(rows_are_as_they_were), cmocka_unit_test(every_allocation_of_rows_may_fail))
