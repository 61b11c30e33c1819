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

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    import_with_failures(two_cards);
}

SUITE(cmocka_unit_test(samples_are_what_the_device_has_in_use),
      cmocka_unit_test(columns_are_found_by_name_and_units_by_value_or_head),
      cmocka_unit_test(without_a_time_the_order_is_all),
      cmocka_unit_test(times_are_dates_or_seconds),
      cmocka_unit_test(a_head_without_samples_is_refused),
      cmocka_unit_test(every_failing_allocation_is_handed_up))
