/* Two timelines, request by request. */
#include "suite.h"

#include "compare.h"
#include "diff.h"
#include "failing_alloc.h"
#include "text.h"
#include "tl_build.h"
#include "tl_random.h"

/* "equal/real/simulated first(simulated item:real item)" */
static void assert_comparison(const char *simulated, const char *real, const char *expected) {
    struct timeline *a = tl_build(simulated), *b = tl_build(real);
    struct comparison c;
    struct error err = {0};
    assert_ok(compare_find(a, 0, b, 0, &c, &err), err);
    struct text t = {0};
    text_format(&t, "%llu/%llu/%llu %s", (unsigned long long)c.requests_equal,
                (unsigned long long)c.requests_real, (unsigned long long)c.requests_simulated,
                alignment_difference_name(c.alignment.first));
    if (!compare_is_equal(&c))
        text_format(&t, "(%u:%u)", c.alignment.first_simulated, c.alignment.first_real);
    assert_string_equal(text_get(&t), expected);
    text_fini(&t);
    compare_fini(&c);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(equal_runs_are_equal) {
    USE_STATE;
    const char *run = "segment s 2MiB small\nalloc a 100 at=s+0\nalloc b 200 at=s+512\nfree "
                      "a\nalloc c 50 at=s+0\n";
    assert_comparison(run, run, "3/3/3 none");
    assert_comparison("", "", "0/0/0 none");
}

TEST(the_order_of_frees_within_a_gap_is_free) {
    USE_STATE;
    assert_comparison("alloc a 100\nalloc b 200\nfree a\nfree b\nalloc c 300\n",
                      "alloc a 100\nalloc b 200\nfree b\nfree a\nalloc c 300\n", "3/3/3 none");
}

TEST(frees_in_another_gap_or_of_another_block_differ) {
    USE_STATE;
    assert_comparison("alloc a 100\nalloc b 100\nfree a\nalloc c 300\nfree b\nalloc d 10\n",
                      "alloc a 100\nalloc b 100\nfree b\nalloc c 300\nfree a\nalloc d 10\n",
                      "2/4/4 free set(2:2)");
    assert_comparison("alloc a 100\nfree a\nalloc b 100\nalloc c 10\n",
                      "alloc a 100\nalloc b 100\nfree a\nalloc c 10\n", "1/3/3 free set(1:1)");
    assert_comparison("alloc a 100\nalloc b 100\n", "alloc a 100\nfree a\nalloc b 100\n",
                      "1/2/2 free set(1:1)");
}

TEST(a_request_of_another_size_differs_and_the_rest_is_found_again) {
    USE_STATE;
    assert_comparison("alloc a 100\nalloc b 200\nalloc c 300\nfree b\nalloc d 400\n",
                      "alloc a 100\nalloc b 208\nalloc c 300\nfree b\nalloc d 400\n",
                      "2/4/4 size(1:1)");
}

TEST(missing_and_extra_requests_are_told_apart) {
    USE_STATE;
    assert_comparison("alloc a 100\nalloc c 300\nfree a\nalloc d 400\n",
                      "alloc a 100\nalloc b 200\nalloc c 300\nfree a\nalloc d 400\n",
                      "3/4/3 missing(1:1)");
    assert_comparison("alloc a 100\nalloc b 200\nalloc c 300\n", "alloc a 100\nalloc c 300\n",
                      "2/2/3 extra(1:1)");
    assert_comparison("alloc a 100\n", "alloc a 100\nalloc b 100\n", "1/2/1 missing(1:1)");
    assert_comparison("", "alloc b 100\n", "0/1/0 missing(0:0)");
}

TEST(streams_are_compared_by_order_of_appearance) {
    USE_STATE;
    assert_comparison("alloc a 100\nalloc b 100 stream=1\nalloc c 100 stream=2\n",
                      "alloc a 100\nalloc b 100 stream=9000\nalloc c 100 stream=70\n",
                      "3/3/3 none");
    assert_comparison("alloc a 100\nalloc b 100 stream=1\nalloc c 7\n",
                      "alloc a 100\nalloc b 100\nalloc c 7\n", "2/3/3 stream(1:1)");
}

TEST(segments_are_compared_by_size_and_place) {
    USE_STATE;
    assert_comparison("segment s 2MiB small\nalloc a 100 at=s+0\n",
                      "segment s 20MiB\nalloc a 100 at=s+0\n", "0/1/1 segment(0:0)");
    assert_comparison("segment s 2MiB small\nalloc a 100 at=s+0\nfree a\nfree_segment s\nsegment t "
                      "2MiB small\nalloc b 9 at=t+0\n",
                      "segment s 2MiB small\nalloc a 100 at=s+0\nfree a\nsegment t 2MiB "
                      "small\nalloc b 9 at=t+0\n",
                      "1/2/2 segment(1:1)");
    assert_comparison("segment s 2MiB small\nalloc a 100 at=s+0\nalloc b 100 at=s+512\n",
                      "segment s 2MiB small\nalloc a 100 at=s+0\nalloc b 100 at=s+1024\n",
                      "1/2/2 offset(1:1)");
}

TEST(a_block_in_another_segment_differs_at_the_same_offset) {
    USE_STATE;
    const char *two =
        "segment s 2MiB small\nalloc a 100 at=s+0\nsegment t 2MiB small\nalloc b 100 at=t+0\n";
    struct text x = {0}, y = {0};
    text_format(&x, "%sfree a\nfree b\nalloc c 7 at=s+0\n", two);
    text_format(&y, "%sfree a\nfree b\nalloc c 7 at=t+0\n", two);
    assert_comparison(text_get(&x), text_get(&y), "2/3/3 offset(2:2)");
    text_fini(&x);
    text_fini(&y);
}

TEST(both_running_out_of_memory_at_the_same_request_is_equal) {
    USE_STATE;
    assert_comparison("begin step_1\nalloc a 100\noom 20MiB\n",
                      "begin forward\nalloc a 100\noom 20MiB\nfree a\nend\n", "1/1/1 none");
    assert_comparison("begin step_1\nalloc a 100\noom 20MiB\n",
                      "begin forward\nalloc a 100\noom 22MiB\nend\n", "1/1/1 size(1:1)");
    assert_comparison("begin step_1\nalloc a 100\noom 1024\n",
                      "begin forward\nalloc a 100\nalloc b 1024\nend\n", "1/2/1 oom(1:1)");
}

TEST(frees_after_the_last_step_do_not_count) {
    USE_STATE;
    const char *steps = "begin forward\nalloc a 100\nend\nbegin optimizer\nalloc b 50\nend\n";
    struct text ended = {0};
    text_format(&ended, "%sfree a\nfree b\nalloc z 1\n", steps);
    assert_comparison("begin step_1\nalloc a 100\nalloc b 50\nend\n", text_get(&ended),
                      "2/2/2 none");
    text_fini(&ended);
}

/* A recording that begins with x alive, against a run that makes x first. */
#define RUN_BEFORE "segment s 2MiB small\nalloc x 512 at=s+0\n"
#define RECORDING_BEFORE "start segment s 2MiB small\nstart block x 512 at=s+0\n"

TEST(a_trace_from_mid_run_is_compared_with_the_part_that_it_shows) {
    USE_STATE;
    const char *real = RECORDING_BEFORE "alloc a 100 at=s+1024\nfree x\nalloc b 9 at=s+2048\n";
    assert_comparison(RUN_BEFORE "alloc a 100 at=s+512\nfree x\nalloc b 9 at=s+0\n", real,
                      "2/2/2 none");
    assert_comparison(RUN_BEFORE
                      "alloc a 100 at=s+512\nfree x\nalloc b 9 at=s+0\nalloc c 7 at=s+1024\n",
                      real, "2/2/2 none"); /* what comes after it does not count */
}

TEST(frees_of_what_lived_before_a_recording_are_compared_by_size) {
    USE_STATE;
    const char *real = RECORDING_BEFORE "start block y 700 at=s+512\nalloc a 100 at=s+4096\n"
                                        "free x\nalloc b 9 at=s+8192\n";
    const char *run = RUN_BEFORE "alloc y 700 at=s+512\nalloc a 100 at=s+4096\n";
    struct text other = {0}, none = {0};
    text_format(&other, "%sfree y\nalloc b 9 at=s+8192\n", run);
    text_format(&none, "%salloc b 9 at=s+8192\n", run);
    assert_comparison(text_get(&other), real, "1/2/2 free set(1:1)");
    assert_comparison(text_get(&none), real, "1/2/2 free set(1:1)");
    text_fini(&other);
    text_fini(&none);
}

TEST(of_several_places_the_last_is_compared) {
    USE_STATE;
    struct timeline *a =
        tl_build(RUN_BEFORE "alloc a 100 at=s+1024\nalloc b 9 at=s+2048\nfree a\nfree b\n"
                            "alloc c 100 at=s+1024\nalloc d 9 at=s+2048\n");
    struct timeline *b = tl_build(RECORDING_BEFORE "alloc a 100 at=s+1024\nalloc b 9 at=s+2048\n");
    struct comparison c;
    struct error err = {0};
    assert_ok(compare_find(a, 0, b, 0, &c, &err), err);
    assert_true(compare_is_equal(&c) && c.is_window);
    assert_int_equal(c.window.places, 2);
    assert_int_equal(c.window.first_request, 3);
    assert_int_equal(c.alive.real, 1);
    assert_int_equal(c.alive.simulated, 1);
    assert_int_equal(c.alive.equal, 1);
    assert_bytes_equal(c.alive.real_bytes, 512);
    compare_fini(&c);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(a_recording_that_stands_nowhere_is_compared_with_the_last_steps) {
    USE_STATE;
    assert_comparison("alloc x 512\nbegin step_1\nalloc a 100\nalloc b 9\nend\n"
                      "begin step_2\nalloc c 100\nalloc d 9\nend\n",
                      RECORDING_BEFORE "alloc a 100 at=s+1024\nalloc b 10 at=s+2048\n",
                      "1/2/2 size(1:1)");
}

TEST(an_allocator_that_answers_otherwise_makes_equal_requests_differ) {
    USE_STATE;
    struct timeline *a = tl_build(RUN_BEFORE "alloc a 100 at=s+1024\n");
    struct timeline *b = tl_build(RECORDING_BEFORE "alloc a 100 at=s+2048\n");
    struct comparison c;
    struct error err = {0};
    assert_ok(compare_find(a, 0, b, 0, &c, &err), err);
    assert_true(compare_wants_place(&c));
    const struct compare_place other = {.is_done = true, .allocated = 7, .reserved = 9};
    compare_place(&c, &other);
    assert_false(compare_is_equal(&c));
    assert_bytes_equal(c.allocated.simulated, 7);
    assert_bytes_equal(c.reserved.simulated, 9);
    const struct compare_place same = {.is_done = true, .is_equal = true};
    compare_place(&c, &same);
    assert_true(compare_is_equal(&c));
    compare_fini(&c);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(peaks_steps_and_curves_are_compared) {
    USE_STATE;
    struct timeline *a = tl_build("segment s 2MiB small\nbegin step_1\nalloc a 1024 at=s+0\nend\n"
                                  "begin step_2\nalloc b 1024 at=s+1024\nend\n");
    struct timeline *b = tl_build(
        "segment s 4MiB small\nbegin forward\nalloc a 1024 at=s+0\nend\nbegin optimizer\nend\n"
        "begin forward\nalloc b 3072 at=s+1024\nend\nbegin optimizer\nend\n");
    struct comparison c;
    struct error err = {0};
    assert_ok(compare_find(a, 0, b, 0, &c, &err), err);
    assert_bytes_equal(c.allocated.real, 4096);
    assert_bytes_equal(c.allocated.simulated, 2048);
    assert_true(compare_error(c.allocated) == -0.5);
    assert_true(compare_error(c.reserved) == -0.5);
    assert_true(compare_is_within(&c, 0.5));
    assert_false(compare_is_within(&c, 0.49));
    assert_bytes_equal(c.steps.count, 2);
    assert_bytes_equal(c.steps.at[1].allocated_peak.real, 4096);
    assert_bytes_equal(c.steps.at[0].own_peak.simulated, 1024);
    assert_true(c.curve_distance == 2048.0 / 5120.0);
    compare_fini(&c);
    assert_ok(compare_find(b, 0, b, 0, &c, &err), err);
    assert_true(c.curve_distance == 0);
    assert_true(compare_is_equal(&c));
    compare_fini(&c);
    timeline_destroy(a);
    timeline_destroy(b);
    assert_true(compare_error((struct compare_value){0, 0}) == 0);
    assert_true(compare_error((struct compare_value){0, 1}) > 1e300);
}

/* --- the diff --- */

static size_t lcs_naive(const uint64_t *a, size_t n, const uint64_t *b, size_t m) {
    size_t *row = calloc(m + 1, sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < n; i++) {
        size_t diagonal = 0;
        for (size_t k = 0; k < m; k++) {
            size_t above = row[k + 1];
            row[k + 1] = a[i] == b[k] ? diagonal + 1 : above > row[k] ? above : row[k];
            diagonal = above;
        }
    }
    size_t length = row[m];
    free(row);
    return length;
}

static size_t check_partners(const uint64_t *a, size_t n, const uint64_t *b, size_t m,
                             const uint32_t *partner) {
    size_t matched = 0;
    int64_t last = -1;
    for (size_t i = 0; i < n; i++) {
        if (partner[i] == DIFF_NONE)
            continue;
        assert_true(partner[i] < m && (int64_t)partner[i] > last);
        assert_true(a[i] == b[partner[i]]);
        last = partner[i];
        matched++;
    }
    return matched;
}

TEST(diff_finds_a_longest_common_subsequence) {
    USE_STATE;
    enum { MOST = 60 };
    struct tl_random r = {.state = 11};
    for (int round = 0; round < 400; round++) {
        uint64_t a[MOST], b[MOST];
        uint32_t partner[MOST + 1];
        size_t n = tl_random_next(&r, MOST), m = tl_random_next(&r, MOST);
        uint32_t values = 1 + tl_random_next(&r, 8);
        for (size_t i = 0; i < n; i++)
            a[i] = tl_random_next(&r, values);
        for (size_t i = 0; i < m; i++)
            b[i] = tl_random_next(&r, values);
        struct error err = {0};
        assert_ok(diff_match(a, n, b, m, partner, &err), err);
        assert_bytes_equal(check_partners(a, n, b, m, partner), lcs_naive(a, n, b, m));
    }
}

TEST(diff_of_unlike_sequences_ends) {
    USE_STATE;
    enum { MANY = 8000 };
    uint64_t *a = calloc(MANY, sizeof *a), *b = calloc(MANY, sizeof *b);
    uint32_t *partner = calloc(MANY, sizeof *partner);
    assert_true(a && b && partner);
    struct tl_random r = {.state = 3};
    for (size_t i = 0; i < MANY; i++) {
        a[i] = tl_random_next(&r, 50);
        b[i] = i < MANY / 2 ? tl_random_next(&r, 50) : 100;
    }
    struct error err = {0};
    assert_ok(diff_match(a, MANY, b, MANY, partner, &err), err);
    /* Far more differences than the bound: no longest one is promised, but a useful one. */
    size_t matched = check_partners(a, MANY, b, MANY, partner);
    assert_true(matched > lcs_naive(a, MANY, b, MANY) / 2);
    free(a);
    free(b);
    free(partner);
}

/* Removing an item from a random run is found as exactly that, whichever it is. */
TEST(one_request_left_out_is_found) {
    USE_STATE;
    struct timeline *real = tl_random(21, 300);
    for (uint32_t left_out = 0; left_out < 40; left_out++) {
        struct timeline *simulated = tl_random(21, 300);
        uint32_t event = simulated->blocks.at[left_out].alloc_event;
        simulated->events.at[event].kind = EVENT_OTHER;
        simulated->has &= ~(uint32_t)TIMELINE_HAS_SEGMENTS; /* requests only: addresses shift */
        struct comparison c;
        struct error err = {0};
        assert_ok(compare_find(simulated, 0, real, 0, &c, &err), err);
        assert_bytes_equal(c.requests_real - c.requests_simulated, 1);
        assert_bytes_equal(c.alignment.matched, c.requests_simulated);
        assert_true(!compare_is_equal(&c));
        compare_fini(&c);
        timeline_destroy(simulated);
    }
    timeline_destroy(real);
}

static void fail_every_allocation(const struct timeline *a, const struct timeline *b) {
    struct failing_alloc f = {0};
    bool done = false;
    for (f.fail_at = 1; !done; f.fail_at++) {
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        struct comparison c;
        struct error err = {0};
        done = compare_find(a, 0, b, 0, &c, &err);
        assert_true(done || err.code == ERROR_HOST_MEMORY);
        if (done)
            compare_fini(&c);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
    }
}

TEST(exhausted_host_memory_is_an_error) {
    USE_STATE;
    struct timeline *a = tl_random(3, 200), *b = tl_random(4, 200);
    struct timeline *window =
        tl_build(RECORDING_BEFORE "alloc a 100 at=s+1024\nfree x\nalloc b 9\n");
    fail_every_allocation(a, b);
    fail_every_allocation(a, window);
    timeline_destroy(a);
    timeline_destroy(b);
    timeline_destroy(window);
}

SUITE(cmocka_unit_test(equal_runs_are_equal),
      cmocka_unit_test(the_order_of_frees_within_a_gap_is_free),
      cmocka_unit_test(frees_in_another_gap_or_of_another_block_differ),
      cmocka_unit_test(a_request_of_another_size_differs_and_the_rest_is_found_again),
      cmocka_unit_test(missing_and_extra_requests_are_told_apart),
      cmocka_unit_test(streams_are_compared_by_order_of_appearance),
      cmocka_unit_test(segments_are_compared_by_size_and_place),
      cmocka_unit_test(a_block_in_another_segment_differs_at_the_same_offset),
      cmocka_unit_test(both_running_out_of_memory_at_the_same_request_is_equal),
      cmocka_unit_test(frees_after_the_last_step_do_not_count),
      cmocka_unit_test(a_trace_from_mid_run_is_compared_with_the_part_that_it_shows),
      cmocka_unit_test(frees_of_what_lived_before_a_recording_are_compared_by_size),
      cmocka_unit_test(of_several_places_the_last_is_compared),
      cmocka_unit_test(a_recording_that_stands_nowhere_is_compared_with_the_last_steps),
      cmocka_unit_test(an_allocator_that_answers_otherwise_makes_equal_requests_differ),
      cmocka_unit_test(peaks_steps_and_curves_are_compared),
      cmocka_unit_test(diff_finds_a_longest_common_subsequence),
      cmocka_unit_test(diff_of_unlike_sequences_ends),
      cmocka_unit_test(one_request_left_out_is_found),
      cmocka_unit_test(exhausted_host_memory_is_an_error))
