/* The sizes of blocks and segments: vectors of docs/allocators.md's measurements. */
#include "suite.h"

#include "caching_sizes.h"
#include "units.h"

static uint64_t round_with(uint32_t divisions, uint64_t bytes) {
    struct caching_sizes sizes = caching_sizes_default();
    for (unsigned i = 0; i < CACHING_DIVISION_SLOTS; i++)
        sizes.divisions[i] = divisions;
    return caching_sizes_round(sizes.divisions, bytes);
}

TEST(requests_are_rounded_to_512_or_to_a_part_of_their_power_of_two) {
    USE_STATE;
    assert_bytes_equal(round_with(0, 1), 512);
    assert_bytes_equal(round_with(0, 513), 1024);
    assert_bytes_equal(round_with(1, MIB + 1), MIB + 512);
    assert_bytes_equal(round_with(4, 1200), 1536);
    assert_bytes_equal(round_with(4, 2048), 2048);
    assert_bytes_equal(round_with(4, 2049), 2560);
    assert_bytes_equal(round_with(4, 10241), 12288);
    assert_bytes_equal(round_with(4, 84 * MIB), 96 * MIB);
    assert_bytes_equal(round_with(1u << 31, 3 * GIB), 3 * GIB);
    assert_bytes_equal(round_with(8, UINT64_MAX), UINT64_C(1) << 62);
}

TEST(divisions_are_those_of_the_octave) {
    USE_STATE;
    struct caching_sizes sizes = caching_sizes_default();
    sizes.divisions[6] = 8; /* 64 to 128 MiB */
    sizes.divisions[8] = 2; /* 256 to 512 MiB */
    assert_bytes_equal(caching_sizes_round(sizes.divisions, 84 * MIB), 88 * MIB);
    assert_bytes_equal(caching_sizes_round(sizes.divisions, 400 * MIB), 512 * MIB);
    assert_bytes_equal(caching_sizes_round(sizes.divisions, 150 * MIB + 1), 150 * MIB + 512);
}

TEST(segments_are_small_fixed_or_their_own) {
    USE_STATE;
    const uint64_t large = CACHING_LARGE_SEGMENT_BYTES;
    assert_bytes_equal(caching_sizes_segment(large, MIB), 2 * MIB);
    assert_bytes_equal(caching_sizes_segment(large, MIB + 512), 20 * MIB);
    assert_bytes_equal(caching_sizes_segment(12 * MIB, 10 * MIB - 512), 12 * MIB);
    assert_bytes_equal(caching_sizes_segment(large, 10 * MIB), 10 * MIB);
    assert_bytes_equal(caching_sizes_segment(large, 10 * MIB + 512), 12 * MIB);
}

TEST(a_rest_is_split_off_when_it_is_large_enough) {
    USE_STATE;
    assert_false(caching_sizes_split(19 * MIB, MIB, false, false, UINT64_MAX));
    assert_true(caching_sizes_split(19 * MIB - 512, MIB + 512, false, false, UINT64_MAX));
    assert_true(caching_sizes_split(512, 512, true, false, UINT64_MAX));
    assert_true(caching_sizes_split(19 * MIB, 512, false, true, 20 * MIB));
    assert_false(caching_sizes_split(40 * MIB, 20 * MIB, false, false, 40 * MIB));
}

TEST(oversize_blocks_serve_oversize_requests_of_nearly_their_size) {
    USE_STATE;
    struct caching_sizes sizes = caching_sizes_default();
    assert_true(caching_sizes_serve(&sizes, 512, 100 * MIB));
    assert_false(caching_sizes_serve(&sizes, 101 * MIB, 100 * MIB));
    sizes.max_split_bytes = 40 * MIB;
    assert_false(caching_sizes_serve(&sizes, 30 * MIB, 100 * MIB));
    assert_true(caching_sizes_serve(&sizes, 90 * MIB, 100 * MIB));
    assert_false(caching_sizes_serve(&sizes, 80 * MIB, 100 * MIB)); /* equality is refused too */
    assert_true(caching_sizes_serve(&sizes, 80 * MIB + 512, 100 * MIB));
    assert_false(caching_sizes_serve(&sizes, 39 * MIB + 512, 40 * MIB)); /* its own segment */
}

SUITE(cmocka_unit_test(requests_are_rounded_to_512_or_to_a_part_of_their_power_of_two),
      cmocka_unit_test(divisions_are_those_of_the_octave),
      cmocka_unit_test(segments_are_small_fixed_or_their_own),
      cmocka_unit_test(a_rest_is_split_off_when_it_is_large_enough),
      cmocka_unit_test(oversize_blocks_serve_oversize_requests_of_nearly_their_size))
