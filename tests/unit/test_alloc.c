/* test_alloc.c: vectors 1 to 18, 23 to 27 and 30 of the allocator's rules: rounding, best fit,
 * splits, statistics, expandable segments, streams. Offsets are from the planner's first address.
 */
#include "alloc_fixture.h"

/* --- rounding and segments (1 to 8) --- */

TEST(one_byte_takes_a_small_segment) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    check_at(&f, fixture_take(&f, 1), 0);
    check_sums(&f, 512, 1, 2097152, 1);
    check_split(&f, 1, 2096640);
    fixture_end(&f);
}

TEST(two_mebibyte_blocks_fill_a_small_segment) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    check_at(&f, fixture_take(&f, MIB), 0);
    check_split(&f, 1, 1048576);
    check_at(&f, fixture_take(&f, MIB), 1048576);
    check_sums(&f, 2 * MIB, 2 * MIB, 2 * MIB, 1);
    check_split(&f, 0, 0);
    check_at(&f, fixture_take(&f, MIB), 2097152);
    check_sums(&f, 3 * MIB, 3 * MIB, 4 * MIB, 2);
    check_split(&f, 1, 1048576);
    fixture_end(&f);
}

TEST(segment_sizes_follow_the_rounded_size) {
    USE_STATE;
    static const struct {
        uint64_t bytes, allocated, reserved, split, split_bytes;
    } rows[] = {{MIB + 512, 1049088, 20971520, 1, 19922432},
                {10 * MIB - 512, 10485248, 20971520, 1, 10486272},
                {10 * MIB, 10485760, 10485760, 0, 0},
                {10 * MIB + 512, 10486272, 12582912, 1, 2096640}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f = fixture_start(NULL, NULL);
        check_at(&f, fixture_take(&f, rows[i].bytes), 0);
        check_sums(&f, rows[i].allocated, rows[i].bytes, rows[i].reserved, 1);
        check_split(&f, rows[i].split, rows[i].split_bytes);
        fixture_end(&f);
    }
}

TEST(a_rest_of_one_mebibyte_is_not_split_off) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    fixture_free(&f, fixture_take(&f, 20 * MIB));
    check_at(&f, fixture_take(&f, 19 * MIB), 0);
    check_sums(&f, 20 * MIB, 19 * MIB, 20 * MIB, 1);
    check_split(&f, 0, 0);
    fixture_end(&f);
}

TEST(a_rest_of_more_is_split_off) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    fixture_free(&f, fixture_take(&f, 20 * MIB));
    check_at(&f, fixture_take(&f, 19 * MIB - 512), 0);
    check_sums(&f, 19922432, 19922432, 20 * MIB, 1);
    check_split(&f, 1, 1049088);
    fixture_end(&f);
}

/* --- splitting, merging, caching (9 to 13) --- */

TEST(neighbours_merge_and_inactive_split_follows) {
    USE_STATE;
    static const uint64_t split[] = {1, 1, 1, 1, 0, 1}, bytes[] = {16, 12, 8, 4, 0, 16};
    struct fixture f = fixture_start(NULL, NULL);
    uint64_t b[6];
    for (uint64_t i = 0; i < 6; i++) {
        b[i] = fixture_take(&f, 4 * MIB);
        check_at(&f, b[i], i < 5 ? i * 4 * MIB : 20971520);
        check_split(&f, split[i], bytes[i] * MIB);
        assert_bytes_equal(f.stats->reserved_bytes[0].current, i < 5 ? 20 * MIB : 40 * MIB);
    }
    fixture_free(&f, b[1]);
    fixture_free(&f, b[3]);
    assert_bytes_equal(f.stats->allocated_bytes[0].current, 16 * MIB);
    check_split(&f, 3, 25165824);
    fixture_free(&f, b[2]);
    assert_bytes_equal(f.stats->allocated_bytes[0].current, 12 * MIB);
    check_split(&f, 2, 29360128);
    fixture_end(&f);
}

TEST(larger_blocks_find_no_place_in_freed_segments) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    uint64_t b[8];
    for (uint64_t i = 0; i < 8; i++)
        check_at(&f, b[i] = fixture_take(&f, 16 * MIB), i * 16 * MIB);
    for (size_t i = 0; i < 8; i++)
        fixture_free(&f, b[i]);
    for (uint64_t i = 0; i < 4; i++)
        check_at(&f, fixture_take(&f, 32 * MIB), 134217728 + i * 32 * MIB);
    check_sums(&f, 134217728, 134217728, 268435456, 12);
    assert_int_equal(alloc_empty_cache(f.al), ALLOC_OK);
    check_sums(&f, 134217728, 134217728, 134217728, 4);
    fixture_end(&f);
}

TEST(smaller_blocks_split_freed_segments) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    uint64_t b[4];
    for (uint64_t i = 0; i < 4; i++)
        check_at(&f, b[i] = fixture_take(&f, 32 * MIB), i * 32 * MIB);
    for (size_t i = 0; i < 4; i++)
        fixture_free(&f, b[i]);
    for (uint64_t i = 0; i < 8; i++)
        check_at(&f, fixture_take(&f, 16 * MIB), i * 16 * MIB);
    check_sums(&f, 134217728, 134217728, 134217728, 4);
    check_split(&f, 0, 0);
    fixture_end(&f);
}

TEST(an_expandable_reservation_grows_by_pages) {
    USE_STATE;
    static const uint64_t reserved[] = {20, 40, 60, 80, 80, 100, 120, 140};
    struct fixture f = fixture_start(NULL, "expandable_segments:True");
    uint64_t b[8];
    for (uint64_t i = 0; i < 8; i++) {
        check_at(&f, b[i] = fixture_take(&f, 16 * MIB), i * 16 * MIB);
        assert_bytes_equal(f.stats->reserved_bytes[0].current, reserved[i] * MIB);
    }
    for (size_t i = 0; i < 8; i++)
        fixture_free(&f, b[i]);
    for (uint64_t i = 0; i < 4; i++)
        check_at(&f, b[i] = fixture_take(&f, 32 * MIB), i * 32 * MIB);
    check_sums(&f, 134217728, 134217728, 146800640, 0);
    check_split(&f, 0, 0);
    for (size_t i = 0; i < 4; i++)
        fixture_free(&f, b[i]);
    alloc_empty_cache(f.al);
    check_sums(&f, 0, 0, 0, 0);
    fixture_end(&f);
}

TEST(a_hole_too_small_is_passed_by_until_it_merges) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, "expandable_segments:True");
    uint64_t b[4];
    for (uint64_t i = 0; i < 4; i++)
        check_at(&f, b[i] = fixture_take(&f, 16 * MIB), i * 16 * MIB);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, 80 * MIB);
    fixture_free(&f, b[0]);
    fixture_free(&f, b[2]);
    uint64_t c = fixture_take(&f, 32 * MIB);
    check_at(&f, c, 64 * MIB);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, 100 * MIB);
    fixture_free(&f, b[1]);
    fixture_free(&f, b[3]);
    fixture_free(&f, c);
    check_at(&f, fixture_take(&f, 32 * MIB), 0);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, 100 * MIB);
    fixture_end(&f);
}

/* --- rounding by divisions (14 to 16) --- */

TEST(divisions_of_a_power_of_two_round_up) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, "roundup_power2_divisions:4");
    fixture_take(&f, 84 * MIB);
    check_sums(&f, 100663296, 88080384, 100663296, 1);
    check_split(&f, 0, 0);
    fixture_end(&f);
}

TEST(divisions_differ_by_octave) {
    USE_STATE;
    struct fixture f =
        fixture_start(NULL, "roundup_power2_divisions:[64:8,128:2,256:2,512:2,1024:1,>:1]");
    check_block_bytes(&f, 84 * MIB, 88 * MIB);
    check_block_bytes(&f, 400 * MIB, 512 * MIB);
    check_block_bytes(&f, 150 * MIB, 192 * MIB);
    fixture_end(&f);
}

TEST(divisions_do_not_touch_sizes_up_to_512_times_their_number) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, "roundup_power2_divisions:4");
    check_block_bytes(&f, 1200, 1536);
    check_block_bytes(&f, 2048, 2048);
    check_block_bytes(&f, 2049, 2560);
    check_block_bytes(&f, 10241, 12288);
    fixture_end(&f);
}

/* --- private pools (17, 18; more in test_alloc_pools.c) --- */

struct table17 {
    uint64_t bytes, alive_segments, alive_reserved, after_segments, after_reserved;
};

static void check_table17(const char *conf, const struct table17 *row) {
    static const struct caching_pool_id pool = {{1, 0}};
    static const struct caching_filter all = {.all_streams = true};
    struct fixture f = fixture_start(NULL, conf);
    fixture_take(&f, row->bytes);
    struct alloc_stats start = *f.stats;
    assert_int_equal(caching_pool_begin(f.al, pool, all), ALLOC_OK);
    uint64_t b = fixture_take(&f, row->bytes);
    for (int i = 0; i < 5; i++) {
        uint64_t c = fixture_take(&f, row->bytes), d = fixture_take(&f, row->bytes);
        fixture_free(&f, c);
        fixture_free(&f, b);
        b = d;
    }
    caching_pool_end(f.al, pool);
    alloc_empty_cache(f.al);
    assert_bytes_equal(f.stats->segment[0].current - start.segment[0].current, row->alive_segments);
    assert_bytes_equal(f.stats->reserved_bytes[0].current - start.reserved_bytes[0].current,
                       row->alive_reserved);
    assert_bytes_equal(f.stats->active[0].current - start.active[0].current, 1);
    assert_bytes_equal(f.stats->active_bytes[0].current - start.active_bytes[0].current,
                       row->bytes);
    caching_pool_release(f.al, pool);
    alloc_empty_cache(f.al);
    assert_bytes_equal(f.stats->segment[0].current - start.segment[0].current, row->after_segments);
    assert_bytes_equal(f.stats->reserved_bytes[0].current - start.reserved_bytes[0].current,
                       row->after_reserved);
    fixture_free(&f, b);
    alloc_empty_cache(f.al);
    assert_bytes_equal(f.stats->segment[0].current, start.segment[0].current);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, start.reserved_bytes[0].current);
    struct caching_pool_info info;
    assert_false(caching_pool_row(f.al, 0, &info));
    fixture_end(&f);
}

TEST(a_private_pool_keeps_its_memory_until_it_is_released) {
    USE_STATE;
    static const struct table17 rows[] = {{512, 1, 2097152, 1, 2097152},
                                          {MIB, 2, 4194304, 1, 2097152},
                                          {MIB + 512, 1, 20971520, 1, 20971520},
                                          {10 * MIB - 512, 2, 41943040, 1, 20971520},
                                          {10 * MIB + 512, 3, 37748736, 1, 12582912}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_table17("", &rows[i]);
}

TEST(an_expandable_private_pool_does_too) {
    USE_STATE;
    static const struct table17 rows[] = {{512, 0, 2097152, 0, 2097152},
                                          {MIB, 0, 4194304, 0, 2097152},
                                          {MIB + 512, 0, 20971520, 0, 20971520},
                                          {10 * MIB - 512, 0, 41943040, 0, 41943040},
                                          {10 * MIB + 512, 0, 41943040, 0, 20971520}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_table17("expandable_segments:True", &rows[i]);
}

/* --- streams (23 to 25) --- */

TEST(a_block_used_by_another_stream_comes_back_when_it_has_passed) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    fixture_queue_work(&f, STREAM_B);
    uint64_t x = fixture_take_on(&f, 4096, STREAM_A);
    check_at(&f, x, 0);
    assert_int_equal(alloc_record_stream(f.al, x, STREAM_B), ALLOC_OK);
    fixture_free(&f, x);
    check_at(&f, fixture_take_on(&f, 4096, STREAM_A), 4096);
    assert_bytes_equal(f.stats->active_bytes[0].current, 8192);
    assert_bytes_equal(f.stats->allocated_bytes[0].current, 4096);
    fixture_finish(&f, STREAM_B);
    check_at(&f, fixture_take_on(&f, 4096, STREAM_A), 0);
    fixture_end(&f);
}

TEST(waiting_for_another_stream_is_a_retry_not_an_oom) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, NULL, 2 * GIB, 2 * GIB);
    for (int i = 0; i < 100; i++) {
        uint64_t x = fixture_take_on(&f, 160 * MIB, STREAM_A);
        assert_int_equal(alloc_record_stream(f.al, x, STREAM_B), ALLOC_OK);
        fixture_queue_work(&f, STREAM_B);
        fixture_free(&f, x);
    }
    assert_int_equal(f.stats->num_alloc_retries, 8);
    assert_int_equal(f.stats->num_sync_all_streams, 8);
    assert_int_equal(f.stats->num_ooms, 0);
    assert_int_equal(f.stats->segment[0].current, 4);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, 671088640);
    fixture_end(&f);
}

TEST(streams_do_not_share_blocks) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    uint64_t x = fixture_take_on(&f, 30 * MIB, STREAM_A);
    check_at(&f, x, 0);
    fixture_free(&f, x);
    check_at(&f, fixture_take_on(&f, 30 * MIB, STREAM_B), 31457280);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, 62914560);
    assert_int_equal(f.stats->segment[0].current, 2);
    fixture_end(&f);
}

TEST(the_own_stream_is_no_use_and_twice_is_once) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    fixture_queue_work(&f, STREAM_A);
    fixture_queue_work(&f, STREAM_B);
    uint64_t x = fixture_take_on(&f, 4096, STREAM_A);
    alloc_record_stream(f.al, x, STREAM_A);
    fixture_free(&f, x);
    assert_int_equal(f.stats->active[0].current, 0);
    x = fixture_take_on(&f, 4096, STREAM_A);
    alloc_record_stream(f.al, x, STREAM_B);
    alloc_record_stream(f.al, x, STREAM_B);
    fixture_free(&f, x);
    assert_int_equal(f.events_recorded, 1);
    fixture_end(&f);
}

/* --- 26, 27 --- */

TEST(a_freed_small_block_is_split_again) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    uint64_t x = fixture_take(&f, 1022568);
    check_at(&f, x, 0);
    fixture_free(&f, x);
    check_at(&f, fixture_take(&f, 508400), 0);
    check_at(&f, fixture_take(&f, 511284), 508416);
    check_sums(&f, 1019904, 1019684, 2 * MIB, 1);
    check_split(&f, 1, 1077248);
    fixture_end(&f);
}

/* A card without a limit: what no address can name is out of memory, all below it is not. */
TEST(a_request_of_more_than_all_addresses_is_out_of_memory) {
    USE_STATE;
    for (int expandable = 0; expandable < 2; expandable++) {
        struct error err = {0};
        struct alloc_config config = {.total_bytes = UINT64_MAX, .capacity_bytes = UINT64_MAX};
        uint64_t address;
        alloc_settings_default(&config.settings);
        config.settings.expandable_segments = expandable;
        struct alloc *al = alloc_create(alloc_row(0), &config, &err);
        assert_non_null(al);
        static const uint64_t refused[] = {UINT64_MAX, UINT64_MAX / 2, UINT64_C(1) << 50};
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
            assert_int_equal(alloc_take(al, refused[i], 0, &address), ALLOC_OOM);
        assert_int_equal(alloc_take(al, UINT64_C(1) << 49, 0, &address), ALLOC_OK);
        assert_int_equal(alloc_take(al, 1, 0, &address), ALLOC_OK);
        assert_ok(caching_check(al, &err), err);
        assert_bytes_equal(alloc_get_stats(al)->allocated_bytes[0].current,
                           (UINT64_C(1) << 49) + 512);
        alloc_destroy(al);
    }
}

TEST(no_device_backs_a_page_of_sixteen_tebibyte) {
    USE_STATE;
    uint64_t address;
    for (uint64_t mib = (UINT64_C(1) << 24) - 1; mib <= UINT64_C(1) << 40; mib = 2 * mib + 2) {
        char settings[80];
        snprintf(settings, sizeof settings, "expandable_segments:True,large_segment_size_mb:%llu",
                 (unsigned long long)mib);
        struct fixture f = fixture_start(NULL, settings);
        assert_int_equal(alloc_take(f.al, 30 * MIB, 0, &address), ALLOC_OOM);
        fixture_end(&f);
    }
}

TEST(the_large_segment_size_can_be_set) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, "large_segment_size_mb:12");
    for (uint64_t i = 0; i < 4; i++)
        check_at(&f, fixture_take(&f, 4 * MIB), i * 4 * MIB);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, 25165824);
    assert_int_equal(f.stats->segment[0].current, 2);
    check_split(&f, 1, 8388608);
    fixture_end(&f);
}

/* --- 30: a recorded run --- */

/* What a real program asked of an empty allocator: sizes, and as -1 - i the free of the i-th
 * request. */
static const int64_t recorded[] = {
    2097152,   2097152,   2097152,   536870912, 8519680,   536870912, -4,        131072,
    262144,    536870912, 536870912, -9,        131072,    536870912, -7,        2097152,
    -6,        4,         256,       4,         -16,       -15,       4,         2097152,
    2097152,   8519680,   -19,       536870912, 2097152,   -22,       -12,       536870912,
    536870912, 536870912, 536870912, -25,       -24,       -23,       536870912, 131072,
    -26,       -21,       -11,       -28,       536870912, -27,       -10,       536870912,
    131072,    -30,       536870912, -31,       -8,        -32,       536870912, -29,
    2097152,   2097152,   -33,       2097152,   -34,       -17};

TEST(a_recorded_run_gets_the_recorded_segments) {
    USE_STATE;
    static const char segments[] = "20 512 512 2 512 512 512 512 512 ";
    struct fixture f = fixture_start(NULL, NULL);
    struct text seen = {0};
    uint64_t taken[sizeof recorded / sizeof recorded[0]], count = 0, reserved = 0;
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        if (recorded[i] < 0)
            fixture_free(&f, taken[-1 - recorded[i]]);
        else
            taken[count++] = fixture_take(&f, (uint64_t)recorded[i]);
        uint64_t grown = f.stats->reserved_bytes[0].current - reserved;
        if (grown)
            text_format(&seen, "%d ", (int)(grown / MIB));
        reserved += grown;
    }
    assert_string_equal(text_get(&seen), segments);
    text_fini(&seen);
    check_sums(&f, 31719936, 31719428, UINT64_C(3781165056), 9);
    assert_bytes_equal(f.stats->inactive_split_bytes[0].current, 528219648);
    assert_bytes_equal(f.stats->allocated_bytes[0].peak, UINT64_C(3249144832));
    fixture_end(&f);
}

/* --- beyond the vectors --- */

TEST(peaks_and_sums_can_be_reset) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    fixture_free(&f, fixture_take(&f, 20 * MIB));
    fixture_take(&f, 1000);
    assert_bytes_equal(f.stats->allocated_bytes[0].peak, 20 * MIB);
    caching_reset_peak_stats(f.al);
    assert_bytes_equal(f.stats->allocated_bytes[0].peak, 1024);
    assert_bytes_equal(f.stats->allocated_bytes[0].allocated, 20 * MIB + 1024);
    caching_reset_accumulated_stats(f.al);
    assert_bytes_equal(f.stats->allocated_bytes[0].allocated, 0);
    assert_bytes_equal(f.stats->allocated_bytes[0].current, 1024);
    assert_int_equal(f.stats->num_device_alloc, 0);
    fixture_end(&f);
}

static void set(struct fixture *f, const char *conf) {
    struct error err;
    assert_ok(caching_change_settings(f->al, conf, &err), err);
}

TEST(max_split_size_is_what_the_model_was_built_with) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    assert_int_equal(f.stats->max_split_size, -1);
    set(&f, "max_split_size_mb:40");
    assert_int_equal(f.stats->max_split_size, -1);
    fixture_end(&f);
    f = fixture_start(NULL, "max_split_size_mb:40");
    assert_int_equal(f.stats->max_split_size, 41943040);
    fixture_end(&f);
}

TEST(rows_are_found_by_name) {
    USE_STATE;
    assert_ptr_equal(alloc_find("native"), alloc_row(0));
    assert_null(alloc_find("none such"));
    struct error err;
    struct alloc_config config = {.total_bytes = GIB, .capacity_bytes = GIB};
    assert_ok(alloc_settings_parse("backend:cudaMallocAsync", NULL, &config.settings, &err), err);
    assert_null(alloc_create(alloc_row(0), &config, &err));
}

SUITE(cmocka_unit_test(one_byte_takes_a_small_segment),
      cmocka_unit_test(two_mebibyte_blocks_fill_a_small_segment),
      cmocka_unit_test(segment_sizes_follow_the_rounded_size),
      cmocka_unit_test(a_rest_of_one_mebibyte_is_not_split_off),
      cmocka_unit_test(a_rest_of_more_is_split_off),
      cmocka_unit_test(neighbours_merge_and_inactive_split_follows),
      cmocka_unit_test(larger_blocks_find_no_place_in_freed_segments),
      cmocka_unit_test(smaller_blocks_split_freed_segments),
      cmocka_unit_test(an_expandable_reservation_grows_by_pages),
      cmocka_unit_test(a_hole_too_small_is_passed_by_until_it_merges),
      cmocka_unit_test(divisions_of_a_power_of_two_round_up),
      cmocka_unit_test(divisions_differ_by_octave),
      cmocka_unit_test(divisions_do_not_touch_sizes_up_to_512_times_their_number),
      cmocka_unit_test(a_private_pool_keeps_its_memory_until_it_is_released),
      cmocka_unit_test(an_expandable_private_pool_does_too),
      cmocka_unit_test(a_block_used_by_another_stream_comes_back_when_it_has_passed),
      cmocka_unit_test(waiting_for_another_stream_is_a_retry_not_an_oom),
      cmocka_unit_test(streams_do_not_share_blocks),
      cmocka_unit_test(the_own_stream_is_no_use_and_twice_is_once),
      cmocka_unit_test(a_freed_small_block_is_split_again),
      cmocka_unit_test(a_request_of_more_than_all_addresses_is_out_of_memory),
      cmocka_unit_test(no_device_backs_a_page_of_sixteen_tebibyte),
      cmocka_unit_test(the_large_segment_size_can_be_set),
      cmocka_unit_test(a_recorded_run_gets_the_recorded_segments),
      cmocka_unit_test(peaks_and_sums_can_be_reset),
      cmocka_unit_test(max_split_size_is_what_the_model_was_built_with),
      cmocka_unit_test(rows_are_found_by_name))
