/* Moments by name. */
#include "suite.h"

#include "place.h"
#include "tl_build.h"

static const char run[] = "device 80GiB 500MiB\n"
                          "t=1000\n"
                          "segment s0 64MiB large\n"
                          "begin step_1\n"
                          "begin forward\n"
                          "alloc a 1MiB at=s0+0\n"
                          "alloc b 1MiB at=s0+1MiB\n"
                          "end\n"
                          "begin backward\n"
                          "free b\n"
                          "alloc c 4MiB at=s0+1MiB\n"
                          "free c\n"
                          "end\n"
                          "end\n"
                          "begin step_2\n"
                          "begin backward\n"
                          "alloc d 2MiB at=s0+1MiB\n"
                          "oom 1GiB\n"
                          "end\n"
                          "end\n";

static uint32_t find(const char *text) {
    struct timeline *tl = tl_build(run);
    struct error err = {0};
    uint32_t moment;
    assert_ok(place_find(tl, NULL, 0, text, &moment, &err), err);
    timeline_destroy(tl);
    return moment;
}

static void assert_refused(const char *text, const char *why) {
    struct timeline *tl = tl_build(run);
    struct error err = {0};
    uint32_t moment;
    assert_false(place_find(tl, NULL, 0, text, &moment, &err));
    assert_int_equal(err.code, ERROR_USAGE);
    assert_string_equal(err.text, why);
    timeline_destroy(tl);
}

TEST(words_are_moments) {
    USE_STATE;
    assert_int_equal(find("start"), 0);
    assert_int_equal(find("end"), 20);
    assert_int_equal(find("peak"), 10); /* a and c: five MiB, for the first time */
    assert_int_equal(find("reserved"), 1);
    assert_int_equal(find("oom"), 18);
}

TEST(events_count_from_0_and_last_until_the_next) {
    USE_STATE;
    assert_int_equal(find("event 0"), 1);
    assert_int_equal(find("7"), 8);
    assert_refused("event 20", "there are 20 events, from 0");
    assert_refused("event x", "a whole number is expected");
}

TEST(a_time_is_since_the_first_event) {
    USE_STATE;
    assert_int_equal(find("time 0"), 1);
    assert_int_equal(find("time 3ns"), 4);
    assert_int_equal(find("time 0.004 us"), 5);
    assert_int_equal(find("time 1s"), 20);
    assert_int_equal(find("3 ns"), 4);
    assert_int_equal(find("0.004us"), 5);
    assert_refused("4x", "expected a time since the first event, as time 12.5ms (ns, us, ms, s)");
    assert_refused("time soon", "expected a time since the first event, as time 12.5ms (ns, "
                                "us, ms, s)");
}

TEST(a_phase_is_named_from_the_outside_in) {
    USE_STATE;
    uint32_t second = find("step 2 backward");
    assert_int_equal(find("step 2/backward"), second);
    assert_int_equal(second, find("step 2") + 1);
    assert_true(find("backward") < second); /* the first of that name */
    assert_int_equal(find("step 1 backward"), find("backward"));
    assert_int_equal(find("step 1 backward peak"), find("peak"));
    assert_int_equal(find("step 2 end"), 20);
}

TEST(an_unknown_moment_names_the_known_ones_and_the_nearest_phase) {
    USE_STATE;
    assert_refused("bakward",
                   "no such moment (did you mean 'backward'?); expected peak, "
                   "reserved, oom, start, end, event N, time T, divergence or a phase such "
                   "as step 2 backward");
    assert_refused("divergence", "a divergence is of two files");
}

static uint32_t divergence(const char *a, const char *b, bool *differs) {
    struct timeline *x = tl_build(a), *y = tl_build(b);
    struct error err = {0};
    uint32_t moment;
    assert_ok(place_divergence(x, y, 0, differs, &moment, &err), err);
    timeline_destroy(x);
    timeline_destroy(y);
    return moment;
}

TEST(a_divergence_is_the_first_request_that_differs) {
    USE_STATE;
    static const char one[] = "segment s0 2MiB small\nalloc a 512\nalloc b 512\nfree a\n";
    static const char phases[] =
        "segment s0 2MiB small\nbegin step_1\nalloc a 512\nalloc b 512\nfree a\nend\n";
    static const char other[] = "segment s0 2MiB small\nalloc a 512\nalloc b 512\nfree b\n";
    static const char larger[] = "segment s0 2MiB small\nalloc a 512\nalloc b 1024\nfree a\n";
    static const char shorter[] = "segment s0 2MiB small\nalloc a 512\nalloc b 512\n";
    bool differs;
    divergence(one, phases, &differs); /* what is no request does not count */
    assert_false(differs);
    assert_int_equal(divergence(one, other, &differs), 4);
    assert_true(differs);
    assert_int_equal(divergence(one, larger, &differs), 3);
    assert_int_equal(divergence(one, shorter, &differs), 4);
    assert_int_equal(divergence(shorter, one, &differs), 3); /* its end */
    assert_true(differs);
}

SUITE(cmocka_unit_test(words_are_moments),
      cmocka_unit_test(events_count_from_0_and_last_until_the_next),
      cmocka_unit_test(a_time_is_since_the_first_event),
      cmocka_unit_test(a_phase_is_named_from_the_outside_in),
      cmocka_unit_test(an_unknown_moment_names_the_known_ones_and_the_nearest_phase),
      cmocka_unit_test(a_divergence_is_the_first_request_that_differs))
