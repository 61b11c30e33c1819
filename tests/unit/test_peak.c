/* Peaks, phases and who holds the memory there. */
#include "suite.h"

#include "failing_alloc.h"
#include "frames.h"
#include "holder_tree.h"
#include "holders.h"
#include "peak.h"
#include "phases.h"
#include "text.h"
#include "tl_build.h"
#include "tl_random.h"

static const char two_steps[] = "device 80GiB 500MiB A100\n"
                                "segment s0 20MiB\n"                           /* 0 */
                                "alloc w 1000 at=s0+0 parameter owner=m.0.w\n" /* 1 */
                                "begin step_1\n"                               /* 2 */
                                "begin forward\n"                              /* 3 */
                                "t=100\n"
                                "alloc x 2000 at=s0+1024 activation op=mm owner=m.1\n" /* 4 */
                                "alloc y 600 at=s0+3072 temporary op=add\n"            /* 5 */
                                "free x\n"                                             /* 6 7 */
                                "end\n"                                                /* 8 */
                                "alloc z 2000 at=s0+1024 gradient op=mm owner=m.0.w\n" /* 9 */
                                "end\n";                                               /* 10 */

TEST(peak_is_the_first_event_that_reaches_it) {
    USE_STATE;
    struct timeline *tl = tl_build(two_steps);
    struct peaks p;
    peak_find(tl, 0, &p);
    assert_bytes_equal(p.allocated.bytes, 1024 + 2048 + 1024);
    assert_bytes_equal(p.allocated.event, 5); /* event 9 reaches the same height again */
    assert_bytes_equal(p.requested.bytes, 3600);
    assert_bytes_equal(p.reserved.bytes, 20 * MIB);
    assert_bytes_equal(p.reserved.event, 0);
    assert_bytes_equal(p.device_bytes, 520 * MIB);
    assert_bytes_equal(p.at_allocated.by_category[CATEGORY_ACTIVATION], 2048);
    assert_bytes_equal(p.requested_at_allocated[CATEGORY_ACTIVATION], 2000);
    assert_bytes_equal(p.category[CATEGORY_GRADIENT].bytes, 2000);
    assert_bytes_equal(p.category[CATEGORY_GRADIENT].event, 9);
    assert_bytes_equal(p.at_end.allocated, 4096);
    assert_string_equal(peak_op(tl, p.allocated.event), "add");
    assert_string_equal(peak_op(tl, 0), "");
    assert_string_equal(peak_owner(tl, 4), "m.1");
    assert_bytes_equal(peak_time_ns(tl, 5), 101);
    timeline_destroy(tl);
}

TEST(a_freed_block_leaves_allocated_at_once_and_active_when_completed) {
    USE_STATE;
    struct timeline *tl =
        tl_build("alloc a 512\nrequest a\nalloc b 512\ncomplete a\nalloc c 512\n");
    struct peaks p;
    peak_find(tl, 0, &p);
    assert_bytes_equal(p.allocated.bytes, 1024);
    assert_bytes_equal(p.allocated.event, 4);
    assert_bytes_equal(p.active.bytes, 1024);
    assert_bytes_equal(p.active.event, 2);
    timeline_destroy(tl);
}

TEST(memory_from_before_the_first_event_can_be_the_peak) {
    USE_STATE;
    struct timeline *tl = tl_build("start segment s 2MiB small\n"
                                   "start block a 700 at=s+0 parameter\n"
                                   "start block b 512 at=s+1024 pending\n"
                                   "free a\ncomplete b\n");
    struct peaks p;
    peak_find(tl, 0, &p);
    assert_bytes_equal(p.allocated.bytes, 1024);
    assert_bytes_equal(p.allocated.event, TIMELINE_NONE);
    assert_bytes_equal(p.active.bytes, 1536);
    assert_bytes_equal(p.category[CATEGORY_PARAMETER].bytes, 700);
    assert_bytes_equal(p.at_end.active, 0);
    assert_bytes_equal(peak_time_ns(tl, TIMELINE_NONE), 0);
    timeline_destroy(tl);
}

TEST(phase_path_names_the_innermost_phase) {
    USE_STATE;
    struct timeline *tl = tl_build(two_steps);
    struct text t = {0};
    phase_path(tl, phase_at(tl, 0, 5), &t);
    assert_string_equal(text_get(&t), "step 1/forward");
    assert_bytes_equal(phase_at(tl, 0, 1), TIMELINE_NONE);
    assert_bytes_equal(phase_at(tl, 0, 3), 1); /* a begin lies inside */
    assert_bytes_equal(phase_at(tl, 0, 8), 0); /* an end outside */
    assert_bytes_equal(phase_at(tl, 0, TIMELINE_NONE), TIMELINE_NONE);
    tl->phases.at[0].parent = 1; /* a loop, as a bad file could make */
    t.length = 0;
    phase_path(tl, 1, &t);
    assert_true(t.length > 0);
    text_fini(&t);
    timeline_destroy(tl);
}

TEST(holders_sum_up_by_category_and_op) {
    USE_STATE;
    struct timeline *tl = tl_build(two_steps);
    struct holder_sum by[CATEGORY_COUNT];
    holders_by_category(tl, 0, 5, by);
    assert_bytes_equal(by[CATEGORY_PARAMETER].bytes, 1024);
    assert_bytes_equal(by[CATEGORY_ACTIVATION].requested_bytes, 2000);
    struct holder_list list;
    struct error err = {0};
    assert_ok(holder_list_find(tl, 0, 5, HOLDER_BY_OP, 0, &list, &err), err);
    assert_bytes_equal(list.rows.count, 3);
    assert_string_equal(strtab_text(&list.strings, list.rows.at[0].name), "mm");
    assert_bytes_equal(list.total.bytes, 4096);
    holder_list_fini(&list);
    assert_ok(holder_list_find(tl, 0, 5, HOLDER_BY_OP, 1, &list, &err), err);
    assert_bytes_equal(list.rows.count, 2);
    assert_true(list.rows.at[1].is_others);
    assert_bytes_equal(list.rows.at[1].sum.bytes, 2048);
    holder_list_fini(&list);
    assert_ok(holder_list_find(tl, 0, 5, HOLDER_BY_FRAME, 0, &list, &err), err);
    assert_bytes_equal(list.rows.count, 1); /* no stacks: all unknown */
    holder_list_fini(&list);
    timeline_destroy(tl);
}

TEST(largest_blocks_come_first_and_older_ones_among_equals) {
    USE_STATE;
    struct timeline *tl =
        tl_build("alloc a 512\nalloc b 2048\nalloc c 512\nalloc d 4096\nalloc e 2048\nfree d\n");
    struct holder_blocks top;
    struct error err = {0};
    assert_ok(holder_blocks_find(tl, 0, 6, 3, &top, &err), err);
    assert_bytes_equal(top.rows.count, 3);
    assert_bytes_equal(top.rows.at[0], 1);
    assert_bytes_equal(top.rows.at[1], 4);
    assert_bytes_equal(top.rows.at[2], 0);
    holder_blocks_fini(&top);
    assert_ok(holder_blocks_find(tl, 0, 6, 0, &top, &err), err);
    assert_bytes_equal(top.rows.count, 0);
    holder_blocks_fini(&top);
    timeline_destroy(tl);
}

static void dump_tree(const struct holder_tree *tree, struct text *out) {
    static const char *const kinds[] = {"", "(itself)", "(others)", "(unknown)"};
    for (size_t i = 0; i < tree->rows.count; i++) {
        const struct holder_row *r = &tree->rows.at[i];
        text_format(out, "%*s%s%s %llu\n", (int)r->depth, "", holder_tree_path(tree, r),
                    kinds[r->kind], (unsigned long long)r->sum.bytes / 512);
    }
}

static void assert_tree(const struct timeline *tl, struct holder_tree_options options,
                        const char *expected) {
    struct holder_tree tree;
    struct error err = {0};
    struct text t = {0};
    assert_ok(holder_tree_find(tl, 0, (uint32_t)tl->events.count - 1, &options, &tree, &err), err);
    dump_tree(&tree, &t);
    assert_string_equal(text_get(&t), expected);
    text_fini(&t);
    holder_tree_fini(&tree);
}

TEST(tree_rows_sum_up_to_their_parent) {
    USE_STATE;
    struct timeline *tl =
        tl_build("alloc a 512 owner=m.l.0.w\nalloc b 1024 owner=m.l.1.w\nalloc c 512 owner=m.l\n"
                 "alloc d 512 owner=n\nalloc e 512\nalloc f 512 owner=m.l.1\n"
                 "alloc g 512 owner=m.l.2\nalloc h 512 owner=...\n");
    assert_tree(tl, (struct holder_tree_options){0},
                "m 6\n m.l 6\n  m.l.1 3\n   m.l.1.w 2\n   m.l.1(itself) 1\n  m.l.0 1\n   m.l.0.w "
                "1\n  m.l.2 1\n"
                "  m.l(itself) 1\n(unknown) 2\nn 1\n");
    assert_tree(tl, (struct holder_tree_options){.depth = 3, .top = 1},
                "m 6\n m.l 6\n  m.l.1 3\n  m.l(others) 3\n(others) 3\n");
    assert_tree(tl, (struct holder_tree_options){.depth = 3, .fold_indices = true},
                "m 6\n m.l 6\n  m.l.* 5\n  m.l(itself) 1\n(unknown) 2\nn 1\n");
    timeline_destroy(tl);
}

TEST(numbered_modules_are_one_row_when_they_are_equal) {
    USE_STATE;
    const struct holder_tree_options fold = {.fold_indices = true};
    struct timeline *tl = tl_build("alloc a 1024 parameter owner=s.0\nalloc b 512 owner=s.1\n"
                                   "alloc c 2048 parameter owner=s.2\n");
    assert_tree(tl, fold, "s 7\n s.2 4\n s.0 2\n s.1 1\n");
    timeline_destroy(tl);
    tl = tl_build("alloc a 512 parameter owner=l.0.up\nalloc b 1024 parameter owner=l.1.gate\n"
                  "alloc c 1024 parameter owner=l.2.gate\nalloc d 512 owner=l.2.act\n"
                  "alloc e 1024 parameter owner=l.3.gate\n");
    assert_tree(tl, fold, "l 8\n l.1-3 7\n  l.1-3.gate 6\n  l.1-3.act 1\n l.0 1\n  l.0.up 1\n");
    timeline_destroy(tl);
    tl = tl_build("alloc a 512 parameter owner=0.w\nalloc b 512 parameter owner=0.w.9\n"
                  "alloc c 512 parameter owner=2.w\nalloc d 512 parameter owner=4.w\n"
                  "alloc e 512 parameter owner=6.w\nalloc f 512 parameter owner=8.w\n");
    assert_tree(tl, (struct holder_tree_options){.fold_indices = true, .depth = 1},
                "2,4,6.. 4\n0 2\n");
    timeline_destroy(tl);
}

TEST(every_figure_survives_exhausted_host_memory) {
    USE_STATE;
    struct timeline *tl = tl_random(7, 200);
    struct failing_alloc f = {0};
    struct holder_tree_options options = {0};
    bool done = false;
    for (f.fail_at = 1; !done; f.fail_at++) {
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        struct holder_tree tree = {0};
        struct holder_list list = {0};
        struct holder_blocks blocks = {0};
        struct error err = {0};
        done = holder_tree_find(tl, 0, 100, &options, &tree, &err) &&
               holder_list_find(tl, 0, 100, HOLDER_BY_FRAME, 2, &list, &err) &&
               holder_blocks_find(tl, 0, 100, 9, &blocks, &err);
        assert_true(done || err.code == ERROR_HOST_MEMORY);
        holder_tree_fini(&tree);
        holder_list_fini(&list);
        holder_blocks_fini(&blocks);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
    }
    timeline_destroy(tl);
}

/* Everything again, as slowly and plainly as can be. */
TEST(peaks_of_random_timelines_are_those_of_brute_force) {
    USE_STATE;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct timeline *tl = tl_random(seed, 300);
        struct peaks p;
        peak_find(tl, 0, &p);
        uint64_t best = 0, best_event = TIMELINE_NONE, category_best[CATEGORY_COUNT] = {0};
        for (uint32_t e = 0; e < tl->events.count; e++) {
            uint64_t allocated = 0, category[CATEGORY_COUNT] = {0};
            for (uint32_t i = 0; i < tl->blocks.count; i++) {
                const struct timeline_block *b = &tl->blocks.at[i];
                if (b->alloc_event > e)
                    continue;
                if (b->free_event > e)
                    allocated += b->block_bytes;
                if (b->complete_event > e)
                    category[b->category] += b->requested_bytes;
            }
            if (allocated > best) {
                best = allocated;
                best_event = e;
            }
            for (size_t c = 0; c < CATEGORY_COUNT; c++)
                if (category[c] > category_best[c])
                    category_best[c] = category[c];
        }
        assert_bytes_equal(p.allocated.bytes, best);
        assert_bytes_equal(p.allocated.event, best_event);
        for (size_t c = 0; c < CATEGORY_COUNT; c++)
            assert_bytes_equal(p.category[c].bytes, category_best[c]);
        struct holder_sum by[CATEGORY_COUNT];
        holders_by_category(tl, 0, p.allocated.event, by);
        for (size_t c = 0; c < CATEGORY_COUNT; c++)
            assert_bytes_equal(by[c].bytes, p.at_allocated.by_category[c]);
        timeline_destroy(tl);
    }
}

/* A stack of "function file:line" from the innermost. */
static void assert_best_frame(const char *const (*frames)[2], uint32_t count, const char *expected,
                              uint32_t useful) {
    struct timeline *tl = tl_build("alloc a 512\n");
    struct timeline_stack stack = {.first = (uint32_t)tl->frames.count, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        struct timeline_frame f = {timeline_string(tl, frames[i][0]),
                                   timeline_string(tl, frames[i][1]), i};
        assert_true(array_push(&tl->frames, f));
    }
    assert_true(array_push(&tl->stacks, stack));
    tl->blocks.at[0].stack = (uint32_t)tl->stacks.count - 1;
    struct holder_list list;
    struct error err = {0};
    assert_ok(holder_list_find(tl, 0, 0, HOLDER_BY_FRAME, 0, &list, &err), err);
    assert_string_equal(strtab_text(&list.strings, list.rows.at[0].name), expected);
    assert_int_equal(frames_useful_count(tl, tl->blocks.at[0].stack), useful);
    assert_null(frames_useful(tl, tl->blocks.at[0].stack, useful));
    holder_list_fini(&list);
    timeline_destroy(tl);
}

TEST(a_stack_is_told_by_the_frame_of_the_user) {
    USE_STATE;
    static const char *const mixed[][2] = {
        {"torch::unwind::unwind()", "??"},
        {"void at::native::f<float>(at::Tensor const&)", ""},
        {"my_extension(at::Tensor const&)", "ext.cpp"},
        {"forward", "/usr/lib/python3/site-packages/torch/nn/modules/linear.py"},
        {"forward", "model.py"},
        {"main", "train.py"},
    };
    assert_best_frame(mixed, 6, "forward (model.py:4)", 3);
    assert_best_frame(mixed, 4,
                      "forward (/usr/lib/python3/site-packages/torch/nn/modules/linear.py:3)", 1);
    assert_best_frame(mixed, 3, "my_extension(at::Tensor const&) (ext.cpp:2)", 1);
    assert_best_frame(mixed, 2, "void at::native::f<float>(at::Tensor const&)", 1);
    assert_best_frame(mixed, 1, "torch::unwind::unwind()", 1);
    static const char *const backward[][2] = {
        {"torch::unwind::unwind()", "??"},
        {"at::_ops::bmm::call(at::Tensor const&)", "??"},
        {"torch::autograd::generated::details::div_tensor_other_backward(at::Tensor const&)", "??"},
        {"torch::autograd::generated::BmmBackward0::apply(std::vector<at::Tensor>&&)", "??"},
        {"execute_native_thread_routine", "thread48.o"},
    };
    assert_best_frame(backward, 5, "BmmBackward0::apply", 1);
}

SUITE(cmocka_unit_test(peak_is_the_first_event_that_reaches_it),
      cmocka_unit_test(a_freed_block_leaves_allocated_at_once_and_active_when_completed),
      cmocka_unit_test(memory_from_before_the_first_event_can_be_the_peak),
      cmocka_unit_test(phase_path_names_the_innermost_phase),
      cmocka_unit_test(holders_sum_up_by_category_and_op),
      cmocka_unit_test(largest_blocks_come_first_and_older_ones_among_equals),
      cmocka_unit_test(a_stack_is_told_by_the_frame_of_the_user),
      cmocka_unit_test(tree_rows_sum_up_to_their_parent),
      cmocka_unit_test(numbered_modules_are_one_row_when_they_are_equal),
      cmocka_unit_test(every_figure_survives_exhausted_host_memory),
      cmocka_unit_test(peaks_of_random_timelines_are_those_of_brute_force))
