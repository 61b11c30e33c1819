#include "alloc_fixture.h"

#include <stdlib.h>

#include "array.h"
#include "caching_load.h"

struct blocks {
    ARRAY(struct caching_block) list;
};

static void collect(void *user, const struct caching_block *block) {
    struct blocks *blocks = user;
    assert_true(array_push(&blocks->list, *block));
}

static int order(const void *a, const void *b) {
    const struct caching_block *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* By address, which is the order of creation as long as addresses only grow. */
static struct blocks blocks_of(const struct alloc *al) {
    struct blocks blocks = {0};
    caching_visit(al, collect, &blocks);
    if (blocks.list.count > 0)
        qsort(blocks.list.at, blocks.list.count, sizeof *blocks.list.at, order);
    return blocks;
}

static void check_same(const struct alloc *a, const struct alloc *b) {
    struct blocks x = blocks_of(a), y = blocks_of(b);
    struct error err = {0};
    assert_ok(caching_check(b, &err), err);
    assert_int_equal(x.list.count, y.list.count);
    for (size_t i = 0; i < x.list.count; i++) {
        const struct caching_block *p = &x.list.at[i], *q = &y.list.at[i];
        if (p->address != q->address || p->bytes != q->bytes || p->state != q->state ||
            p->requested_bytes != q->requested_bytes || p->stream != q->stream ||
            p->segment_bytes != q->segment_bytes || p->pool_id.v[1] != q->pool_id.v[1])
            fail_msg("block %zu at %llx differs", i, (unsigned long long)p->address);
    }
    array_fini(&x.list);
    array_fini(&y.list);
}

/* The driver of a pair: both models ask in the same order and must get the same. */
static uint64_t plan(void *user, uint64_t bytes, bool reservation) {
    uint64_t *next = user, address = *next;
    (void)reservation;
    *next += (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    return address;
}

struct run {
    struct alloc *al;
    uint64_t next_address;
};

static void begin_run(struct run *run, const char *settings, uint64_t next_address) {
    struct alloc_config config = {.total_bytes = 4 * GIB,
                                  .capacity_bytes = 2 * GIB,
                                  .world = {.user = &run->next_address, .plan_address = plan}};
    struct error err = {0};
    assert_ok(alloc_settings_parse(settings, framework_row(0), &config.settings, &err), err);
    run->next_address = next_address;
    run->al = alloc_create(alloc_row(0), &config, &err);
    assert_ok(run->al != NULL, err);
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *seed >> 33;
}

enum { LIVE = 200, STEPS = 4000 };

struct live {
    uint64_t address[LIVE];
    size_t count;
};

/* One random step on each model in turn; they must answer alike. */
static void step(struct alloc *const *models, size_t count, struct live *live, uint64_t *seed) {
    bool takes = live->count == 0 || (live->count < LIVE && next_random(seed) % 2 == 0);
    if (next_random(seed) % 500 == 0) {
        for (size_t i = 0; i < count; i++)
            assert_int_equal(alloc_empty_cache(models[i]), ALLOC_OK);
        return;
    }
    if (!takes) {
        size_t at = next_random(seed) % live->count;
        for (size_t i = 0; i < count; i++)
            alloc_free(models[i], live->address[at]);
        live->address[at] = live->address[--live->count];
        return;
    }
    uint64_t bytes = 1 + next_random(seed) % (UINT64_C(1) << (5 + next_random(seed) % 21));
    uint64_t stream = next_random(seed) % 2 ? 7 : 0, address = 0;
    enum alloc_result first = alloc_take(models[0], bytes, stream, &address);
    for (size_t i = 1; i < count; i++) {
        uint64_t other = 0;
        assert_int_equal(alloc_take(models[i], bytes, stream, &other), first);
        assert_bytes_equal(other, address);
    }
    if (first == ALLOC_OK)
        live->address[live->count++] = address;
}

static void check_loading(const char *settings, uint64_t seed) {
    struct run a, b;
    struct live live = {0};
    struct error err = {0};
    begin_run(&a, settings, ALLOC_FIRST_ADDRESS);
    for (size_t i = 0; i < STEPS; i++)
        step(&a.al, 1, &live, &seed);
    struct blocks blocks = blocks_of(a.al);
    begin_run(&b, settings, a.next_address);
    assert_ok(caching_load_state(b.al, blocks.list.at, blocks.list.count, NULL, &err), err);
    array_fini(&blocks.list);
    check_same(a.al, b.al);
    struct alloc *models[] = {a.al, b.al};
    for (size_t i = 0; i < STEPS; i++)
        step(models, 2, &live, &seed);
    check_same(a.al, b.al);
    const struct alloc_stats *x = alloc_get_stats(a.al), *y = alloc_get_stats(b.al);
    assert_bytes_equal(x->allocated_bytes[0].current, y->allocated_bytes[0].current);
    assert_bytes_equal(x->inactive_split_bytes[0].current, y->inactive_split_bytes[0].current);
    assert_bytes_equal(x->segment[0].current, y->segment[0].current);
    assert_bytes_equal(x->oversize_segments.current, y->oversize_segments.current);
    alloc_destroy(a.al);
    alloc_destroy(b.al);
}

TEST(a_loaded_model_goes_on_as_the_one_it_was_copied_from) {
    USE_STATE;
    static const char *const settings[] = {"", "expandable_segments:True", "max_split_size_mb:21",
                                           "roundup_power2_divisions:4"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            check_loading(settings[i], seed);
}

/* Two blocks and what is free between and behind them. */
static void small_segment(struct caching_block out[4]) {
    static const uint64_t bytes[] = {512, 512, 1024, 2 * MIB - 2048};
    static const enum caching_block_state states[] = {CACHING_BLOCK_PENDING, CACHING_BLOCK_FREE,
                                                      CACHING_BLOCK_PENDING, CACHING_BLOCK_FREE};
    uint64_t at = ALLOC_FIRST_ADDRESS;
    for (size_t i = 0; i < 4; at += bytes[i++])
        out[i] = (struct caching_block){.address = at,
                                        .bytes = bytes[i],
                                        .requested_bytes = 100,
                                        .segment_address = ALLOC_FIRST_ADDRESS,
                                        .segment_bytes = 2 * MIB,
                                        .state = states[i],
                                        .small_pool = true};
}

TEST(pending_blocks_complete_with_their_own_events) {
    USE_STATE;
    struct world_state world = {0};
    struct alloc_config config = fixture_config(framework_row(0), "", &world);
    struct caching_block blocks[4];
    struct error err = {0};
    small_segment(blocks);
    uint64_t events[] = {fixture_record(&world, STREAM_B), fixture_record(&world, STREAM_C)};
    world.event_position[0] = world.event_position[1] = 1;
    struct alloc *al = alloc_create(alloc_row(0), &config, &err);
    assert_ok(caching_load_state(al, blocks, 4, events, &err), err);
    assert_ok(caching_check(al, &err), err);
    assert_bytes_equal(alloc_get_stats(al)->active_bytes[0].current, 1536);
    assert_bytes_equal(alloc_get_stats(al)->allocated_bytes[0].current, 0);
    caching_notice_events(al);
    assert_bytes_equal(alloc_get_stats(al)->active_bytes[0].current, 1536);
    world.done[STREAM_C] = 1; /* the second alone */
    caching_notice_events(al);
    assert_bytes_equal(alloc_get_stats(al)->active_bytes[0].current, 512);
    world.done[STREAM_B] = 1;
    caching_notice_events(al);
    assert_bytes_equal(alloc_get_stats(al)->active_bytes[0].current, 0);
    assert_ok(caching_check(al, &err), err);
    alloc_destroy(al);
}

static void refuses(const struct caching_block *blocks, size_t count, const char *why) {
    struct world_state world = {0};
    struct alloc_config config = fixture_config(framework_row(0), "", &world);
    static const uint64_t events[4] = {0};
    struct error err = {0};
    struct alloc *al = alloc_create(alloc_row(0), &config, &err);
    assert_false(caching_load_state(al, blocks, count, events, &err));
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
    alloc_destroy(al);
}

TEST(contradictions_are_refused) {
    USE_STATE;
    struct caching_block blocks[4];
    small_segment(blocks);
    refuses(blocks, 3, "goes on behind it");
    refuses(blocks + 1, 3, "does not begin");
    blocks[1].bytes = 100;
    refuses(blocks, 4, "no multiple of 512");
    small_segment(blocks);
    blocks[2].state = CACHING_BLOCK_FREE;
    refuses(blocks, 4, "not joined");
    small_segment(blocks);
    blocks[1].state = CACHING_BLOCK_UNMAPPED;
    refuses(blocks, 4, "plain segment");
    struct caching_block huge = {.address = 2 * MIB,
                                 .bytes = 100 * GIB,
                                 .segment_address = 2 * MIB,
                                 .segment_bytes = 100 * GIB};
    refuses(&huge, 1, "exceed");
    huge.segment_bytes = huge.bytes = UINT64_C(1) << 50;
    refuses(&huge, 1, "beyond all addresses");
    small_segment(blocks);
    for (size_t i = 0; i < 4; i++) {
        blocks[i].address += UINT64_C(1) << 56;
        blocks[i].segment_address += UINT64_C(1) << 56;
    }
    refuses(blocks, 4, "beyond all addresses");
    small_segment(blocks);
    for (size_t i = 0; i < 4; i++) {
        blocks[i].address += 256;
        blocks[i].segment_address += 256;
    }
    refuses(blocks, 4, "does not begin at a multiple of 512");
}

TEST(private_pools_are_made) {
    USE_STATE;
    struct world_state world = {0};
    struct alloc_config config = fixture_config(framework_row(0), "", &world);
    struct caching_block blocks[4];
    struct caching_pool_info info;
    struct error err = {0};
    small_segment(blocks);
    blocks[0].state = blocks[2].state = CACHING_BLOCK_ALLOCATED;
    for (size_t i = 0; i < 4; i++)
        blocks[i].pool_id.v[1] = 5;
    struct alloc *al = alloc_create(alloc_row(0), &config, &err);
    assert_ok(caching_load_state(al, blocks, 4, NULL, &err), err);
    assert_ok(caching_check(al, &err), err);
    assert_true(caching_pool_row(al, 0, &info));
    assert_bytes_equal(info.id.v[1], 5);
    assert_bytes_equal(info.reserved_bytes, 2 * MIB);
    assert_int_equal(info.use_count, 1);
    assert_false(caching_pool_row(al, 1, &info));
    alloc_destroy(al);
}

SUITE(cmocka_unit_test(a_loaded_model_goes_on_as_the_one_it_was_copied_from),
      cmocka_unit_test(pending_blocks_complete_with_their_own_events),
      cmocka_unit_test(contradictions_are_refused), cmocka_unit_test(private_pools_are_made))
