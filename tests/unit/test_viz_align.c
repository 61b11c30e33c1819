/* Two timelines on one axis: what each mode recovers, what is done by hand, where they first part. */
#include "suite.h"

#include <string.h>

#include "align.h"
#include "failing_alloc.h"
#include "request_match.h"
#include "timeline.h"
#include "track.h"
#include "viz_fixture.h"
#include "viz_session.h"

/* `steps` of something like training; `extra` more requests before them, of sizes of their own. */
static struct timeline *run(uint32_t extra, uint32_t steps, uint64_t ns) {
    struct fixture f = fixture_start("run");
    for (uint32_t i = 0; i < extra; i++)
        fixture_alloc(&f, 512 * (1000 + i), CATEGORY_PARAMETER, "extra", "aten::empty");
    for (uint32_t s = 0; s < steps; s++) {
        uint32_t kept[20];
        for (uint32_t i = 0; i < 20; i++) {
            f.time_ns += ns;
            kept[i] =
                fixture_alloc(&f, 512 * (1 + i + 20 * s), CATEGORY_ACTIVATION, "m", "aten::mm");
        }
        for (uint32_t i = 20; i-- > 0;) {
            f.time_ns += ns;
            fixture_free(&f, kept[i]);
        }
    }
    return f.tl;
}

struct two {
    struct timeline *tl[2];
    struct track track[2];
    struct align align;
    struct request_match match;
};

static void two_open(struct two *t, struct timeline *a, struct timeline *b) {
    struct error err = {0};
    memset(t, 0, sizeof *t);
    t->tl[0] = a;
    t->tl[1] = b;
    for (int i = 0; i < 2; i++)
        assert_ok(track_build(&t->track[i], t->tl[i], 0, &err), err);
    assert_ok(align_build(&t->align, a, b, &err), err);
    assert_ok(request_match_find(&t->match, &t->track[0], &t->track[1], &err), err);
}

static void two_close(struct two *t) {
    align_fini(&t->align);
    request_match_fini(&t->match);
    for (int i = 0; i < 2; i++) {
        track_fini(&t->track[i]);
        timeline_destroy(t->tl[i]);
    }
}

static void choose(struct two *t, enum align_mode mode) {
    struct error err = {0};
    assert_ok(align_choose(&t->align, mode, &t->track[0], &t->track[1], &t->match, &err), err);
}

/* Both hold the same after the allocation of a moment: only the extra ones are more. */
static void shift_is(const struct two *t, uint64_t extra_bytes) {
    for (uint32_t m = 1; m < t->track[0].lod.moments; m++) {
        uint8_t kind = t->tl[0]->events.at[m - 1].kind;
        if (kind != EVENT_ALLOC && kind != EVENT_FREE_REQUESTED)
            continue;
        struct lod_state a, b;
        lod_state_at(&t->track[0].lod, m, &a);
        lod_state_at(&t->track[1].lod, align_map(&t->align, m), &b);
        assert_bytes_equal(b.total, a.total + extra_bytes);
    }
}

static uint64_t bytes_of(uint32_t extra) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < extra; i++)
        bytes += 512 * (1000 + i);
    return bytes;
}

TEST(a_known_shift_is_recovered_by_requests_and_by_peaks) {
    USE_STATE;
    struct two t;
    two_open(&t, run(0, 6, 100), run(13, 6, 170));
    choose(&t, ALIGN_BY_REQUESTS);
    shift_is(&t, bytes_of(13));
    choose(&t, ALIGN_BY_PEAKS);
    shift_is(&t, bytes_of(13));
    two_close(&t);
}

TEST(a_known_shift_is_recovered_by_hand) {
    USE_STATE;
    struct two t;
    two_open(&t, run(0, 6, 100), run(0, 6, 100));
    for (int by = -9; by <= 9; by += 3) {
        align_nudge(&t.align, by);
        for (uint32_t m = 20; m + 20 < t.track[0].lod.moments; m++) {
            uint8_t kind = t.tl[0]->events.at[(int)m - by - 1].kind;
            if (kind == EVENT_ALLOC || kind == EVENT_FREE_REQUESTED)
                assert_int_equal(align_map(&t.align, m), (int)m - by);
        }
        assert_true(align_is_moved(&t.align) == (by != 0));
        align_reset(&t.align);
    }
    align_stretch(&t.align, 100, 2); /* twice as long, about moment 100 */
    assert_int_equal(align_map(&t.align, 100), align_map(&t.align, 100));
    uint32_t met = align_map(&t.align, 200);
    align_reset(&t.align);
    assert_int_equal(met, align_map(&t.align, 150));
    two_close(&t);
}

TEST(time_meets_by_shares_of_the_whole) {
    USE_STATE;
    struct two t;
    two_open(&t, run(0, 6, 100), run(0, 6, 300)); /* the same at a third of the speed */
    choose(&t, ALIGN_BY_TIME);
    for (uint32_t m = 1; m < t.track[0].lod.moments; m++) {
        uint32_t to = align_map(&t.align, m);
        uint64_t time = to > 0 ? t.tl[1]->events.at[to - 1].time_ns : 0;
        assert_bytes_equal(time, 3 * t.tl[0]->events.at[m - 1].time_ns);
    }
    two_close(&t);
}

TEST(every_mode_is_monotone_and_meets_itself) {
    USE_STATE;
    struct two t, same;
    two_open(&t, fixture_random(5, 4000, 100), fixture_random(6, 3000, 80));
    two_open(&same, fixture_random(5, 4000, 100), fixture_random(5, 4000, 100));
    for (int mode = 0; mode < ALIGN_MODE_COUNT; mode++) {
        choose(&t, (enum align_mode)mode);
        choose(&same, (enum align_mode)mode);
        assert_int_equal(align_map(&t.align, t.track[0].lod.moments), t.track[1].lod.moments);
        uint32_t last = 0;
        for (int moved = 0; moved < 2; moved++, last = 0) {
            for (uint32_t m = 0; m <= t.track[0].lod.moments; m++) {
                uint32_t to = align_map(&t.align, m);
                assert_true(to >= last && to <= t.track[1].lod.moments);
                last = to;
            }
            align_nudge(&t.align, -170.5);
            align_stretch(&t.align, 900, 1.3);
        }
        align_reset(&t.align);
        for (uint32_t m = 0; m < same.track[0].lod.moments; m++) {
            struct lod_state a, b;
            lod_state_at(&same.track[0].lod, m, &a);
            lod_state_at(&same.track[1].lod, align_map(&same.align, m), &b);
            assert_bytes_equal(a.total, b.total);
        }
    }
    two_close(&t);
    two_close(&same);
}

TEST(the_first_difference_is_the_one_that_was_made) {
    USE_STATE;
    struct two t;
    struct timeline *b = run(0, 6, 100);
    uint32_t event = 0, request = 0; /* the 47th request asks for more */
    for (; request < 47 || b->events.at[event].kind != EVENT_ALLOC; event++)
        request += b->events.at[event].kind == EVENT_ALLOC;
    b->blocks.at[b->events.at[event].ref].requested_bytes += 512;
    b->events.at[event].bytes += 512;
    two_open(&t, run(0, 6, 100), b);
    assert_true(t.match.kind == ALIGNMENT_SIZE_DIFFERS);
    assert_int_equal(t.match.first.request, 47);
    assert_int_equal(t.match.second.request, 47);
    assert_int_equal(t.match.first.event, event);
    assert_bytes_equal(t.match.second.bytes, t.match.first.bytes + 512);
    assert_int_equal(request_match_moment(&t.match, &t.track[0]), event + 1);
    two_close(&t);
    two_open(&t, run(0, 6, 100), run(0, 6, 100));
    assert_true(t.match.kind == ALIGNMENT_NONE_DIFFERS && t.match.equal == 120);
    two_close(&t);
    two_open(&t, run(0, 6, 100), run(0, 5, 100));
    assert_true(t.match.kind == ALIGNMENT_EXTRA_DIFFERS);
    assert_true(t.match.first.is_there && !t.match.second.is_there);
    two_close(&t);
}

TEST(kinds_of_difference_are_called_as_validate_calls_them) {
    USE_STATE;
    for (int i = 0; i < ALIGNMENT_DIFFERENCE_COUNT; i++)
        assert_string_equal(i18n_text(LANGUAGE_ENGLISH, (enum text_id)(TEXT_DIFFERS_NONE + i)),
                            alignment_difference_name((enum alignment_difference)i));
}

TEST(keys_align_nudge_stretch_and_go_to_the_difference) {
    USE_STATE;
    struct timeline *a = run(0, 6, 100), *b = run(5, 6, 100);
    const struct app_options options = {.width = 900, .height = 500};
    struct session s = session_open(&options, a, b);
    session_play(&s, "expect align 0\nkey Alt+A\nexpect align 1\nexpect align.moved 0\n"
                     "goto event 60\n");
    uint64_t met = session_value(&s, "overlay.moment");
    session_play(&s, "key Alt+Right\nexpect align.moved 1\n");
    assert_true(session_value(&s, "overlay.moment") < met);
    session_play(&s, "key Alt+Left\nexpect align.moved 0\nkey Alt+Up\nexpect align.moved 1\n");
    assert_int_equal(session_value(&s, "overlay.moment"), met); /* about the cursor */
    session_play(&s, "key Alt+0\nexpect align.moved 0\nkey Alt+Shift+Left\nexpect align.moved 1\n"
                     "key Alt+0\nkey Alt+A\nexpect align 2\nkey Alt+A\nexpect align 3\nkey Alt+A\n"
                     "expect align 0\nkey Alt+D\n");
    assert_int_equal(session_value(&s, "cursor.moment"), session_value(&s, "divergence"));
    struct text out = {0};
    app_copy(s.app, &out);
    assert_non_null(strstr(text_get(&out), "first divergence: missing\nrun: request 0, 512 B"));
    text_fini(&out);
    session_frame(&s);
    session_close(&s);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(the_mark_and_the_legend_are_as_they_were) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false),
                    *b = fixture_llama("recompute.pickle", true);
    const struct {
        const char *mark, *legend, *commands;
        struct app_options options;
    } cases[] = {
        {"divergence-english.txt",
         "legend-aligned.txt",
         "key Alt+D\n",
         {.width = 1280, .height = 600}},
        {"divergence-chinese.txt",
         "legend-aligned-chinese.txt",
         "key Alt+D\nkey Alt+A\nkey Alt+Right\n",
         {.width = 1280, .height = 600, .language = LANGUAGE_CHINESE, .theme = THEME_LIGHT}},
        {"divergence-150.txt",
         "legend-aligned-150.txt",
         "goto end\n",
         {.width = 1400, .height = 900, .scale_percent = 150}},
        {"divergence-200.txt",
         "legend-aligned-200.txt",
         "key Alt+D\nkey v\n",
         {.width = 1600, .height = 1000, .scale_percent = 200}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session s = session_open(&cases[i].options, a, b);
        session_play(&s, cases[i].commands);
        session_golden(&s, &pane_divergence, cases[i].mark);
        session_golden(&s, &pane_legend, cases[i].legend);
        session_close(&s);
    }
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(every_allocation_of_aligning_may_fail) {
    USE_STATE;
    struct two t;
    two_open(&t, run(0, 3, 100), run(3, 3, 100));
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        struct error err = {0};
        struct align align;
        struct request_match match = {0};
        xalloc_set_hook(failing_alloc_hook, &f);
        bool good = align_build(&align, t.tl[0], t.tl[1], &err);
        bool found = good && request_match_find(&match, &t.track[0], &t.track[1], &err);
        for (int mode = 0; found && mode < ALIGN_MODE_COUNT; mode++)
            good = align_choose(&align, (enum align_mode)mode, &t.track[0], &t.track[1], &match,
                                &err) &&
                   good;
        request_match_fini(&match);
        align_fini(&align);
        bool reached = f.seen >= n;
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_true((good && found) == !reached);
        if (!reached)
            break;
    }
    two_close(&t);
}

SUITE(cmocka_unit_test(a_known_shift_is_recovered_by_requests_and_by_peaks),
      cmocka_unit_test(a_known_shift_is_recovered_by_hand),
      cmocka_unit_test(time_meets_by_shares_of_the_whole),
      cmocka_unit_test(every_mode_is_monotone_and_meets_itself),
      cmocka_unit_test(the_first_difference_is_the_one_that_was_made),
      cmocka_unit_test(kinds_of_difference_are_called_as_validate_calls_them),
      cmocka_unit_test(keys_align_nudge_stretch_and_go_to_the_difference),
      cmocka_unit_test(the_mark_and_the_legend_are_as_they_were),
      cmocka_unit_test(every_allocation_of_aligning_may_fail))
