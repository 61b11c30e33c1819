/* test_room_prop.c: when the allocator's model is out of memory, the largest request that room.h names is served, what it says
 * must go is enough, and nothing cheaper is: the run is replayed with these blocks freed first, and with every cheaper set of them.
 *
 * usage: test_room_prop [RUNS [SEED]] */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "alloc_settings.h"
#include "pinning.h"
#include "replay.h"
#include "room.h"
#include "timeline.h"
#include "units.h"

static unsigned runs = 150;
static uint32_t first_seed = 1;

enum { BLOCKS_AT_MOST = 60, SUBSET_BLOCKS = 11 };

struct log {
    uint32_t seed;
    uint64_t capacity, bytes[BLOCKS_AT_MOST];
    struct alloc_settings settings;
    /* > 0: the request of block N - 1; < 0: its free */
    int steps[3 * BLOCKS_AT_MOST];
    size_t step_count, blocks;
};

static uint32_t next_random(struct log *l, uint32_t below) {
    l->seed = l->seed * 1664525u + 1013904223u;
    return (l->seed >> 8) % below;
}

static void make_log(struct log *l, uint32_t seed, uint32_t blocks, const char *settings) {
    static const uint64_t sizes[] = {MIB / 2,  MIB,      MIB + 512, 3 * MIB,  9 * MIB,
                                     10 * MIB, 17 * MIB, 20 * MIB,  33 * MIB, 52 * MIB};
    struct error err = {0};
    bool live[BLOCKS_AT_MOST] = {false};
    memset(l, 0, sizeof *l);
    l->seed = seed;
    l->capacity = (40 + 20 * next_random(l, 8)) * MIB;
    assert_ok(alloc_settings_parse(settings, NULL, &l->settings, &err), err);
    while (l->blocks < blocks) {
        uint32_t at = l->blocks ? next_random(l, (uint32_t)l->blocks) : 0;
        if (l->blocks && live[at] && next_random(l, 3) == 0) {
            live[at] = false;
            l->steps[l->step_count++] = -(int)at - 1;
            continue;
        }
        l->bytes[l->blocks] = sizes[next_random(l, sizeof sizes / sizeof *sizes)];
        live[l->blocks] = true;
        l->steps[l->step_count++] = (int)++l->blocks;
    }
}

static void add_event(struct timeline *tl, enum event_kind kind, uint32_t block) {
    struct timeline_event e = {
        .kind = (uint8_t)kind, .ref = block, .bytes = tl->blocks.at[block].requested_bytes};
    uint32_t at = timeline_add_event(tl, &e);
    if (kind == EVENT_ALLOC)
        tl->blocks.at[block].alloc_event = at;
    else if (kind == EVENT_FREE_REQUESTED)
        tl->blocks.at[block].free_event = at;
    else
        tl->blocks.at[block].complete_event = at;
}

static void add_step(struct timeline *tl, const struct log *l, int step) {
    if (step > 0) {
        const struct timeline_block b = {.requested_bytes = l->bytes[step - 1],
                                         .alloc_event = TIMELINE_NONE,
                                         .free_event = TIMELINE_NONE,
                                         .complete_event = TIMELINE_NONE,
                                         .segment = TIMELINE_NONE,
                                         .phase = TIMELINE_NONE};
        assert_int_equal(timeline_add_block(tl, &b), step - 1);
        add_event(tl, EVENT_ALLOC, (uint32_t)step - 1);
    } else {
        add_event(tl, EVENT_FREE_REQUESTED, (uint32_t)-step - 1);
        add_event(tl, EVENT_FREE_COMPLETED, (uint32_t)-step - 1);
    }
}

/* The first `count` steps, the frees of `gone`, and the step after. */
static void replay_log(const struct log *l, size_t count, const uint32_t *gone, size_t gone_count,
                       struct replay_result *out) {
    struct timeline *tl = timeline_create();
    struct error err = {0};
    const struct replay_config config = {
        .settings = &l->settings, .total_bytes = l->capacity, .capacity_bytes = l->capacity};
    tl->has = TIMELINE_HAS_REQUESTED | TIMELINE_HAS_HISTORY;
    for (size_t i = 0; i < count; i++)
        add_step(tl, l, l->steps[i]);
    for (size_t i = 0; i < gone_count; i++)
        add_step(tl, l, -(int)gone[i] - 1);
    if (count < l->step_count)
        add_step(tl, l, l->steps[count]);
    assert_ok(replay_run(tl, &config, out, &err), err);
    timeline_destroy(tl);
}

static bool runs_through(const struct log *l, size_t count, const uint32_t *gone,
                         size_t gone_count) {
    struct replay_result result;
    replay_log(l, count, gone, gone_count, &result);
    bool fits = result.devices.at[0].stopped_at == TIMELINE_NONE;
    replay_result_fini(&result);
    return fits;
}

/* How many steps work; the count: all. *tl is the timeline up to and with the out-of-memory. */
static size_t find_failure(const struct log *l, struct timeline **tl) {
    struct replay_result result;
    replay_log(l, l->step_count, NULL, 0, &result);
    size_t at = l->step_count;
    if (result.devices.at[0].stopped_at != TIMELINE_NONE) {
        at = 0;
        for (size_t served = result.timeline->blocks.count; at < l->step_count; at++)
            if (l->steps[at] > (int)served)
                break;
    }
    *tl = result.timeline;
    result.timeline = NULL;
    replay_result_fini(&result);
    return at;
}

static void find_room(const struct log *l, const struct timeline *tl, uint64_t bytes,
                      struct pinning *pinning, struct room *room) {
    struct error err = {0};
    uint32_t event = (uint32_t)tl->events.count - 1;
    struct room_options options = {.sizes = caching_sizes_default(), .has_device_free = true};
    options.sizes.max_split_bytes = l->settings.max_split_bytes;
    options.sizes.expandable = l->settings.expandable_segments;
    assert_ok(pinning_find(tl, 0, event, options.sizes.large_segment_bytes, pinning, &err), err);
    uint64_t reserved = 0;
    for (size_t i = 0; i < pinning->placement.ranges.count; i++)
        reserved += pinning->placement.ranges.at[i].bytes;
    options.device_free_bytes = l->capacity - reserved;
    assert_ok(room_find(tl, pinning, bytes, &options, room, &err), err);
}

/* No set of live blocks with fewer bytes makes the request succeed. */
static void check_cheapest(const struct log *l, const struct timeline *tl, size_t at,
                           const struct pinning *pinning, uint64_t bytes) {
    const uint32_t *live = pinning->placement.blocks.at;
    size_t count = pinning->placement.blocks.count;
    for (uint32_t mask = 0; mask < 1u << count; mask++) {
        uint32_t gone[SUBSET_BLOCKS];
        size_t used = 0;
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            if (mask >> i & 1) {
                gone[used++] = live[i];
                sum += tl->blocks.at[live[i]].block_bytes;
            }
        if (sum < bytes && runs_through(l, at, gone, used))
            fail_msg("%llu bytes are enough, %llu were named", (unsigned long long)sum,
                     (unsigned long long)bytes);
    }
}

static bool serves(struct log *l, size_t at, uint64_t bytes) {
    uint64_t kept = l->bytes[l->steps[at] - 1];
    l->bytes[l->steps[at] - 1] = bytes;
    bool fits = runs_through(l, at, NULL, 0);
    l->bytes[l->steps[at] - 1] = kept;
    return fits;
}

/* The largest request is served; in plain segments a larger one is not. */
static void check_largest(struct log *l, size_t at, const struct room *room) {
    uint64_t largest = room->cached_small_bytes;
    largest = room->cached_bytes > largest ? room->cached_bytes : largest;
    largest = room->new_bytes > largest ? room->new_bytes : largest;
    if (largest > 0)
        assert_true(serves(l, at, largest));
    if (!l->settings.expandable_segments)
        assert_false(serves(l, at, largest + 1));
}

static void check_run(uint32_t seed, uint32_t blocks, const char *settings, bool cheapest,
                      unsigned *failures) {
    struct log l;
    struct timeline *tl;
    make_log(&l, seed, blocks, settings);
    size_t at = find_failure(&l, &tl);
    if (at < l.step_count) {
        struct pinning pinning;
        struct room room;
        find_room(&l, tl, l.bytes[l.steps[at] - 1], &pinning, &room);
        const struct room_way *way = room_best(&room);
        ++*failures;
        check_largest(&l, at, &room);
        if (way) {
            assert_true(way->blocks.count > 0);
            if (!runs_through(&l, at, way->blocks.at, way->blocks.count))
                fail_msg("seed %u, %s: what is named is not enough", seed, settings);
            if (cheapest && pinning.placement.blocks.count <= SUBSET_BLOCKS)
                check_cheapest(&l, tl, at, &pinning, way->bytes);
        } else {
            uint32_t *all = pinning.placement.blocks.at;
            assert_false(runs_through(&l, at, all, pinning.placement.blocks.count));
        }
        room_fini(&room);
        pinning_fini(&pinning);
    }
    timeline_destroy(tl);
}

static void check_runs(const char *settings, bool cheapest) {
    unsigned failures = 0;
    for (unsigned i = 0; i < runs; i++) {
        check_run(first_seed + i, 14, settings, cheapest, &failures);
        check_run(first_seed + i, BLOCKS_AT_MOST, settings, false, &failures);
    }
    assert_true(failures > runs / 2);
}

TEST(what_must_go_is_enough_and_the_cheapest_in_plain_segments) {
    USE_STATE;
    check_runs("", true);
}

TEST(what_must_go_is_enough_and_the_cheapest_with_max_split) {
    USE_STATE;
    check_runs("max_split_size_mb:20", true);
}

TEST(what_must_go_is_enough_in_reservations) {
    USE_STATE;
    check_runs("expandable_segments:True", false);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_must_go_is_enough_and_the_cheapest_in_plain_segments),
        cmocka_unit_test(what_must_go_is_enough_and_the_cheapest_with_max_split),
        cmocka_unit_test(what_must_go_is_enough_in_reservations)};
    if (argc > 1)
        runs = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = (uint32_t)strtoul(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
