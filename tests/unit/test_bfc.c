/* The vectors B1 to B11 of docs/allocators.md (TensorFlow 2.21's own allocator gave them). */
#include "suite.h"

#include "bfc.h"
#include "failing_alloc.h"
#include "units.h"

static struct alloc *make(struct bfc_options options, uint64_t device) {
    struct alloc_config config = {.total_bytes = device, .capacity_bytes = device};
    struct error err = {0};
    struct alloc *al = bfc_create(&config, &options, &err);
    assert_non_null(al);
    return al;
}

static uint64_t take(struct alloc *al, uint64_t bytes) {
    uint64_t address = 0;
    assert_int_equal(alloc_take(al, bytes, 0, &address), ALLOC_OK);
    return address;
}

static void take_fails(struct alloc *al, uint64_t bytes) {
    uint64_t address;
    assert_int_equal(alloc_take(al, bytes, 0, &address), ALLOC_OOM);
}

static uint64_t pool_of(const struct alloc *al) {
    return alloc_get_stats(al)->reserved_bytes[ALLOC_POOL_ALL].current;
}

static uint64_t in_use(const struct alloc *al) {
    return alloc_get_stats(al)->allocated_bytes[ALLOC_POOL_ALL].current;
}

#define OFFSET(address) ((address)-ALLOC_FIRST_ADDRESS)
static const uint64_t device = 80 * GIB;

TEST(regions_double_as_requests_grow) { /* B1 */
    USE_STATE;
    struct alloc *al = make((struct bfc_options){.growth = true, .limit_bytes = GIB}, device);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 1000)), 1024);
    assert_bytes_equal(pool_of(al), 2 * MIB);
    assert_bytes_equal(bfc_next_region_bytes(al), 4 * MIB);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 3 * MIB)), 4194304);
    assert_bytes_equal(in_use(al), 4195328);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 20 * MIB)), 33554432);
    assert_bytes_equal(in_use(al), 37749760);
    assert_bytes_equal(pool_of(al), 39845888);
    assert_bytes_equal(bfc_next_region_bytes(al), 32 * MIB);
    alloc_destroy(al);
}

TEST(a_rest_below_half_and_128_MiB_stays) { /* B2 */
    USE_STATE;
    struct alloc *al = make((struct bfc_options){.limit_bytes = GIB}, device);
    assert_bytes_equal(OFFSET(take(al, 300 * MIB)), 0);
    uint64_t second = take(al, 600 * MIB);
    assert_bytes_equal(OFFSET(second), 0x12c00000);
    assert_bytes_equal(bfc_chunk_bytes(al, second), 759169024);
    assert_bytes_equal(in_use(al), GIB);
    take_fails(al, 1);
    alloc_destroy(al);
}

TEST(twice_the_size_splits) { /* B3 */
    USE_STATE;
    struct alloc *al = make((struct bfc_options){.limit_bytes = GIB}, device);
    assert_bytes_equal(OFFSET(take(al, 256)), 0);
    uint64_t x = take(al, MIB);
    assert_bytes_equal(OFFSET(x), 0x100);
    assert_bytes_equal(OFFSET(take(al, 256)), 0x100100);
    alloc_free(al, x);
    uint64_t y = take(al, 600 * KIB);
    assert_bytes_equal(OFFSET(y), 0x100);
    assert_bytes_equal(bfc_chunk_bytes(al, y), MIB);
    alloc_free(al, y);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 512 * KIB)), 524288);
    uint64_t w = take(al, 256 * KIB + 1);
    assert_bytes_equal(OFFSET(w), 0x80100);
    assert_bytes_equal(bfc_chunk_bytes(al, w), 524288);
    alloc_destroy(al);
}

TEST(the_smallest_then_lowest_chunk_is_taken) { /* B4 */
    USE_STATE;
    struct alloc *al = make((struct bfc_options){.limit_bytes = GIB}, device);
    uint64_t a = take(al, MIB);
    take(al, 256);
    uint64_t c = take(al, MIB);
    take(al, 256);
    uint64_t e = take(al, 2 * MIB);
    take(al, 256);
    alloc_free(al, a);
    alloc_free(al, c);
    alloc_free(al, e);
    assert_bytes_equal(OFFSET(take(al, MIB - 300)), 0);
    assert_bytes_equal(OFFSET(take(al, MIB)), 0x100100);
    uint64_t last = take(al, MIB + 1);
    assert_bytes_equal(OFFSET(last), 0x200200);
    assert_bytes_equal(bfc_chunk_bytes(al, last), 2 * MIB);
    alloc_destroy(al);
}

TEST(neighbours_merge) { /* B5 */
    USE_STATE;
    struct alloc *al = make((struct bfc_options){.limit_bytes = GIB}, device);
    uint64_t a = take(al, MIB), b = take(al, MIB), c = take(al, MIB);
    take(al, 256);
    alloc_free(al, a);
    alloc_free(al, c);
    alloc_free(al, b);
    uint64_t whole = take(al, 3 * MIB);
    assert_bytes_equal(OFFSET(whole), 0);
    assert_bytes_equal(bfc_chunk_bytes(al, whole), 3 * MIB);
    alloc_destroy(al);
}

TEST(regions_join_where_the_driver_lets_them) { /* B6, B6s */
    USE_STATE;
    for (int joining = 0; joining < 2; joining++) {
        struct bfc_options o = {.growth = true, .limit_bytes = GIB, .joining = joining != 0};
        struct alloc *al = make(o, device);
        uint64_t a = take(al, MIB), b = take(al, 3 * MIB);
        assert_bytes_equal(bfc_chunk_bytes(al, b), joining ? 5242880 : 4 * MIB);
        alloc_free(al, a);
        alloc_free(al, b);
        uint64_t six = take(al, 6 * MIB);
        assert_bytes_equal(bfc_chunk_bytes(al, six), joining ? 6 * MIB : 8 * MIB);
        assert_bytes_equal(pool_of(al), joining ? 6 * MIB : 14 * MIB);
        assert_bytes_equal(bfc_next_region_bytes(al), joining ? 8 * MIB : 16 * MIB);
        alloc_destroy(al);
    }
}

TEST(a_refused_region_is_asked_for_smaller) { /* B7 */
    USE_STATE;
    struct alloc *al =
        make((struct bfc_options){.growth = true, .limit_bytes = 4 * GIB}, 100 * MIB);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 64 * MIB)), 64 * MIB);
    assert_bytes_equal(bfc_next_region_bytes(al), 64 * MIB);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 30 * MIB)), 35664896);
    assert_bytes_equal(pool_of(al), 102773760);
    assert_bytes_equal(bfc_next_region_bytes(al), 128 * MIB);
    take_fails(al, 8 * MIB);
    alloc_destroy(al);
}

TEST(free_regions_are_given_back_with_garbage_collection) { /* B8 */
    USE_STATE;
    for (int gc = 0; gc < 2; gc++) {
        struct bfc_options o = {
            .growth = true, .limit_bytes = 64 * MIB, .garbage_collection = gc != 0};
        struct alloc *al = make(o, device);
        uint64_t a = take(al, 20 * MIB), b = take(al, 20 * MIB);
        assert_bytes_equal(bfc_chunk_bytes(al, a), 32 * MIB);
        alloc_free(al, a);
        alloc_free(al, b);
        if (!gc) {
            take_fails(al, 60 * MIB);
        } else {
            assert_bytes_equal(bfc_chunk_bytes(al, take(al, 60 * MIB)), 64 * MIB);
            assert_bytes_equal(pool_of(al), 64 * MIB);
            assert_bytes_equal(bfc_next_region_bytes(al), 128 * MIB);
        }
        alloc_destroy(al);
    }
}

TEST(the_limit_counts_in_units) { /* B9, B9b */
    USE_STATE;
    struct alloc *al =
        make((struct bfc_options){.growth = true, .limit_bytes = 10 * MIB + 100}, device);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 9 * MIB)), 10485760);
    take_fails(al, MIB);
    alloc_destroy(al);
    al = make((struct bfc_options){.limit_bytes = 10 * MIB + 100}, device);
    uint64_t first = take(al, 1);
    assert_bytes_equal(pool_of(al), 10485760);
    assert_bytes_equal(bfc_chunk_bytes(al, first), 256);
    assert_bytes_equal(OFFSET(take(al, 10 * MIB - 256)), 0x100);
    alloc_destroy(al);
}

TEST(the_split_threshold_can_be_a_part_of_the_limit) { /* B10, B11 */
    USE_STATE;
    struct alloc *al =
        make((struct bfc_options){.limit_bytes = GIB, .fragmentation_fraction = 0.01}, device);
    uint64_t hole = take(al, 100 * MIB);
    take(al, 256);
    alloc_free(al, hole);
    uint64_t a = take(al, 95 * MIB);
    assert_bytes_equal(bfc_chunk_bytes(al, a), 100 * MIB);
    alloc_free(al, a);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 80 * MIB)), 80 * MIB);
    alloc_destroy(al);
    al = make((struct bfc_options){.limit_bytes = GIB}, device);
    hole = take(al, 400 * MIB);
    take(al, 256);
    alloc_free(al, hole);
    a = take(al, 273 * MIB);
    assert_bytes_equal(bfc_chunk_bytes(al, a), 400 * MIB);
    alloc_free(al, a);
    assert_bytes_equal(bfc_chunk_bytes(al, take(al, 272 * MIB)), 272 * MIB);
    alloc_destroy(al);
}

static bool session(void) {
    struct alloc_config config = {.total_bytes = device, .capacity_bytes = device};
    struct error err = {0};
    struct alloc *al = bfc_create(&config, &(struct bfc_options){.growth = true}, &err);
    if (!al)
        return false;
    uint64_t live[40];
    bool ok = true;
    size_t n = 0;
    for (size_t i = 0; ok && i < 40; i++) {
        ok = alloc_take(al, (i * 7919 % 97 + 1) * 10000, 0, &live[n]) == ALLOC_OK;
        n += ok;
        if (ok && i % 3 == 2)
            alloc_free(al, live[--n]);
    }
    alloc_destroy(al);
    return ok;
}

TEST(exhausted_host_memory_is_said_and_leaks_nothing) {
    USE_STATE;
    assert_true(fail_each_allocation(session) > 1);
}

SUITE(cmocka_unit_test(regions_double_as_requests_grow),
      cmocka_unit_test(a_rest_below_half_and_128_MiB_stays),
      cmocka_unit_test(twice_the_size_splits),
      cmocka_unit_test(the_smallest_then_lowest_chunk_is_taken), cmocka_unit_test(neighbours_merge),
      cmocka_unit_test(regions_join_where_the_driver_lets_them),
      cmocka_unit_test(a_refused_region_is_asked_for_smaller),
      cmocka_unit_test(free_regions_are_given_back_with_garbage_collection),
      cmocka_unit_test(the_limit_counts_in_units),
      cmocka_unit_test(the_split_threshold_can_be_a_part_of_the_limit),
      cmocka_unit_test(exhausted_host_memory_is_said_and_leaks_nothing))
