/* test_scenario.c: a scenario run twice, in threads, interrupted, with host memory that fails. */
#include "suite.h"

#include <pthread.h>

#include "failing_alloc.h"
#include "scenario_run.h"

#define SMALL SOURCE_DIR "/tests/scenario/run/small.lua"
#define MLP SOURCE_DIR "/scenarios/mlp.lua"
#define LLAMA SOURCE_DIR "/scenarios/llama7b.lua"

static const char *const tiny[] = {"hidden=64", "intermediate=96", "layers=2",
                                   "heads=4",   "seq=32",          "steps=2",
                                   "clip=1.0",  "accumulate=2",    "vocab=100"};

static char *log_of(const char *path, const char *const *sets, size_t count) {
    struct scenario_case c = {.ok = false};
    struct scenario_options options = {.sets = sets, .set_count = count};
    assert_ok(scenario_case_run(&c, path, &options), c.error);
    assert_int_equal(c.tape.status, TAPE_OK);
    assert_false(c.sink.broken);
    char *log = xstrdup(text_get(&c.sink.log));
    scenario_case_fini(&c);
    return log;
}

TEST(the_same_scenario_gives_the_same_log) {
    USE_STATE;
    char *first = log_of(LLAMA, tiny, sizeof tiny / sizeof *tiny);
    char *second = log_of(LLAMA, tiny, sizeof tiny / sizeof *tiny);
    assert_true(strlen(first) > 1000);
    assert_string_equal(first, second);
    xfree(first);
    xfree(second);
}

static void *run_in_thread(void *user) {
    const char *path = user;
    bool llama = strcmp(path, LLAMA) == 0;
    char *log = NULL;
    for (int i = 0; i < 3; i++) {
        xfree(log);
        log = log_of(path, tiny, llama ? sizeof tiny / sizeof *tiny : 0);
    }
    return log;
}

TEST(two_scenarios_run_in_two_threads) {
    USE_STATE;
    static char llama_path[] = LLAMA, mlp_path[] = MLP;
    char *llama = run_in_thread(llama_path), *mlp = run_in_thread(mlp_path);
    pthread_t threads[2];
    void *logs[2];
    assert_int_equal(pthread_create(&threads[0], NULL, run_in_thread, llama_path), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, run_in_thread, mlp_path), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], &logs[i]), 0);
    assert_string_equal(logs[0], llama);
    assert_string_equal(logs[1], mlp);
    char *all[] = {llama, mlp, logs[0], logs[1]};
    for (int i = 0; i < 4; i++)
        xfree(all[i]);
}

TEST(only_parameters_stops_there) {
    USE_STATE;
    struct scenario_case c = {.ok = false};
    struct scenario_options options = {.only_parameters = true};
    assert_ok(scenario_case_run(&c, LLAMA, &options), c.error);
    assert_true(c.info.params.count > 10);
    assert_string_equal(c.info.params.at[0].name, "hidden");
    assert_string_equal(c.info.params.at[0].default_text, "4096");
    assert_int_equal(c.sink.request_count, 0);
    scenario_case_fini(&c);
}

TEST(an_interrupt_ends_the_run) {
    USE_STATE;
    struct scenario_case c = {.ok = false};
    volatile int interrupted = 1;
    struct scenario_options options = {.interrupted = &interrupted};
    assert_false(
        scenario_case_run(&c, SOURCE_DIR "/tests/scenario/errors/endless_loop.lua", &options));
    assert_int_equal(c.error.code, ERROR_INTERRUPTED);
    scenario_case_fini(&c);
}

TEST(a_full_device_is_a_result_at_every_request) {
    USE_STATE;
    uint64_t requests = 0;
    for (uint64_t n = 0; n <= requests; n++) {
        struct scenario_case c = {.ok = false};
        c.sink.fail_at = n;
        assert_ok(scenario_case_run(&c, SMALL, NULL), c.error);
        assert_false(c.sink.broken);
        assert_int_equal(c.tape.status, n == 0 ? TAPE_OK : TAPE_OUT_OF_MEMORY);
        if (n == 0)
            requests = c.sink.request_count;
        else
            assert_int_equal(c.sink.request_count, n); /* nothing is asked for after it */
        scenario_case_fini(&c);
    }
    assert_true(requests > 30);
}

static bool run_small(struct failing_alloc *f, size_t fail_at, char *told, size_t bytes) {
    struct scenario_case c = {.sink = {.quiet = true}};
    f->fail_at = fail_at;
    f->seen = 0;
    xalloc_set_hook(failing_alloc_hook, f);
    bool ok = scenario_case_run(&c, SMALL, NULL);
    snprintf(told, bytes, "%.200s", ok ? "" : c.error.text);
    if (!ok && c.error.code != ERROR_HOST_MEMORY && c.error.code != ERROR_LIMIT)
        snprintf(told, bytes, "code %d, %.200s", (int)c.error.code, c.error.text);
    scenario_case_fini(&c);
    xalloc_set_hook(NULL, NULL);
    return ok;
}

/* Every allocation of a run fails once: an error that says so, or none was needed; nothing is left. */
TEST(failing_host_memory_is_an_error) {
    USE_STATE;
    struct failing_alloc f = {.fail_at = 0};
    char told[256];
    assert_true(run_small(&f, 0, told, sizeof told));
    size_t count = f.seen;
    assert_true(count > 100);
    /* n = 1, 2, 3 ... for a longer run: all held */
    for (size_t n = 1; n <= count; n += n < 200 ? 1 : 11) {
        bool ok = run_small(&f, n, told, sizeof told);
        if (f.live != 0 || strncmp(told, "code", 4) == 0 || (!ok && told[0] == '\0'))
            fail_msg("allocation %zu of %zu: %ld left, '%s'", n, count, f.live, told);
    }
}

SUITE(cmocka_unit_test(the_same_scenario_gives_the_same_log),
      cmocka_unit_test(two_scenarios_run_in_two_threads),
      cmocka_unit_test(only_parameters_stops_there), cmocka_unit_test(an_interrupt_ends_the_run),
      cmocka_unit_test(a_full_device_is_a_result_at_every_request),
      cmocka_unit_test(failing_host_memory_is_an_error))
