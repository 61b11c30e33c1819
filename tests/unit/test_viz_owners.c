/* Live sets, owners, peaks, alignment. */
#include "suite.h"

#include <string.h>

#include "align.h"
#include "live.h"
#include "lod.h"
#include "owners.h"
#include "peaks.h"
#include "track.h"
#include "viz_fixture.h"

static bool brute_live(const struct timeline *tl, uint32_t block, uint32_t moment) {
    const struct timeline_block *b = &tl->blocks.at[block];
    bool begun = b->alloc_event == TIMELINE_NONE || b->alloc_event < moment;
    bool ended = b->free_event != TIMELINE_NONE && b->free_event < moment;
    return begun && !ended && !b->pending_at_start;
}

TEST(live_sets_equal_brute_force_oldest_first) {
    USE_STATE;
    struct timeline *tl = fixture_random(21, 60000, 500);
    struct live live;
    struct live_set set = {0};
    struct error err = {0};
    assert_ok(live_build(&live, tl, 0, &err), err);
    assert_true(live.keyframes.count > 10);
    struct fixture random = {.random = 4};
    for (int i = 0; i < 300; i++) {
        uint32_t m = (uint32_t)fixture_random_below(&random, tl->events.count + 1);
        if (i < 2)
            m = i == 0 ? 0 : (uint32_t)tl->events.count;
        assert_true(live_at(&live, m, &set));
        size_t at = 0;
        for (uint32_t b = 0; b < tl->blocks.count; b++)
            if (brute_live(tl, b, m)) {
                assert_true(at < set.ids.count);
                assert_int_equal(set.ids.at[at++], b);
            }
        assert_int_equal(at, set.ids.count);
    }
    array_fini(&set.ids);
    live_fini(&live);
    timeline_destroy(tl);
}

TEST(owner_rows_sum_to_the_total_in_every_grouping) {
    USE_STATE;
    struct timeline *tl = fixture_random(2, 9000, 200);
    struct track track;
    struct live_set set = {0};
    struct error err = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    for (uint32_t m = 0; m < track.lod.moments; m += 613) {
        struct lod_state s;
        lod_state_at(&track.lod, m, &s);
        assert_true(live_at(&track.live, m, &set));
        for (int g = 0; g < OWNER_GROUPING_COUNT; g++) {
            uint64_t sum = 0, before = UINT64_MAX;
            uint32_t count = 0;
            assert_true(owners_read(&track.owners, (enum owner_grouping)g, &set));
            for (size_t i = 0; i < track.owners.rows.count; i++) {
                const struct owner_row *row = &track.owners.rows.at[i];
                char buffer[256];
                assert_true(row->bytes <= before && row->largest <= row->bytes);
                assert_true(*owners_name(&track.owners, row, LANGUAGE_ENGLISH, buffer) != '\0');
                before = row->bytes;
                sum += row->bytes;
                count += row->count;
            }
            assert_bytes_equal(sum, s.total);
            assert_int_equal(count, set.ids.count);
        }
    }
    array_fini(&set.ids);
    track_fini(&track);
    timeline_destroy(tl);
}

TEST(a_size_class_goes_up_to_and_with_its_limit) {
    USE_STATE;
    const struct {
        uint64_t bytes;
        const char *name;
    } cases[] = {
        {0, "<= 4 KiB"},
        {4096, "<= 4 KiB"},
        {4097, "> 4 KiB, <= 64 KiB"},
        {1 << 20, "> 64 KiB, <= 1 MiB"}, /* the largest of PyTorch's small pool */
        {(1 << 20) + 1, "> 1 MiB, <= 4 MiB"},
        {64 << 20, "> 16 MiB, <= 64 MiB"},
        {1 << 30, "> 256 MiB, <= 1 GiB"},
        {(1 << 30) + 1, "> 1 GiB"},
        {UINT64_MAX, "> 1 GiB"},
    };
    struct fixture f = fixture_start("sizes");
    struct owners owners;
    struct error err = {0};
    fixture_alloc(&f, 512, CATEGORY_INPUT, "a", "op");
    assert_ok(owners_init(&owners, f.tl, &err), err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[256];
        uint64_t key;
        f.tl->blocks.at[0].block_bytes = cases[i].bytes;
        assert_true(owners_key_of(&owners, OWNER_BY_SIZE, 0, &key));
        assert_string_equal(owners_key_name(&owners, OWNER_BY_SIZE, key, LANGUAGE_ENGLISH, buffer),
                            cases[i].name);
    }
    owners_fini(&owners);
    timeline_destroy(f.tl);
}

TEST(layers_of_one_kind_are_one_row) {
    USE_STATE;
    struct fixture f = fixture_start("fold");
    fixture_alloc(&f, 1024, CATEGORY_PARAMETER, "model.layers.0.mlp.conv2d", "op");
    fixture_alloc(&f, 512, CATEGORY_GRADIENT, "model.layers.17.mlp.conv2d", "op");
    fixture_alloc(&f, 512, CATEGORY_PARAMETER, "model.layers.17.conv2d.3", "op");
    struct track track;
    struct live_set set = {0};
    struct error err = {0};
    char buffer[256];
    assert_ok(track_build(&track, f.tl, 0, &err), err);
    assert_true(live_at(&track.live, track.lod.moments - 1, &set));
    assert_true(owners_read(&track.owners, OWNER_BY_MODULE, &set));
    assert_int_equal(track.owners.rows.count, 2);
    const struct owner_row *row = &track.owners.rows.at[0];
    assert_string_equal(owners_name(&track.owners, row, LANGUAGE_ENGLISH, buffer),
                        "model.layers.*.mlp.conv2d");
    assert_bytes_equal(row->bytes, 1536);
    assert_int_equal(owners_category(row), CATEGORY_PARAMETER);
    assert_string_equal(
        owners_name(&track.owners, &track.owners.rows.at[1], LANGUAGE_ENGLISH, buffer),
        "model.layers.*.conv2d.*");
    array_fini(&set.ids);
    track_fini(&track);
    timeline_destroy(f.tl);
}

TEST(stacks_are_named_by_who_asked) {
    USE_STATE;
    struct fixture f = fixture_start("stacks");
    static const char *const functions[] = {"__torch_function__", "forward", "_call_impl",
                                            "decode"};
    struct timeline_stack stack = {0, 4};
    for (uint32_t i = 0; i < 4; i++) {
        struct timeline_frame frame = {timeline_string(f.tl, functions[i]),
                                       timeline_string(f.tl, "/lib/file.py"), 10 + i};
        fixture_need(array_push(&f.tl->frames, frame));
    }
    fixture_need(array_push(&f.tl->stacks, stack));
    stack.count = 1; /* a wrapper alone is better than nothing */
    fixture_need(array_push(&f.tl->stacks, stack));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t block = fixture_alloc(&f, UINT64_C(512) << i, CATEGORY_UNKNOWN, "", "");
        f.tl->blocks.at[block].stack = i;
    }
    struct track track;
    struct live_set set = {0};
    struct error err = {0};
    static const char *const wanted[] = {"__torch_function__ file.py:10",
                                         "forward file.py:11  <  decode file.py:13", "unknown"};
    assert_ok(track_build(&track, f.tl, 0, &err), err);
    assert_true(live_at(&track.live, track.lod.moments - 1, &set));
    assert_true(owners_read(&track.owners, OWNER_BY_STACK, &set));
    assert_int_equal(track.owners.rows.count, 3);
    for (size_t i = 0; i < 3; i++) {
        char buffer[256];
        assert_string_equal(
            owners_name(&track.owners, &track.owners.rows.at[i], LANGUAGE_ENGLISH, buffer),
            wanted[i]);
    }
    array_fini(&set.ids);
    track_fini(&track);
    timeline_destroy(f.tl);
}

/* How far down from bucket i to something higher (earlier ones of equal height count as higher). */
static uint64_t brute_prominence(const struct lod *lod, size_t i) {
    const struct lod_node *n = lod->nodes[0];
    uint64_t left = n[i].min, right = n[i].min;
    size_t k = i;
    while (k > 0 && n[k - 1].max < n[i].max) {
        k--;
        left = n[k].min < left ? n[k].min : left;
    }
    if (k == 0)
        left = 0;
    else
        left = n[k - 1].min < left ? n[k - 1].min : left;
    k = i;
    while (k + 1 < lod->node_count[0] && n[k + 1].max <= n[i].max) {
        k++;
        right = n[k].min < right ? n[k].min : right;
    }
    if (k + 1 == lod->node_count[0])
        right = 0;
    else
        right = n[k + 1].min < right ? n[k + 1].min : right;
    uint64_t valley = left > right ? left : right;
    return n[i].max > valley ? n[i].max - valley : 0;
}

TEST(prominent_peaks_equal_brute_force) {
    USE_STATE;
    for (uint64_t seed = 1; seed < 12; seed++) {
        struct timeline *tl = fixture_random(seed, 12000, 60);
        struct lod lod;
        struct peaks peaks;
        struct error err = {0};
        assert_ok(lod_build(&lod, tl, 0, NULL, &err), err);
        assert_ok(peaks_find(&lod, &peaks, &err), err);
        assert_int_equal(peaks.at[0].moment, lod.peak.arg);
        size_t better = 0, kept = 0;
        uint64_t last = peaks.at[peaks.count - 1].prominence;
        for (size_t i = 0; i < lod.node_count[0]; i++) {
            uint64_t prominence = brute_prominence(&lod, i);
            if (prominence < lod.peak.max / 50 || prominence == 0)
                continue;
            kept++;
            better += prominence > last;
            for (size_t k = 0; k < peaks.count; k++)
                if (peaks.at[k].moment == lod.nodes[0][i].arg)
                    assert_bytes_equal(peaks.at[k].prominence, prominence);
        }
        assert_int_equal(peaks.count, kept < PEAKS_MAX ? kept : PEAKS_MAX);
        assert_true(better < PEAKS_MAX);
        for (size_t k = 1; k < peaks.count; k++)
            assert_true(peaks.at[k].prominence <= peaks.at[k - 1].prominence);
        lod_fini(&lod);
        timeline_destroy(tl);
    }
}

TEST(a_timeline_is_aligned_with_itself_moment_by_moment) {
    USE_STATE;
    struct timeline *tl = fixture_llama("self", false);
    struct align align;
    struct error err = {0};
    assert_ok(align_build(&align, tl, tl, &err), err);
    for (uint32_t m = 0; m < align.a.moments; m++) {
        uint32_t there = align_map(&align, m);
        assert_int_equal(align.b.at[there], align.a.at[m]);
        assert_true(there <= m); /* the first that has done as much */
    }
    assert_int_equal(align_map(&align, align.a.moments), align.b.moments);
    align_fini(&align);
    timeline_destroy(tl);
}

TEST(phases_of_both_meet_and_the_map_never_falls) {
    USE_STATE;
    struct timeline *a = fixture_llama("a", false), *b = fixture_llama("b", true);
    struct align align;
    struct error err = {0};
    assert_ok(align_build(&align, a, b, &err), err);
    assert_true(align_common_phases(&align) >= 8);
    uint32_t before = 0;
    for (uint32_t m = 0; m <= a->events.count + 1; m++) {
        uint32_t here = align_map(&align, m);
        assert_true(here >= before);
        before = here;
    }
    for (uint32_t i = 1; i < a->phases.count; i++)
        assert_int_equal(align.b.at[align_map(&align, a->phases.at[i].begin_event)],
                         align.b.at[b->phases.at[i].begin_event]);
    align_fini(&align);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(phases_meet_though_one_side_knows_no_steps) {
    USE_STATE;
    struct fixture a = fixture_start("a"), b = fixture_start("b");
    fixture_begin(&b, "zero_grad"); /* only here so early */
    fixture_end(&b);
    for (int step = 0; step < 2; step++) {
        static const char *const names[] = {"forward", "backward", "optimizer"};
        fixture_begin(&a, step ? "step 2" : "step 1");
        for (int i = 0; i < 3; i++) {
            fixture_begin(&a, names[i]);
            fixture_begin(&b, names[i]);
            for (int k = 0; k < 5; k++)
                fixture_alloc(&a, 512, CATEGORY_INPUT, "", "");
            fixture_alloc(&b, 512, CATEGORY_INPUT, "", "");
            fixture_end(&a);
            fixture_end(&b);
        }
        fixture_end(&a);
    }
    struct align align;
    struct error err = {0};
    assert_ok(align_build(&align, a.tl, b.tl, &err), err);
    for (uint32_t i = 0, k = 1; i < a.tl->phases.count; i++) {
        const struct timeline_phase *p = &a.tl->phases.at[i];
        if (p->depth == 0)
            continue;
        const struct timeline_phase *q = &b.tl->phases.at[k++];
        assert_int_equal(align.b.at[align_map(&align, p->begin_event)], align.b.at[q->begin_event]);
        assert_int_equal(align.b.at[align_map(&align, p->end_event)], align.b.at[q->end_event]);
    }
    align_fini(&align);
    timeline_destroy(a.tl);
    timeline_destroy(b.tl);
}

TEST(phases_are_found_at_the_cursor_and_stepped_through) {
    USE_STATE;
    struct timeline *tl = fixture_llama("phases", false);
    struct track track;
    struct error err = {0};
    assert_ok(track_build(&track, tl, 0, &err), err);
    uint32_t phase = track_phase(&track, track_peak(&track));
    assert_string_equal(timeline_text(tl, tl->phases.at[phase].name), "optimizer");
    uint32_t m = 0, steps = 0;
    for (uint32_t next; (next = track_next_phase(&track, m)) != m; m = next) {
        assert_true(next > m);
        steps++;
    }
    assert_int_equal(steps, tl->phases.count);
    for (uint32_t next; (next = track_previous_phase(&track, m)) != m; m = next) {
        assert_true(next < m);
        steps--;
    }
    assert_int_equal(steps, 1); /* the first is where it ends */
    track_fini(&track);
    timeline_destroy(tl);
}

/* One row that holds all tells nothing. */
TEST(the_grouping_to_begin_with_is_one_that_is_known) {
    USE_STATE;
    struct fixture f = fixture_start("profile");
    assert_int_equal(owners_default(f.tl), OWNER_BY_MODULE);
    f.tl->has &= ~(uint32_t)TIMELINE_HAS_OWNER;
    assert_int_equal(owners_default(f.tl), OWNER_BY_CATEGORY);
    f.tl->has &= ~(uint32_t)TIMELINE_HAS_CATEGORY;
    assert_int_equal(owners_default(f.tl), OWNER_BY_CATEGORY);
    fixture_alloc(&f, 512, CATEGORY_UNKNOWN, "", "aten::mm");
    assert_int_equal(owners_default(f.tl), OWNER_BY_OP);
    f.tl->has |= TIMELINE_HAS_STACK;
    assert_int_equal(owners_default(f.tl), OWNER_BY_STACK);
    timeline_destroy(f.tl);
}

SUITE(cmocka_unit_test(the_grouping_to_begin_with_is_one_that_is_known),
      cmocka_unit_test(live_sets_equal_brute_force_oldest_first),
      cmocka_unit_test(owner_rows_sum_to_the_total_in_every_grouping),
      cmocka_unit_test(a_size_class_goes_up_to_and_with_its_limit),
      cmocka_unit_test(layers_of_one_kind_are_one_row),
      cmocka_unit_test(stacks_are_named_by_who_asked),
      cmocka_unit_test(phases_meet_though_one_side_knows_no_steps),
      cmocka_unit_test(prominent_peaks_equal_brute_force),
      cmocka_unit_test(a_timeline_is_aligned_with_itself_moment_by_moment),
      cmocka_unit_test(phases_of_both_meet_and_the_map_never_falls),
      cmocka_unit_test(phases_are_found_at_the_cursor_and_stepped_through))
