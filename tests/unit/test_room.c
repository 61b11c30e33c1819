/* Which blocks pin which segments, and what must go for a request: hand-made states. */
#include "suite.h"

#include "error.h"
#include "pinning.h"
#include "release.h"
#include "room.h"
#include "tl_build.h"

/* Two plain segments and a small one:
 *
 *   s0 40 MiB   |a 8|  12  |b 4|c 4|  12  |      s1 20 MiB  | free |      s2 2 MiB  |d 512| free | */
static const char plain[] = "segment s0 40MiB\nsegment s1 20MiB\nsegment s2 2MiB small\n"
                            "alloc a 8MiB at=s0+0 large\nalloc b 4MiB at=s0+20MiB large\n"
                            "alloc c 4MiB at=s0+24MiB large\nalloc d 512 at=s2+0\n";

static struct pinning pins_of(const struct timeline *tl, uint32_t event) {
    struct pinning pinning;
    struct error err = {0};
    assert_ok(pinning_find(tl, 0, event, 20 * MIB, &pinning, &err), err);
    assert_true(pinning.is_known);
    return pinning;
}

static uint32_t last_event(const struct timeline *tl) {
    return (uint32_t)tl->events.count - 1;
}

TEST(a_plain_segment_is_pinned_by_all_its_blocks) {
    USE_STATE;
    struct timeline *tl = tl_build(plain);
    struct pinning p = pins_of(tl, last_event(tl));
    assert_int_equal(p.pins.count, 2);
    const struct pin *large = &p.pins.at[0], *small = &p.pins.at[1]; /* most free bytes first */
    assert_bytes_equal(large->free_bytes, 24 * MIB);
    assert_bytes_equal(large->live_bytes, 16 * MIB);
    assert_bytes_equal(large->largest_gap_bytes, 12 * MIB);
    assert_int_equal(large->go_blocks, 3);
    assert_bytes_equal(large->go_bytes, 16 * MIB);
    assert_bytes_equal(large->gain_bytes, 40 * MIB);
    assert_bytes_equal(small->gain_bytes, 2 * MIB);
    assert_ptr_equal(pinning_cheapest(&p), small);
    assert_bytes_equal(p.idle_bytes, 20 * MIB);
    assert_int_equal(p.idle_ranges, 1);
    pinning_fini(&p);
    timeline_destroy(tl);
}

/* A reservation with pages of 20 MiB: | a 30 . | . free | free . b 8 | */
static const char reserved[] = "map s0 60MiB\nalloc a 30MiB at=s0+0 large\n"
                               "alloc b 8MiB at=s0+52MiB large\n";

TEST(a_reservation_is_pinned_page_by_page) {
    USE_STATE;
    struct timeline *tl = tl_build(reserved);
    struct pinning p = pins_of(tl, last_event(tl));
    assert_int_equal(p.pins.count, 1);
    assert_bytes_equal(p.pins.at[0].go_bytes, 8 * MIB); /* b alone frees the last page */
    assert_bytes_equal(p.pins.at[0].gain_bytes, 20 * MIB);
    assert_int_equal(p.pins.at[0].go_first, 1);
    assert_bytes_equal(p.idle_bytes, 0); /* a touches two pages, b the third */
    pinning_fini(&p);
    timeline_destroy(tl);
}

TEST(neighbouring_pages_under_one_block_are_gained_together) {
    USE_STATE;
    struct timeline *tl = tl_build("map s0 80MiB\nalloc a 40MiB at=s0+0 large\n");
    struct pinning p = pins_of(tl, last_event(tl));
    assert_bytes_equal(p.pins.at[0].gain_bytes, 40 * MIB);
    assert_bytes_equal(p.idle_bytes, 40 * MIB);
    assert_int_equal(p.idle_ranges, 0);
    pinning_fini(&p);
    timeline_destroy(tl);
}

TEST(memory_of_a_private_pool_is_never_idle) {
    USE_STATE;
    struct timeline *tl =
        tl_build("segment s0 20MiB\nsegment s1 20MiB\nalloc a 8MiB at=s0+0 large\n");
    tl->segments.at[0].pool_id[1] = tl->segments.at[1].pool_id[1] = 3;
    struct pinning p = pins_of(tl, last_event(tl));
    assert_bytes_equal(p.idle_bytes, 0);
    assert_int_equal(p.pins.at[0].go_blocks, 0);
    assert_null(pinning_cheapest(&p));
    pinning_fini(&p);
    timeline_destroy(tl);
}

/* --- requests --- */

static struct room room_of(const struct timeline *tl, uint64_t bytes,
                           const struct room_options *options) {
    struct pinning p = pins_of(tl, last_event(tl));
    struct room room;
    struct error err = {0};
    assert_ok(room_find(tl, &p, bytes, options, &room, &err), err);
    pinning_fini(&p);
    return room;
}

static struct room_options on_device(uint64_t free_bytes) {
    return (struct room_options){
        .sizes = caching_sizes_default(), .has_device_free = true, .device_free_bytes = free_bytes};
}

TEST(the_largest_requests_are_the_largest_gap_and_what_a_retry_leaves) {
    USE_STATE;
    struct timeline *tl = tl_build(plain);
    struct room_options options = on_device(7 * MIB);
    struct room room = room_of(tl, 0, &options);
    assert_bytes_equal(room.cached_bytes, 20 * MIB);
    assert_bytes_equal(room.cached_small_bytes, MIB); /* of 2 MiB - 512 free */
    assert_bytes_equal(room.new_bytes, 26 * MIB);     /* 7 + 20 idle, in steps of 2 */
    room_fini(&room);
    options.stream = 1; /* another stream's blocks serve nobody else */
    timeline_stream(tl, 7, &options.stream);
    room = room_of(tl, 0, &options);
    assert_bytes_equal(room.cached_bytes, 0);
    room_fini(&room);
    timeline_destroy(tl);
}

TEST(the_cheapest_neighbours_make_a_hole) {
    USE_STATE;
    struct timeline *tl = tl_build(plain);
    struct room_options options = {.sizes = caching_sizes_default()};
    struct room room = room_of(tl, 24 * MIB, &options); /* 12 + b + c + 12 = 32 */
    assert_true(room.in_place.is_possible);
    assert_false(room.by_driver.is_possible);
    assert_int_equal(room.in_place.blocks.count, 2);
    assert_bytes_equal(room.in_place.bytes, 8 * MIB);
    assert_int_equal(room.in_place.blocks.at[0], 1);
    room_fini(&room);
    room = room_of(tl, 20 * MIB, &options); /* s1 is free */
    assert_true(room.in_place.is_possible);
    assert_int_equal(room.in_place.blocks.count, 0);
    room_fini(&room);
    room = room_of(tl, 41 * MIB, &options);
    assert_null(room_best(&room));
    room_fini(&room);
    timeline_destroy(tl);
}

TEST(an_oversize_block_serves_only_requests_of_nearly_its_size) {
    USE_STATE;
    struct timeline *tl = tl_build("segment s0 100MiB\nalloc a 512 at=s0+0 large block=100MiB\n");
    struct room_options options = {.sizes = caching_sizes_default()};
    options.sizes.max_split_bytes = 40 * MIB;
    struct room room = room_of(tl, 90 * MIB, &options);
    assert_true(room.in_place.is_possible);
    room_fini(&room);
    room = room_of(tl, 80 * MIB, &options);
    assert_false(room.in_place.is_possible);
    room_fini(&room);
    timeline_destroy(tl);
}

/* s0 30 MiB with 20 live, s1 20 MiB with 4, s2 20 MiB with 5: 30 MiB more are wanted. */
TEST(the_cheapest_segments_come_free_for_new_memory) {
    USE_STATE;
    struct timeline *tl = tl_build("segment s0 30MiB\nsegment s1 20MiB\nsegment s2 20MiB\n"
                                   "alloc a 20MiB at=s0+0 large\nalloc b 4MiB at=s1+0 large\n"
                                   "alloc c 5MiB at=s2+0 large\n");
    struct room_options options = on_device(0);
    struct room room = room_of(tl, 30 * MIB, &options);
    assert_true(room.by_driver.is_possible && room.by_driver.is_exact);
    assert_int_equal(room.by_driver.blocks.count, 2);
    assert_bytes_equal(room.by_driver.bytes, 9 * MIB); /* b and c, not a */
    assert_ptr_equal(room_best(&room), &room.by_driver);
    room_fini(&room);
    options = on_device(10 * MIB);
    room = room_of(tl, 30 * MIB, &options);
    assert_bytes_equal(room.by_driver.bytes, 4 * MIB);
    room_fini(&room);
    room = room_of(tl, 100 * MIB, &options); /* more than the device has */
    assert_null(room_best(&room));
    room_fini(&room);
    timeline_destroy(tl);
}

TEST(pages_come_free_for_a_reservation_that_grows) {
    USE_STATE;
    struct timeline *tl = tl_build(reserved);
    struct room_options options = on_device(20 * MIB);
    options.sizes.expandable = true;
    struct room room = room_of(tl, 40 * MIB, &options); /* one page is missing: b's */
    assert_int_equal(room.by_driver.blocks.count, 1);
    assert_bytes_equal(room.by_driver.bytes, 8 * MIB);
    room_fini(&room);
    room = room_of(tl, 80 * MIB, &options); /* three more: a's two under one block, and b's */
    assert_int_equal(room.by_driver.blocks.count, 2);
    assert_bytes_equal(room.by_driver.bytes, 38 * MIB);
    room_fini(&room);
    timeline_destroy(tl);
}

/* --- the choice --- */

static uint64_t cost_of(const struct release_item *items, size_t count, const bool *chosen) {
    uint64_t cost = 0;
    for (size_t i = 0; i < count; i++)
        if (chosen[i])
            cost += i > 0 && chosen[i - 1] ? items[i].cost_after : items[i].cost;
    return cost;
}

TEST(the_choice_is_that_of_all_subsets) {
    USE_STATE;
    enum { ITEMS = 10 };
    uint32_t seed = 5;
    for (int run = 0; run < 200; run++) {
        struct release_item items[ITEMS];
        bool chosen[ITEMS], possible, exact;
        struct error err = {0};
        uint64_t need = 1 + (uint64_t)run % 23, best = UINT64_MAX;
        for (size_t i = 0; i < ITEMS; i++) {
            seed = seed * 1664525u + 1013904223u;
            items[i].cost = seed >> 24;
            items[i].cost_after = seed >> 20 & 1 ? items[i].cost : items[i].cost / 3;
            items[i].units = seed >> 10 & 3;
        }
        for (uint32_t mask = 0; mask < 1u << ITEMS; mask++) {
            bool some[ITEMS];
            uint64_t units = 0;
            for (size_t i = 0; i < ITEMS; i++) {
                some[i] = mask >> i & 1;
                units += some[i] ? items[i].units : 0;
            }
            uint64_t cost = cost_of(items, ITEMS, some);
            best = units >= need && cost < best ? cost : best;
        }
        assert_ok(release_choose(items, ITEMS, need, chosen, &possible, &exact, &err), err);
        assert_true(exact);
        assert_int_equal(possible, best != UINT64_MAX);
        if (possible)
            assert_bytes_equal(cost_of(items, ITEMS, chosen), best);
    }
}

TEST(a_choice_too_large_to_be_exact_is_still_enough) {
    USE_STATE;
    enum { ITEMS = 5000 };
    static struct release_item items[ITEMS];
    static bool chosen[ITEMS];
    bool possible, exact;
    struct error err = {0};
    uint64_t got = 0;
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = (struct release_item){1000 + i % 7, 1000 + i % 7, 10};
    assert_ok(release_choose(items, ITEMS, 40001, chosen, &possible, &exact, &err), err);
    assert_true(possible);
    assert_false(exact);
    for (size_t i = 0; i < ITEMS; i++)
        got += chosen[i] ? items[i].units : 0;
    assert_bytes_equal(got, 40010);
}

SUITE(cmocka_unit_test(a_plain_segment_is_pinned_by_all_its_blocks),
      cmocka_unit_test(a_reservation_is_pinned_page_by_page),
      cmocka_unit_test(neighbouring_pages_under_one_block_are_gained_together),
      cmocka_unit_test(memory_of_a_private_pool_is_never_idle),
      cmocka_unit_test(the_largest_requests_are_the_largest_gap_and_what_a_retry_leaves),
      cmocka_unit_test(the_cheapest_neighbours_make_a_hole),
      cmocka_unit_test(an_oversize_block_serves_only_requests_of_nearly_its_size),
      cmocka_unit_test(the_cheapest_segments_come_free_for_new_memory),
      cmocka_unit_test(pages_come_free_for_a_reservation_that_grows),
      cmocka_unit_test(the_choice_is_that_of_all_subsets),
      cmocka_unit_test(a_choice_too_large_to_be_exact_is_still_enough))
