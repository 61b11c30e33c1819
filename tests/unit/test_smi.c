/* The importer of samples of a device's memory. */
#include "import_text.h"

#include "peak.h"
#include "smi_time.h"

static const char two_cards[] = "timestamp, index, name, memory.used [MiB], memory.total [MiB]\n"
                                "2024/05/01 12:00:00.123, 1, A100, 3 MiB, 100 MiB\r\n"
                                "2024/05/01 12:00:00.124, 0, A100, 7 MiB, 100 MiB\n"
                                "2024/05/01 12:00:01.123, 1, A100, 9 MiB, 100 MiB\n"
                                "2024/05/01 12:00:02.123, 1, A100, [N/A], 100 MiB\n"
                                "2024/05/01 12:00:03.123, 1, A100, 5 MiB, 100 MiB\n";

TEST(samples_are_what_the_device_has_in_use) {
    USE_STATE;
    struct imported in = import_text(two_cards);
    struct peaks peaks;
    peak_find(in.tl, 1, &peaks);
    assert_bytes_equal(peaks.reserved.bytes, 9 << 20);
    assert_bytes_equal(peaks.at_end.reserved, 5 << 20);
    assert_bytes_equal(peaks.device_bytes, 9 << 20);
    assert_bytes_equal(peaks.total_bytes, 100 << 20);
    assert_true(timeline_knows(in.tl, FIGURE_DEVICE_USE));
    assert_false(timeline_knows(in.tl, FIGURE_ALLOCATED));
    assert_false(timeline_knows(in.tl, FIGURE_RESERVED));
    assert_int_equal(in.tl->warnings, 1);
    assert_bytes_equal(figure(&in, "devices", "1", "samples"), 3);
    assert_bytes_equal(in.tl->events.at[0].time_ns, UINT64_C(1714564800123000000));
    imported_fini(&in);
}

TEST(columns_are_found_by_name_and_units_by_value_or_head) {
    USE_STATE;
    struct imported in = import_text("memory.used [KiB],x,time,gpu_uuid\n"
                                     "5,,1714564800.5,GPU-a\n"
                                     "2 GiB,,1714564801,GPU-b\n");
    assert_bytes_equal(figure(&in, "devices", "0", "used_peak"), 5 << 10);
    assert_bytes_equal(figure(&in, "devices", "1", "used_peak"), UINT64_C(2) << 30);
    assert_bytes_equal(in.tl->events.at[0].time_ns, UINT64_C(1714564800500000000));
    imported_fini(&in);
}

TEST(without_a_time_the_order_is_all) {
    USE_STATE;
    struct imported in = import_text("memory.used [MiB]\n1\n2\n");
    assert_false(in.tl->has & TIMELINE_HAS_TIME);
    assert_bytes_equal(figure(&in, "devices", "0", "used_last"), 2 << 20);
    imported_fini(&in);
}

TEST(times_are_dates_or_seconds) {
    USE_STATE;
    static const struct {
        const char *text;
        uint64_t seconds;
    } good[] = {{"1970-01-01T00:00:00", 0},
                {"2000/02/29 23:59:59", 951868799},
                {"2024-12-31 00:00:00.5", 1735603200},
                {"2100/03/01 00:00:00", UINT64_C(4107542400)},
                {"12.25", 12}};
    static const char *const bad[] = {
        "", "x", "1969/12/31 00:00:00", "2024/13/01 00:00:00", "2024/05/01", "12.5x"};
    uint64_t ns;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(smi_time_parse(good[i].text, strlen(good[i].text), &ns));
        assert_bytes_equal(ns / 1000000000, good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(smi_time_parse(bad[i], strlen(bad[i]), &ns));
}

TEST(a_head_without_samples_is_refused) {
    USE_STATE;
    assert_non_null(strstr(refuse_text("memory.used [MiB]\n\n").text, "no sample"));
    assert_non_null(strstr(refuse_text("memory.used [MiB]\n[N/A]\n").text, "no sample"));
}

/* --format=csv,noheader */
TEST(without_a_head_columns_are_told_by_what_stands_in_them) {
    USE_STATE;
    struct imported in = import_text("2024/05/01 12:00:00.123, 1, NVIDIA A100, 3 MiB, 100 MiB\n"
                                     "2024/05/01 12:00:01.123, 1, NVIDIA A100, 9 MiB, 100 MiB\n");
    assert_bytes_equal(figure(&in, "devices", "1", "used_peak"), 9 << 20);
    assert_bytes_equal(figure(&in, "devices", "1", "total"), 100 << 20);
    assert_string_equal(timeline_text(in.tl, in.tl->first_warning),
                        "no head: column 4 is taken for memory.used");
    imported_fini(&in);
    in = import_text("100 MiB, 3 MiB, GPU-1\n100 MiB, 9 MiB, GPU-2\n");
    assert_bytes_equal(figure(&in, "devices", "1", "used_peak"), 9 << 20);
    imported_fini(&in);
}

TEST(what_cannot_be_told_without_a_head_is_asked_for) {
    USE_STATE;
    static const struct {
        const char *text, *why;
    } cases[] = {{"2024/05/01 12:00:00.123, 0, 503, 81920\n", "no value has a unit"},
                 {"0, 5 MiB, 95 MiB, 100 MiB\n", "which of the sizes"},
                 {"0, 5 MiB, 100 MiB\n0, 105 MiB, 100 MiB\n", "which of the sizes"},
                 {"0, 31, 5 MiB\n", "which of the numbers"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = refuse_text(cases[i].text);
        assert_non_null(strstr(err.text, cases[i].why));
        assert_non_null(strstr(err.text, "put one before them"));
    }
}

static const char dmon[] = "#Date       Time        gpu     fb   bar1   ccpm\n"
                           "#YYYYMMDD   HH:MM:SS    Idx     MB     MB     MB\n"
                           " 20240501   12:00:00      0    503      5      0\n"
                           " 20240501   12:00:00      1      3      5      0\n"
                           "#Date       Time        gpu     fb   bar1   ccpm\n"
                           "#YYYYMMDD   HH:MM:SS    Idx     MB     MB     MB\n"
                           " 20240501   12:00:01      0    700      5      0\n"
                           " 20240501   12:00:01      1      -      5      0\n";

TEST(dmon_is_a_row_a_device) {
    USE_STATE;
    struct imported in = import_text(dmon);
    assert_bytes_equal(figure(&in, "devices", "0", "used_peak"), UINT64_C(700) << 20);
    assert_bytes_equal(figure(&in, "devices", "1", "used_peak"), 3 << 20);
    assert_bytes_equal(figure(&in, NULL, NULL, "skipped"), 1);
    assert_bytes_equal(in.tl->events.at[0].time_ns, UINT64_C(1714564800000000000));
    imported_fini(&in);
    in = import_text("# gpu   fb  bar1\n# Idx   MB    MB\n   0   5   1\n   0   9   1\n");
    assert_false(in.tl->has & TIMELINE_HAS_TIME);
    assert_bytes_equal(figure(&in, "devices", "0", "used_peak"), 9 << 20);
    imported_fini(&in);
}

TEST(dmon_without_memory_asks_for_it) {
    USE_STATE;
    assert_non_null(
        strstr(refuse_text("# gpu   pwr  gtemp\n# Idx     W      C\n   0  26  42\n").text,
               "nvidia-smi dmon -s m"));
}

/* Midnight passes too. */
TEST(pmon_is_the_sum_of_a_devices_processes) {
    USE_STATE;
    struct imported in = import_text("#Time        gpu        pid   type     fb   ccpm    command\n"
                                     "#HH:MM:SS    Idx          #    C/G     MB     MB    name\n"
                                     " 23:59:59      0       1234     C    500      0    python\n"
                                     " 23:59:59      0       1300     C     20      0    python\n"
                                     " 23:59:59      1          -     -      -      -    -\n"
                                     " 00:00:00      0       1234     C    600      0    python\n"
                                     " 00:00:00      1       1300     C      7      0    a b\n");
    assert_bytes_equal(figure(&in, "devices", "0", "used_first"), UINT64_C(520) << 20);
    assert_bytes_equal(figure(&in, "devices", "0", "used_last"), UINT64_C(600) << 20);
    assert_bytes_equal(figure(&in, "devices", "1", "used_first"), 0);
    assert_bytes_equal(figure(&in, "devices", "1", "used_last"), 7 << 20);
    assert_bytes_equal(figure(&in, NULL, NULL, "samples"), 4);
    assert_bytes_equal(array_last(&in.tl->events)->time_ns, UINT64_C(86400) * 1000000000);
    imported_fini(&in);
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    import_with_failures(two_cards);
    import_with_failures(dmon);
}

SUITE(cmocka_unit_test(samples_are_what_the_device_has_in_use),
      cmocka_unit_test(columns_are_found_by_name_and_units_by_value_or_head),
      cmocka_unit_test(without_a_time_the_order_is_all),
      cmocka_unit_test(times_are_dates_or_seconds),
      cmocka_unit_test(a_head_without_samples_is_refused),
      cmocka_unit_test(without_a_head_columns_are_told_by_what_stands_in_them),
      cmocka_unit_test(what_cannot_be_told_without_a_head_is_asked_for),
      cmocka_unit_test(dmon_is_a_row_a_device), cmocka_unit_test(dmon_without_memory_asks_for_it),
      cmocka_unit_test(pmon_is_the_sum_of_a_devices_processes),
      cmocka_unit_test(every_failing_allocation_is_handed_up))
