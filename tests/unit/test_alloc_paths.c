/* test_alloc_paths.c: vectors 31 to 47 of the allocator's rules: tie rule, unmapping, oversize
 * blocks, private pools, captures, run-time settings; and every host allocation made to fail. */
#include "alloc_fixture.h"
#include "failing_alloc.h"
#include "releases.h"

static const struct framework v2_6 = RELEASE("2.6", 6);
static const struct framework v2_11 = RELEASE("2.11", 11);
static const struct framework v2_12 = RELEASE("2.12", 12);
static const struct framework v2_15 = RELEASE("2.15", 15);
static const struct caching_pool_id graph = {{1, 0}}, user_pool = {{0, 1}}, other_pool = {{0, 2}};
static const struct caching_filter all = {.all_streams = true};

static void begin(struct fixture *f, struct caching_pool_id id) {
    assert_int_equal(caching_pool_begin(f->al, id, all), ALLOC_OK);
}

/* use_mem_pool: the pool lives on by its creator's use. */
static void leave(struct fixture *f, struct caching_pool_id id) {
    caching_pool_end(f->al, id);
    caching_pool_release(f->al, id);
}

static void create_pool(struct fixture *f, struct caching_pool_id id, bool use_on_oom,
                        bool no_split) {
    struct caching_pool_options options = {.use_on_oom = use_on_oom, .no_split = no_split};
    assert_int_equal(caching_pool_create(f->al, id, options), ALLOC_OK);
}

static void begin_capture(struct fixture *f, struct caching_pool_id id) {
    begin(f, id);
    caching_set_capture(f->al, true);
}

static void end_capture(struct fixture *f, struct caching_pool_id id) {
    caching_pool_end(f->al, id);
    caching_set_capture(f->al, false);
}

static void check_reserved(const struct fixture *f, uint64_t bytes) {
    assert_bytes_equal(f->stats->reserved_bytes[0].current, bytes);
}

/* --- 31: ties --- */

static uint64_t plan_downward(void *user, uint64_t bytes, bool reservation) {
    (void)reservation;
    uint64_t *next = user;
    *next -= (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    return *next;
}

static struct alloc *start_downward(const struct framework *framework, uint64_t *next) {
    struct alloc_config config = {.framework = framework,
                                  .total_bytes = 80 * GIB,
                                  .capacity_bytes = 80 * GIB,
                                  .world = {.user = next, .plan_address = plan_downward}};
    struct error err;
    alloc_settings_default(&config.settings);
    struct alloc *al = alloc_create(alloc_row(0), &config, &err);
    assert_ok(al != NULL, err);
    return al;
}

static uint64_t take(struct alloc *al, uint64_t bytes) {
    uint64_t address = 0;
    assert_int_equal(alloc_take(al, bytes, 0, &address), ALLOC_OK);
    return address;
}

static void check_tie(const struct framework *framework, bool older_wins) {
    uint64_t next = UINT64_C(1) << 46;
    struct alloc *al = start_downward(framework, &next);
    uint64_t a = take(al, 30 * MIB), b = take(al, 30 * MIB);
    assert_true(b < a);
    alloc_free(al, a);
    alloc_free(al, b);
    assert_bytes_equal(take(al, 30 * MIB), older_wins ? a : b);
    uint64_t s[4];
    for (int i = 0; i < 4; i++)
        s[i] = take(al, MIB);
    alloc_free(al, s[1]);
    alloc_free(al, s[3]);
    assert_bytes_equal(take(al, MIB), older_wins ? s[1] : s[3]);
    alloc_destroy(al);
}

TEST(equal_sizes_go_to_the_lower_address_and_later_to_the_older_segment) {
    USE_STATE;
    check_tie(&v2_6, false);
    check_tie(&v2_12, true);
    check_tie(&v2_15, true);
}

/* What is cut off a free block is a new block, and so younger than what lies above it. */
static void check_age_of_cut(const struct framework *framework, bool upper_wins) {
    uint64_t next = UINT64_C(1) << 46;
    struct alloc *al = start_downward(framework, &next);
    uint64_t a = take(al, 1024), b = take(al, 512), c = take(al, 512), d = take(al, 512);
    alloc_free(al, a);
    uint64_t low = take(al, 512), high = take(al, 512);
    assert_bytes_equal(low, a);
    assert_bytes_equal(high, a + 512);
    alloc_free(al, low);
    alloc_free(al, c);
    assert_bytes_equal(take(al, 512), upper_wins ? c : low);
    assert_true(b < c && c < d);
    alloc_destroy(al);
}

TEST(in_2_12_equal_sizes_go_to_the_older_block) {
    USE_STATE;
    check_age_of_cut(&v2_6, false);
    check_age_of_cut(&v2_12, true);
    check_age_of_cut(&v2_15, false);
}

/* --- 32 to 35 --- */

TEST(unmapping_leaves_pages_shared_with_live_blocks) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, "expandable_segments:True");
    fixture_take(&f, 30 * MIB);
    uint64_t middle = fixture_take(&f, 30 * MIB);
    fixture_take(&f, 30 * MIB);
    fixture_free(&f, middle);
    f.world->log = &f.log;
    text_fini(&f.log);
    alloc_empty_cache(f.al);
    assert_string_equal(text_get(&f.log), "segment_unmap @41943040 20971520\n");
    check_reserved(&f, 80 * MIB);
    text_fini(&f.log);
    check_at(&f, fixture_take(&f, 25 * MIB), 31457280);
    assert_string_equal(text_get(&f.log),
                        "segment_map @41943040 20971520\nalloc @31457280 26214400\n");
    check_reserved(&f, 100 * MIB);
    fixture_end(&f);
}

TEST(a_request_just_below_max_split_never_finds_its_segment_again) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, "max_split_size_mb:40");
    uint64_t x = fixture_take(&f, 39 * MIB + 1);
    check_sums(&f, 41943040, 39 * MIB + 1, 41943040, 1);
    assert_bytes_equal(f.stats->oversize_segments.current, 1);
    assert_bytes_equal(f.stats->oversize_allocations.current, 1);
    fixture_free(&f, x);
    fixture_take(&f, 39 * MIB + 1);
    check_reserved(&f, 83886080);
    fixture_end(&f);
}

TEST(grow_takes_the_oversize_free_part_that_find_free_refuses) {
    USE_STATE;
    static const char conf[] = "expandable_segments:True,max_split_size_mb:40";
    struct fixture f = fixture_start(NULL, conf);
    fixture_free(&f, fixture_take(&f, 100 * MIB));
    check_at(&f, fixture_take(&f, 30 * MIB), 0);
    check_reserved(&f, 100 * MIB);
    fixture_end(&f);
    f = fixture_start(NULL, conf);
    uint64_t first = fixture_take(&f, 100 * MIB);
    fixture_take(&f, 20 * MIB);
    fixture_free(&f, first);
    check_at(&f, fixture_take(&f, 30 * MIB), 120 * MIB);
    check_reserved(&f, 160 * MIB);
    check_at(&f, fixture_take(&f, 90 * MIB), 0);
    fixture_end(&f);
}

TEST(a_block_freed_by_the_retrys_wait_serves_only_the_next_request) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, NULL, 20 * MIB, 20 * MIB);
    uint64_t x = fixture_take(&f, 8 * MIB);
    fixture_take(&f, 8 * MIB);
    fixture_queue_work(&f, STREAM_B);
    alloc_record_stream(f.al, x, STREAM_B);
    fixture_free(&f, x);
    fixture_expect_oom(&f, 8 * MIB);
    assert_int_equal(f.stats->num_alloc_retries, 1);
    assert_int_equal(f.stats->num_ooms, 1);
    check_at(&f, fixture_take(&f, 8 * MIB), 0);
    fixture_end(&f);
}

TEST(oversize_blocks_are_released_from_the_largest_until_enough) {
    USE_STATE;
    struct fixture f =
        fixture_start_on(NULL, "max_split_size_mb:40", 80 * GIB, (40 + 40 + 42) * MIB);
    uint64_t a = fixture_take(&f, 40 * MIB), b = fixture_take(&f, 42 * MIB);
    uint64_t c = fixture_take(&f, 40 * MIB);
    fixture_free(&f, a);
    fixture_free(&f, b);
    fixture_free(&f, c);
    text_fini(&f.log);
    check_at(&f, fixture_take(&f, 82 * MIB), 122 * MIB); /* 42 + 40 are just enough */
    check_reserved(&f, 122 * MIB);
    assert_int_equal(f.stats->num_alloc_retries, 0);
    assert_string_equal(text_get(&f.log), "segment_free @41943040 44040192\n"
                                          "segment_free @85983232 41943040\n"
                                          "segment_alloc @127926272 85983232\n"
                                          "alloc @127926272 85983232\n");
    fixture_end(&f);
}

/* --- 36 to 38, 41, 42: private pools --- */

TEST(a_pool_without_splits_gives_each_request_a_segment) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    create_pool(&f, user_pool, false, true);
    begin(&f, user_pool);
    check_at(&f, fixture_take(&f, 1000), 0);
    check_at(&f, fixture_take(&f, 1000), 2097152);
    check_sums(&f, 4194304, 2000, 4194304, 2);
    fixture_end(&f);
}

TEST(a_pool_may_help_out_before_an_oom) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, NULL, 80 * GIB, 200 * MIB);
    create_pool(&f, user_pool, true, false);
    begin(&f, user_pool);
    uint64_t x = fixture_take(&f, 100 * MIB);
    leave(&f, user_pool);
    fixture_free(&f, x);
    fixture_take(&f, 90 * MIB);
    check_at(&f, fixture_take(&f, 60 * MIB), 0);
    check_sums(&f, 150 * MIB, 150 * MIB, 190 * MIB, 2);
    assert_bytes_equal(f.stats->inactive_split_bytes[0].current, 40 * MIB);
    assert_int_equal(f.stats->num_alloc_retries, 0);
    fixture_end(&f);
}

static void check_nested(const struct framework *framework, uint32_t row) {
    struct fixture f = fixture_start(framework, NULL);
    begin(&f, user_pool);
    fixture_take(&f, 100 * MIB);
    begin(&f, other_pool);
    fixture_take(&f, 1);
    struct caching_pool_info info[2];
    assert_true(caching_pool_row(f.al, 0, &info[0]) && caching_pool_row(f.al, 1, &info[1]));
    assert_bytes_equal(info[row].reserved_bytes, row == 0 ? 102 * MIB : 2 * MIB);
    caching_pool_end(f.al, other_pool);
    caching_pool_end(f.al, user_pool);
    caching_pool_end(f.al, user_pool); /* once too often: nothing happens */
    fixture_end(&f);
}

TEST(the_inner_redirection_wins_from_2_10_on) {
    USE_STATE;
    check_nested(&v2_6, 0);
    check_nested(&v2_11, 1);
    check_nested(&v2_15, 1);
}

TEST(a_redirection_may_be_for_one_stream) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    struct caching_filter on_b = {.stream = STREAM_B};
    struct caching_pool_info info;
    caching_pool_begin(f.al, user_pool, on_b);
    fixture_take_on(&f, 1000, STREAM_A);
    assert_true(caching_pool_row(f.al, 0, &info));
    assert_bytes_equal(info.reserved_bytes, 0);
    fixture_free(&f, fixture_take_on(&f, 1000, STREAM_B));
    assert_true(caching_pool_row(f.al, 0, &info));
    assert_bytes_equal(info.reserved_bytes, 2 * MIB);
    assert_bytes_equal(info.free_bytes, 2 * MIB);
    assert_int_equal(info.use_count, 1);
    assert_false(caching_pool_row(f.al, 1, &info));
    fixture_end(&f);
}

TEST(a_pool_in_use_keeps_everything) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    create_pool(&f, user_pool, false, false);
    begin(&f, user_pool);
    uint64_t x = fixture_take(&f, 100 * MIB);
    caching_pool_end(f.al, user_pool);
    fixture_free(&f, x);
    alloc_empty_cache(f.al);
    caching_empty_cache_pool(f.al, user_pool);
    check_reserved(&f, 100 * MIB);
    caching_pool_release(f.al, user_pool);
    caching_pool_release(f.al, user_pool);
    caching_empty_cache_pool(f.al, other_pool); /* unknown: nothing happens */
    check_reserved(&f, 100 * MIB);
    alloc_empty_cache(f.al);
    check_reserved(&f, 0);
    fixture_end(&f);
}

TEST(the_message_counts_what_private_pools_hold) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, NULL, 80 * GIB, 200 * MIB);
    create_pool(&f, user_pool, false, false);
    begin(&f, user_pool);
    uint64_t x = fixture_take(&f, 100 * MIB);
    leave(&f, user_pool);
    fixture_free(&f, x);
    fixture_expect_oom(&f, 150 * MIB);
    check_message(
        &f,
        "Of the allocated memory 100.00 MiB is allocated by PyTorch, with 100.00 MiB allocated in "
        "private pools (e.g., CUDA Graphs), and 0 bytes is reserved by PyTorch but unallocated.");
    fixture_end(&f);
}

/* --- 39, 40, 45: what captures suspend --- */

static void check_capture_ignores_events(const struct framework *framework) {
    struct fixture f = fixture_start(framework, NULL);
    uint64_t x = fixture_take(&f, 4096);
    fixture_queue_work(&f, STREAM_B);
    alloc_record_stream(f.al, x, STREAM_B);
    fixture_free(&f, x);
    fixture_finish(&f, STREAM_B);
    begin_capture(&f, graph);
    fixture_take(&f, 4096);
    assert_bytes_equal(f.stats->active[0].current, 2);
    end_capture(&f, graph);
    check_at(&f, fixture_take(&f, 4096), 0);
    fixture_end(&f);
}

TEST(a_capture_does_not_notice_events) {
    USE_STATE;
    check_capture_ignores_events(&v2_6);
    check_capture_ignores_events(&v2_15);
}

static void check_redirected_retry(const struct framework *framework, bool capture, bool works) {
    struct fixture f = fixture_start_on(framework, NULL, 80 * GIB, 100 * MIB);
    fixture_free(&f, fixture_take(&f, 60 * MIB));
    begin(&f, user_pool);
    caching_set_capture(f.al, capture);
    if (works)
        fixture_take(&f, 80 * MIB);
    else
        fixture_expect_oom(&f, 80 * MIB);
    assert_int_equal(f.stats->num_alloc_retries, works);
    fixture_end(&f);
}

TEST(a_redirected_request_retries_from_2_13_on_a_captured_one_never) {
    USE_STATE;
    check_redirected_retry(&v2_6, false, false);
    check_redirected_retry(&v2_11, false, false);
    check_redirected_retry(&v2_12, false, false);
    check_redirected_retry(&v2_15, false, true);
    check_redirected_retry(&v2_6, true, false);
    check_redirected_retry(&v2_15, true, false);
}

TEST(release_available_runs_in_captures_too) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, "max_split_size_mb:40", 80 * GIB, 200 * MIB);
    begin_capture(&f, graph);
    fixture_free(&f, fixture_take(&f, 100 * MIB));
    fixture_expect_oom(&f, 150 * MIB);
    check_reserved(&f, 0);
    assert_int_equal(f.stats->num_alloc_retries, 0);
    fixture_end(&f);
}

TEST(empty_cache_in_a_capture_frees_only_unused_private_pools) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    fixture_free(&f, fixture_take(&f, 30 * MIB));
    begin(&f, user_pool);
    fixture_free(&f, fixture_take(&f, 50 * MIB));
    leave(&f, user_pool);
    begin_capture(&f, graph);
    alloc_empty_cache(f.al);
    check_reserved(&f, 30 * MIB);
    assert_int_equal(f.stats->num_sync_all_streams, 0);
    end_capture(&f, graph);
    fixture_end(&f);
}

TEST(uses_recorded_in_a_capture_are_dropped) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    uint64_t x = fixture_take(&f, 4096), y = fixture_take(&f, 4096);
    fixture_queue_work(&f, STREAM_B);
    fixture_queue_work(&f, STREAM_C);
    alloc_record_stream(f.al, y, STREAM_C);
    begin_capture(&f, graph);
    alloc_record_stream(f.al, x, STREAM_B);
    alloc_record_stream(f.al, y, STREAM_B);
    fixture_free(&f, x);
    fixture_free(&f, y);
    assert_int_equal(f.events_recorded, 0);
    end_capture(&f, graph);
    check_at(&f, fixture_take(&f, 4096), 0); /* x completed at once */
    assert_int_equal(f.events_recorded, 1);  /* y waits for C alone */
    assert_bytes_equal(f.stats->active[0].current, 2);
    fixture_finish(&f, STREAM_C);
    check_at(&f, fixture_take(&f, 4096), 4096);
    fixture_end(&f);
}

TEST(a_pool_waits_for_its_own_events_only) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, NULL);
    begin(&f, user_pool);
    uint64_t x = fixture_take(&f, 30 * MIB);
    leave(&f, user_pool);
    uint64_t y = fixture_take(&f, 50 * MIB), z = fixture_take(&f, 60 * MIB);
    alloc_record_stream(f.al, x, STREAM_B);
    alloc_record_stream(f.al, y, STREAM_B);
    alloc_record_stream(f.al, z, STREAM_B);
    fixture_queue_work(&f, STREAM_B);
    fixture_free(&f, y);
    fixture_free(&f, x);
    fixture_free(&f, z);
    caching_empty_cache_pool(f.al, user_pool);
    check_reserved(&f, 110 * MIB);
    assert_bytes_equal(f.stats->active[0].current, 2);
    alloc_empty_cache(f.al);
    check_reserved(&f, 0);
    assert_int_equal(f.stats->num_sync_all_streams, 2);
    fixture_end(&f);
}

/* --- 43, 44, 46, 47 --- */

TEST(new_settings_reset_the_rounding_table) {
    USE_STATE;
    struct error err;
    struct fixture f = fixture_start(NULL, "roundup_power2_divisions:4");
    check_block_bytes(&f, 84 * MIB, 96 * MIB);
    assert_ok(caching_change_settings(f.al, "expandable_segments:False", &err), err);
    check_block_bytes(&f, 84 * MIB, 84 * MIB);
    fixture_end(&f);
}

static void check_non_split(uint64_t held, bool reused) {
    struct fixture f = fixture_start(NULL, "max_split_size_mb:80");
    fixture_free(&f, fixture_take(&f, held));
    check_at(&f, fixture_take(&f, 100 * MIB), reused ? 0 : held);
    fixture_end(&f);
}

TEST(an_oversize_block_fits_with_less_than_twenty_mebibyte_to_spare) {
    USE_STATE;
    check_non_split(118 * MIB, true);
    check_non_split(120 * MIB, false);
}

TEST(a_request_over_the_device_is_rejected_when_asked_for) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, "throw_on_cudamalloc_oom:True", GIB, GIB);
    fixture_take(&f, 900 * MIB);
    fixture_expect_oom(&f, 200 * MIB);
    assert_int_equal(f.stats->num_oom_rejections, 1);
    assert_int_equal(f.stats->num_alloc_retries, 0);
    assert_int_equal(f.stats->num_ooms, 0);
    check_reserved(&f, 943718400);
    assert_true(alloc_last_oom(f.al)->rejected);
    check_message(&f, "CUDA out of memory. Allocation was preemptively rejected because it would "
                      "exceed per_process_memory_fraction limit. Requested size: 200.00 MiB");
    fixture_end(&f);
}

TEST(mapping_and_unmapping_count_once_each) {
    USE_STATE;
    struct fixture f = fixture_start(NULL, "expandable_segments:True");
    fixture_free(&f, fixture_take(&f, 100 * MIB));
    alloc_empty_cache(f.al);
    assert_int_equal(f.stats->num_device_alloc, 1);
    assert_int_equal(f.stats->num_device_free, 1);
    assert_int_equal(f.stats->num_sync_all_streams, 1);
    fixture_end(&f);
}

/* --- every host allocation fails once --- */

static bool host_ok(enum alloc_result result) {
    return result != ALLOC_HOST_MEMORY;
}

/* A course through all that may need host memory; false as soon as something reports its lack. */
static bool run_course(struct alloc *al, struct error *err) {
    uint64_t kept[40] = {0}, x = 0, y = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < 40; i++)
        ok = host_ok(alloc_take(al, (i % 7 + 1) * 700 * KIB, i % 3, &kept[i]));
    for (size_t i = 0; ok && i < 40; i += 2) {
        ok = host_ok(alloc_record_stream(al, kept[i], i % 5 + 1));
        alloc_free(al, kept[i]);
        kept[i] = 0;
    }
    ok = ok &&
         host_ok(caching_pool_create(al, user_pool, (struct caching_pool_options){true, false}));
    ok = ok && host_ok(caching_pool_begin(al, graph, all));
    ok = ok && host_ok(alloc_take(al, 30 * MIB, 0, &x));
    caching_pool_end(al, graph);
    ok = ok && caching_change_settings(al, "expandable_segments:True", err);
    ok = ok && host_ok(alloc_take(al, 45 * MIB, 1, &y));
    if (y)
        alloc_free(al, y);
    ok = ok && host_ok(alloc_empty_cache(al));
    for (size_t i = 1; ok && i < 40; i += 4) {
        alloc_free(al, kept[i]);
        ok = host_ok(alloc_take(al, i * 4 * MIB, 2, &kept[i]));
        if (!kept[i])
            break;
    }
    uint64_t last;
    ok = ok && host_ok(alloc_take(al, 4 * GIB, 0, &last));
    return ok && host_ok(alloc_empty_cache(al));
}

TEST(every_failed_host_allocation_is_reported_and_leaves_a_sound_state) {
    USE_STATE;
    static const char *const confs[] = {"", "expandable_segments:True",
                                        "max_split_size_mb:21,garbage_collection_threshold:0.3"};
    for (size_t c = 0; c < sizeof confs / sizeof confs[0]; c++) {
        struct failing_alloc failing = {.fail_at = 1};
        bool finished = false;
        for (; !finished; failing.fail_at++) {
            struct error err = {0};
            struct alloc_config config = {.total_bytes = 2 * GIB, .capacity_bytes = 2 * GIB};
            assert_ok(alloc_settings_parse(confs[c], NULL, &config.settings, &err), err);
            failing.seen = 0;
            xalloc_set_hook(failing_alloc_hook, &failing);
            struct alloc *al = alloc_create(alloc_row(0), &config, &err);
            finished = al && run_course(al, &err);
            if (al)
                assert_ok(caching_check(al, &err), err);
            else
                assert_int_equal(err.code, ERROR_HOST_MEMORY);
            alloc_destroy(al);
            xalloc_set_hook(NULL, NULL);
            assert_int_equal(failing.live, 0);
        }
        assert_true(failing.fail_at > 10);
    }
}

SUITE(cmocka_unit_test(equal_sizes_go_to_the_lower_address_and_later_to_the_older_segment),
      cmocka_unit_test(in_2_12_equal_sizes_go_to_the_older_block),
      cmocka_unit_test(unmapping_leaves_pages_shared_with_live_blocks),
      cmocka_unit_test(a_request_just_below_max_split_never_finds_its_segment_again),
      cmocka_unit_test(grow_takes_the_oversize_free_part_that_find_free_refuses),
      cmocka_unit_test(a_block_freed_by_the_retrys_wait_serves_only_the_next_request),
      cmocka_unit_test(oversize_blocks_are_released_from_the_largest_until_enough),
      cmocka_unit_test(a_pool_without_splits_gives_each_request_a_segment),
      cmocka_unit_test(a_pool_may_help_out_before_an_oom),
      cmocka_unit_test(the_inner_redirection_wins_from_2_10_on),
      cmocka_unit_test(a_redirection_may_be_for_one_stream),
      cmocka_unit_test(a_pool_in_use_keeps_everything),
      cmocka_unit_test(the_message_counts_what_private_pools_hold),
      cmocka_unit_test(a_capture_does_not_notice_events),
      cmocka_unit_test(a_redirected_request_retries_from_2_13_on_a_captured_one_never),
      cmocka_unit_test(release_available_runs_in_captures_too),
      cmocka_unit_test(empty_cache_in_a_capture_frees_only_unused_private_pools),
      cmocka_unit_test(uses_recorded_in_a_capture_are_dropped),
      cmocka_unit_test(a_pool_waits_for_its_own_events_only),
      cmocka_unit_test(new_settings_reset_the_rounding_table),
      cmocka_unit_test(an_oversize_block_fits_with_less_than_twenty_mebibyte_to_spare),
      cmocka_unit_test(a_request_over_the_device_is_rejected_when_asked_for),
      cmocka_unit_test(mapping_and_unmapping_count_once_each),
      cmocka_unit_test(every_failed_host_allocation_is_reported_and_leaves_a_sound_state))
