/* test_alloc_cases.c: requests that users reported, with the figures that PyTorch 2.15 gives for them. */
#include "alloc_fixture.h"

/* Issue 123548, figures of pull request 193400 and of runs of 2.15.0: free blocks of at least max_split_size are not used for
 * smaller requests though they lie in an expandable segment, so every cycle maps new memory. 64 MiB live before; a cycle takes 91
 * and 45.5 MiB, keeps 2 MiB, and frees the two large ones. */
struct growth {
    unsigned cycle;
    uint64_t allocated_mib, reserved_mib;
};

static void check_growth(const char *settings, const struct growth rows[6]) {
    struct fixture f = fixture_start_on(NULL, settings, 16 * GIB, 16 * GIB);
    size_t row = 0;
    fixture_take(&f, 64 * MIB);
    for (unsigned cycle = 0; cycle <= 100; cycle++) {
        uint64_t a = fixture_take(&f, 91 * MIB), b = fixture_take(&f, 91 * MIB / 2);
        fixture_take(&f, 2 * MIB);
        fixture_free(&f, a);
        fixture_free(&f, b);
        if (cycle != rows[row].cycle)
            continue;
        assert_bytes_equal(f.stats->allocated_bytes[0].current, rows[row].allocated_mib * MIB);
        assert_bytes_equal(f.stats->reserved_bytes[0].current, rows[row].reserved_mib * MIB);
        row++;
    }
    assert_int_equal(row, 6);
    fixture_end(&f);
}

TEST(reserved_grows_where_oversize_blocks_meet_expandable_segments) {
    USE_STATE;
    static const struct growth rows[] = {{0, 66, 220},    {20, 106, 2980},  {40, 146, 5760},
                                         {60, 186, 8520}, {80, 226, 11300}, {100, 266, 14060}};
    check_growth("max_split_size_mb:128,expandable_segments:True", rows);
}

TEST(reserved_stays_with_either_setting_alone) {
    USE_STATE;
    static const struct growth expandable[] = {{0, 66, 220},   {20, 106, 260}, {40, 146, 300},
                                               {60, 186, 340}, {80, 226, 380}, {100, 266, 420}};
    static const struct growth split[] = {{0, 66, 222},   {20, 106, 262}, {40, 146, 302},
                                          {60, 186, 342}, {80, 226, 382}, {100, 266, 422}};
    check_growth("expandable_segments:True", expandable);
    check_growth("max_split_size_mb:128", split);
}

SUITE(cmocka_unit_test(reserved_grows_where_oversize_blocks_meet_expandable_segments),
      cmocka_unit_test(reserved_stays_with_either_setting_alone))
