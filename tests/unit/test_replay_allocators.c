/* test_replay_allocators.c: recorded requests through the other allocators: what-ifs alone, none of them can reproduce. */
#include "replay_fixture.h"

TEST(another_allocator_words_its_failure_itself) {
    USE_STATE;
    struct replay_config config = {
        .total_bytes = 64 * MIB, .capacity_bytes = 40 * MIB, .allocator = alloc_find("bfc")};
    struct outcome o = replay_timeline(tl_build("alloc a 30MiB\nalloc b 30MiB\n"), &config);
    const struct timeline *tl = o.result.timeline;
    assert_bytes_equal(tl->ooms.at[0].requested_bytes, 30 * MIB);
    assert_string_equal(timeline_text(tl, tl->ooms.at[0].message),
                        "allocator bfc: out of memory for 31457280 bytes");
    end(&o);
}

TEST(an_allocator_that_takes_a_share_of_the_device_must_know_it) {
    USE_STATE;
    struct replay_config config = {.allocator = alloc_find("bfc")};
    refuses(tl_build("alloc a 30MiB\n"), &config, "name one (--device)");
    config.total_bytes = 64 * MIB;
    struct outcome o = replay_timeline(tl_build("alloc a 30MiB\n"), &config);
    assert_bytes_equal(o.device->model.peak_reserved, 48 * MIB);
    end(&o);
}

TEST(the_backend_of_the_settings_answers_a_what_if) {
    USE_STATE;
    struct alloc_settings set = settings("backend:cudaMallocAsync");
    struct replay_config config = {.settings = &set, .total_bytes = 96 * MIB};
    struct outcome o = replay_timeline(tl_build("alloc a 20MiB\nalloc b 10MiB\nfree a\n"
                                                "alloc c 30MiB\nalloc d 96MiB\n"),
                                       &config);
    assert_bytes_equal(o.device->model.peak_reserved, 64 * MIB);
    assert_bytes_equal(o.device->ooms, 1);
    const struct timeline *tl = o.result.timeline;
    assert_non_null(strstr(timeline_text(tl, tl->ooms.at[0].message),
                           "Allocation on device 0 would exceed allowed memory."));
    end(&o);
}

TEST(every_allocator_answers_a_trace_with_waits_failures_and_a_late_start) {
    USE_STATE;
    static const char text[] =
        "start segment s 64MiB\nstart block p 1MiB at=s+0 pending\n"
        "start block q 2MiB at=s+4MiB\n"
        "alloc a 2MiB at=s+6MiB\nalloc b 2MiB at=s+8MiB\nrequest a\noom 1GiB\n"
        "alloc c 40MiB at=s+10MiB\ncomplete a\ncomplete p\nfree b\n"
        "alloc d 1MiB at=s+0\nfree c\n";
    for (size_t i = 0; alloc_row(i); i++) {
        struct replay_config config = {.total_bytes = 256 * MIB, .allocator = alloc_row(i)};
        struct outcome o = replay_timeline(tl_build(text), &config);
        assert_int_equal(o.device->stopped_at, TIMELINE_NONE);
        assert_bytes_equal(o.device->ooms, 1);
        assert_bytes_equal(o.device->model.end_allocated >= 3 * MIB, 1);
        end(&o);
    }
}

/* Peaks of one trace: what lives, the packing, and what the real allocator held. */
static void check_bounds(const char *name) {
    struct outcome o[2];
    const char *const rows[] = {"sum-of-live", "best-packing"};
    for (size_t i = 0; i < 2; i++) {
        struct replay_config config = {.allocator = alloc_find(rows[i])};
        o[i] = replay_timeline(load(name), &config);
    }
    uint64_t live = o[0].device->model.peak_reserved, packed = o[1].device->model.peak_reserved;
    assert_bytes_equal(live, o[0].device->model.peak_active);
    assert_bytes_equal(live, o[1].device->model.peak_active);
    assert_true(live <= packed && packed <= o[1].device->recorded.peak_reserved);
    end(&o[0]);
    end(&o[1]);
}

TEST(a_packing_lies_between_what_lives_and_what_was_held) {
    USE_STATE;
    check_bounds("pytorch-2.15/mlp_sgd");
    check_bounds("pytorch-2.15/llama_tiny_expandable");
    check_bounds("recorded_from_empty");
}

SUITE(cmocka_unit_test(another_allocator_words_its_failure_itself),
      cmocka_unit_test(an_allocator_that_takes_a_share_of_the_device_must_know_it),
      cmocka_unit_test(the_backend_of_the_settings_answers_a_what_if),
      cmocka_unit_test(every_allocator_answers_a_trace_with_waits_failures_and_a_late_start),
      cmocka_unit_test(a_packing_lies_between_what_lives_and_what_was_held))
