/* The importer of export_memory_timeline: raw tuples, and sums. */
#include "import_text.h"

#include "peak.h"

TEST(raw_tuples_begin_end_and_change_what_they_are) {
    USE_STATE;
    struct imported in = import_text("[[-1, 1, 512, 0], [10, 2, 2048, 7], [11, 3, -2048, 7], "
                                     "[11, 3, 2048, 4], [12, 4, -512, 0]]");
    assert_dump(in, "0 t=10 alloc b1 2048 unknown -  - -\n"
                    "1 t=11 free_requested b1 2048\n"
                    "2 t=11 free_completed b1 2048\n"
                    "3 t=11 alloc b2 2048 activation -  - -\n"
                    "4 t=12 free_requested b0 512\n"
                    "5 t=12 free_completed b0 512\n");
    struct peaks peaks;
    peak_find(in.tl, 0, &peaks);
    assert_bytes_equal(peaks.allocated.bytes, 2560);
    assert_bytes_equal(figure(&in, NULL, NULL, "peak"), 2560);
    assert_bytes_equal(figure(&in, NULL, NULL, "peak_index"), 1);
    assert_bytes_equal(figure(&in, "by_action", NULL, "version"), 2);
    assert_bytes_equal(figure(&in, "end_by_category", NULL, "activation"), 2048);
    assert_int_equal(in.tl->warnings, 0);
    imported_fini(&in);
}

TEST(sums_become_blocks_that_never_pass_both_rows) {
    USE_STATE;
    struct imported in = import_text("[[1, 2], [[0, 512, 0, 0, 0, 300, 0, 0, 0], "
                                     "[0, 0, 700, 0, 0, 100, 0, 0, 0]]]");
    assert_dump(in, "0 t=1000 alloc b0 512 parameter -  - -\n"
                    "1 t=1000 alloc b1 300 activation -  - -\n"
                    "2 t=2000 free_requested b0 512\n"
                    "3 t=2000 free_completed b0 512\n"
                    "4 t=2000 free_requested b1 300\n"
                    "5 t=2000 free_completed b1 300\n"
                    "6 t=2000 alloc b2 100 activation -  - -\n"
                    "7 t=2000 alloc b3 700 optimizer_state -  - -\n");
    struct peaks peaks;
    peak_find(in.tl, 0, &peaks);
    assert_bytes_equal(peaks.allocated.bytes, 812);
    assert_true(in.tl->has & TIMELINE_SUMS_BLOCKS);
    assert_false(in.tl->has & TIMELINE_FREES_BY_SIZE);
    imported_fini(&in);
}

TEST(the_kinds_are_told_apart_by_their_second_list) {
    USE_STATE;
    struct imported in = import_text("[[5, 2, 512, 4]]");
    assert_string_equal(in.facts.kind, "memory_timeline_raw");
    imported_fini(&in);
    in = import_text("[[1, 2, 3, 4], [[0,1,0,0,0,0,0,0,0],[0,2,0,0,0,0,0,0,0]]]");
    assert_string_equal(in.facts.kind, "memory_timeline");
    assert_bytes_equal(figure(&in, NULL, NULL, "rows"), 2);
    imported_fini(&in);
}

TEST(damage_is_skipped_and_counted) {
    USE_STATE;
    struct imported in =
        import_text("[[1, 2, 3, 4], [1, \"a\", 2, 3], [1, 2, 3], [1, 9, 1, 1], [1, 2, 1.5, 1], "
                    "[2, 4, -77, 1], [1, 2, 99999999999999999999, 1], [0, 2, 5, 5]]");
    assert_int_equal(in.tl->warnings, 7); /* the last goes back in time */
    assert_bytes_equal(figure(&in, NULL, NULL, "tuples"), 8);
    imported_fini(&in);
    in = import_text("[[1], [[0,1,0,0,0,0,0,0,0],[0,2,0,0,0,0,0,0,0],[1],[0,-1,0,0,0,0,0,0,0]]]");
    assert_int_equal(in.tl->warnings, 3);
    imported_fini(&in);
}

TEST(other_lists_are_refused) {
    USE_STATE;
    static const char *const bad[] = {"[[1,2,3],[4,5,6]]", "[[1,2],[[[1]]]]", "[[1,2,3,4],{}]",
                                      "[[1,2,3,4],[1,2,3,4],[[1]]]", "[[1.5,2,3,4],[1,2,3,4]]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(refuse_text(bad[i]).code, ERROR_BAD_INPUT);
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    import_with_failures("[[-1, 1, 512, 0], [10, 2, 2048, 6], [11, 3, -2048, 6], "
                         "[11, 3, 2048, 4], [12, 4, -512, 0]]");
    import_with_failures("[[1, 2], [[0, 512, 0, 0, 0, 300, 0, 0, 0], "
                         "[0, 0, 700, 0, 0, 100, 0, 0, 0]]]");
}

SUITE(cmocka_unit_test(raw_tuples_begin_end_and_change_what_they_are),
      cmocka_unit_test(sums_become_blocks_that_never_pass_both_rows),
      cmocka_unit_test(the_kinds_are_told_apart_by_their_second_list),
      cmocka_unit_test(damage_is_skipped_and_counted), cmocka_unit_test(other_lists_are_refused),
      cmocka_unit_test(every_failing_allocation_is_handed_up))
