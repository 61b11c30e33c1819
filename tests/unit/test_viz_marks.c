/* Marks over the timeline (the cache given back, sums that contradict each other) and the blocks from
 * before the recording, against looking at every moment. */
#include "suite.h"

#include "app_state.h"
#include "before.h"
#include "draw.h"
#include "input.h"
#include "marks.h"
#include "text.h"
#include "tl_build.h"
#include "tl_random.h"
#include "viz_fixture.h"

static void find(struct track *track, struct marks *marks, const struct timeline *tl,
                 uint32_t slice) {
    struct error err = {0};
    assert_ok(track_build(track, tl, 0, &err), err);
    marks_start(marks, track);
    while (!marks->done)
        assert_true(marks_build(marks, slice));
}

/* An event that tl_build has no word for. */
static void add_empty_cache(struct timeline *tl) {
    struct timeline_event e = {.kind = EVENT_EMPTY_CACHE,
                               .time_ns = array_last(&tl->events)->time_ns};
    assert_true(timeline_add_event(tl, &e) != TIMELINE_NONE);
}

TEST(the_cache_given_back_before_the_driver_is_asked_again_is_a_retry) {
    USE_STATE;
    struct timeline *tl = tl_build("segment a 20MiB\nsegment b 20MiB\nmap e 20MiB\n"
                                   "free_segment a\n"  /* 3 */
                                   "free_segment b\n"  /* 4 */
                                   "segment c 40MiB\n" /* 5: a retry of 40 MiB */
                                   "free_segment c\n"  /* 6 */
                                   "begin x\nend\n"    /* 7, 8: the program went on */
                                   "segment d 20MiB\n" /* 9: no retry */
                                   "unmap e 0+20MiB\n" /* 10 */
                                   "oom 4GiB\n");      /* 11: a retry, in vain */
    struct track track;
    struct marks marks;
    find(&track, &marks, tl, 2);
    assert_int_equal(marks.retries.count, 2);
    assert_int_equal(marks.retries.at[0].event, 3);
    assert_int_equal(marks.retries.at[0].again, 5);
    assert_bytes_equal(marks.retries.at[0].bytes, 40 << 20);
    assert_int_equal(marks.retries.at[1].event, 10);
    assert_int_equal(tl->events.at[marks.retries.at[1].again].kind, EVENT_OOM);
    marks_fini(&marks);
    track_fini(&track);
    /* the same two events after an empty_cache that the timeline tells of */
    add_empty_cache(tl);
    struct timeline_event last[2] = {tl->events.at[4], tl->events.at[5]};
    for (int i = 0; i < 2; i++)
        assert_true(timeline_add_event(tl, &last[i]) != TIMELINE_NONE);
    find(&track, &marks, tl, UINT32_MAX);
    assert_int_equal(marks.retries.count, 2);
    marks_fini(&marks);
    track_fini(&track);
    timeline_destroy(tl);
}

static bool is_marked(const struct marks *marks, enum mark_kind kind, uint32_t moment) {
    for (size_t i = 0; i < marks->breaks.count; i++) {
        const struct mark_break *b = &marks->breaks.at[i];
        if (b->kind == kind && moment >= b->first && moment < b->end)
            return true;
    }
    return false;
}

TEST(live_reserved_capacity_out_of_order_is_flagged_at_every_moment) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct timeline *tl = tl_random(seed, 1500);
        struct track track;
        struct marks marks;
        uint64_t worst[MARK_KINDS] = {0, 0}, told[MARK_KINDS] = {0, 0};
        for (size_t i = 0; i < tl->events.count; i++) /* segments that were lost */
            if (seed > 2 && tl->events.at[i].kind == EVENT_SEGMENT_ALLOC && i % 3 == 0)
                tl->events.at[i].kind = EVENT_OTHER;
        struct timeline_device device = {0, 150000, 1000};
        assert_true(array_push(&tl->devices, device));
        tl->has |= seed % 2 ? TIMELINE_HAS_DEVICE : 0;
        find(&track, &marks, tl, seed % 2 ? 100 : UINT32_MAX);
        for (uint32_t m = 0; m < track.lod.moments; m++) {
            struct lod_state s;
            lod_state_at(&track.lod, m, &s);
            bool over = track.capacity_bytes > 0 && s.reserved + 1000 > 150000;
            assert_int_equal(is_marked(&marks, MARK_ALLOCATED, m), s.total > s.reserved);
            assert_int_equal(is_marked(&marks, MARK_CAPACITY, m), over);
            if (s.total > s.reserved && s.total - s.reserved > worst[MARK_ALLOCATED])
                worst[MARK_ALLOCATED] = s.total - s.reserved;
            if (over && s.reserved - 149000 > worst[MARK_CAPACITY])
                worst[MARK_CAPACITY] = s.reserved - 149000;
        }
        for (size_t i = 0; i < marks.breaks.count; i++) {
            const struct mark_break *b = &marks.breaks.at[i];
            told[b->kind] = b->bytes > told[b->kind] ? b->bytes : told[b->kind];
        }
        assert_bytes_equal(told[MARK_ALLOCATED], worst[MARK_ALLOCATED]);
        assert_bytes_equal(told[MARK_CAPACITY], worst[MARK_CAPACITY]);
        assert_int_equal(worst[MARK_ALLOCATED] > 0, seed > 2);
        marks_fini(&marks);
        track_fini(&track);
        timeline_destroy(tl);
    }
}

/* The first blocks become such as were there already. */
static void begin_later(struct timeline *tl) {
    for (size_t i = 0; i < tl->blocks.count && i < 25; i++) {
        struct timeline_block *b = &tl->blocks.at[i];
        tl->events.at[b->alloc_event].kind = EVENT_OTHER;
        b->alloc_event = TIMELINE_NONE;
        if (i % 8 == 3 && b->complete_event != TIMELINE_NONE) { /* freed then, pending still */
            tl->events.at[b->free_event].kind = EVENT_OTHER;
            b->free_event = TIMELINE_NONE;
            b->pending_at_start = true;
        }
    }
}

TEST(what_was_there_before_and_the_trace_make_the_end) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct timeline *tl = tl_random(seed, 1000);
        struct track track;
        struct error err = {0};
        begin_later(tl);
        assert_ok(track_build(&track, tl, 0, &err), err);
        for (uint32_t m = 0; m < track.lod.moments; m++) {
            uint64_t before[LOD_GROUPS] = {0}, since[LOD_GROUPS] = {0};
            for (size_t i = 0; i < tl->blocks.count; i++) {
                const struct timeline_block *b = &tl->blocks.at[i];
                bool freed =
                    b->pending_at_start || (b->free_event != TIMELINE_NONE && b->free_event < m);
                if (b->alloc_event == TIMELINE_NONE && !freed)
                    before[b->category] += b->block_bytes;
                else if (b->alloc_event != TIMELINE_NONE && b->alloc_event < m && !freed)
                    since[b->category] += b->block_bytes;
            }
            struct lod_state s;
            lod_state_at(&track.lod, m, &s);
            for (int g = 0; g < LOD_GROUPS; g++) {
                assert_bytes_equal(before_left(&track.before, g, m), before[g]);
                assert_bytes_equal(s.group[g], before[g] + since[g]);
            }
        }
        assert_true(track.before.blocks.count > 10 && track.before.bytes > 0);
        track_fini(&track);
        timeline_destroy(tl);
    }
}

static void dump(const struct timeline *tl, bool layered, struct text *out) {
    struct error err = {0};
    struct draw_list list = {0};
    struct app_options options = {.width = 1800, .height = 700, .embedded_font = true};
    struct app *app = app_create(&options, tl, NULL, &err);
    assert_non_null(app);
    if (layered) {
        struct input tick = {.kind = INPUT_TICK, .milliseconds = 16};
        app_use_layers(app, NULL);
        assert_true(app_is_busy(app));
        app_input(app, &tick);
        assert_true(app->marks.done);
    }
    assert_ok(app_frame(app, &list, &err), err);
    draw_dump(&list, out);
    draw_fini(&list);
    app_destroy(app);
}

static void says(const struct text *out, const char *expected) {
    if (!strstr(text_get(out), expected))
        fail_msg("'%s' is not in:\n%s", expected, text_get(out));
}

TEST(the_picture_names_them) {
    USE_STATE;
    struct timeline *tl = tl_build("device 64MiB 8MiB A_card\n"
                                   "start segment s 20MiB\nstart block y 3MiB at=s+0 parameter\n"
                                   "start block z 1MiB at=s+4194304 parameter\n"
                                   "segment a 20MiB\nfree_segment a\nsegment b 20MiB\n"
                                   "segment c 20MiB\nfree y\n");
    tl->warnings = 2;
    tl->first_warning = timeline_string(tl, "the block at 0x10 is freed twice");
    for (int layered = 0; layered < 2; layered++) {
        struct text out = {0};
        dump(tl, layered, &out);
        says(&out, "2 blocks before the recording (4.00 MiB)");
        says(&out, "2 records repaired or skipped: the block at 0x10 is freed twice");
        says(&out, "cache given back 20.00 MiB");
        says(&out, "above the capacity: 4.00 MiB");
        text_fini(&out);
    }
    timeline_destroy(tl);
    tl = tl_random(3, 500);
    for (size_t i = 0; i < tl->events.count; i++)
        if (tl->events.at[i].kind == EVENT_SEGMENT_ALLOC)
            tl->events.at[i].kind = EVENT_OTHER;
    struct text out = {0};
    dump(tl, false, &out);
    says(&out, "allocated above reserved: ");
    text_fini(&out);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(the_cache_given_back_before_the_driver_is_asked_again_is_a_retry),
      cmocka_unit_test(live_reserved_capacity_out_of_order_is_flagged_at_every_moment),
      cmocka_unit_test(what_was_there_before_and_the_trace_make_the_end),
      cmocka_unit_test(the_picture_names_them))
