/* test_ideal.c: the ideal allocators: the least that any could hold, and packings of known lifetimes. Vectors I1 to I3 are
 * those of the definition; the rest are properties. */
#include "alloc_fixture.h"
#include "failing_alloc.h"
#include "live_sum.h"
#include "packed.h"
#include "packing.h"

static struct packing pack(const struct lifetime *blocks, size_t count) {
    struct lifetimes lifetimes = {0};
    struct packing packing;
    struct error err = {0};
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(&lifetimes.list, blocks[i]));
    assert_true(packing_make(&lifetimes, NULL, &packing, &err));
    lifetimes_fini(&lifetimes);
    return packing;
}

static void check_packing(const struct packing *p, uint64_t live, uint64_t height,
                          const uint64_t *offsets) {
    assert_bytes_equal(p->live_bytes, live);
    assert_bytes_equal(p->height_bytes, height);
    for (size_t i = 0; i < p->count; i++)
        assert_bytes_equal(p->places[i].offset, offsets[i]);
}

TEST(a_packing_that_reaches_the_live_bytes_is_exact) { /* I1 */
    USE_STATE;
    static const struct lifetime blocks[] = {{10, 0, 2}, {20, 1, 3}, {10, 2, 4}};
    struct packing p = pack(blocks, 3);
    check_packing(&p, 30, 30, (const uint64_t[]){20, 0, 20});
    packing_fini(&p);
}

/* I2: the largest first gives 5; by birth gives the least possible 4. */
TEST(the_better_of_the_orders_counts) {
    USE_STATE;
    static const struct lifetime blocks[] = {{2, 4, 5}, {2, 1, 4}, {2, 0, 3}, {1, 3, 6}};
    struct packing p = pack(blocks, 4);
    check_packing(&p, 4, 4, (const uint64_t[]){1, 2, 0, 0});
    packing_fini(&p);
}

TEST(one_block_and_none) { /* I3 */
    USE_STATE;
    static const struct lifetime one[] = {{1, 0, 1}};
    struct packing p = pack(one, 1);
    check_packing(&p, 1, 1, (const uint64_t[]){0});
    packing_fini(&p);
    p = pack(NULL, 0);
    check_packing(&p, 0, 0, NULL);
    packing_fini(&p);
}

TEST(the_dead_make_room_for_those_born_at_their_death) {
    USE_STATE;
    static const struct lifetime blocks[] = {{7, 0, 5}, {7, 5, 9}};
    struct packing p = pack(blocks, 2);
    check_packing(&p, 7, 7, (const uint64_t[]){0, 0});
    packing_fini(&p);
}

static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool overlap(const struct lifetime *a, const struct lifetime *b) {
    return a->birth < b->death && b->birth < a->death;
}

/* The sum of live blocks at a block's birth is largest at some birth. */
static uint64_t live_at(const struct lifetime *blocks, size_t count, uint64_t time) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (blocks[i].birth <= time && time < blocks[i].death)
            sum += blocks[i].bytes;
    return sum;
}

enum { BLOCKS = 150 };

TEST(packings_of_random_lifetimes_overlap_nowhere) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct lifetime blocks[BLOCKS];
        uint64_t state = seed, most = 0;
        for (size_t i = 0; i < BLOCKS; i++) {
            uint64_t birth = next(&state) % 200, life = 1 + next(&state) % (1 + next(&state) % 100);
            blocks[i] = (struct lifetime){1 + next(&state) % 1000, birth, birth + life};
            if (next(&state) % 10 == 0)
                blocks[i].death = UINT64_MAX;
        }
        struct packing p = pack(blocks, BLOCKS);
        for (size_t i = 0; i < BLOCKS; i++) {
            uint64_t live = live_at(blocks, BLOCKS, blocks[i].birth);
            most = live > most ? live : most;
            assert_true(p.places[i].offset + blocks[i].bytes <= p.height_bytes);
            for (size_t k = 0; k < i; k++)
                assert_true(!overlap(&blocks[i], &blocks[k]) ||
                            p.places[i].offset + blocks[i].bytes <= p.places[k].offset ||
                            p.places[k].offset + blocks[k].bytes <= p.places[i].offset);
        }
        assert_bytes_equal(p.live_bytes, most);
        assert_true(p.height_bytes >= most && p.height_bytes <= 2 * most);
        packing_fini(&p);
    }
}

TEST(sums_that_leave_64_bits_are_refused) {
    USE_STATE;
    struct lifetimes lifetimes = {0};
    struct packing packing;
    const struct lifetime large = {UINT64_MAX / 2 + 1, 0, 1};
    struct error err = {0};
    assert_true(array_push(&lifetimes.list, large) && array_push(&lifetimes.list, large));
    assert_false(packing_make(&lifetimes, NULL, &packing, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_int_equal(packing.count, 0);
    lifetimes_fini(&lifetimes);
}

static bool never(void *user) {
    (void)user;
    return false;
}

/* All of `count` blocks live at the same time. */
static enum error_code pack_all_alive(uint64_t count, const struct packing_watch *watch) {
    struct lifetimes lifetimes = {0};
    struct packing packing;
    struct error err = {0};
    for (uint64_t i = 0; i < count; i++)
        assert_true(array_push(&lifetimes.list, ((struct lifetime){512, i, count})));
    bool ok = packing_make(&lifetimes, watch, &packing, &err);
    assert_int_equal(ok, err.code == ERROR_NONE);
    assert_int_equal(packing.count, ok ? count : 0);
    packing_fini(&packing);
    lifetimes_fini(&lifetimes);
    return err.code;
}

TEST(a_packing_of_too_many_pairs_is_given_up) {
    USE_STATE;
    assert_int_equal(pack_all_alive(100, &(struct packing_watch){.most_pairs = 5050}), ERROR_NONE);
    assert_int_equal(pack_all_alive(100, &(struct packing_watch){.most_pairs = 5049}), ERROR_LIMIT);
}

TEST(a_packing_can_be_interrupted) {
    USE_STATE;
    assert_int_equal(pack_all_alive(2000, &(struct packing_watch){.goes_on = never}),
                     ERROR_INTERRUPTED);
}

/* --- sum-of-live --- */

TEST(reserved_is_what_lives) {
    USE_STATE;
    struct fixture f = fixture_start_row(&live_sum_ops, NULL, "", GIB, GIB);
    uint64_t a = fixture_take(&f, 1000), b = fixture_take(&f, 20 * MIB);
    check_sums(&f, 20 * MIB + 1024, 20 * MIB + 1000, 20 * MIB + 1024, 2);
    alloc_free(f.al, a);
    check_sums(&f, 20 * MIB, 20 * MIB, 20 * MIB, 1);
    fixture_expect_oom(&f, GIB);
    check_message(&f, "allocator sum-of-live: out of memory for 1073741824 bytes");
    alloc_free(f.al, b);
    assert_string_equal(text_get(&f.log), "segment_alloc @0 1024\nalloc @0 1000\n"
                                          "segment_alloc @1024 20971520\nalloc @1024 20971520\n");
    fixture_end(&f);
}

static void check_streams(const struct alloc_ops *row, uint64_t device) {
    struct fixture f = fixture_start_row(row, NULL, "", device, device);
    uint64_t a = fixture_take(&f, 40 * MIB);
    assert_int_equal(alloc_record_stream(f.al, a, STREAM_A), ALLOC_OK); /* its own */
    assert_int_equal(alloc_record_stream(f.al, a, STREAM_B), ALLOC_OK);
    fixture_queue_work(&f, STREAM_B);
    alloc_free(f.al, a);
    assert_bytes_equal(f.stats->allocated_bytes[0].current, 0);
    assert_bytes_equal(f.stats->active_bytes[0].current, 40 * MIB);
    fixture_take(&f, 10 * MIB);
    assert_bytes_equal(f.stats->active_bytes[0].current, 50 * MIB);
    fixture_finish(&f, STREAM_B);
    fixture_take(&f, 10 * MIB);
    assert_bytes_equal(f.stats->active_bytes[0].current, 20 * MIB);
    uint64_t c = fixture_take(&f, 40 * MIB); /* a full device is waited for */
    assert_int_equal(alloc_record_stream(f.al, c, STREAM_B), ALLOC_OK);
    fixture_queue_work(&f, STREAM_B);
    alloc_free(f.al, c);
    fixture_take(&f, 40 * MIB);
    fixture_end(&f);
}

TEST(a_block_lives_until_all_streams_have_passed) {
    USE_STATE;
    check_streams(&live_sum_ops, 64 * MIB);
    check_streams(&packed_ops, 100 * MIB);
}

static struct alloc *start_noting(struct lifetimes *lifetimes, const struct packing *packing,
                                  const struct alloc_ops *row) {
    struct alloc_config config = {.total_bytes = 80 * GIB,
                                  .capacity_bytes = 80 * GIB,
                                  .lifetimes = lifetimes,
                                  .packing = packing};
    struct error err;
    alloc_settings_default(&config.settings);
    struct alloc *al = alloc_create(row, &config, &err);
    assert_ok(al != NULL, err);
    return al;
}

static uint64_t take(struct alloc *al, uint64_t bytes) {
    uint64_t address = 0;
    assert_int_equal(alloc_take(al, bytes, 0, &address), ALLOC_OK);
    return address;
}

/* A block that the greedy way puts low and so lets the last one float: 3 units by birth, 2 by plan. */
static void small_run(struct alloc *al, uint64_t out[3]) {
    uint64_t first = take(al, 512);
    out[0] = take(al, 512);
    alloc_free(al, first);
    out[1] = take(al, 1024);
    alloc_free(al, out[0]);
    out[2] = take(al, 512);
}

TEST(the_lifetimes_of_a_run_are_noted) {
    USE_STATE;
    struct lifetimes lifetimes = {0};
    uint64_t at[3];
    struct alloc *al = start_noting(&lifetimes, NULL, &live_sum_ops);
    small_run(al, at);
    static const struct lifetime expected[] = {
        {512, 0, 2}, {512, 1, 3}, {1024, 2, UINT64_MAX}, {512, 3, UINT64_MAX}};
    assert_int_equal(lifetimes.list.count, 4);
    assert_memory_equal(lifetimes.list.at, expected, sizeof expected);
    alloc_destroy(al);
    lifetimes_fini(&lifetimes);
}

/* --- best-packing --- */

TEST(without_a_packing_the_lowest_free_offset_is_taken) {
    USE_STATE;
    struct fixture f = fixture_start_row(&packed_ops, NULL, "", GIB, GIB);
    uint64_t a = fixture_take(&f, 1000), b = fixture_take(&f, 2048);
    check_at(&f, a, 0);
    check_at(&f, b, 1024);
    alloc_free(f.al, a);
    check_at(&f, fixture_take(&f, 512), 0);
    check_at(&f, fixture_take(&f, 1024), 3072);
    check_sums(&f, 3584, 3584, 4096, 0);
    alloc_free(f.al, b);
    check_at(&f, fixture_take(&f, 2560), 512);
    fixture_expect_oom(&f, GIB);
    fixture_end(&f);
}

TEST(a_packing_is_followed_where_the_run_is_the_same) {
    USE_STATE;
    struct lifetimes lifetimes = {0};
    struct packing packing;
    struct error err = {0};
    uint64_t at[3];
    struct alloc *al = start_noting(&lifetimes, NULL, &live_sum_ops);
    small_run(al, at);
    alloc_destroy(al);
    assert_true(packing_make(&lifetimes, NULL, &packing, &err));
    assert_bytes_equal(packing.height_bytes, 1536);
    assert_bytes_equal(packing.live_bytes, 1536);
    al = start_noting(NULL, &packing, &packed_ops);
    small_run(al, at);
    for (size_t i = 0; i < 3; i++)
        assert_bytes_equal(at[i] - ALLOC_FIRST_ADDRESS, packing.places[i + 1].offset);
    assert_bytes_equal(alloc_get_stats(al)->reserved_bytes[0].peak, 1536);
    alloc_destroy(al);
    al = start_noting(NULL, NULL, &packed_ops);
    small_run(al, at);
    assert_bytes_equal(alloc_get_stats(al)->reserved_bytes[0].peak, 2048);
    alloc_destroy(al);
    al = start_noting(NULL, &packing, &packed_ops); /* another run: of another size, and longer */
    take(al, 4096);
    for (size_t i = 0; i < 8; i++)
        take(al, 512);
    assert_bytes_equal(alloc_get_stats(al)->reserved_bytes[0].peak, 8192);
    alloc_destroy(al);
    packing_fini(&packing);
    lifetimes_fini(&lifetimes);
}

TEST(requests_beyond_any_size_are_refused) {
    USE_STATE;
    static const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_MAX - 511, UINT64_MAX};
    const struct alloc_ops *const rows[] = {&live_sum_ops, &packed_ops};
    for (size_t r = 0; r < 2; r++) {
        struct fixture f = fixture_start_row(rows[r], NULL, "", GIB, GIB);
        for (size_t i = 0; i < 3; i++)
            fixture_expect_oom(&f, sizes[i]);
        fixture_take(&f, 1);
        fixture_end(&f);
    }
}

/* --- host memory --- */

static bool try_run(const struct alloc_ops *row, struct lifetimes *lifetimes,
                    const struct packing *packing) {
    struct alloc_config config = {.total_bytes = 2 * GIB,
                                  .capacity_bytes = 2 * GIB,
                                  .lifetimes = lifetimes,
                                  .packing = packing};
    struct error err = {0};
    uint64_t live[40];
    size_t count = 0;
    bool ok = true;
    alloc_settings_default(&config.settings);
    struct alloc *al = alloc_create(row, &config, &err);
    for (size_t i = 0; al && ok && i < 60; i++) {
        ok = alloc_take(al, (i * 7919 % 97 + 1) * 10000, i % 3, &live[count]) == ALLOC_OK;
        count += ok;
        ok = ok && (i % 4 || alloc_record_stream(al, live[count - 1], 5) == ALLOC_OK);
        if (ok && i % 3 == 2) {
            alloc_free(al, live[0]);
            live[0] = live[--count];
        }
        if (count == 40)
            alloc_free(al, live[--count]);
    }
    bool made = al != NULL;
    alloc_destroy(al);
    return made && ok;
}

static bool session(void) {
    struct lifetimes lifetimes = {0};
    struct packing packing = {0};
    struct error err = {0};
    bool ok = try_run(&live_sum_ops, &lifetimes, NULL) &&
              packing_make(&lifetimes, NULL, &packing, &err) &&
              try_run(&packed_ops, NULL, &packing);
    packing_fini(&packing);
    lifetimes_fini(&lifetimes);
    return ok;
}

TEST(exhausted_host_memory_is_said_and_leaks_nothing) {
    USE_STATE;
    assert_true(fail_each_allocation(session) >= 30);
}

SUITE(cmocka_unit_test(a_packing_that_reaches_the_live_bytes_is_exact),
      cmocka_unit_test(the_better_of_the_orders_counts), cmocka_unit_test(one_block_and_none),
      cmocka_unit_test(the_dead_make_room_for_those_born_at_their_death),
      cmocka_unit_test(packings_of_random_lifetimes_overlap_nowhere),
      cmocka_unit_test(sums_that_leave_64_bits_are_refused),
      cmocka_unit_test(a_packing_of_too_many_pairs_is_given_up),
      cmocka_unit_test(a_packing_can_be_interrupted), cmocka_unit_test(reserved_is_what_lives),
      cmocka_unit_test(a_block_lives_until_all_streams_have_passed),
      cmocka_unit_test(the_lifetimes_of_a_run_are_noted),
      cmocka_unit_test(without_a_packing_the_lowest_free_offset_is_taken),
      cmocka_unit_test(a_packing_is_followed_where_the_run_is_the_same),
      cmocka_unit_test(requests_beyond_any_size_are_refused),
      cmocka_unit_test(exhausted_host_memory_is_said_and_leaks_nothing))
