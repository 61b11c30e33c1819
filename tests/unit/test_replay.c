#include "replay_fixture.h"

#include <string.h>

#include "failing_alloc.h"
#include "framework.h"
#include "importer.h"
#include "replay.h"
#include "text.h"
#include "tl_build.h"
#include "tl_window.h"

/* --- to reproduce --- */

TEST(a_run_from_empty_is_reproduced) {
    USE_STATE;
    struct outcome o = reproduce("segment s 2MiB small\n"
                                 "alloc a 100 at=s+0\n"
                                 "alloc b 1000 at=s+512\n"
                                 "free a\n"
                                 "segment t 20MiB\n"
                                 "alloc c 5MiB at=t+0\n"
                                 "alloc d 512 at=s+0\n");
    check_equal(&o);
    assert_bytes_equal(o.device->allocs, 4);
    assert_bytes_equal(o.device->addr_ok, 4);
    assert_bytes_equal(o.device->cache_hits, 2);
    assert_bytes_equal(o.device->segments_ok, 2);
    assert_bytes_equal(o.device->model.peak_active, 5 * MIB + 1536);
    assert_bytes_equal(o.device->model.end_reserved, 22 * MIB);
    assert_true(o.result.guessed);
    end(&o);
}

TEST(the_new_timeline_of_a_reproduction_is_the_recorded_one) {
    USE_STATE;
    static const char *const names[] = {"streams_record_stream", "llama_tiny_expandable",
                                        "llama_tiny_gc06"};
    static const struct replay_config config = {.reproduce = true};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "pytorch-2.15/%s", names[i]);
        struct outcome o = replay_timeline(load(name), &config);
        struct text a = {0}, b = {0};
        check_equal(&o);
        timeline_dump(o.real, true, &a);
        timeline_dump(o.result.timeline, true, &b);
        assert_string_equal(text_get(&a), text_get(&b));
        assert_bytes_equal(o.real->events.count, o.result.timeline->events.count);
        assert_memory_equal(&o.device->recorded, &o.device->model, sizeof o.device->model);
        text_fini(&a);
        text_fini(&b);
        end(&o);
    }
}

TEST(the_first_difference_is_named) {
    USE_STATE;
    struct outcome o = reproduce("segment s 2MiB small\n"
                                 "alloc a 100 at=s+0\n"
                                 "alloc b 100 at=s+1024\n");
    assert_false(o.result.equal);
    assert_true(o.device->first.found);
    assert_int_equal(o.device->first.event, 2);
    assert_string_equal(o.device->first.recorded, "alloc of 100 bytes at 0x40000400");
    assert_string_equal(o.device->first.model, "at 0x40000200");
    assert_false(o.device->layout_equal);
    end(&o);
}

TEST(a_segment_of_another_size_is_a_difference) {
    USE_STATE;
    struct outcome o = reproduce("segment s 4MiB\nalloc a 3MiB at=s+0\n");
    assert_false(o.result.equal);
    assert_string_equal(o.device->first.recorded, "segment_alloc of 4194304 bytes at 0x40000000");
    assert_non_null(strstr(o.device->first.model, "segment_alloc of 20971520 bytes"));
    end(&o);
}

TEST(a_segment_that_the_model_does_not_take_is_a_difference) {
    USE_STATE;
    struct outcome o = reproduce("segment s 2MiB small\nalloc a 100 at=s+0\n"
                                 "segment t 2MiB small\nalloc b 100 at=t+0\n");
    assert_false(o.result.equal);
    assert_int_equal(o.device->first.event, 3);
    assert_bytes_equal(o.device->segments_ok, 1);
    end(&o);
}

TEST(a_window_starts_with_its_blocks_and_gaps) {
    USE_STATE;
    struct outcome o = reproduce("start segment s 2MiB small\n"
                                 "start segment t 20MiB\n"
                                 "start block a 512 at=s+0\n"
                                 "start block b 512 at=s+1024\n"
                                 "start block c 2MiB at=t+4MiB\n"
                                 "alloc d 100 at=s+512\n"
                                 "alloc e 100 at=s+1536\n"
                                 "alloc f 4MiB at=t+0\n"
                                 "free c\n"
                                 "alloc g 16MiB at=t+4MiB\n");
    check_equal(&o);
    assert_bytes_equal(o.device->model.start_active, 2 * MIB + 1024);
    assert_bytes_equal(o.device->model.start_blocks, 3);
    assert_bytes_equal(o.device->model.start_reserved, 22 * MIB);
    assert_bytes_equal(o.device->cache_hits, 4);
    end(&o);
}

TEST(windows_of_recorded_runs_are_reproduced) {
    USE_STATE;
    static const char *const names[] = {"streams_record_stream", "llama_tiny_expandable",
                                        "llama_tiny_max_split32", "llama_tiny_retry_then_oom",
                                        "llama_tiny_roundup4"};
    static const struct replay_config config = {.reproduce = true};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "pytorch-2.15/%s", names[i]);
        struct timeline *whole = load(name);
        for (uint32_t part = 1; part < 8; part++) {
            struct timeline *window = tl_window(whole, (uint32_t)(whole->events.count * part / 8));
            struct outcome o = replay_timeline(window, &config);
            check_equal(&o);
            end(&o);
        }
        timeline_destroy(whole);
    }
}

/* --- what the trace does not say --- */

TEST(a_free_that_completes_later_waits) {
    USE_STATE;
    reproduces("segment s 2MiB small\n"
               "alloc a 512 at=s+0\n"
               "request a\n"
               "alloc b 512 at=s+512\n" /* a is not free yet */
               "complete a\n"
               "alloc c 512 at=s+0\n");
}

TEST(frees_complete_in_the_order_recorded) {
    USE_STATE;
    reproduces("segment s 2MiB small\n"
               "alloc a 512 at=s+0\nalloc b 512 at=s+512\nalloc z 512 at=s+1024\n"
               "request a\nrequest b\n"
               "complete b\n"
               "alloc c 512 at=s+512\n"
               "complete a\n"
               "alloc d 512 at=s+0\n");
}

TEST(a_free_may_still_wait_at_the_end) {
    USE_STATE;
    struct outcome o = reproduce("segment s 2MiB small\nalloc a 512 at=s+0\nrequest a\n"
                                 "alloc b 512 at=s+512\n");
    check_equal(&o);
    assert_bytes_equal(o.device->model.end_active, 1024);
    assert_bytes_equal(o.device->model.end_allocated, 512);
    end(&o);
}

TEST(a_free_may_wait_from_before_the_start) {
    USE_STATE;
    reproduces("start segment s 2MiB small\n"
               "start block a 512 at=s+0 pending\n"
               "start block b 512 at=s+512 pending\n"
               "alloc c 512 at=s+1024\n"
               "complete b\n"
               "alloc d 512 at=s+512\n"
               "complete a\n");
}

TEST(empty_cache_is_derived_where_nothing_else_gives_memory_back) {
    USE_STATE;
    struct outcome o = reproduce("segment s 2MiB small\nalloc a 512 at=s+0\n"
                                 "segment t 20MiB\nalloc b 5MiB at=t+0\n"
                                 "free b\n"
                                 "free_segment t\n"
                                 "alloc c 512 at=s+512\n"
                                 "free c\nfree a\n"
                                 "free_segment s\n");
    check_equal(&o);
    assert_bytes_equal(o.device->empty_caches, 2);
    assert_bytes_equal(o.device->retries, 0);
    assert_bytes_equal(o.device->releases_ok, 2);
    end(&o);
}

TEST(a_retry_is_derived_where_the_device_is_unknown) {
    USE_STATE;
    struct outcome o = reproduce("segment t 20MiB\nalloc b 5MiB at=t+0\nfree b\n"
                                 "free_segment t\n"
                                 "segment u 30MiB\nalloc c 30MiB at=u+0\n");
    check_equal(&o);
    assert_bytes_equal(o.device->retries, 1);
    end(&o);
}

TEST(a_known_device_says_whether_it_was_a_retry) {
    USE_STATE;
    static const char run[] = "segment t 20MiB\nalloc b 5MiB at=t+0\nfree b\n"
                              "free_segment t\n"
                              "segment u 30MiB\nalloc c 30MiB at=u+0\n";
    struct replay_config config = {.reproduce = true, .total_bytes = 60 * MIB};
    struct outcome o = replay_timeline(tl_build(run), &config);
    check_equal(&o);
    assert_bytes_equal(o.device->retries, 0);
    assert_bytes_equal(o.device->empty_caches, 1);
    end(&o);
    config.total_bytes = 40 * MIB;
    o = replay_timeline(tl_build(run), &config);
    check_equal(&o);
    assert_bytes_equal(o.device->retries, 1);
    assert_bytes_equal(o.device->empty_caches, 0);
    end(&o);
}

TEST(an_out_of_memory_is_reproduced_without_knowing_the_device) {
    USE_STATE;
    struct outcome o = reproduce("segment t 20MiB\nalloc b 5MiB at=t+0\nfree b\n"
                                 "free_segment t\n"
                                 "oom 30MiB\n"
                                 "segment u 20MiB\nalloc c 5MiB at=u+0\n");
    check_equal(&o);
    assert_bytes_equal(o.device->ooms, 1);
    assert_bytes_equal(o.device->retries, 1);
    assert_int_equal(o.result.timeline->ooms.count, 1);
    assert_bytes_equal(o.result.timeline->ooms.at[0].segment_bytes, 30 * MIB);
    end(&o);
}

/* Two segments, of which the second belongs to a private pool. */
TEST(requests_go_to_the_private_pool_that_served_them) {
    USE_STATE;
    struct timeline *tl = tl_build("segment s 2MiB small\nalloc a 512 at=s+0\n"
                                   "segment p 2MiB small\nalloc b 512 at=p+0\n"
                                   "alloc c 512 at=s+512\n"
                                   "alloc d 512 at=p+512\n"
                                   "free b\nfree d\n"
                                   "free_segment p\n"
                                   "alloc e 512 at=s+1024\n");
    static const struct replay_config config = {.reproduce = true};
    tl->segments.at[1].pool_id[1] = 3;
    struct outcome o = replay_timeline(tl, &config);
    check_equal(&o);
    assert_bytes_equal(o.result.timeline->segments.at[1].pool_id[1], 3);
    end(&o);
}

/* --- the tie rule --- */

/* Two free blocks of one size; the older segment lies higher. */
static struct timeline *tie(const char *taken) {
    char text[512];
    snprintf(text, sizeof text,
             "segment s 20MiB\nalloc a 20MiB at=s+0\n"
             "segment t 20MiB\nalloc b 20MiB at=t+0\n"
             "free a\nfree b\nalloc c 20MiB at=%s+0\n",
             taken);
    struct timeline *tl = tl_build(text);
    uint64_t low = tl->segments.at[0].address, high = tl->segments.at[1].address;
    for (size_t i = 0; i < tl->segments.count; i++)
        tl->segments.at[i].address = tl->segments.at[i].address == low ? high : low;
    for (size_t i = 0; i < tl->blocks.count; i++)
        tl->blocks.at[i].address = tl->blocks.at[i].address == low ? high : low;
    for (size_t i = 0; i < tl->events.count; i++)
        tl->events.at[i].address = tl->events.at[i].address == low ? high : low;
    return tl;
}

TEST(the_release_is_told_by_its_tie_rule) {
    USE_STATE;
    static const struct replay_config config = {.reproduce = true};
    struct outcome o = replay_timeline(tie("s"), &config);
    check_equal(&o);
    assert_true(o.result.guessed && o.result.framework->tie_rule == TIE_OLDER_SEGMENT);
    end(&o);
    o = replay_timeline(tie("t"), &config);
    check_equal(&o);
    assert_true(o.result.guessed && o.result.framework->tie_rule != TIE_OLDER_SEGMENT);
    end(&o);
}

/* The same, begun when both blocks are free: nothing tells which segment is older but the answer. */
TEST(the_age_of_segments_of_the_start_is_learned) {
    USE_STATE;
    static const struct replay_config config = {.reproduce = true};
    struct replay_config by_age = {.reproduce = true, .framework = framework_row(0)};
    struct timeline *whole = tie("s");
    struct outcome o = replay_timeline(tl_window(whole, 8), &by_age);
    check_equal(&o);
    assert_bytes_equal(o.device->ties_settled, 1);
    end(&o);
    timeline_destroy(whole);
    whole = tie("t"); /* the lower address: both rules may be it, the start is in address order */
    o = replay_timeline(tl_window(whole, 8), &config);
    check_equal(&o);
    assert_bytes_equal(o.device->ties_settled, 0);
    end(&o);
    timeline_destroy(whole);
}

/* --- what-if --- */

TEST(other_settings_change_the_answers_only) {
    USE_STATE;
    struct alloc_settings expandable = settings("expandable_segments:True");
    struct replay_config config = {.settings = &expandable,
                                   .settings_text = "expandable_segments:True",
                                   .total_bytes = 80 * GIB};
    struct outcome o = replay_timeline(load("pytorch-2.15/llama_tiny_bf16_sdpa"), &config);
    struct text a = {0}, b = {0};
    timeline_dump(o.real, true, &a);
    timeline_dump(o.result.timeline, true, &b);
    assert_int_equal(o.result.timeline->blocks.count, o.real->blocks.count);
    assert_int_equal(o.result.timeline->phases.count, o.real->phases.count);
    assert_bytes_equal(o.device->model.peak_requested, o.device->recorded.peak_requested);
    assert_true(o.device->model.peak_reserved < o.device->recorded.peak_reserved);
    assert_bytes_equal(o.device->differences, 0);
    assert_string_equal(timeline_text(o.result.timeline, o.result.timeline->alloc_settings),
                        "expandable_segments:True");
    text_fini(&a);
    text_fini(&b);
    end(&o);
}

TEST(a_window_keeps_its_start_in_a_what_if) {
    USE_STATE;
    struct alloc_settings expandable = settings("expandable_segments:True");
    struct replay_config config = {.settings = &expandable, .total_bytes = 80 * GIB};
    struct outcome o = replay_timeline(load("transformer_medium_128_training"), &config);
    const struct replay_figures *f = &o.device->model;
    assert_bytes_equal(f->start_blocks, o.device->recorded.start_blocks);
    assert_true(f->start_active <= o.device->recorded.start_active);
    assert_true(f->start_reserved >= f->start_active);
    assert_bytes_equal(f->peak_requested, o.device->recorded.peak_requested);
    assert_int_equal(o.result.timeline->segments.at[0].alloc_event, TIMELINE_NONE);
    end(&o);
}

TEST(frees_wait_as_recorded_in_a_what_if) {
    USE_STATE;
    struct replay_config config = {.total_bytes = 1 * GIB};
    struct outcome o = replay_timeline(tl_build("start segment s 2MiB small\n"
                                                "start block p 512 at=s+0 pending\n"
                                                "alloc a 512 at=s+512\n"
                                                "request a\n"
                                                "alloc b 512 at=s+1024\n"
                                                "complete a\ncomplete p\n"
                                                "alloc c 512 at=s+0\n"),
                                       &config);
    assert_bytes_equal(o.device->model.peak_active, 3 * 512);
    assert_bytes_equal(o.device->model.start_active, 512);
    assert_bytes_equal(o.device->model.end_active, 2 * 512);
    assert_true(o.result.timeline->blocks.at[0].pending_at_start);
    end(&o);
}

TEST(a_smaller_device_stops_the_run_where_it_fails) {
    USE_STATE;
    struct replay_config config = {.total_bytes = 64 * MIB, .capacity_bytes = 40 * MIB};
    struct outcome o = replay_timeline(tl_build("alloc a 20MiB\nalloc b 10MiB\nalloc c 30MiB\n"
                                                "free c\nalloc d 1MiB\n"),
                                       &config);
    assert_int_equal(o.device->stopped_at, 2);
    assert_bytes_equal(o.device->ooms, 1);
    const struct timeline *tl = o.result.timeline;
    assert_int_equal(array_last(&tl->events)->kind, EVENT_OOM);
    assert_bytes_equal(tl->ooms.at[0].requested_bytes, 30 * MIB);
    assert_bytes_equal(tl->ooms.at[0].device_free_bytes, 10 * MIB);
    assert_non_null(
        strstr(timeline_text(tl, tl->ooms.at[0].message), "Tried to allocate 30.00 MiB"));
    end(&o);
}

TEST(a_start_that_does_not_fit_stops_before_the_first_event) {
    USE_STATE;
    struct replay_config config = {.total_bytes = 30 * MIB};
    struct outcome o =
        replay_timeline(tl_build("start segment s 64MiB\nstart block a 20MiB at=s+0\n"
                                 "start block b 20MiB at=s+20MiB\nalloc c 512\n"),
                        &config);
    assert_int_equal(o.device->stopped_at, 0);
    assert_int_equal(o.result.timeline->events.count, 0);
    end(&o);
}

TEST(a_recorded_out_of_memory_may_succeed_elsewhere) {
    USE_STATE;
    struct replay_config config = {.total_bytes = 1 * GIB};
    struct outcome o = replay_timeline(tl_build("alloc a 20MiB\noom 30MiB\nfree a\n"), &config);
    assert_int_equal(o.device->stopped_at, TIMELINE_NONE);
    assert_bytes_equal(o.device->ooms, 0);
    assert_bytes_equal(o.device->recorded_ooms, 1);
    assert_bytes_equal(o.device->model.peak_active, 50 * MIB);
    end(&o);
}

/* The trace does not name its card, but one of its requests failed: at 40 MiB with 15 free. */
static struct timeline *ran_out(void) {
    struct timeline *tl = tl_build("segment s 20MiB\nsegment t 20MiB\nalloc a 9MiB at=s+0 large\n"
                                   "alloc b 9MiB at=t+0 large\nfree a\noom 30MiB\nfree b\n");
    tl->has &= ~(uint32_t)TIMELINE_HAS_DEVICE;
    tl->ooms.at[0].reserved_bytes = 40 * MIB;
    tl->ooms.at[0].device_free_bytes = 15 * MIB;
    return tl;
}

TEST(a_recorded_out_of_memory_tells_a_what_if_what_the_process_could_get) {
    USE_STATE;
    struct replay_config config = {.settings_text = ""};
    struct outcome o = replay_timeline(ran_out(), &config);
    assert_bytes_equal(o.device->capacity_bytes, 55 * MIB);
    assert_bytes_equal(o.device->model.peak_reserved, 50 * MIB); /* a's segment came free */
    end(&o);
    config.total_bytes = 200 * MIB; /* a card that is named counts */
    o = replay_timeline(ran_out(), &config);
    assert_bytes_equal(o.device->capacity_bytes, 200 * MIB);
    end(&o);
    o = reproduce("segment s 20MiB\nalloc a 9MiB at=s+0\n");
    assert_bytes_equal(o.device->capacity_bytes, 0);
    end(&o);
}

static bool stop_at_once(void *user, uint64_t done, uint64_t total) {
    size_t *calls = user;
    assert_true(done <= total);
    ++*calls;
    return false;
}

TEST(a_replay_can_be_interrupted) {
    USE_STATE;
    struct timeline *tl = tl_build("segment s 20MiB\nalloc a 9MiB at=s+0\n");
    for (int reproduces = 0; reproduces < 2; reproduces++) {
        size_t calls = 0;
        struct replay_result result;
        struct error err = {0};
        const struct replay_config config = {
            .reproduce = reproduces, .progress = stop_at_once, .progress_user = &calls};
        assert_false(replay_run(tl, &config, &result, &err));
        assert_int_equal(err.code, ERROR_INTERRUPTED);
        assert_int_equal(calls, 1);
    }
    timeline_destroy(tl);
}

/* Mapped memory in no order: what was quadratic took some seconds here. */
TEST(ranges_in_no_order_are_replayed) {
    USE_STATE;
    enum { PIECES = 20000 };
    struct timeline *tl = timeline_create();
    tl->has = TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_SEGMENTS;
    for (uint32_t i = 0; i < PIECES; i++) {
        uint64_t address = GIB + (uint64_t)i * 7919 % PIECES * 4 * MIB;
        struct timeline_segment s = {.address = address,
                                     .bytes = 2 * MIB,
                                     .alloc_event = i,
                                     .free_event = TIMELINE_NONE,
                                     .small_pool = true,
                                     .expandable = true};
        timeline_add_segment(tl, &s);
        timeline_add_event(
            tl, &(struct timeline_event){
                    .kind = EVENT_SEGMENT_MAP, .address = address, .bytes = 2 * MIB, .ref = i});
    }
    static const struct replay_config config = {.reproduce = true};
    struct outcome o = replay_timeline(tl, &config);
    assert_false(o.result.equal); /* nobody asked for them */
    assert_bytes_equal(o.device->segments, PIECES);
    end(&o);
}

/* --- bad input --- */

TEST(a_trace_without_addresses_cannot_be_reproduced) {
    USE_STATE;
    static const struct replay_config config = {.reproduce = true};
    refuses(tl_build("alloc a 512\n"), &config, "does not tell addresses");
}

TEST(a_contradictory_start_is_refused) {
    USE_STATE;
    static const struct replay_config config = {.reproduce = true};
    struct timeline *over = tl_build("start segment s 2MiB small\nstart block a 1024 at=s+0\n"
                                     "start block b 512 at=s+1024\n");
    over->blocks.at[1].address -= 512;
    refuses(over, &config, "block 1 at 0x40000200 overlaps block 0 at 0x40000000");
    refuses(tl_build("start segment s 2MiB small\nstart block a 512 at=s+2MiB\n"), &config,
            "lies in no segment");
    refuses(tl_build("start segment s 2MiB small\nstart block a 700 at=s+0 block=700\n"), &config,
            "no multiple of 512");
    struct timeline *tl = tl_build("start segment s 2MiB small\nstart segment t 2MiB small\n"
                                   "start block a 512 at=s+0\n");
    tl->segments.at[1].address = tl->segments.at[0].address + 512;
    refuses(tl, &config, "overlap");
}

TEST(unknown_settings_are_refused) {
    USE_STATE;
    static const struct replay_config config = {0};
    struct timeline *tl = tl_build("alloc a 512\n");
    tl->alloc_settings = timeline_string(tl, "no_such_key:1");
    refuses(tl, &config, "no_such_key");
}

/* Addresses that lie to the replay: it must come to an end, whatever it says. */
TEST(a_lying_trace_is_replayed_to_its_end) {
    USE_STATE;
    struct outcome o = reproduce("segment s 2MiB small\nalloc a 512 at=s+0\n"
                                 "segment t 2MiB small\nalloc b 512 at=t+4096\n"
                                 "map r 40MiB\nalloc c 30MiB at=r+0\n"
                                 "unmap r 0+6MiB\nfree_segment s\nfree a\nfree b\n"
                                 "segment u 20MiB\nalloc d 5MiB at=u+0\nfree c\n");
    assert_false(o.result.equal);
    assert_true(o.device->differences > 1);
    end(&o);
}

TEST(every_failed_allocation_is_handed_up) {
    USE_STATE;
    struct timeline *tl = tl_build("start segment s 2MiB small\nstart block p 512 at=s+0 pending\n"
                                   "begin forward\nalloc a 512 at=s+512\nend\n"
                                   "request a\nsegment t 20MiB\nalloc b 5MiB at=t+0\n"
                                   "complete a\nfree b\nfree_segment t\noom 30MiB\n");
    for (int reproduces = 0; reproduces < 2; reproduces++) {
        struct replay_config config = {.reproduce = reproduces, .framework = framework_row(0)};
        bool ok = false;
        for (size_t n = 1; !ok; n++) {
            struct failing_alloc failing = {.fail_at = n};
            struct replay_result result;
            struct error err = {0};
            xalloc_set_hook(failing_alloc_hook, &failing);
            ok = replay_run(tl, &config, &result, &err);
            if (ok)
                replay_result_fini(&result);
            xalloc_set_hook(NULL, NULL);
            assert_int_equal(failing.live, 0);
            if (!ok)
                assert_int_equal(err.code, ERROR_HOST_MEMORY);
        }
    }
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(a_run_from_empty_is_reproduced),
      cmocka_unit_test(the_new_timeline_of_a_reproduction_is_the_recorded_one),
      cmocka_unit_test(the_first_difference_is_named),
      cmocka_unit_test(a_segment_of_another_size_is_a_difference),
      cmocka_unit_test(a_segment_that_the_model_does_not_take_is_a_difference),
      cmocka_unit_test(a_window_starts_with_its_blocks_and_gaps),
      cmocka_unit_test(windows_of_recorded_runs_are_reproduced),
      cmocka_unit_test(a_free_that_completes_later_waits),
      cmocka_unit_test(frees_complete_in_the_order_recorded),
      cmocka_unit_test(a_free_may_still_wait_at_the_end),
      cmocka_unit_test(a_free_may_wait_from_before_the_start),
      cmocka_unit_test(empty_cache_is_derived_where_nothing_else_gives_memory_back),
      cmocka_unit_test(a_retry_is_derived_where_the_device_is_unknown),
      cmocka_unit_test(a_known_device_says_whether_it_was_a_retry),
      cmocka_unit_test(an_out_of_memory_is_reproduced_without_knowing_the_device),
      cmocka_unit_test(requests_go_to_the_private_pool_that_served_them),
      cmocka_unit_test(the_release_is_told_by_its_tie_rule),
      cmocka_unit_test(the_age_of_segments_of_the_start_is_learned),
      cmocka_unit_test(other_settings_change_the_answers_only),
      cmocka_unit_test(a_window_keeps_its_start_in_a_what_if),
      cmocka_unit_test(frees_wait_as_recorded_in_a_what_if),
      cmocka_unit_test(a_smaller_device_stops_the_run_where_it_fails),
      cmocka_unit_test(a_start_that_does_not_fit_stops_before_the_first_event),
      cmocka_unit_test(a_recorded_out_of_memory_tells_a_what_if_what_the_process_could_get),
      cmocka_unit_test(a_replay_can_be_interrupted),
      cmocka_unit_test(ranges_in_no_order_are_replayed),
      cmocka_unit_test(a_recorded_out_of_memory_may_succeed_elsewhere),
      cmocka_unit_test(a_trace_without_addresses_cannot_be_reproduced),
      cmocka_unit_test(a_contradictory_start_is_refused),
      cmocka_unit_test(unknown_settings_are_refused),
      cmocka_unit_test(a_lying_trace_is_replayed_to_its_end),
      cmocka_unit_test(every_failed_allocation_is_handed_up))
