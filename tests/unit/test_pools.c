/* Placement, fragmentation, and the figures of memory_summary(). */
#include "suite.h"

#include "address_map.h"
#include "failing_alloc.h"
#include "fragmentation.h"
#include "placement.h"
#include "pools.h"
#include "tl_build.h"
#include "tl_random.h"

static struct fragmentation fragmentation(const struct timeline *tl, uint32_t event) {
    struct fragmentation f;
    struct error err = {0};
    assert_ok(fragmentation_find(tl, 0, event, &f, &err), err);
    return f;
}

static struct pools pools(const struct timeline *tl, uint32_t end, uint64_t max_split) {
    struct pools p;
    struct error err = {0};
    assert_ok(pools_find(tl, 0, end, max_split, &p, &err), err);
    return p;
}

static const char split_and_merge[] = "segment s 2MiB small\n"  /* 0: whole */
                                      "alloc a 512 at=s+0\n"    /* 1: a | rest */
                                      "alloc b 1024 at=s+512\n" /* 2: a b | rest */
                                      "free a\n"                /* 3 4: 512 | b | rest */
                                      "free b\n"                /* 5 6: whole */
                                      "segment t 20MiB\n"       /* 7 */
                                      "alloc c 20MiB at=t+0\n"; /* 8: unsplit */

TEST(inactive_split_counts_free_blocks_of_cut_segments) {
    USE_STATE;
    struct timeline *tl = tl_build(split_and_merge);
    struct fragmentation f = fragmentation(tl, 0);
    assert_true(f.is_known);
    assert_bytes_equal(f.all.inactive_split_bytes, 0); /* a whole free segment can be given back */
    assert_bytes_equal(f.all.largest_free_bytes, 2 * MIB);
    f = fragmentation(tl, 2);
    assert_bytes_equal(f.small.inactive_split_bytes, 2 * MIB - 1536);
    assert_bytes_equal(f.small.inactive_split_blocks, 1);
    f = fragmentation(tl, 4);
    assert_bytes_equal(f.small.inactive_split_bytes, 2 * MIB - 1024);
    assert_bytes_equal(f.small.inactive_split_blocks, 2);
    assert_bytes_equal(f.small.largest_free_bytes, 2 * MIB - 1536);
    f = fragmentation(tl, 8);
    assert_bytes_equal(f.all.inactive_split_bytes, 0);
    assert_bytes_equal(f.all.free_bytes, 2 * MIB);
    assert_bytes_equal(f.large.allocated_bytes, 20 * MIB);
    assert_bytes_equal(f.large.reserved_bytes, 20 * MIB);
    timeline_destroy(tl);
}

TEST(pool_figures_book_splits_and_merges_as_pytorch_does) {
    USE_STATE;
    struct timeline *tl = tl_build(split_and_merge);
    struct pools p = pools(tl, 9, UINT64_MAX);
    assert_true(p.has_inactive_split);
    const struct pool_stat *s = &p.stat[POOL_INACTIVE_SPLIT_BYTES][POOL_SMALL];
    uint64_t rest = 2 * MIB - 512;
    assert_bytes_equal(s->current, 0);
    assert_bytes_equal(s->peak, rest);
    assert_bytes_equal(s->allocated, rest + 512); /* the first cut, then a */
    assert_bytes_equal(s->freed,
                       1024 + rest -
                           512); /* shrunk by b, then merged to a whole: net -512 - rest + 1024 */
    s = p.stat[POOL_INACTIVE_SPLIT];
    assert_bytes_equal(s[POOL_ALL].peak, 2);
    assert_bytes_equal(s[POOL_ALL].freed, 2);
    assert_bytes_equal(p.stat[POOL_ALLOCATED_BYTES][POOL_ALL].peak, 20 * MIB);
    assert_bytes_equal(p.stat[POOL_ALLOCATED_BYTES][POOL_SMALL].peak, 1536);
    assert_bytes_equal(p.stat[POOL_ALLOCATED_BYTES][POOL_SMALL].allocated, 1536);
    assert_bytes_equal(p.stat[POOL_ALLOCATED_BYTES][POOL_SMALL].freed, 1536);
    assert_bytes_equal(p.stat[POOL_ALLOCATION][POOL_LARGE].current, 1);
    assert_bytes_equal(p.stat[POOL_SEGMENT][POOL_ALL].current, 2);
    assert_bytes_equal(p.oversize_allocations.allocated, 0);
    p = pools(tl, 9, 20 * MIB);
    assert_bytes_equal(p.oversize_allocations.current, 1);
    assert_bytes_equal(p.oversize_segments.current, 1);
    p = pools(tl, 5, UINT64_MAX); /* after event 4 */
    assert_bytes_equal(p.stat[POOL_INACTIVE_SPLIT_BYTES][POOL_ALL].current, 2 * MIB - 1024);
    timeline_destroy(tl);
}

TEST(pending_blocks_are_active_and_neither_free_nor_allocated) {
    USE_STATE;
    struct timeline *tl = tl_build("segment s 2MiB small\nalloc a 2MiB at=s+0\nrequest a\n");
    struct fragmentation f = fragmentation(tl, 2);
    assert_bytes_equal(f.all.allocated_bytes, 0);
    assert_bytes_equal(f.all.active_bytes, 2 * MIB);
    assert_bytes_equal(f.all.free_bytes, 0);
    struct pools p = pools(tl, 3, UINT64_MAX);
    assert_bytes_equal(p.stat[POOL_ALLOCATION][POOL_ALL].current, 0);
    assert_bytes_equal(p.stat[POOL_ACTIVE][POOL_ALL].current, 1);
    timeline_destroy(tl);
}

TEST(expandable_segments_have_no_inactive_split) {
    USE_STATE;
    struct timeline *tl =
        tl_build("map e 20MiB\nmap e 20MiB\nalloc a 5MiB at=e+0\nalloc b 5MiB at=e+5MiB\nfree a\n"
                 "unmap e 20MiB+20MiB\n");
    struct fragmentation f = fragmentation(tl, 5);
    assert_bytes_equal(f.all.reserved_bytes, 40 * MIB);
    assert_bytes_equal(f.all.inactive_split_bytes, 0);
    assert_bytes_equal(f.all.largest_free_bytes, 30 * MIB); /* one run over both mapped ranges */
    f = fragmentation(tl, 6);
    assert_bytes_equal(f.all.largest_free_bytes, 10 * MIB);
    assert_bytes_equal(f.all.free_blocks, 2);
    struct pools p = pools(tl, 7, UINT64_MAX);
    assert_bytes_equal(p.stat[POOL_RESERVED_BYTES][POOL_LARGE].current, 20 * MIB);
    assert_bytes_equal(p.stat[POOL_SEGMENT][POOL_ALL].allocated, 0);
    assert_bytes_equal(p.stat[POOL_INACTIVE_SPLIT][POOL_ALL].allocated, 0);
    timeline_destroy(tl);
}

TEST(unmapping_the_middle_leaves_two_ranges) {
    USE_STATE;
    struct timeline *tl = tl_build("map e 60MiB\nunmap e 20MiB+20MiB\nmap e 20MiB+20MiB\n");
    struct placement at;
    struct error err = {0};
    assert_ok(placement_find(tl, 0, 1, &at, &err), err);
    assert_bytes_equal(at.ranges.count, 2);
    assert_bytes_equal(at.ranges.at[1].address - at.ranges.at[0].address, 40 * MIB);
    placement_fini(&at);
    assert_ok(placement_find(tl, 0, 2, &at, &err), err);
    assert_bytes_equal(at.ranges.count, 1);
    assert_bytes_equal(at.ranges.at[0].bytes, 60 * MIB);
    placement_fini(&at);
    timeline_destroy(tl);
}

TEST(memory_from_before_the_first_event_is_placed_too) {
    USE_STATE;
    struct timeline *tl =
        tl_build("start segment s 2MiB small\nstart block a 512 at=s+512\nfree a\n"
                 "free_segment s\n");
    struct fragmentation f = fragmentation(tl, TIMELINE_NONE);
    assert_bytes_equal(f.all.inactive_split_blocks, 2);
    struct pools p = pools(tl, 0, UINT64_MAX);
    assert_bytes_equal(p.stat[POOL_INACTIVE_SPLIT_BYTES][POOL_ALL].current, 2 * MIB - 512);
    p = pools(tl, 3, UINT64_MAX);
    assert_true(p.has_inactive_split);
    assert_bytes_equal(p.stat[POOL_INACTIVE_SPLIT_BYTES][POOL_ALL].current, 0);
    assert_bytes_equal(p.stat[POOL_RESERVED_BYTES][POOL_ALL].freed, 2 * MIB);
    timeline_destroy(tl);
}

TEST(what_the_source_does_not_know_is_not_made_up) {
    USE_STATE;
    struct timeline *tl = tl_build("alloc a 512\nfree a\n");
    assert_false(fragmentation(tl, 0).is_known);
    assert_false(pools(tl, 3, UINT64_MAX).has_inactive_split);
    timeline_destroy(tl);
    tl = tl_build("segment s 2MiB small\nalloc a 512 at=s+1024\n"); /* not the low part */
    assert_false(pools(tl, 2, UINT64_MAX).has_inactive_split);
    timeline_destroy(tl);
}

TEST(incremental_figures_are_those_of_the_addresses_at_every_event) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct timeline *tl = tl_random(seed, 250);
        uint64_t peak = 0;
        for (uint32_t e = 0; e < tl->events.count; e++) {
            struct fragmentation f = fragmentation(tl, e);
            struct pools p = pools(tl, e + 1, UINT64_MAX);
            assert_true(p.has_inactive_split);
            const struct fragmentation_pool *const by[] = {&f.all, &f.large, &f.small};
            for (size_t c = 0; c < POOL_CLASS_COUNT; c++) {
                const struct pool_stat *bytes = &p.stat[POOL_INACTIVE_SPLIT_BYTES][c];
                assert_bytes_equal(bytes->current, by[c]->inactive_split_bytes);
                assert_bytes_equal(bytes->allocated - bytes->freed, bytes->current);
                assert_bytes_equal(p.stat[POOL_INACTIVE_SPLIT][c].current,
                                   by[c]->inactive_split_blocks);
                assert_bytes_equal(p.stat[POOL_ALLOCATED_BYTES][c].current, by[c]->allocated_bytes);
                assert_bytes_equal(p.stat[POOL_ACTIVE_BYTES][c].current, by[c]->active_bytes);
                assert_bytes_equal(p.stat[POOL_RESERVED_BYTES][c].current, by[c]->reserved_bytes);
            }
            peak = f.all.inactive_split_bytes > peak ? f.all.inactive_split_bytes : peak;
            assert_bytes_equal(p.stat[POOL_INACTIVE_SPLIT_BYTES][POOL_ALL].peak, peak);
            assert_bytes_equal(f.all.free_bytes + f.all.active_bytes, f.all.reserved_bytes);
        }
        timeline_destroy(tl);
    }
}

TEST(address_map_finds_what_was_put_and_not_removed) {
    USE_STATE;
    enum { KEYS = 97 };
    struct address_map map = {0};
    uint32_t naive[KEYS];
    memset(naive, 0xff, sizeof naive);
    struct tl_random r = {.state = 5};
    for (int i = 0; i < 20000; i++) {
        uint32_t key = tl_random_next(&r, KEYS), value = tl_random_next(&r, 1000);
        if (value < 500) {
            assert_true(address_map_put(&map, key * UINT64_C(512), value));
            naive[key] = value;
        } else {
            address_map_remove(&map, key * UINT64_C(512));
            naive[key] = ADDRESS_MAP_NONE;
        }
        key = tl_random_next(&r, KEYS);
        assert_int_equal(address_map_get(&map, key * UINT64_C(512)), naive[key]);
    }
    address_map_fini(&map);
    assert_int_equal(address_map_get(&map, 1), ADDRESS_MAP_NONE);
}

TEST(exhausted_host_memory_is_an_error) {
    USE_STATE;
    struct timeline *tl = tl_random(3, 200);
    struct failing_alloc f = {0};
    bool done = false;
    for (f.fail_at = 1; !done; f.fail_at++) {
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        struct pools p;
        struct fragmentation frag;
        struct error err = {0};
        done = pools_find(tl, 0, UINT32_MAX, UINT64_MAX, &p, &err) &&
               fragmentation_find(tl, 0, 50, &frag, &err);
        xalloc_set_hook(NULL, NULL);
        assert_true(done || err.code == ERROR_HOST_MEMORY);
        assert_int_equal(f.live, 0);
    }
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(inactive_split_counts_free_blocks_of_cut_segments),
      cmocka_unit_test(pool_figures_book_splits_and_merges_as_pytorch_does),
      cmocka_unit_test(pending_blocks_are_active_and_neither_free_nor_allocated),
      cmocka_unit_test(expandable_segments_have_no_inactive_split),
      cmocka_unit_test(unmapping_the_middle_leaves_two_ranges),
      cmocka_unit_test(memory_from_before_the_first_event_is_placed_too),
      cmocka_unit_test(what_the_source_does_not_know_is_not_made_up),
      cmocka_unit_test(incremental_figures_are_those_of_the_addresses_at_every_event),
      cmocka_unit_test(address_map_finds_what_was_put_and_not_removed),
      cmocka_unit_test(exhausted_host_memory_is_an_error))
