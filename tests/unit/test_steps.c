/* Where steps begin and end, and their figures. */
#include "suite.h"

#include "steps.h"
#include "text.h"
#include "tl_build.h"

/* "begin-end allocated/own" a step, in units of 512 bytes; '!' unfinished. */
static void assert_steps(const char *text, const char *expected) {
    struct timeline *tl = tl_build(text);
    struct steps steps;
    struct error err = {0};
    assert_ok(steps_find(tl, 0, &steps, &err), err);
    struct text t = {0};
    for (size_t i = 0; i < steps.rows.count; i++) {
        const struct step *s = &steps.rows.at[i];
        text_format(&t, "%s%u-%u %llu/%llu%s", i ? ", " : "", s->begin_event, s->end_event,
                    (unsigned long long)s->allocated_peak / 512,
                    (unsigned long long)s->own_allocated_peak / 512, s->is_complete ? "" : "!");
    }
    assert_string_equal(text_get(&t), expected);
    text_fini(&t);
    steps_fini(&steps);
    timeline_destroy(tl);
}

TEST(named_steps_are_the_steps) {
    USE_STATE;
    assert_steps("begin model\nalloc w 2048\nfree w\nend\n"                 /* 0..4 */
                 "begin step_1\nalloc a 512\nfree a\nend\n"                 /* 5..9 */
                 "begin step_2\nbegin optimizer\nalloc b 1024\nend\nend\n", /* 10..14 */
                 "5-9 4/1, 10-14 4/2");
}

TEST(a_profilers_step_inside_ours_is_not_a_second_one) {
    USE_STATE;
    assert_steps("begin step_1\nbegin ProfilerStep#1\nend\nend\nbegin step_2\nend\n",
                 "0-3 0/0, 4-5 0/0");
    assert_steps("begin step_\nend\nbegin step_1b\nend\n", "");
}

TEST(a_step_ends_with_its_run_of_optimizer_phases) {
    USE_STATE;
    assert_steps("alloc w 512\n"                                           /* 0 */
                 "begin forward\nalloc a 1024\nend\nbegin backward\nend\n" /* 1..5 */
                 "begin optimizer\nbegin Optimizer.step#AdamW.step\nend\nend\nbegin "
                 "zero_grad\nend\n"                                       /* 6..11
                                                                                              */
                 "free a\n"                                               /* 12 13 */
                 "begin forward\nalloc b 512\nend\nbegin backward\nend\n" /* 14..18 */
                 "begin optimizer\nend\nbegin zero_grad\nend\n"           /* 19..22 */
                 "free b\nfree w\n",
                 "1-11 3/3, 12-22 3/3");
}

TEST(accumulation_has_several_forwards_a_step) {
    USE_STATE;
    assert_steps(
        "begin forward\nend\nbegin backward\nend\nbegin forward\nend\nbegin backward\nend\n"
        "begin optimizer\nend\nbegin zero_grad\nend\n"
        "begin forward\nend\nbegin backward\nend\nbegin optimizer\nend\n",
        "0-11 0/0, 12-17 0/0");
}

TEST(zero_grad_first_belongs_to_no_earlier_step) {
    USE_STATE;
    assert_steps("begin zero_grad\nend\nbegin forward\nend\nbegin optimizer\nend\n"
                 "begin zero_grad\nend\nbegin forward\nend\nbegin optimizer\nend\n",
                 "2-7 0/0, 8-11 0/0");
}

TEST(an_unannotated_trace_has_only_pytorchs_own_marks) {
    USE_STATE;
    assert_steps(
        "alloc w 512\nalloc a 512\n" /* 0 1 */
        "begin Optimizer.step#AdamW.step\nend\nbegin Optimizer.zero_grad#AdamW.zero_grad\n" /* 2..4
                                                                                             */
        "free a\nend\nalloc a 2048\n" /* 5..8 */
        "begin Optimizer.step#AdamW.step\nend\nbegin Optimizer.zero_grad#AdamW.zero_grad\nend\n" /* ..12 */
        "free a\nfree w\n",
        "0-7 2/2, 8-12 5/5");
}

TEST(what_is_open_at_the_end_is_unfinished) {
    USE_STATE;
    assert_steps("begin forward\nalloc a 512\nend\noom 1MiB\n", "0-3 1/1!");
    assert_steps("begin forward\nend\nbegin optimizer\nalloc a 512\noom 1MiB\n", "0-4 1/1!");
    assert_steps("begin step_1\nalloc a 512\noom 1MiB\n", "0-2 1/1!");
}

TEST(a_run_without_training_has_no_steps) {
    USE_STATE;
    assert_steps("begin prefill\nalloc a 512\nend\nbegin decode\nend\n", "");
    assert_steps("", "");
}

TEST(figures_start_from_the_state_before) {
    USE_STATE;
    struct timeline *tl =
        tl_build("segment s 2MiB small\nalloc a 1024 at=s+0\nbegin step_1\nfree a\nend\n"
                 "segment t 4MiB small\nfree_segment t\nbegin step_2\nend\n");
    struct steps steps;
    struct error err = {0};
    assert_ok(steps_find(tl, 0, &steps, &err), err);
    assert_bytes_equal(steps.rows.at[0].own_allocated_peak, 1024);
    assert_bytes_equal(steps.rows.at[0].own_peak_event, TIMELINE_NONE);
    assert_bytes_equal(steps.rows.at[0].allocated_end, 0);
    assert_bytes_equal(steps.rows.at[1].own_allocated_peak, 0);
    assert_bytes_equal(steps.rows.at[1].reserved_peak, 6 * MIB);
    assert_bytes_equal(steps.rows.at[1].own_reserved_peak, 2 * MIB);
    steps_fini(&steps);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(named_steps_are_the_steps),
      cmocka_unit_test(a_profilers_step_inside_ours_is_not_a_second_one),
      cmocka_unit_test(a_step_ends_with_its_run_of_optimizer_phases),
      cmocka_unit_test(accumulation_has_several_forwards_a_step),
      cmocka_unit_test(zero_grad_first_belongs_to_no_earlier_step),
      cmocka_unit_test(an_unannotated_trace_has_only_pytorchs_own_marks),
      cmocka_unit_test(what_is_open_at_the_end_is_unfinished),
      cmocka_unit_test(a_run_without_training_has_no_steps),
      cmocka_unit_test(figures_start_from_the_state_before))
