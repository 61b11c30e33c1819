/* What grew and what shrank between two runs. */
#include "suite.h"

#include <string.h>

#include "failing_alloc.h"
#include "growth.h"
#include "growth_report.h"
#include "text.h"
#include "timeline.h"
#include "tl_build.h"

static const char was[] = "begin step_1\n"
                          "begin forward\n"
                          "alloc a 1MiB owner=net.layers.0.fc op=aten::mm\n"
                          "alloc b 1MiB owner=net.layers.1.fc op=aten::mm\n"
                          "alloc c 512 owner=net.loss\n"
                          "end\n"
                          "free a\n"
                          "end\n";
static const char is[] = "begin step_1\n"
                         "begin forward\n"
                         "alloc a 1MiB owner=net.layers.0.fc op=aten::mm\n"
                         "alloc b 3MiB owner=net.layers.1.fc op=aten::mm\n"
                         "alloc d 2MiB owner=net.more\n"
                         "end\n"
                         "end\n"
                         "begin step_2\n"
                         "free d\n"
                         "begin forward\n"
                         "alloc e 512 owner=net.layers.0.fc\n"
                         "end\n"
                         "end\n";

static void check_rows(const struct growth *g, const struct growth_rows *rows, const char *want) {
    struct text out = {0};
    for (size_t i = 0; i < rows->list.count; i++) {
        const struct growth_row *r = &rows->list.at[i];
        text_format(&out, "%s|%s %llu x%llu, %llu x%llu\n", strtab_text(&g->strings, r->phase),
                    strtab_text(&g->strings, r->place), (unsigned long long)r->value.bytes[0],
                    (unsigned long long)r->value.count[0], (unsigned long long)r->value.bytes[1],
                    (unsigned long long)r->value.count[1]);
    }
    assert_string_equal(text_get(&out), want);
    text_fini(&out);
}

TEST(rows_meet_by_phase_and_module_and_the_largest_change_is_first) {
    USE_STATE;
    struct error err = {0};
    struct growth g;
    struct timeline *a = tl_build(was), *b = tl_build(is);
    const struct timeline *const sides[] = {a, b};
    assert_ok(growth_find(sides, 0, &g, &err), err);
    assert_int_equal(g.place, GROWTH_BY_MODULE);
    check_rows(&g, &g.asked,
               "forward|net.layers.*.fc 2097152 x2, 4194816 x3\n"
               "forward|net.more 0 x0, 2097152 x1\n"
               "forward|net.loss 512 x1, 0 x0\n");
    check_rows(&g, &g.at_peaks,
               "|net.layers.*.fc 2097152 x2, 4194304 x2\n"
               "|net.more 0 x0, 2097152 x1\n"
               "|net.loss 512 x1, 0 x0\n");
    check_rows(&g, &g.phases, "forward| 2097664 x3, 6291456 x4\n");
    growth_fini(&g);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(equal_runs_have_no_difference) {
    USE_STATE;
    struct error err = {0};
    struct growth g;
    struct timeline *a = tl_build(was);
    const struct timeline *const sides[] = {a, a};
    assert_ok(growth_find(sides, 0, &g, &err), err);
    for (size_t i = 0; i < g.asked.list.count; i++)
        assert_bytes_equal(g.asked.list.at[i].value.bytes[0], g.asked.list.at[i].value.bytes[1]);
    growth_fini(&g);
    timeline_destroy(a);
}

/* One that knows only totals: there is one row. */
TEST(what_one_side_does_not_know_is_not_compared) {
    USE_STATE;
    struct error err = {0};
    struct growth g;
    struct timeline *a = tl_build(was), *b = tl_build("alloc a 1MiB\nalloc b 512");
    const struct timeline *const sides[] = {a, b};
    assert_ok(growth_find(sides, 0, &g, &err), err);
    assert_int_equal(g.place, GROWTH_BY_NOTHING);
    check_rows(&g, &g.at_peaks, "| 2097664 x3, 1049088 x2\n");
    growth_fini(&g);
    timeline_destroy(a);
    timeline_destroy(b);
}

static bool is_over(const char *first, const char *second, struct growth_limit limit) {
    struct error err = {0};
    struct growth_report r;
    struct timeline *a = tl_build(first), *b = tl_build(second);
    const struct pair_side sides[] = {{.tl = a, .name = "A"}, {.tl = b, .name = "B"}};
    assert_ok(growth_report_init(&r, 0, sides, limit, &err), err);
    bool over = growth_report_is_over(&r);
    growth_report_fini(&r);
    timeline_destroy(a);
    timeline_destroy(b);
    return over;
}

TEST(growth_over_the_tolerance_is_told_and_shrinking_is_not) {
    USE_STATE;
    const char *small = "alloc a 100MiB", *large = "alloc a 102MiB";
    assert_true(is_over(small, large, (struct growth_limit){0, 0}));
    assert_false(is_over(large, small, (struct growth_limit){0, 0}));
    assert_false(is_over(small, small, (struct growth_limit){0, 0}));
    assert_false(is_over(small, large, (struct growth_limit){0.02, 0}));
    assert_true(is_over(small, large, (struct growth_limit){0.0199, 0}));
    assert_false(is_over(small, large, (struct growth_limit){0, 2 << 20}));
    assert_true(is_over(small, large, (struct growth_limit){0, (2 << 20) - 1}));
    assert_true(is_over(small, "alloc a 100MiB\noom 1GiB no", (struct growth_limit){0.5, 0}));
}

static struct timeline *first, *second;

static bool find(void) {
    struct error err = {0};
    struct growth g;
    const struct timeline *const sides[] = {first, second};
    bool ok = growth_find(sides, 0, &g, &err);
    assert_true(ok || err.code == ERROR_HOST_MEMORY);
    growth_fini(&g);
    return ok;
}

TEST(each_failed_host_allocation_is_an_error) {
    USE_STATE;
    first = tl_build(was);
    second = tl_build(is);
    assert_true(fail_each_allocation(find) > 10);
    timeline_destroy(first);
    timeline_destroy(second);
}

SUITE(cmocka_unit_test(rows_meet_by_phase_and_module_and_the_largest_change_is_first),
      cmocka_unit_test(equal_runs_have_no_difference),
      cmocka_unit_test(what_one_side_does_not_know_is_not_compared),
      cmocka_unit_test(growth_over_the_tolerance_is_told_and_shrinking_is_not),
      cmocka_unit_test(each_failed_host_allocation_is_an_error))
