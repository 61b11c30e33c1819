/* The profiler's importer: both forms of `[memory]` events, in the order of their times; what a
 * profile does not tell stays unknown. */
#include "import_text.h"

#define MEMORY(ts, args)                                                                           \
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"args\":{" args "}}"
#define GPU "\"Device Type\":1,\"Device Id\":0,"
#define SPAN(cat, name, ts, dur)                                                                   \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts       \
    ",\"dur\":" dur ",\"args\":{}}"
#define FILE_OF(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "]}"

/* Out of order in the file; the second free is of a block older than the profile. */
#define TOTALS(address, bytes, allocated, reserved)                                                \
    GPU "\"Addr\":" address ",\"Bytes\":" bytes ",\"Total Allocated\":" allocated                  \
        ",\"Total Reserved\":" reserved

/* clang-format off */
static const char new_form[] = FILE_OF(
    SPAN("user_annotation", "ProfilerStep#1", "1", "100") ","
    SPAN("cpu_op", "aten::mm", "5", "20") ","
    SPAN("cpu_op", "aten::empty", "6", "3") ","
    MEMORY("9.5", TOTALS("8192", "1024", "2560", "4096")) ","
    MEMORY("7", TOTALS("4096", "512", "1536", "2048")) ","
    MEMORY("30", TOTALS("4096", "-512", "2048", "4096")) ","
    MEMORY("40", TOTALS("90000", "-600", "1448", "1500")));
/* clang-format on */

TEST(events_are_put_in_order_of_time_and_know_their_op_and_phase) {
    USE_STATE;
    struct imported in = import_text(new_form);
    assert_dump(in, "0 t=1000 phase_begin ProfilerStep#1\n"
                    "1 t=7000 alloc b2 512 block 512 @s-1+4096 unknown - aten::mm - -\n"
                    "2 t=9500 segment_map 2048\n"
                    "3 t=9500 alloc b3 1024 block 1024 @s-1+8192 unknown - aten::mm - -\n"
                    "4 t=30000 free_requested b2 512 block 512 @s-1+4096\n"
                    "5 t=30000 free_completed b2 512 block 512 @s-1+4096\n"
                    "6 t=40000 free_requested b0 600 block 600 @s-1+18446744073709551615\n"
                    "7 t=40000 free_completed b0 600 block 600 @s-1+18446744073709551615\n"
                    "8 t=40000 segment_unmap 2596\n"
                    "9 t=101000 phase_end ProfilerStep#1\n");
    assert_int_equal(in.tl->warnings, 0);
    assert_false(figure(&in, NULL, NULL, "memory_events_time_sorted_in_file"));
    imported_fini(&in);
}

/* 1536 - 512 lived before: the older block's 600 and the rest. */
TEST(what_lived_before_follows_from_the_first_total) {
    USE_STATE;
    struct imported in = import_text(new_form);
    uint64_t start = 0;
    for (size_t i = 0; i < in.tl->blocks.count; i++)
        start +=
            in.tl->blocks.at[i].alloc_event == TIMELINE_NONE ? in.tl->blocks.at[i].block_bytes : 0;
    assert_bytes_equal(start, 1024);
    assert_false(in.tl->has & TIMELINE_RELATIVE);
    assert_true(timeline_knows(in.tl, FIGURE_ALLOCATED));
    assert_true(timeline_knows(in.tl, FIGURE_RESERVED));
    assert_false(timeline_knows(in.tl, FIGURE_ACTIVE));
    assert_false(timeline_knows(in.tl, FIGURE_REQUESTED));
    assert_false(timeline_knows(in.tl, FIGURE_PLACEMENT));
    imported_fini(&in);
}

TEST(without_addresses_a_free_ends_the_newest_block_of_its_size) {
    USE_STATE;
    struct imported in = import_text(
        FILE_OF(MEMORY("1", GPU "\"Bytes\":512") "," MEMORY("2", GPU "\"Bytes\":512") "," MEMORY(
            "3", GPU "\"Bytes\":-512") "," MEMORY("4", GPU "\"Bytes\":-64")));
    assert_dump(in, "0 t=1000 alloc b1 512 unknown -  - -\n"
                    "1 t=2000 alloc b2 512 unknown -  - -\n"
                    "2 t=3000 free_requested b2 512\n"
                    "3 t=3000 free_completed b2 512\n"
                    "4 t=4000 free_requested b0 64\n"
                    "5 t=4000 free_completed b0 64\n");
    assert_true(in.tl->has & TIMELINE_RELATIVE);
    assert_true(in.tl->has & TIMELINE_FREES_BY_SIZE);
    assert_false(timeline_knows(in.tl, FIGURE_RESERVED));
    assert_bytes_equal(figure(&in, "devices", "1:0", "allocs"), 2);
    imported_fini(&in);
}

TEST(the_host_is_counted_and_not_shown) {
    USE_STATE;
    struct imported in = import_text(
        FILE_OF(MEMORY("1", "\"Device Type\":0,\"Device Id\":-1,\"Bytes\":8") "," MEMORY(
            "1", "\"Device Type\":1,\"Device Id\":3,\"Bytes\":16")));
    assert_bytes_equal(figure(&in, "devices", "0:-1", "bytes_allocated"), 8);
    assert_int_equal(in.tl->events.count, 1);
    assert_int_equal(in.tl->events.at[0].device, 3);
    assert_int_equal(timeline_main_device(in.tl), 3);
    imported_fini(&in);
}

TEST(times_are_relative_to_the_base_and_lose_no_digit) {
    USE_STATE;
    struct imported in =
        import_text("{\"baseTimeNanoseconds\":1790857026000000000,\"traceEvents\":[" MEMORY(
            "5220124873735.166", GPU "\"Bytes\":512") "]}");
    assert_bytes_equal(in.tl->events.at[0].time_ns, UINT64_C(1796077150873735166));
    imported_fini(&in);
}

TEST(an_out_of_memory_is_an_event) {
    USE_STATE;
    struct imported in =
        import_text("[{\"ph\":\"i\",\"name\":\"[OutOfMemory]\",\"ts\":3,\"args\":{" GPU
                    "\"Bytes\":4096,\"Total Allocated\":100,\"Total Reserved\":200}}]");
    assert_int_equal(in.tl->ooms.count, 1);
    assert_bytes_equal(in.tl->ooms.at[0].rounded_bytes, 4096);
    assert_bytes_equal(in.tl->ooms.at[0].reserved_bytes, 200);
    imported_fini(&in);
}

TEST(damage_is_repaired_and_counted) {
    USE_STATE;
    /* over a live block; freed with another size; no size; a total that cannot be */
    struct imported in =
        import_text(FILE_OF(MEMORY("1", TOTALS("4096", "512", "512", "0")) "," MEMORY(
            "2", TOTALS("4352", "512", "9",
                        "9")) "," MEMORY("3", TOTALS("4352", "-100", "9",
                                                     "9")) "," MEMORY("4", "\"Device Type\":1")));
    assert_int_equal(in.tl->warnings, 6);
    assert_false(timeline_knows(in.tl, FIGURE_RESERVED));
    imported_fini(&in);
}

TEST(kernels_and_streams_are_counted) {
    USE_STATE;
    struct imported in = import_text(
        FILE_OF("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1,\"args\":{"
                "\"device\":0,\"stream\":7,\"grid\":[1,2,3]}},"
                "{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1,\"args\":{"
                "\"stream\":8,\"device\":0}}"));
    assert_bytes_equal(figure(&in, NULL, NULL, "kernels"), 2);
    assert_bytes_equal(figure(&in, NULL, NULL, "streams_with_kernels"), 2);
    assert_bytes_equal(figure(&in, "categories", NULL, "kernel"), 1);
    imported_fini(&in);
}

TEST(json_of_other_kinds_is_refused) {
    USE_STATE;
    struct error err = refuse_text("{\"schemaVersion\":1}");
    assert_non_null(strstr(err.text, "traceEvents"));
    err = refuse_text("{\"a\":1}");
    assert_non_null(strstr(err.text, "model_type"));
    err = refuse_text("{\"traceEvents\":[");
    assert_non_null(strstr(err.text, "byte"));
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    import_with_failures(new_form);
}

SUITE(cmocka_unit_test(events_are_put_in_order_of_time_and_know_their_op_and_phase),
      cmocka_unit_test(what_lived_before_follows_from_the_first_total),
      cmocka_unit_test(without_addresses_a_free_ends_the_newest_block_of_its_size),
      cmocka_unit_test(the_host_is_counted_and_not_shown),
      cmocka_unit_test(times_are_relative_to_the_base_and_lose_no_digit),
      cmocka_unit_test(an_out_of_memory_is_an_event),
      cmocka_unit_test(damage_is_repaired_and_counted),
      cmocka_unit_test(kernels_and_streams_are_counted),
      cmocka_unit_test(json_of_other_kinds_is_refused),
      cmocka_unit_test(every_failing_allocation_is_handed_up))
