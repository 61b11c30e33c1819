/* ranks.h: the middle rank, and which are odd beside it. */
#include "suite.h"

#include "ranks.h"
#include "tl_build.h"

#include <math.h>

static void add(struct ranks *ranks, const char *text, uint64_t number) {
    struct timeline *tl = tl_build(text);
    assert_true(ranks_add(ranks, tl, number, (uint32_t)ranks->list.count));
    timeline_destroy(tl);
}

TEST(ranks_are_in_order_and_the_odd_one_is_found) {
    USE_STATE;
    struct ranks ranks = {0};
    add(&ranks, "alloc a 102400\n", 10);
    add(&ranks, "alloc a 102400\n", 2);
    add(&ranks, "alloc a 102400\nalloc b 2048\n", 3);
    add(&ranks, "alloc a 102912\n", UINT64_MAX);
    assert_true(ranks_compare(&ranks));
    assert_int_equal(ranks.list.at[0].number, 2);
    assert_int_equal(ranks.list.at[1].number, 3);
    assert_int_equal(ranks.list.at[2].number, 10);
    assert_bytes_equal(ranks.middle[RANK_REQUESTS], 1);
    assert_bytes_equal(ranks.middle[RANK_ALLOCATED], 102400);
    assert_true(ranks.list.at[1].odd[RANK_REQUESTS] && ranks.list.at[1].odd[RANK_ALLOCATED]);
    assert_false(rank_is_odd(&ranks.list.at[0]) || rank_is_odd(&ranks.list.at[2]));
    assert_false(rank_is_odd(&ranks.list.at[3])); /* half a hundredth */
    assert_true(fabs(rank_difference(&ranks, &ranks.list.at[1], RANK_ALLOCATED) - 0.02) < 1e-9);
    ranks_fini(&ranks);
}

TEST(what_is_unknown_is_not_odd) {
    USE_STATE;
    struct ranks ranks = {0};
    add(&ranks, "alloc a 102400\n", 0);
    add(&ranks, "alloc a 512\n", 1);
    ranks.list.at[1].known[RANK_ALLOCATED] = false;
    assert_true(ranks_compare(&ranks));
    assert_bytes_equal(ranks.middle[RANK_ALLOCATED], 102400);
    assert_false(ranks.list.at[1].odd[RANK_ALLOCATED]);
    ranks_fini(&ranks);
}

SUITE(cmocka_unit_test(ranks_are_in_order_and_the_odd_one_is_found),
      cmocka_unit_test(what_is_unknown_is_not_odd))
