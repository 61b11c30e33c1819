/* What differs between two states, and what went on in a range: against brute force. */
#include "suite.h"

#include <string.h>

#include "difference.h"
#include "failing_alloc.h"
#include "range_sums.h"
#include "sort.h"
#include "timeline.h"
#include "track.h"
#include "viz_fixture.h"
#include "viz_session.h"

struct pair {
    struct timeline *tl[2];
    struct track track[2];
};

static void pair_open(struct pair *p, struct timeline *a, struct timeline *b) {
    struct error err = {0};
    p->tl[0] = a;
    p->tl[1] = b;
    for (int i = 0; i < 2; i++)
        assert_ok(track_build(&p->track[i], p->tl[i], 0, &err), err);
}

static void pair_close(struct pair *p) {
    for (int i = 0; i < 2; i++) {
        track_fini(&p->track[i]);
        timeline_destroy(p->tl[i]);
    }
}

static uint64_t total_at(const struct track *track, uint32_t moment) {
    struct lod_state s;
    lod_state_at(&track->lod, moment, &s);
    return s.total;
}

static bool lives(const struct timeline *tl, uint32_t block, uint32_t moment) {
    const struct timeline_block *b = &tl->blocks.at[block];
    bool begun = b->alloc_event == TIMELINE_NONE || b->alloc_event < moment;
    return begun && !(b->free_event != TIMELINE_NONE && b->free_event < moment) &&
           !b->pending_at_start;
}

static void sums_are_those_of_the_states(const struct difference *d, uint64_t then, uint64_t now) {
    struct difference_row sum = {0};
    for (size_t i = 0; i < d->rows.count; i++) {
        const struct difference_row *r = &d->rows.at[i];
        sum.then += r->then;
        sum.now += r->now;
        sum.added += r->added;
        sum.removed += r->removed;
        assert_bytes_equal(r->now + r->removed, r->then + r->added);
        if (difference_kind(r) == DIFFERENCE_APPEARED)
            assert_true(r->then == 0 && r->removed == 0 && r->added == r->now);
        if (difference_kind(r) == DIFFERENCE_GONE)
            assert_true(r->now == 0 && r->added == 0 && r->removed == r->then);
        if (difference_kind(r) == DIFFERENCE_SAME)
            assert_bytes_equal(r->now, r->then);
    }
    assert_bytes_equal(sum.now, now);
    assert_bytes_equal(sum.then, then);
    assert_bytes_equal(d->total.now, now);
    assert_bytes_equal(d->total.then, then);
    assert_bytes_equal(d->total.added, sum.added);
    assert_bytes_equal(d->total.removed, sum.removed);
}

/* The blocks that only one of the moments has, one by one. */
static void added_is_brute_force(const struct difference *d, const struct timeline *tl,
                                 uint32_t then, uint32_t now) {
    uint64_t added[CATEGORY_COUNT] = {0}, removed[CATEGORY_COUNT] = {0};
    for (uint32_t b = 0; b < tl->blocks.count; b++) {
        bool before = lives(tl, b, then), after = lives(tl, b, now);
        added[tl->blocks.at[b].category] += !before && after ? tl->blocks.at[b].block_bytes : 0;
        removed[tl->blocks.at[b].category] += before && !after ? tl->blocks.at[b].block_bytes : 0;
    }
    for (size_t i = 0; i < d->rows.count; i++) {
        int category = 0;
        while (strcmp(i18n_category(LANGUAGE_ENGLISH, (enum category)category),
                      difference_name(d, &d->rows.at[i])) != 0)
            category++;
        assert_bytes_equal(d->rows.at[i].added, added[category]);
        assert_bytes_equal(d->rows.at[i].removed, removed[category]);
    }
}

TEST(deltas_sum_to_the_difference_of_the_totals_in_every_grouping) {
    USE_STATE;
    struct pair p;
    pair_open(&p, fixture_random(11, 4000, 150), fixture_random(12, 3000, 150));
    struct difference d = {0};
    struct fixture random = {.random = 5};
    for (int i = 0; i < 40; i++) {
        uint32_t x = (uint32_t)fixture_random_below(&random, p.track[0].lod.moments);
        uint32_t y = (uint32_t)fixture_random_below(&random, p.track[0].lod.moments);
        uint32_t z = (uint32_t)fixture_random_below(&random, p.track[1].lod.moments);
        const struct difference_side now = {&p.track[0], x}, then = {&p.track[0], y},
                                     other = {&p.track[1], z};
        for (int g = 0; g < OWNER_GROUPING_COUNT; g++) {
            enum owner_grouping grouping = (enum owner_grouping)g;
            assert_true(difference_read(&d, &then, &now, grouping, LANGUAGE_ENGLISH));
            sums_are_those_of_the_states(&d, total_at(&p.track[0], y), total_at(&p.track[0], x));
            if (g == OWNER_BY_CATEGORY)
                added_is_brute_force(&d, p.tl[0], y, x);
            assert_true(difference_read(&d, &other, &now, grouping, LANGUAGE_CHINESE));
            sums_are_those_of_the_states(&d, total_at(&p.track[1], z), total_at(&p.track[0], x));
        }
    }
    difference_fini(&d);
    pair_close(&p);
}

TEST(a_state_differs_from_itself_by_nothing) {
    USE_STATE;
    struct pair p; /* the same run twice, as two timelines */
    pair_open(&p, fixture_random(3, 3000, 100), fixture_random(3, 3000, 100));
    struct difference d = {0};
    for (uint32_t m = 0; m < p.track[0].lod.moments; m += 211)
        for (int k = 0; k < 2; k++) {
            const struct difference_side now = {&p.track[0], m}, then = {&p.track[k], m};
            assert_true(difference_read(&d, &then, &now, OWNER_BY_PATH, LANGUAGE_ENGLISH));
            assert_true(d.total.added == 0 && d.total.removed == 0 && d.largest == 0);
            for (size_t i = 0; i < d.rows.count; i++)
                assert_int_equal(difference_kind(&d.rows.at[i]), DIFFERENCE_SAME);
        }
    difference_fini(&d);
    pair_close(&p);
}

TEST(differences_sort_by_sign_and_size) {
    USE_STATE;
    struct pair p;
    pair_open(&p, fixture_random(11, 4000, 150), fixture_random(12, 3000, 150));
    struct difference d = {0};
    const struct difference_side now = {&p.track[0], 2000}, then = {&p.track[0], 900};
    assert_true(difference_read(&d, &then, &now, OWNER_BY_CATEGORY, LANGUAGE_ENGLISH));
    for (int order = DIFFERENCE_BY_SIZE; order <= DIFFERENCE_BY_COUNT; order++)
        for (int falling = 0; falling < 2; falling++) {
            difference_sort(&d, (enum difference_order)order, falling);
            for (size_t i = 1; order == DIFFERENCE_BY_DELTA && i < d.rows.count; i++) {
                const struct difference_row *x = &d.rows.at[i - 1], *y = &d.rows.at[i];
                int64_t a = (int64_t)(x->now - x->then), b = (int64_t)(y->now - y->then);
                assert_true(falling ? a >= b : a <= b);
            }
            sums_are_those_of_the_states(&d, total_at(&p.track[0], 900),
                                         total_at(&p.track[0], 2000));
        }
    difference_fini(&d);
    pair_close(&p);
}

/* Every moment of the range is looked at, by category. */
static void range_is_brute_force(const struct range_sums *s, const struct track *track,
                                 uint32_t first, uint32_t end) {
    const struct timeline *tl = track->tl;
    struct range_row want[CATEGORY_COUNT] = {{0}}, total = {0};
    for (uint32_t b = 0; b < tl->blocks.count; b++) {
        const struct timeline_block *k = &tl->blocks.at[b];
        bool in =
            k->alloc_event != TIMELINE_NONE && k->alloc_event >= first && k->alloc_event < end;
        bool out = k->free_event != TIMELINE_NONE && k->free_event >= first && k->free_event < end;
        struct range_row *rows[2] = {&want[k->category], &total};
        for (int i = 0; i < 2; i++) {
            rows[i]->allocated += in ? k->block_bytes : 0;
            rows[i]->allocations += in;
            rows[i]->freed += out ? k->block_bytes : 0;
            rows[i]->frees += out;
            rows[i]->leaked += in && lives(tl, b, end) ? k->block_bytes : 0;
        }
    }
    for (uint32_t m = first; m <= end; m++) {
        struct lod_state state;
        lod_state_at(&track->lod, m, &state);
        for (int c = 0; c < CATEGORY_COUNT; c++)
            want[c].max = state.group[c] > want[c].max ? state.group[c] : want[c].max;
        total.max = state.total > total.max ? state.total : total.max;
    }
    for (size_t i = 0; i < s->rows.count; i++) {
        const struct range_row *row = &s->rows.at[i];
        int c = 0;
        while (strcmp(i18n_category(LANGUAGE_ENGLISH, (enum category)c), range_sums_name(s, row)))
            c++;
        assert_bytes_equal(row->allocated, want[c].allocated);
        assert_bytes_equal(row->freed, want[c].freed);
        assert_bytes_equal(row->leaked, want[c].leaked);
        assert_bytes_equal(row->max, want[c].max);
        assert_int_equal(row->allocations, want[c].allocations);
        assert_int_equal(row->frees, want[c].frees);
    }
    assert_bytes_equal(s->total.allocated, total.allocated);
    assert_bytes_equal(s->total.freed, total.freed);
    assert_bytes_equal(s->total.leaked, total.leaked);
    assert_bytes_equal(s->total.max, total.max);
}

TEST(a_range_is_what_its_events_did) {
    USE_STATE;
    struct timeline *tl = fixture_random(8, 3000, 120);
    struct track track;
    struct error err = {0};
    struct range_sums s = {0};
    struct fixture random = {.random = 9};
    assert_ok(track_build(&track, tl, 0, &err), err);
    for (int i = 0; i < 60; i++) {
        uint32_t a = (uint32_t)fixture_random_below(&random, track.lod.moments);
        uint32_t b = (uint32_t)fixture_random_below(&random, track.lod.moments);
        uint32_t first = a < b ? a : b, end = a < b ? b : a;
        if (i == 0)
            first = 0, end = track.lod.moments - 1;
        assert_true(range_sums_read(&s, &track, first, end, OWNER_BY_CATEGORY, LANGUAGE_ENGLISH));
        range_is_brute_force(&s, &track, first, end);
        for (int g = 0; g < OWNER_GROUPING_COUNT; g++) {
            uint64_t allocated = 0, live = 0;
            assert_true(
                range_sums_read(&s, &track, first, end, (enum owner_grouping)g, LANGUAGE_ENGLISH));
            for (size_t k = 0; k < s.rows.count; k++) {
                allocated += s.rows.at[k].allocated;
                live += s.rows.at[k].live;
            }
            assert_bytes_equal(allocated, s.total.allocated);
            assert_bytes_equal(live, total_at(&track, end));
        }
    }
    range_sums_fini(&s);
    track_fini(&track);
    timeline_destroy(tl);
}

static int by_number(const void *x, const void *y, const void *user) {
    int a = *(const int *)x, b = *(const int *)y, sign = *(const int *)user;
    return sign * ((a > b) - (a < b));
}

TEST(items_are_sorted_by_an_order_that_knows_more) {
    USE_STATE;
    struct fixture random = {.random = 2};
    int items[200];
    for (size_t count = 0; count <= 200; count++)
        for (int sign = -1; sign <= 1; sign += 2) {
            uint64_t before = 0, after = 0;
            for (size_t i = 0; i < count; i++)
                before += (uint64_t)(items[i] = (int)fixture_random_below(&random, 50));
            sort_items(items, count, sizeof *items, by_number, &sign);
            for (size_t i = 0; i < count; i++) {
                after += (uint64_t)items[i];
                assert_true(i == 0 || sign * items[i - 1] <= sign * items[i]);
            }
            assert_bytes_equal(before, after);
        }
}

static const char compare_commands[] = "goto event 2000\nkey m\nkey p\nkey F9\n";

TEST(tabs_of_differences_and_ranges_are_as_they_were) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false),
                    *b = fixture_llama("recompute.pickle", true);
    const struct {
        const char *difference, *range;
        bool two;
        struct app_options options;
    } cases[] = {
        {"difference-english.txt", "range-english.txt", false, {.width = 1280, .height = 600}},
        {"difference-chinese.txt",
         "range-chinese.txt",
         false,
         {.width = 1280, .height = 600, .language = LANGUAGE_CHINESE}},
        {"difference-150.txt",
         "range-150.txt",
         false,
         {.width = 1400, .height = 700, .scale_percent = 150}},
        {"difference-200.txt",
         "range-200.txt",
         false,
         {.width = 1600, .height = 800, .scale_percent = 200, .theme = THEME_LIGHT}},
        {"difference-two.txt", "range-two.txt", true, {.width = 800, .height = 500}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session s = session_open(&cases[i].options, a, cases[i].two ? b : NULL);
        session_play(&s, cases[i].two ? "key p\nkey F9\n" : compare_commands);
        session_golden(&s, &pane_difference, cases[i].difference);
        session_play(&s, "goto event 3000\nkey r\nkey F10\n");
        session_golden(&s, &pane_range, cases[i].range);
        session_close(&s);
    }
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(the_open_table_follows_mark_range_and_order) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false);
    struct session s = session_open(&(struct app_options){.width = 1280, .height = 800}, a, NULL);
    session_play(&s, "key F9\nexpect tab 1\nexpect difference.groups 0\n");
    session_play(&s, "goto event 2000\nkey m\n");
    uint64_t then = session_value(&s, "cursor.allocated");
    session_play(&s, "key p\nkey o\nexpect sort 1\nkey O\nkey o\nexpect sort 2\n");
    assert_bytes_equal(session_value(&s, "difference.then"), then);
    assert_bytes_equal(session_value(&s, "difference.now"), session_value(&s, "peak.allocated"));
    struct text csv = session_table(&s);
    assert_non_null(strstr(text_get(&csv), "difference,now,before,appeared,gone,blocks,what\r\n"));
    text_fini(&csv);
    session_play(&s, "key F10\nexpect tab 2\n");
    uint64_t whole = session_value(&s, "range.allocated");
    session_play(&s, "key r\n");
    assert_true(session_value(&s, "range.allocated") < whole);
    session_play(&s, "key F10\nkey Esc\nkey Esc\nkey F9\nexpect difference.groups 0\n");
    session_frame(&s);
    session_close(&s);
    timeline_destroy(a);
}

static uint64_t no_time(void) {
    static uint64_t now; /* each look takes longer than a slice */
    return now += 10000000;
}

/* A frame sums up no more than it has time for; who copies, exports or asks gets all of it. */
TEST(a_long_range_is_summed_up_in_slices) {
    USE_STATE;
    struct timeline *tl = fixture_random(5, 400000, 300);
    const struct app_options options = {.width = 900, .height = 600, .embedded_font = true};
    struct error err = {0};
    struct draw_list list = {0};
    struct range_sums want = {0};
    struct app *app = app_create(&options, tl, NULL, &err);
    assert_non_null(app);
    app_use_layers(app, no_time);
    app_open_tab(app, panes_tab_index(&pane_range));
    assert_ok(app_frame(app, &list, &err), err);
    assert_true(app_range_is_building(app) && app_is_busy(app));
    assert_int_equal(app->range.sums.next, 0);
    app_work(app, 16);
    assert_int_equal(app->range.sums.next, 0); /* other things come first, and took all the time */
    int slices = 0;
    for (; app_range_is_building(app); slices++)
        app_build_range(app, 5000);
    assert_int_equal(slices, 400000 / 5000 + (tl->events.count % 5000 != 0));
    assert_true(range_sums_read(&want, &app->a, 0, (uint32_t)tl->events.count, app->grouping,
                                app->language));
    assert_int_equal(want.rows.count, app->range.sums.rows.count);
    assert_memory_equal(want.rows.at, app->range.sums.rows.at,
                        want.rows.count * sizeof *want.rows.at);
    app->range.valid = false;
    uint64_t allocated = 0;
    assert_true(app_query(app, "range.allocated", &allocated));
    assert_true(allocated == want.total.allocated && app->range.sums.done);
    range_sums_fini(&want);
    draw_fini(&list);
    app_destroy(app);
    timeline_destroy(tl);
}

TEST(every_allocation_of_the_tables_may_fail) {
    USE_STATE;
    struct pair p;
    pair_open(&p, fixture_random(1, 300, 20), fixture_random(2, 200, 20));
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        struct difference d = {0};
        struct range_sums s = {0};
        const struct difference_side now = {&p.track[0], 200}, then = {&p.track[1], 100};
        xalloc_set_hook(failing_alloc_hook, &f);
        bool good = difference_read(&d, &then, &now, OWNER_BY_CATEGORY, LANGUAGE_ENGLISH);
        good =
            range_sums_read(&s, &p.track[0], 10, 250, OWNER_BY_CATEGORY, LANGUAGE_ENGLISH) && good;
        difference_fini(&d);
        range_sums_fini(&s);
        bool reached = f.seen >= n;
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_true(good == !reached);
        if (!reached)
            break;
    }
    pair_close(&p);
}

SUITE(cmocka_unit_test(deltas_sum_to_the_difference_of_the_totals_in_every_grouping),
      cmocka_unit_test(a_state_differs_from_itself_by_nothing),
      cmocka_unit_test(differences_sort_by_sign_and_size),
      cmocka_unit_test(a_range_is_what_its_events_did),
      cmocka_unit_test(items_are_sorted_by_an_order_that_knows_more),
      cmocka_unit_test(tabs_of_differences_and_ranges_are_as_they_were),
      cmocka_unit_test(the_open_table_follows_mark_range_and_order),
      cmocka_unit_test(a_long_range_is_summed_up_in_slices),
      cmocka_unit_test(every_allocation_of_the_tables_may_fail))
