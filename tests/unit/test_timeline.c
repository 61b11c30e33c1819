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

SUITE(cmocka_unit_test(counters_follow_pytorchs_rules),
      cmocka_unit_test(check_refuses_a_free_of_another_block))
