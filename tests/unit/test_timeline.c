#include "suite.h"

#include "counters.h"
#include "timeline.h"

static struct timeline *one_block(void) {
    struct timeline *tl = timeline_create();
    assert_non_null(tl);
    struct timeline_segment s = {.address = 0,
                                 .bytes = 2097152,
                                 .alloc_event = 0,
                                 .free_event = TIMELINE_NONE,
                                 .small_pool = true};
    timeline_add_segment(tl, &s);
    struct timeline_block b = {.requested_bytes = 100,
                               .block_bytes = 512,
                               .alloc_event = 1,
                               .free_event = 2,
                               .complete_event = 3,
                               .phase = TIMELINE_NONE};
    timeline_add_block(tl, &b);
    const struct timeline_event events[] = {
        {.kind = EVENT_SEGMENT_ALLOC, .bytes = 2097152},
        {.kind = EVENT_ALLOC, .bytes = 100},
        {.kind = EVENT_FREE_REQUESTED, .bytes = 100},
        {.kind = EVENT_FREE_COMPLETED, .bytes = 100},
    };
    for (size_t i = 0; i < 4; i++)
        timeline_add_event(tl, &events[i]);
    tl->has = TIMELINE_HAS_SEGMENTS | TIMELINE_HAS_BLOCK_BYTES;
    return tl;
}

TEST(counters_follow_pytorchs_rules) {
    USE_STATE;
    struct timeline *tl = one_block();
    struct error err = {0};
    assert_ok(timeline_check(tl, &err), err);
    struct counters c;
    counters_start(tl, 0, &c);
    counters_apply(tl, 0, 0, &c);
    assert_bytes_equal(c.reserved, 2097152);
    counters_apply(tl, 0, 1, &c);
    assert_bytes_equal(c.allocated, 512);
    counters_apply(tl, 0, 2, &c);
    assert_bytes_equal(c.allocated, 0);
    assert_bytes_equal(c.active, 512);
    assert_bytes_equal(c.requested, 100);
    counters_apply(tl, 0, 3, &c);
    assert_bytes_equal(c.active, 0);
    timeline_destroy(tl);
}

TEST(check_refuses_a_free_of_another_block) {
    USE_STATE;
    struct timeline *tl = one_block();
    tl->blocks.at[0].free_event = 1;
    struct error err = {0};
    assert_false(timeline_check(tl, &err));
    timeline_destroy(tl);
}

/* What timeline.h promises, each broken alone. */
TEST(check_refuses_what_lies_outside) {
    USE_STATE;
    static const struct timeline_phase phase = {.end_event = TIMELINE_NONE,
                                                .parent = TIMELINE_NONE};
    for (unsigned broken = 0; broken < 12; broken++) {
        struct timeline *tl = one_block();
        struct error err = {0};
        struct timeline_block *b = &tl->blocks.at[0];
        uint32_t begin = timeline_add_event(
            tl, &(struct timeline_event){.kind = EVENT_PHASE_BEGIN, .device = 0});
        timeline_add_phase(tl, &phase);
        struct timeline_phase *p = &tl->phases.at[0];
        p->begin_event = begin;
        assert_ok(timeline_check(tl, &err), err);
        uint32_t *const fields[] = {&b->phase,
                                    &b->owner,
                                    &b->op,
                                    &b->name,
                                    &tl->segments.at[0].alloc_event,
                                    &tl->segments.at[0].free_event,
                                    &tl->segments.at[0].stack,
                                    &p->name,
                                    &p->parent,
                                    &p->begin_event,
                                    &p->end_event};
        if (broken < 11)
            *fields[broken] = 3;
        else
            b->stream = 3;
        assert_false(timeline_check(tl, &err));
        timeline_destroy(tl);
    }
}

/* Device 255 has sums as well: it frees what it never took. */
TEST(check_sums_of_the_last_device) {
    USE_STATE;
    struct timeline *tl = one_block();
    struct error err = {0};
    for (uint32_t i = 0; i < tl->events.count; i++)
        tl->events.at[i].device = UINT8_MAX;
    tl->blocks.at[0].device = UINT8_MAX;
    tl->segments.at[0].device = UINT8_MAX;
    assert_ok(timeline_check(tl, &err), err);
    tl->events.at[0].bytes = 256;
    tl->segments.at[0].bytes = 256;
    assert_false(timeline_check(tl, &err));
    timeline_destroy(tl);
}

/* Two blocks that live at once, touching. */
static struct timeline *two_blocks(void) {
    struct timeline *tl = timeline_create();
    tl->has = TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_TIME;
    for (uint32_t i = 0; i < 2; i++) {
        const struct timeline_block b = {.address = 4096 + 512 * (uint64_t)i,
                                         .requested_bytes = 512,
                                         .block_bytes = 512,
                                         .alloc_event = i == 0 ? TIMELINE_NONE : 0,
                                         .free_event = TIMELINE_NONE,
                                         .complete_event = TIMELINE_NONE,
                                         .segment = TIMELINE_NONE,
                                         .phase = TIMELINE_NONE};
        timeline_add_block(tl, &b);
    }
    const struct timeline_event alloc = {
        .kind = EVENT_ALLOC, .time_ns = 7, .bytes = 512, .address = 4608, .ref = 1};
    timeline_add_event(tl, &alloc);
    return tl;
}

TEST(check_refuses_live_blocks_that_overlap) {
    USE_STATE;
    struct timeline *tl = two_blocks();
    struct error err = {0};
    assert_ok(timeline_check(tl, &err), err);
    tl->blocks.at[1].address--;
    assert_false(timeline_check(tl, &err));
    assert_string_equal(err.text,
                        "event 0: block 1 at 0x11ff overlaps block 0 at 0x1000, which is live");
    tl->blocks.at[1].device = tl->events.at[0].device = 1; /* another device's addresses */
    assert_ok(timeline_check(tl, &err), err);
    tl->blocks.at[1].address = UINT64_MAX - 4; /* beyond the last address */
    assert_false(timeline_check(tl, &err));
    tl->has &= ~(uint32_t)TIMELINE_HAS_ADDRESS;
    assert_ok(timeline_check(tl, &err), err);
    timeline_destroy(tl);
}

TEST(an_address_is_free_once_its_block_is_completed) {
    USE_STATE;
    struct timeline *tl = two_blocks();
    struct error err = {0};
    tl->blocks.at[1].address = 4096;
    assert_false(timeline_check(tl, &err));
    struct timeline_event e = tl->events.at[0];
    tl->events.count = 0;
    for (uint32_t kind = EVENT_FREE_REQUESTED; kind <= EVENT_FREE_COMPLETED; kind++)
        timeline_add_event(
            tl, &(struct timeline_event){.kind = (uint8_t)kind, .bytes = 512, .address = 4096});
    tl->blocks.at[0].free_event = 0;
    tl->blocks.at[0].complete_event = 1;
    tl->blocks.at[1].alloc_event = timeline_add_event(tl, &e);
    assert_ok(timeline_check(tl, &err), err);
    timeline_destroy(tl);
}

TEST(check_refuses_a_clock_that_goes_back) {
    USE_STATE;
    struct timeline *tl = two_blocks();
    struct error err = {0};
    struct timeline_event other = {.kind = EVENT_OTHER, .time_ns = 6, .device = 1};
    timeline_add_event(tl, &other); /* each device has its own */
    assert_ok(timeline_check(tl, &err), err);
    tl->events.at[1].device = 0;
    assert_false(timeline_check(tl, &err));
    assert_string_equal(err.text, "event 1: at 6 ns, before the one before it at 7 ns");
    tl->has &= ~(uint32_t)TIMELINE_HAS_TIME;
    assert_ok(timeline_check(tl, &err), err);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(check_refuses_live_blocks_that_overlap),
      cmocka_unit_test(an_address_is_free_once_its_block_is_completed),
      cmocka_unit_test(check_refuses_a_clock_that_goes_back),
      cmocka_unit_test(check_refuses_what_lies_outside),
      cmocka_unit_test(check_sums_of_the_last_device),
      cmocka_unit_test(counters_follow_pytorchs_rules),
      cmocka_unit_test(check_refuses_a_free_of_another_block))
