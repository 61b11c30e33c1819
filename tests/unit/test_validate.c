/* The forms of a comparison. */
#include "suite.h"

#include "compare.h"
#include "failing_alloc.h"
#include "golden.h"
#include "text.h"
#include "tl_build.h"
#include "tl_samples.h"
#include "validate.h"

/* Gives block `index` a stack of two frames, as a trace has. */
static void add_stack(struct timeline *tl, uint32_t index) {
    struct timeline_frame inner = {timeline_string(tl, "forward"), timeline_string(tl, "linear.py"),
                                   116};
    struct timeline_frame outer = {timeline_string(tl, "step"),
                                   timeline_string(tl, "train\x1b[0m.py"), 12};
    struct timeline_stack stack = {.first = (uint32_t)tl->frames.count, .count = 2};
    assert_true(array_push(&tl->frames, inner) && array_push(&tl->frames, outer) &&
                array_push(&tl->stacks, stack));
    tl->blocks.at[index].stack = (uint32_t)tl->stacks.count - 1;
    tl->has |= TIMELINE_HAS_STACK;
}

static void assert_forms(struct timeline *simulated, struct timeline *real, const char *text_path,
                         const char *json_path) {
    struct comparison c;
    struct error err = {0};
    struct text t = {0};
    assert_ok(compare_find(simulated, 0, real, 0, &c, &err), err);
    validate_text(&c, 0.02, &t);
    assert_golden(text_get(&t), text_path);
    t.length = 0;
    validate_json(&c, 0.02, &t);
    assert_golden(text_get(&t), json_path);
    text_fini(&t);
    compare_fini(&c);
    timeline_destroy(simulated);
    timeline_destroy(real);
}

TEST(equal_runs) {
    USE_STATE;
    assert_forms(tl_build(tl_training), tl_build(tl_training), "tests/report/equal.txt",
                 "tests/report/equal.json");
}

TEST(a_request_too_much) {
    USE_STATE;
    struct timeline *real =
        tl_build("segment s0 2MiB small\nbegin forward\nalloc a 100 at=s0+0 op=aten::mm\n"
                 "alloc b 300 at=s0+512\nend\n");
    add_stack(real, 1);
    assert_forms(
        tl_build(
            "segment s0 2MiB small\nbegin step_1\nbegin forward\nalloc a 100 at=s0+0 op=aten::mm\n"
            "alloc x 200 at=s0+512 op=aten::add owner=model.norm name=mean\nalloc b 300 "
            "at=s0+1024\n"
            "end\nend\n"),
        real, "tests/report/extra.txt", "tests/report/extra.json");
}

TEST(other_frees) {
    USE_STATE;
    assert_forms(tl_build("alloc a 100\nalloc b 100\nfree b\nalloc c 300\nfree a\n"),
                 tl_build("alloc a 100\nalloc b 100\nfree a\nalloc c 300\nfree b\n"),
                 "tests/report/frees.txt", "tests/report/frees.json");
}

TEST(another_segment) {
    USE_STATE;
    assert_forms(tl_build("segment s 20MiB\nalloc a 100 at=s+0\n"),
                 tl_build("segment s 2MiB small\nalloc a 100 at=s+0\n"), "tests/report/segment.txt",
                 "tests/report/segment.json");
}

TEST(one_side_ends_early) {
    USE_STATE;
    assert_forms(tl_build("alloc a 100\n"), tl_build("alloc a 100\nalloc b 200\n"),
                 "tests/report/missing.txt", "tests/report/missing.json");
}

TEST(exhausted_host_memory_shows_in_the_text) {
    USE_STATE;
    struct timeline *a = tl_build("alloc a 100\nalloc b 100\nfree b\nalloc c 300\n");
    struct timeline *b = tl_build("alloc a 100\nalloc b 100\nfree a\nalloc c 300\n");
    struct comparison c;
    struct error err = {0};
    assert_ok(compare_find(a, 0, b, 0, &c, &err), err);
    struct failing_alloc f = {0};
    bool done = false;
    for (f.fail_at = 1; !done; f.fail_at++) {
        f.seen = 0;
        struct text t = {0};
        xalloc_set_hook(failing_alloc_hook, &f);
        validate_text(&c, -1, &t);
        validate_json(&c, -1, &t);
        done = !t.failed;
        text_fini(&t);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
    }
    compare_fini(&c);
    timeline_destroy(a);
    timeline_destroy(b);
}

SUITE(cmocka_unit_test(equal_runs), cmocka_unit_test(a_request_too_much),
      cmocka_unit_test(other_frees), cmocka_unit_test(another_segment),
      cmocka_unit_test(one_side_ends_early),
      cmocka_unit_test(exhausted_host_memory_shows_in_the_text))
