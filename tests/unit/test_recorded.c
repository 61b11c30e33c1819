/* The figures of recorded runs against those that PyTorch itself reported at the end of each step
 * (NAME.json). */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "file.h"
#include "importer.h"
#include "pools.h"
#include "steps.h"
#include "timeline.h"
#include "xalloc.h"

static const char *const names[] = {
    "pytorch-2.11/llama7b_bf16_b1_s2048",
    "pytorch-2.15/llama7b_bf16_b1_s2048",
    "pytorch-2.15/llama7b_bf16_on_24gb",
    "pytorch-2.15/llama_fsdp2_mixed",
    "pytorch-2.15/llama_tiny_accumulate4",
    "pytorch-2.15/llama_tiny_clip",
    "pytorch-2.15/llama_tiny_expandable",
    "pytorch-2.15/llama_tiny_gc06",
    "pytorch-2.15/llama_tiny_gqa_unannotated",
    "pytorch-2.15/llama_tiny_keep_grads",
    "pytorch-2.15/llama_tiny_max_split32",
    "pytorch-2.15/llama_tiny_retry_then_oom",
    "pytorch-2.15/llama_tiny_roundup4",
    "pytorch-2.15/mlp_adamw_forloop",
    "pytorch-2.15/mlp_sgd",
    "pytorch-2.15/streams_record_stream",
};

static struct timeline *load(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/traces/%s.pickle.zst", TEST_DATA, name);
    struct timeline *tl = NULL;
    struct error err = {0};
    assert_ok(trace_import(path, NULL, &tl, NULL, &err), err);
    return tl;
}

static void load_marks(const char *name, char **json) {
    char path[1024];
    snprintf(path, sizeof path, "%s/traces/%s.json", TEST_DATA, name);
    struct error err = {0};
    size_t length;
    assert_ok(file_read(path, 1 << 20, json, &length, &err), err);
}

/* The next mark of a step at or after `at`; NULL: none. */
static const char *next_step(const char *at) {
    return strstr(at, "\"at\": \"step ");
}

static uint64_t mark_figure(const char *mark, const char *key) {
    const char *at = strstr(mark, key);
    if (!at) {
        fail_msg("no %s in %.20s", key, mark);
        return 0;
    }
    return strtoull(at + strlen(key) + strlen("\": "), NULL, 10);
}

/* A mark is read when the step's function has returned: its last locals are gone, nothing new has
 * been asked for. */
static uint32_t mark_event(const struct timeline *tl, const struct step *step) {
    uint32_t i = step->end_event + 1;
    while (i < tl->events.count && (tl->events.at[i].kind == EVENT_FREE_REQUESTED ||
                                    tl->events.at[i].kind == EVENT_FREE_COMPLETED))
        i++;
    return i;
}

static void check_pools(const struct timeline *tl, const struct step *step, const char *mark) {
    struct pools p;
    struct error err = {0};
    assert_ok(pools_find(tl, 0, mark_event(tl, step), UINT64_MAX, &p, &err), err);
    assert_true(p.has_inactive_split);
    assert_bytes_equal(p.stat[POOL_INACTIVE_SPLIT_BYTES][POOL_ALL].current,
                       mark_figure(mark, "inactive_split_bytes.all.current"));
    assert_bytes_equal(p.stat[POOL_ALLOCATED_BYTES][POOL_ALL].current,
                       mark_figure(mark, "allocated_bytes.all.current"));
    assert_bytes_equal(p.stat[POOL_ALLOCATION][POOL_ALL].allocated,
                       mark_figure(mark, "allocation.all.allocated"));
    assert_bytes_equal(p.stat[POOL_SEGMENT][POOL_ALL].current,
                       mark_figure(mark, "segment.all.current"));
}

static void check_run(const char *name) {
    struct timeline *tl = load(name);
    char *json = NULL;
    load_marks(name, &json);
    struct steps steps;
    struct error err = {0};
    assert_ok(steps_find(tl, 0, &steps, &err), err);
    size_t count = 0;
    for (const char *mark = next_step(json); mark; mark = next_step(mark + 1), count++) {
        if (count >= steps.rows.count)
            fail_msg("%s: %zu steps", name, steps.rows.count);
        const struct step *s = &steps.rows.at[count];
        assert_true(s->is_complete);
        assert_bytes_equal(s->allocated_peak, mark_figure(mark, "allocated_bytes.all.peak"));
        assert_bytes_equal(s->active_peak, mark_figure(mark, "active_bytes.all.peak"));
        assert_bytes_equal(s->reserved_peak, mark_figure(mark, "reserved_bytes.all.peak"));
        assert_bytes_equal(s->requested_peak, mark_figure(mark, "requested_bytes.all.peak"));
        if (next_step(mark + 1)) /* after the last step the program ends and frees all */
            check_pools(tl, s, mark);
    }
    if (steps.rows.count > count)
        assert_false(array_at(&steps.rows, count)->is_complete);
    steps_fini(&steps);
    xfree(json);
    timeline_destroy(tl);
}

TEST(figures_at_each_steps_end_are_pytorchs) {
    USE_STATE;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_run(names[i]);
}

TEST(a_recorded_run_equals_itself) {
    USE_STATE;
    struct timeline *a = load("pytorch-2.15/llama_tiny_clip"),
                    *b = load("pytorch-2.15/llama_tiny_clip");
    struct comparison c;
    struct error err = {0};
    assert_ok(compare_find(a, 0, b, 0, &c, &err), err);
    assert_true(compare_is_equal(&c));
    assert_bytes_equal(c.requests_equal, 1175);
    assert_true(c.curve_distance == 0);
    compare_fini(&c);
    timeline_destroy(a);
    timeline_destroy(b);
}

/* llama_tiny_clip is llama_tiny_bf16_sdpa with the requests of clipping in each step: exactly these
 * are missing. */
TEST(what_one_recording_has_more_is_found_to_the_request) {
    USE_STATE;
    struct timeline *a = load("pytorch-2.15/llama_tiny_bf16_sdpa"),
                    *b = load("pytorch-2.15/llama_tiny_clip");
    struct comparison c;
    struct error err = {0};
    assert_ok(compare_find(a, 0, b, 0, &c, &err), err);
    assert_int_equal(c.alignment.first, ALIGNMENT_MISSING_DIFFERS);
    assert_bytes_equal(c.alignment.matched, c.requests_simulated);
    assert_bytes_equal(c.requests_real - c.requests_simulated, 87);
    compare_fini(&c);
    timeline_destroy(a);
    timeline_destroy(b);
}

SUITE(cmocka_unit_test(figures_at_each_steps_end_are_pytorchs),
      cmocka_unit_test(a_recorded_run_equals_itself),
      cmocka_unit_test(what_one_recording_has_more_is_found_to_the_request))
