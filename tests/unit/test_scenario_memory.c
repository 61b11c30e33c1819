/* test_scenario_memory.c: this machine's memory ends at the n-th request: an error of its own, never
 * one of the scenario. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "scenario_run.h"
#include "xalloc.h"

struct limited {
    uint64_t seen, last; /* every request after the last one fails */
};

static void *limited_hook(void *user, void *old, size_t bytes) {
    struct limited *l = user;
    if (bytes == 0) {
        free(old);
        return NULL;
    }
    return ++l->seen > l->last ? NULL : realloc(old, bytes);
}

static bool run(struct scenario_case *c, const char *path, uint64_t last, uint64_t *seen) {
    struct limited l = {.last = last};
    memset(c, 0, sizeof *c);
    c->sink.quiet = true;
    xalloc_set_hook(limited_hook, &l);
    bool ok = scenario_case_run(c, path, NULL);
    xalloc_set_hook(NULL, NULL);
    *seen = l.seen;
    return ok;
}

static void end_anywhere(const char *path, uint64_t first, uint64_t step) {
    struct scenario_case c;
    uint64_t all, seen;
    bool ok = run(&c, path, UINT64_MAX, &all);
    assert_ok(ok, c.error);
    scenario_case_fini(&c);
    for (uint64_t n = 1; n < all; n += n < first ? 1 : step) {
        if (!run(&c, path, n, &seen)) {
            if (c.error.code != ERROR_HOST_MEMORY)
                print_message("%llu: %s\n", (unsigned long long)n, c.error.text);
            assert_int_equal(c.error.code, ERROR_HOST_MEMORY);
            assert_non_null(strstr(c.error.text, "this machine's memory is exhausted"));
        }
        scenario_case_fini(&c);
    }
}

TEST(memory_of_the_machine_ends_anywhere) {
    USE_STATE;
    end_anywhere(SOURCE_DIR "/tests/scenario/memory.lua", 400, 97);
}

TEST(memory_ends_while_a_config_is_read_or_run) {
    USE_STATE;
    end_anywhere(SOURCE_DIR "/tests/scenario/config/config.json", 20, 3989);
    end_anywhere(SOURCE_DIR "/tests/scenario/config/adapter_config.json", 20, 3989);
}

TEST(a_path_that_is_too_long_is_named) {
    USE_STATE;
    struct scenario_case c = {.ok = false};
    char path[6000];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    memcpy(path + sizeof path - 8, "/b.lua", 7);
    assert_false(scenario_case_run(&c, path, NULL));
    assert_int_equal(c.error.code, ERROR_LIMIT);
    assert_non_null(strstr(c.error.text, "aaaa...: a path of more than"));
    scenario_case_fini(&c);
}

SUITE(cmocka_unit_test(memory_of_the_machine_ends_anywhere),
      cmocka_unit_test(memory_ends_while_a_config_is_read_or_run),
      cmocka_unit_test(a_path_that_is_too_long_is_named))
