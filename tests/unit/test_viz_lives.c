/* Lifetimes and the icicle: against brute force, as they were, with input. */
#include "suite.h"

#include <string.h>

#include "block_lives.h"
#include "failing_alloc.h"
#include "icicle.h"
#include "ruler.h"
#include "timeline.h"
#include "track.h"
#include "viz_fixture.h"
#include "viz_session.h"

static bool lives(const struct timeline *tl, uint32_t block, uint32_t moment) {
    const struct timeline_block *b = &tl->blocks.at[block];
    bool begun = b->alloc_event == TIMELINE_NONE || b->alloc_event < moment;
    return begun && !(b->free_event != TIMELINE_NONE && b->free_event < moment) &&
           !b->pending_at_start;
}

TEST(lifetimes_are_the_blocks_of_every_moment_of_the_range) {
    USE_STATE;
    struct timeline *tl = fixture_random(31, 2500, 90);
    struct track track;
    struct error err = {0};
    struct block_lives l = {0};
    struct fixture random = {.random = 3};
    assert_ok(track_build(&track, tl, 0, &err), err);
    char *met = calloc(tl->blocks.count, 1);
    assert_non_null(met);
    for (int i = 0; i < 50; i++) {
        uint32_t a = (uint32_t)fixture_random_below(&random, track.lod.moments);
        uint32_t b = i % 2 ? a : (uint32_t)fixture_random_below(&random, track.lod.moments);
        uint32_t first = a < b ? a : b, last = a < b ? b : a;
        assert_true(block_lives_read(&l, &track, first, last));
        memset(met, 0, tl->blocks.count);
        uint64_t bytes = 0;
        for (size_t k = 0; k < l.rows.count; k++) {
            const struct block_life *row = &l.rows.at[k];
            met[row->block]++;
            bytes += row->bytes;
            assert_true(lives(tl, row->block, row->first) && lives(tl, row->block, row->end - 1));
            assert_true(row->end == track.lod.moments || !lives(tl, row->block, row->end));
        }
        assert_bytes_equal(bytes, l.bytes);
        for (uint32_t k = 0; k < tl->blocks.count; k++) {
            int wanted = 0;
            for (uint32_t m = first; m <= last; m++)
                wanted |= lives(tl, k, m);
            assert_int_equal(met[k], wanted);
        }
    }
    free(met);
    block_lives_fini(&l);
    track_fini(&track);
    timeline_destroy(tl);
}

TEST(lifetimes_sort_by_size_length_and_start) {
    USE_STATE;
    struct timeline *tl = fixture_random(31, 6000, 900);
    struct track track;
    struct error err = {0};
    struct block_lives l = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    const struct ruler ruler = ruler_of(&track.lod, RULER_TIME);
    assert_true(block_lives_read(&l, &track, 3000, 3000));
    for (int order = LIVES_BY_SIZE; order <= LIVES_BY_START; order++)
        for (int falling = 0; falling < 2; falling++) {
            block_lives_sort(&l, &ruler, (enum block_lives_order)order, falling);
            for (size_t i = 1; i < l.rows.count; i++) {
                const struct block_life *x = &l.rows.at[i - 1], *y = &l.rows.at[i];
                double a = order == LIVES_BY_SIZE     ? (double)x->bytes
                           : order == LIVES_BY_LENGTH ? block_lives_length(&ruler, x)
                                                      : x->first;
                double b = order == LIVES_BY_SIZE     ? (double)y->bytes
                           : order == LIVES_BY_LENGTH ? block_lives_length(&ruler, y)
                                                      : y->first;
                assert_true(falling ? a >= b : a <= b);
            }
        }
    block_lives_fini(&l);
    track_fini(&track);
    timeline_destroy(tl);
}

/* Children sum to their parent, except for the blocks that end there. */
static void tree_sums(const struct icicle *ic, uint64_t now, uint64_t then) {
    assert_bytes_equal(ic->nodes.at[0].bytes, now);
    assert_bytes_equal(ic->nodes.at[0].then, then);
    assert_int_equal(ic->order.count, ic->nodes.count);
    for (uint32_t i = 0; i < ic->nodes.count; i++) {
        const struct icicle_node *n = &ic->nodes.at[i];
        uint64_t bytes = 0, before = 0, last = UINT64_MAX, categories = 0;
        uint32_t blocks = 0;
        for (uint32_t c = n->child; c != ICICLE_NONE; c = ic->nodes.at[c].next) {
            assert_int_equal(ic->nodes.at[c].parent, i);
            assert_true(ic->nodes.at[c].bytes <= last);
            last = ic->nodes.at[c].bytes;
            bytes += last;
            before += ic->nodes.at[c].then;
            blocks += ic->nodes.at[c].count;
        }
        for (int k = 0; k < CATEGORY_COUNT; k++)
            categories += n->by_category[k];
        assert_bytes_equal(categories, n->bytes + n->then);
        assert_true(bytes <= n->bytes && before <= n->then && blocks <= n->count);
    }
}

static uint64_t total_at(const struct track *track, uint32_t moment) {
    struct lod_state s;
    lod_state_at(&track->lod, moment, &s);
    return s.total;
}

TEST(an_icicle_sums_to_the_total_of_each_state) {
    USE_STATE;
    struct timeline *tl = fixture_llama("made_up.lua", false);
    struct track track;
    struct error err = {0};
    struct icicle ic = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    for (uint32_t m = 0; m < track.lod.moments; m += 499) {
        const struct difference_side now = {&track, m}, then = {&track, m / 2};
        assert_true(icicle_read(&ic, ICICLE_PATH, &now, NULL));
        tree_sums(&ic, total_at(&track, m), 0);
        assert_true(icicle_read(&ic, ICICLE_PATH, &now, &then));
        tree_sums(&ic, total_at(&track, m), total_at(&track, m / 2));
        assert_true(icicle_read(&ic, ICICLE_STACK, &now, &then));
        tree_sums(&ic, total_at(&track, m), total_at(&track, m / 2));
        assert_int_equal(ic.nodes.count, 1); /* no stacks in it */
    }
    const struct difference_side end = {&track, track.lod.moments - 1};
    assert_true(icicle_read(&ic, ICICLE_PATH, &end, &end));
    uint32_t path[2], nodes = 0;
    for (uint32_t i = 0; i < ic.nodes.count; i++)
        nodes += ic.nodes.at[i].bytes == ic.nodes.at[i].then;
    assert_int_equal(nodes, ic.nodes.count); /* against itself: nothing */
    path[0] = ic.nodes.at[ic.nodes.at[0].child].name;
    path[1] = UINT32_MAX;
    assert_int_equal(icicle_find(&ic, path, 1), ic.nodes.at[0].child);
    assert_int_equal(icicle_find(&ic, path, 2), ic.nodes.at[0].child);
    icicle_fini(&ic);
    track_fini(&track);
    timeline_destroy(tl);
}

TEST(lifetimes_are_as_they_were) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false);
    const struct {
        const char *lifetimes, *icicle, *commands;
        struct app_options options;
    } cases[] = {
        {"lifetimes-english.txt", "icicle-english.txt", "key p\n", {.width = 1280, .height = 600}},
        {"lifetimes-chinese.txt",
         "icicle-chinese.txt",
         "goto event 2500\nkey m\nkey p\n",
         {.width = 1280, .height = 600, .language = LANGUAGE_CHINESE, .theme = THEME_LIGHT}},
        {"lifetimes-150.txt",
         "icicle-150.txt",
         "goto event 3000\nkey w\nkey w\nkey w\nkey o\nkey o\n",
         {.width = 1400, .height = 700, .scale_percent = 150}},
        {"lifetimes-200.txt",
         "icicle-200.txt",
         "key p\nkey m\ngoto event 2500\nkey r\n",
         {.width = 1600, .height = 800, .scale_percent = 200, .theme = THEME_CONTRAST}},
        {"lifetimes-narrow.txt",
         "icicle-narrow.txt",
         "key p\nkey x\n",
         {.width = 500, .height = 400}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session s = session_open(&cases[i].options, a, NULL);
        session_play(&s, "key F7\n");
        session_play(&s, cases[i].commands);
        session_golden(&s, &pane_lifetimes, cases[i].lifetimes);
        session_play(&s, "key F8\n");
        session_golden(&s, &pane_icicle, cases[i].icicle);
        session_close(&s);
    }
    timeline_destroy(a);
}

TEST(choosing_a_lifetime_pins_its_block) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false);
    struct session s = session_open(&(struct app_options){.width = 1280, .height = 800}, a, NULL);
    session_play(&s, "key p\nkey F7\nkey Down\nkey Enter\n");
    uint64_t pin = session_value(&s, "pin");
    assert_true(pin < a->blocks.count);
    for (uint32_t b = 0; b < a->blocks.count; b++)
        if (lives(a, b, (uint32_t)session_value(&s, "cursor.moment")))
            assert_true(a->blocks.at[b].block_bytes <= a->blocks.at[pin].block_bytes);
    session_frame(&s);
    const struct rect *r = &s.app->layout.tab;
    char line[64];
    snprintf(line, sizeof line, "click %d %d\n", r->x + r->w - 30, r->y + 5); /* start */
    session_play(&s, line);
    session_play(&s, "expect sort 3\n");
    snprintf(line, sizeof line, "click %d %d\n", r->x + 60, r->y + 5); /* size */
    session_play(&s, line);
    session_play(&s, "expect sort 1\nkey Down\nkey Down\nkey PgDn\nkey Enter\n");
    assert_true(session_value(&s, "row") > 2);
    snprintf(line, sizeof line, "wheel %d %d -3\n", r->x + 300, r->y + 60);
    session_play(&s, line);
    session_frame(&s);
    session_close(&s);
    timeline_destroy(a);
}

TEST(an_icicle_is_gone_into_and_out_of) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false);
    struct session s = session_open(&(struct app_options){.width = 1280, .height = 800}, a, NULL);
    session_play(&s, "key p\nkey F8\n");
    session_frame(&s);
    const struct rect *r = &s.app->layout.tab;
    char line[64];
    snprintf(line, sizeof line, "click %d %d\n", r->x + 60, r->y + 60); /* the largest child */
    session_play(&s, line);
    session_play(&s, "expect icicle.depth 1\n");
    uint64_t bytes = session_value(&s, "icicle.bytes");
    assert_true(bytes > 0 && bytes < session_value(&s, "peak.allocated"));
    session_play(&s, "key Backspace\nexpect icicle.depth 0\n");
    assert_bytes_equal(session_value(&s, "icicle.bytes"), session_value(&s, "peak.allocated"));
    session_play(&s, "key Down\nkey Down\nkey Down\nkey Enter\n");
    assert_true(session_value(&s, "icicle.depth") > 0);
    session_play(&s, "goto event 4000\n"); /* the same node at another moment */
    assert_true(session_value(&s, "icicle.depth") > 0);
    session_play(&s, "key m\nkey p\nkey Esc\nkey Esc\nkey Esc\nkey Esc\nexpect icicle.depth 0\n");
    snprintf(line, sizeof line, "wheel %d %d 1\n", r->x + 60, r->y + 100);
    session_play(&s, line);
    session_play(&s, "expect icicle.depth 1\n");
    struct text csv = session_table(&s);
    assert_non_null(strstr(text_get(&csv), "model.layers.0"));
    text_fini(&csv);
    session_frame(&s);
    session_close(&s);
    timeline_destroy(a);
}

TEST(every_allocation_of_lifetimes_and_icicle_may_fail) {
    USE_STATE;
    struct timeline *tl = fixture_random(1, 300, 20);
    struct track track;
    struct error err = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        struct block_lives l = {0};
        struct icicle ic = {0};
        const struct difference_side now = {&track, 200}, then = {&track, 100};
        xalloc_set_hook(failing_alloc_hook, &f);
        bool good = block_lives_read(&l, &track, 10, 250);
        good = icicle_read(&ic, ICICLE_PATH, &now, &then) && good;
        block_lives_fini(&l);
        icicle_fini(&ic);
        bool reached = f.seen >= n;
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_true(good == !reached);
        if (!reached)
            break;
    }
    track_fini(&track);
    timeline_destroy(tl);
}

/* 100,000 blocks at once: a frame draws the rows that are seen. */
TEST(many_lifetimes_draw_no_more_than_the_rows_that_are_seen) {
    USE_STATE;
    struct fixture f = fixture_start("many");
    for (uint32_t i = 0; i < 100000; i++) {
        f.time_ns += 10;
        fixture_alloc(&f, 512 + 512 * (i % 97), (enum category)(i % CATEGORY_COUNT), "m", "op");
    }
    struct session s =
        session_open(&(struct app_options){.width = 1280, .height = 800}, f.tl, NULL);
    struct draw_list list = {0};
    session_play(&s, "key F7\n");
    draw_start(&list, 1280, 800);
    pane_lifetimes.draw(s.app, &list);
    assert_true(list.commands.count < 400);
    draw_fini(&list);
    session_play(&s, "key PgDn\nkey PgDn\nkey o\nkey o\nkey o\n");
    session_frame(&s);
    session_close(&s);
    timeline_destroy(f.tl);
}

SUITE(cmocka_unit_test(lifetimes_are_the_blocks_of_every_moment_of_the_range),
      cmocka_unit_test(lifetimes_sort_by_size_length_and_start),
      cmocka_unit_test(an_icicle_sums_to_the_total_of_each_state),
      cmocka_unit_test(lifetimes_are_as_they_were),
      cmocka_unit_test(choosing_a_lifetime_pins_its_block),
      cmocka_unit_test(an_icicle_is_gone_into_and_out_of),
      cmocka_unit_test(every_allocation_of_lifetimes_and_icicle_may_fail),
      cmocka_unit_test(many_lifetimes_draw_no_more_than_the_rows_that_are_seen))
