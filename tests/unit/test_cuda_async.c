/* test_cuda_async.c: PyTorch's backend:cudaMallocAsync over the model of the driver's pool: what 2.15 reports and says (recorded
 * from it), the documented rules of reuse, and the assumptions of docs/allocators.md. */
#include "alloc_fixture.h"
#include "cuda_async.h"
#include "cuda_pool.h"
#include "failing_alloc.h"
#include "releases.h"

static const char conf[] = "backend:cudaMallocAsync";
static const struct framework v2_13 = RELEASE("2.13", 13);

static struct fixture start(uint64_t capacity) {
    return fixture_start_on(NULL, conf, capacity, capacity);
}

static void check_pool(const struct fixture *f, uint64_t used, uint64_t reserved) {
    assert_bytes_equal(f->stats->allocated_bytes[0].current, used);
    assert_bytes_equal(f->stats->active_bytes[0].current, used);
    assert_bytes_equal(f->stats->reserved_bytes[0].current, reserved);
}

static void record(struct fixture *f, uint64_t address, uint64_t stream) {
    assert_int_equal(alloc_record_stream(f->al, address, stream), ALLOC_OK);
}

TEST(the_backend_of_the_settings_chooses_the_allocator) {
    USE_STATE;
    struct fixture f = start(GIB);
    assert_ptr_equal(f.al->ops, alloc_find("cudaMallocAsync"));
    assert_ptr_equal(alloc_of_backend(ALLOC_BACKEND_NATIVE), alloc_find("native"));
    fixture_end(&f);
}

TEST(used_counts_requests_and_reserved_grows_by_chunks) {
    USE_STATE;
    struct fixture f = start(GIB);
    check_at(&f, fixture_take(&f, 1000), 0);
    check_pool(&f, 1000, 32 * MIB);
    uint64_t b = fixture_take(&f, 100);
    check_at(&f, b, 1024);
    check_pool(&f, 1100, 32 * MIB);
    check_at(&f, fixture_take(&f, 40 * MIB), 1536); /* the free tail counts */
    check_pool(&f, 1100 + 40 * MIB, 64 * MIB);
    alloc_free(f.al, b);
    check_pool(&f, 1000 + 40 * MIB, 64 * MIB);
    assert_bytes_equal(f.stats->allocated_bytes[0].peak, 1100 + 40 * MIB);
    fixture_end(&f);
}

/* memory_stats() of 2.15: the pool's three figures, all else 0. */
TEST(everything_else_stays_0) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 3 * MIB);
    fixture_expect_oom(&f, 2 * GIB);
    alloc_free(f.al, a);
    alloc_empty_cache(f.al);
    fixture_take(&f, 100);
    struct alloc_stats rest = *f.stats;
    static const struct alloc_stat none = {0};
    rest.allocated_bytes[0] = rest.active_bytes[0] = rest.reserved_bytes[0] = none;
    static const struct alloc_stats zero = {0};
    assert_memory_equal(&rest, &zero, sizeof rest);
    assert_bytes_equal(f.stats->allocated_bytes[0].allocated, 0);
    fixture_end(&f);
}

TEST(freed_memory_serves_the_smallest_fit_of_its_own_stream_at_once) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 8 * MIB), x = fixture_take(&f, 512);
    uint64_t b = fixture_take(&f, 4 * MIB), y = fixture_take(&f, 512);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, a);
    alloc_free(f.al, b);
    assert_bytes_equal(fixture_take(&f, 3 * MIB), b);
    assert_bytes_equal(fixture_take(&f, 3 * MIB), a);
    (void)x, (void)y;
    fixture_end(&f);
}

TEST(neighbours_freed_on_one_stream_join) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 8 * MIB), b = fixture_take(&f, 8 * MIB);
    uint64_t c = fixture_take(&f, 16 * MIB);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, a);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, b);
    assert_bytes_equal(fixture_take(&f, 16 * MIB), a);
    check_pool(&f, 32 * MIB, 32 * MIB);
    (void)c;
    fixture_end(&f);
}

TEST(another_stream_gets_it_when_the_free_has_been_executed) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 32 * MIB);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, a);
    uint64_t b = fixture_take_on(&f, 32 * MIB, STREAM_B);
    check_at(&f, b, 32 * MIB);
    fixture_finish(&f, STREAM_A);
    assert_bytes_equal(fixture_take_on(&f, 32 * MIB, STREAM_C), a);
    check_pool(&f, 64 * MIB, 64 * MIB);
    fixture_end(&f);
}

TEST(another_stream_gets_it_when_the_program_made_it_wait) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 32 * MIB), b = fixture_take(&f, 32 * MIB);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, a);
    fixture_make_wait(&f, STREAM_B, STREAM_A);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, b); /* after the wait: not covered */
    assert_bytes_equal(fixture_take_on(&f, 16 * MIB, STREAM_B), ALLOC_FIRST_ADDRESS + 64 * MIB);
    fixture_end(&f);
}

TEST(a_covered_free_is_followed) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 32 * MIB);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, a);
    fixture_make_wait(&f, STREAM_B, STREAM_A);
    assert_bytes_equal(fixture_take_on(&f, 16 * MIB, STREAM_B), a);
    assert_int_equal(f.world->driver_waits, 0);
    fixture_end(&f);
}

TEST(only_a_full_device_makes_the_driver_let_a_stream_wait) {
    USE_STATE;
    struct fixture f = start(64 * MIB);
    uint64_t a = fixture_take(&f, 32 * MIB);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, a);
    check_at(&f, fixture_take_on(&f, 16 * MIB, STREAM_B), 32 * MIB);
    assert_int_equal(f.world->driver_waits, 0);
    assert_bytes_equal(fixture_take_on(&f, 20 * MIB, STREAM_B), a);
    assert_int_equal(f.world->driver_waits, 1);
    assert_int_equal(f.world->driver_wait_stream, STREAM_B);
    assert_int_equal(f.world->driver_wait_other, STREAM_A);
    check_pool(&f, 36 * MIB, 64 * MIB);
    fixture_end(&f);
}

TEST(memory_used_by_several_streams_is_free_when_all_have_passed) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 32 * MIB);
    record(&f, a, STREAM_A); /* its own: no effect */
    record(&f, a, STREAM_B);
    record(&f, a, STREAM_C);
    fixture_queue_work(&f, STREAM_B);
    fixture_queue_work(&f, STREAM_C);
    alloc_free(f.al, a);
    check_pool(&f, 32 * MIB, 32 * MIB); /* still used */
    fixture_finish(&f, STREAM_B);
    check_at(&f, fixture_take(&f, 32 * MIB), 32 * MIB); /* not even for its own stream */
    fixture_finish(&f, STREAM_C);
    assert_bytes_equal(fixture_take(&f, 32 * MIB), a);
    check_pool(&f, 64 * MIB, 64 * MIB);
    fixture_end(&f);
}

TEST(the_stream_that_waits_for_all_uses_works_in_order) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 32 * MIB), b = fixture_take(&f, 32 * MIB);
    record(&f, a, STREAM_B);
    record(&f, b, STREAM_C);
    fixture_queue_work(&f, STREAM_B);
    alloc_free(f.al, a);
    alloc_free(f.al, b); /* nothing is queued on its stream, but the free before holds it up */
    check_at(&f, fixture_take(&f, 32 * MIB), 64 * MIB);
    fixture_finish(&f, STREAM_B);
    assert_bytes_equal(fixture_take(&f, 64 * MIB), a);
    fixture_end(&f);
}

TEST(a_full_device_takes_memory_that_waits_for_uses) {
    USE_STATE;
    struct fixture f = start(32 * MIB);
    uint64_t a = fixture_take(&f, 32 * MIB);
    record(&f, a, STREAM_B);
    record(&f, a, STREAM_C);
    fixture_queue_work(&f, STREAM_B);
    fixture_queue_work(&f, STREAM_C);
    alloc_free(f.al, a);
    text_fini(&f.log);
    assert_bytes_equal(fixture_take(&f, 16 * MIB), a);
    assert_int_equal(f.world->driver_waits, 2);
    assert_string_equal(text_get(&f.log), "free_completed @0 33554432\nalloc @0 16777216\n");
    check_pool(&f, 16 * MIB, 32 * MIB);
    fixture_end(&f);
}

TEST(empty_cache_waits_and_gives_back_whole_free_chunks) {
    USE_STATE;
    struct fixture f = start(GIB);
    uint64_t a = fixture_take(&f, 48 * MIB), b = fixture_take(&f, 32 * MIB);
    uint64_t c = fixture_take(&f, 90 * MIB);
    check_pool(&f, 170 * MIB, 192 * MIB);
    fixture_queue_work(&f, STREAM_A);
    alloc_free(f.al, a);
    alloc_free(f.al, c);
    text_fini(&f.log);
    f.world->log = &f.log;
    assert_int_equal(alloc_empty_cache(f.al), ALLOC_OK);
    assert_string_equal(text_get(&f.log), "segment_unmap @100663296 100663296\n"
                                          "segment_unmap @0 33554432\n");
    check_pool(&f, 32 * MIB, 64 * MIB);
    assert_bytes_equal(f.stats->reserved_bytes[0].peak, 192 * MIB);
    check_at(&f, fixture_take(&f, 16 * MIB), 32 * MIB); /* what was left of a's chunk */
    check_at(&f, fixture_take(&f, 17 * MIB), 80 * MIB); /* the end begins where memory ends */
    (void)b;
    fixture_end(&f);
}

TEST(a_threshold_is_kept_at_a_synchronisation) {
    USE_STATE;
    struct alloc_world world = {0};
    const struct cuda_pool_options options = {
        .chunk_bytes = 32 * MIB, .align_bytes = 512, .release_threshold = 70 * MIB};
    struct cuda_pool pool;
    uint64_t a = 0;
    cuda_pool_init(&pool, &options, &world, GIB);
    assert_int_equal(cuda_pool_take(&pool, 160 * MIB, 0, &a), ALLOC_OK);
    assert_bytes_equal(cuda_pool_free(&pool, a), 160 * MIB);
    assert_true(cuda_pool_trim(&pool, 150 * MIB)); /* free, but not noticed */
    assert_bytes_equal(pool.reserved_bytes, 160 * MIB);
    assert_true(cuda_pool_synchronize(&pool));
    assert_bytes_equal(pool.reserved_bytes, 64 * MIB);
    cuda_pool_fini(&pool);
}

TEST(a_refused_request_trims_and_tries_once_more_from_2_14_on) {
    USE_STATE;
    for (int new = 0; new < 2; new ++) {
        struct fixture f = fixture_start_on(new ? NULL : &v2_13, conf, 96 * MIB, 96 * MIB);
        uint64_t a = fixture_take(&f, 32 * MIB), b = fixture_take(&f, 32 * MIB);
        uint64_t c = fixture_take(&f, 32 * MIB);
        fixture_queue_work(&f, STREAM_A);
        alloc_free(f.al, a);
        alloc_free(f.al, c);
        if (new)
            check_at(&f, fixture_take(&f, 64 * MIB), 64 * MIB);
        else
            fixture_expect_oom(&f, 64 * MIB);
        check_pool(&f, new ? 96 * MIB : 32 * MIB, 96 * MIB);
        (void)b;
        fixture_end(&f);
    }
}

/* The words of 2.15, from runs of it. */
TEST(an_out_of_memory_says_what_pytorch_says) {
    USE_STATE;
    char text[ALLOC_OOM_MESSAGE_BYTES];
    struct fixture f = start(16 * GIB);
    fixture_take(&f, 9 * GIB);
    fixture_expect_oom(&f, 20 * GIB);
    alloc_write_oom(f.al, 0, text, sizeof text);
    assert_string_equal(text,
                        "Allocation on device 0 would exceed allowed memory. (out of memory)\n"
                        "Currently allocated     : 9.00 GiB\n"
                        "Requested               : 20.00 GiB\n"
                        "Device limit            : 16.00 GiB\n"
                        "Free (according to CUDA): 7.00 GiB\n"
                        "PyTorch limit (set by user-supplied memory fraction)\n"
                        "                        : 17179869184.00 GiB");
    fixture_end(&f);
}

TEST(a_limit_counts_live_requests_and_asks_nobody) {
    USE_STATE;
    struct fixture f = start(16 * GIB);
    fixture_take(&f, 1000);
    alloc_set_memory_fraction(f.al, 0.5);
    fixture_expect_oom(&f, 9 * GIB);
    check_message(&f, "Currently allocated     : 1000 bytes\nRequested               : 9.00 GiB\n");
    check_message(&f, "                        : 8.00 GiB");
    fixture_take(&f, 1000);
    fixture_expect_oom(&f, 8 * GIB - 1999);
    alloc_free(f.al, fixture_take(&f, 8 * GIB - 2000));
    alloc_set_memory_fraction(f.al, 1);
    fixture_expect_oom(&f, 16 * GIB);
    check_message(&f, "                        : 16.00 GiB");
    fixture_end(&f);
}

TEST(a_share_of_the_settings_is_no_limit) {
    USE_STATE;
    struct fixture f = fixture_start_on(
        NULL, "backend:cudaMallocAsync,per_process_memory_fraction:0.5", 16 * GIB, 16 * GIB);
    fixture_take(&f, 9 * GIB);
    fixture_end(&f);
}

TEST(requests_beyond_any_size_are_refused) {
    USE_STATE;
    struct fixture f = start(GIB);
    static const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_MAX - 511, UINT64_MAX};
    for (size_t i = 0; i < 3; i++)
        fixture_expect_oom(&f, sizes[i]);
    fixture_take(&f, 1);
    fixture_end(&f);
}

/* --- random courses: what must hold of any pool --- */

static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

enum { MOST = 60 };

struct course {
    uint64_t address[MOST], bytes[MOST];
    size_t count;
};

static void check_apart(const struct course *c, uint64_t address, uint64_t bytes) {
    for (size_t i = 0; i < c->count; i++)
        assert_true(address + bytes <= c->address[i] || c->address[i] + c->bytes[i] <= address);
}

static bool step(struct fixture *f, struct course *c, uint64_t *state) {
    uint64_t dice = next(state) % 20, stream = next(state) % 3, address = 0;
    if (dice < 9 && c->count < MOST) {
        uint64_t bytes = 1 + next(state) % (next(state) % 4 ? 3 * MIB : 80 * MIB);
        enum alloc_result result = alloc_take(f->al, bytes, stream, &address);
        if (result == ALLOC_OK) {
            check_apart(c, address, bytes);
            c->address[c->count] = address;
            c->bytes[c->count++] = bytes;
        }
        return result != ALLOC_HOST_MEMORY;
    }
    if (dice < 15 && c->count > 0) {
        size_t at = next(state) % c->count;
        bool ok =
            next(state) % 3 > 0 || alloc_record_stream(f->al, c->address[at], stream) == ALLOC_OK;
        alloc_free(f->al, c->address[at]);
        c->address[at] = c->address[--c->count];
        c->bytes[at] = c->bytes[c->count];
        return ok;
    }
    if (dice == 15)
        return next(state) % 20 > 0 || alloc_empty_cache(f->al) == ALLOC_OK;
    if (dice < 18)
        fixture_queue_work(f, stream);
    else
        fixture_finish(f, stream);
    return true;
}

static bool run_course(struct fixture *f, uint64_t seed, int steps) {
    struct course c = {.count = 0};
    bool ok = true;
    for (int i = 0; ok && i < steps; i++) {
        const struct alloc_stats *stats = alloc_get_stats(f->al);
        ok = step(f, &c, &seed);
        assert_true(stats->allocated_bytes[0].current <= stats->reserved_bytes[0].current);
    }
    while (c.count > 0)
        alloc_free(f->al, c.address[--c.count]);
    return ok;
}

TEST(live_blocks_never_overlap_and_everything_comes_back) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fixture f = start((64 + seed * 8) * MIB);
        assert_true(run_course(&f, seed, 600));
        assert_int_equal(alloc_empty_cache(f.al), ALLOC_OK);
        check_pool(&f, 0, 0);
        fixture_end(&f);
    }
}

TEST(exhausted_host_memory_is_said_and_leaks_nothing) {
    USE_STATE;
    struct failing_alloc failing = {.fail_at = 1};
    for (bool done = false; !done; failing.fail_at++) {
        struct fixture f = {.world = xcalloc(1, sizeof *f.world)};
        struct alloc_config config = fixture_config(NULL, conf, f.world);
        struct error err = {0};
        config.capacity_bytes = 160 * MIB;
        failing.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &failing);
        f.al = alloc_create(&cuda_async_ops, &config, &err);
        done = f.al && run_course(&f, 7, 400);
        if (!f.al)
            assert_int_equal(err.code, ERROR_HOST_MEMORY);
        alloc_destroy(f.al);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(failing.live, 0);
        xfree(f.world);
        assert_true(failing.fail_at < 1000);
    }
    assert_true(failing.fail_at > 8);
}

SUITE(cmocka_unit_test(the_backend_of_the_settings_chooses_the_allocator),
      cmocka_unit_test(used_counts_requests_and_reserved_grows_by_chunks),
      cmocka_unit_test(everything_else_stays_0),
      cmocka_unit_test(freed_memory_serves_the_smallest_fit_of_its_own_stream_at_once),
      cmocka_unit_test(neighbours_freed_on_one_stream_join),
      cmocka_unit_test(another_stream_gets_it_when_the_free_has_been_executed),
      cmocka_unit_test(another_stream_gets_it_when_the_program_made_it_wait),
      cmocka_unit_test(a_covered_free_is_followed),
      cmocka_unit_test(only_a_full_device_makes_the_driver_let_a_stream_wait),
      cmocka_unit_test(memory_used_by_several_streams_is_free_when_all_have_passed),
      cmocka_unit_test(the_stream_that_waits_for_all_uses_works_in_order),
      cmocka_unit_test(a_full_device_takes_memory_that_waits_for_uses),
      cmocka_unit_test(empty_cache_waits_and_gives_back_whole_free_chunks),
      cmocka_unit_test(a_threshold_is_kept_at_a_synchronisation),
      cmocka_unit_test(a_refused_request_trims_and_tries_once_more_from_2_14_on),
      cmocka_unit_test(an_out_of_memory_says_what_pytorch_says),
      cmocka_unit_test(a_limit_counts_live_requests_and_asks_nobody),
      cmocka_unit_test(a_share_of_the_settings_is_no_limit),
      cmocka_unit_test(requests_beyond_any_size_are_refused),
      cmocka_unit_test(live_blocks_never_overlap_and_everything_comes_back),
      cmocka_unit_test(exhausted_host_memory_is_said_and_leaks_nothing))
