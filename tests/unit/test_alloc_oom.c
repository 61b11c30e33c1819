/* test_alloc_oom.c: the out-of-memory path of the caching allocator (vectors 19 to 22 and 28),
 * limits, the size of reservations. */
#include "alloc_fixture.h"
#include "releases.h"

static const struct framework v2_6 = RELEASE("2.6", 6);
static const struct framework v2_15 = RELEASE("2.15", 15);

static uint64_t take(struct alloc *al, uint64_t bytes) {
    uint64_t address = 0;
    assert_int_equal(alloc_take(al, bytes, 0, &address), ALLOC_OK);
    return address;
}

/* --- limits and the out-of-memory path (19 to 22, 24, 28) --- */

static void set(struct fixture *f, const char *conf) {
    struct error err;
    assert_ok(caching_change_settings(f->al, conf, &err), err);
}

TEST(a_retry_releases_oversize_blocks_and_unmaps) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, "max_split_size_mb:40", GIB, GIB);
    caching_set_memory_fraction(f.al, 0.1171875);
    static const char off[] = "max_split_size_mb:40,expandable_segments:False";
    uint64_t a = fixture_take(&f, 40 * MIB);
    set(&f, "max_split_size_mb:40,expandable_segments:True");
    uint64_t b = fixture_take(&f, 40 * MIB);
    set(&f, off);
    uint64_t c = fixture_take(&f, 40 * MIB);
    check_at(&f, a, 0);
    check_at(&f, b, 41943040);
    check_at(&f, c, 1258291200);
    fixture_expect_oom(&f, 40 * MIB);
    assert_bytes_equal(f.stats->reserved_bytes[0].current, 125829120);
    assert_int_equal(f.stats->num_alloc_retries, 1);
    assert_int_equal(f.stats->num_ooms, 1);
    check_message(&f, "Tried to allocate 40.00 MiB.");
    check_message(&f, "120.00 MiB allowed; ");
    fixture_free(&f, a);
    fixture_free(&f, b);
    fixture_free(&f, c);
    text_fini(&f.log);
    uint64_t e = fixture_take(&f, 120 * MIB);
    check_at(&f, e, 1300234240);
    check_sums(&f, 125829120, 125829120, 125829120, 1);
    assert_int_equal(f.stats->num_alloc_retries, 2);
    assert_int_equal(f.stats->num_ooms, 1);
    assert_string_equal(text_get(&f.log), "segment_free @1258291200 41943040\n"
                                          "segment_free @0 41943040\n"
                                          "segment_unmap @41943040 41943040\n"
                                          "segment_alloc @1300234240 125829120\n"
                                          "alloc @1300234240 125829120\n");
    fixture_end(&f);
}

TEST(garbage_collection_leaves_reservations_alone) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, "garbage_collection_threshold:0.5", GIB, GIB);
    caching_set_memory_fraction(f.al, 0.1171875);
    static const char on[] = "garbage_collection_threshold:0.5,expandable_segments:True";
    uint64_t a = fixture_take(&f, 40 * MIB);
    set(&f, on);
    uint64_t b = fixture_take(&f, 40 * MIB);
    check_at(&f, a, 0);
    check_at(&f, b, 41943040);
    fixture_free(&f, a);
    fixture_free(&f, b);
    text_fini(&f.log);
    check_at(&f, fixture_take(&f, 80 * MIB), 41943040);
    check_sums(&f, 83886080, 83886080, 83886080, 0);
    assert_string_equal(text_get(&f.log), "segment_free @0 41943040\n"
                                          "segment_map @83886080 41943040\n"
                                          "alloc @41943040 83886080\n");
    fixture_end(&f);
}

TEST(the_program_may_go_on_after_an_oom) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, NULL, 4 * GIB, 4 * GIB);
    fixture_take(&f, 1);
    uint64_t a = fixture_take(&f, 2 * GIB);
    check_at(&f, a, 2097152);
    fixture_expect_oom(&f, 2 * GIB);
    assert_int_equal(f.stats->num_alloc_retries, 1);
    assert_int_equal(f.stats->num_ooms, 1);
    fixture_free(&f, a);
    check_at(&f, fixture_take(&f, 2 * GIB), 2097152);
    assert_int_equal(f.stats->num_alloc_retries, 1);
    assert_int_equal(f.stats->num_device_alloc, 2);
    assert_int_equal(f.stats->segment[0].current, 2);
    fixture_end(&f);
}

TEST(the_message_names_limit_and_figures) {
    USE_STATE;
    struct fixture f = fixture_start_on(NULL, NULL, 10 * GIB, 10 * GIB);
    caching_set_memory_fraction(f.al, 0.5);
    fixture_take(&f, 1);
    fixture_free(&f, fixture_take(&f, (uint64_t)(0.499 * (double)(10 * GIB)) - 2 * MIB));
    alloc_empty_cache(f.al);
    fixture_expect_oom(&f, 5 * GIB);
    check_message(&f, "Tried to allocate 5.00 GiB. GPU 0 has a total capacity of 10.00 GiB");
    check_message(&f,
                  "5.00 GiB allowed; Of the allocated memory 512 bytes is allocated by PyTorch, "
                  "and 2.00 MiB is reserved by PyTorch but unallocated.");
    fixture_end(&f);
}

TEST(the_message_is_pytorchs_to_the_letter) {
    USE_STATE;
    static const struct alloc_oom oom = {.segment_bytes = 44 * MIB,
                                         .device_total_bytes = 25757220864,
                                         .device_free_bytes = 42 * MIB,
                                         .allocated_bytes = 24928362496,
                                         .reserved_bytes = 24928362496 + 260528128};
    char text[ALLOC_OOM_MESSAGE_BYTES];
    alloc_oom_message(&oom, 0, text, sizeof text);
    assert_string_equal(
        text, "CUDA out of memory. Tried to allocate 44.00 MiB. GPU 0 has a total capacity of "
              "23.99 GiB of which "
              "42.00 MiB is free. Of the allocated memory 23.22 GiB is allocated by PyTorch, and "
              "248.46 MiB is "
              "reserved by PyTorch but unallocated. If reserved but unallocated memory is large "
              "try setting "
              "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
              "documentation for "
              "Memory Management  "
              "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-"
              "with-pytorch-cuda-alloc-conf)");
    alloc_oom_message(&oom, 0, text, 8);
    assert_string_equal(text, "CUDA ou");
}

TEST(a_request_larger_than_any_device_is_an_ordinary_oom) {
    USE_STATE;
    static const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_C(1) << 62, UINT64_MAX};
    static const char *const confs[] = {"", "expandable_segments:True",
                                        "roundup_power2_divisions:4", "max_split_size_mb:40",
                                        "throw_on_cudamalloc_oom:True"};
    for (size_t c = 0; c < sizeof confs / sizeof confs[0]; c++) {
        struct fixture f = fixture_start(NULL, confs[c]);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            fixture_expect_oom(&f, sizes[i]);
        fixture_take(&f, 100);
        fixture_end(&f);
    }
}

TEST(oversize_blocks_serve_only_requests_of_their_kind) {
    USE_STATE;
    static const struct {
        uint64_t bytes, offset, allocated, requested, reserved, segments;
    } rows[] = {{90 * MIB, 0, 136314880, 125829120, 136314880, 2},
                {80 * MIB, 136314880, 115343360, 115343360, 220200960, 3},
                {80 * MIB + 512, 0, 136314880, 115343872, 136314880, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f = fixture_start(NULL, "max_split_size_mb:40");
        fixture_free(&f, fixture_take(&f, 100 * MIB));
        check_at(&f, fixture_take(&f, 30 * MIB), 104857600);
        assert_bytes_equal(f.stats->reserved_bytes[0].current, 136314880);
        check_at(&f, fixture_take(&f, rows[i].bytes), rows[i].offset);
        check_sums(&f, rows[i].allocated, rows[i].requested, rows[i].reserved, rows[i].segments);
        fixture_end(&f);
    }
}

/* --- fractions and reservations --- */

TEST(a_full_fraction_is_a_limit_up_to_2_9) {
    USE_STATE;
    static const struct framework *const frameworks[] = {&v2_6, &v2_15};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f = fixture_start_on(frameworks[i], NULL, 100 * MIB, 200 * MIB);
        caching_set_memory_fraction(f.al, 1);
        if (i == 0)
            fixture_expect_oom(&f, 150 * MIB);
        else
            fixture_take(&f, 150 * MIB);
        fixture_end(&f);
    }
}

TEST(the_fraction_option_is_a_limit_from_the_start) {
    USE_STATE;
    struct error err;
    struct fixture f =
        fixture_start_on(NULL, "per_process_memory_fraction:0.5", 100 * MIB, 100 * MIB);
    fixture_expect_oom(&f, 60 * MIB);
    assert_bytes_equal(alloc_last_oom(f.al)->allowed_bytes, 50 * MIB);
    assert_ok(caching_change_settings(f.al, "per_process_memory_fraction:1", &err), err);
    fixture_expect_oom(&f, 60 * MIB);
    fixture_end(&f);
}

struct noting_planner {
    uint64_t next, reservation_bytes;
};

static uint64_t plan_noting(void *user, uint64_t bytes, bool reservation) {
    struct noting_planner *planner = user;
    if (reservation)
        assert_bytes_equal(bytes, planner->reservation_bytes);
    planner->next += bytes;
    return planner->next - bytes;
}

static void check_reservation(const char *conf, uint64_t bytes) {
    struct noting_planner planner = {.next = GIB, .reservation_bytes = bytes};
    struct error err;
    struct alloc_config config = {.total_bytes = 80 * GIB,
                                  .capacity_bytes = 80 * GIB,
                                  .world = {.user = &planner, .plan_address = plan_noting}};
    assert_ok(alloc_settings_parse(conf, NULL, &config.settings, &err), err);
    struct alloc *al = alloc_create(alloc_row(0), &config, &err);
    take(al, 20 * MIB);
    take(al, 512);
    uint64_t address, before = planner.next;
    assert_int_equal(alloc_take(al, bytes + 1, 0, &address), ALLOC_OOM);
    assert_true(planner.next > before); /* one was made and dropped */
    assert_ok(caching_check(al, &err), err);
    alloc_destroy(al);
}

TEST(reservations_are_nine_eighths_of_the_device_or_as_set) {
    USE_STATE;
    check_reservation("expandable_segments:True", UINT64_C(96636764160));
    check_reservation("expandable_segments:True,expandable_segments_reserve:0.5", 40 * GIB);
    check_reservation("expandable_segments:True,expandable_segments_reserve:40G", 40 * GIB);
    check_reservation("expandable_segments:True,expandable_segments_reserve:999T",
                      UINT64_C(96636764160));
}

SUITE(cmocka_unit_test(a_retry_releases_oversize_blocks_and_unmaps),
      cmocka_unit_test(garbage_collection_leaves_reservations_alone),
      cmocka_unit_test(the_program_may_go_on_after_an_oom),
      cmocka_unit_test(the_message_names_limit_and_figures),
      cmocka_unit_test(the_message_is_pytorchs_to_the_letter),
      cmocka_unit_test(a_request_larger_than_any_device_is_an_ordinary_oom),
      cmocka_unit_test(oversize_blocks_serve_only_requests_of_their_kind),
      cmocka_unit_test(a_full_fraction_is_a_limit_up_to_2_9),
      cmocka_unit_test(the_fraction_option_is_a_limit_from_the_start),
      cmocka_unit_test(reservations_are_nine_eighths_of_the_device_or_as_set))
