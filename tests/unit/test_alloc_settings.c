/* test_alloc_settings.c: the text of PYTORCH_ALLOC_CONF: what each release accepts (table 29 of the
 * allocator's rules), the rounding lists, what a change at run time keeps. */
#include "suite.h"

#include <string.h>

#include "alloc_settings.h"
#include "framework.h"
#include "releases.h"
#include "units.h"

static const struct framework v2_6 = RELEASE("2.6", 6);
static const struct framework v2_11 = RELEASE("2.11", 11);
static const struct framework v2_15 = RELEASE("2.15", 15);

static bool accepts(const char *text, const struct framework *framework) {
    struct alloc_settings settings;
    struct error err;
    return alloc_settings_parse(text, framework, &settings, &err);
}

/* "e" error, "o" ok for 2.6, 2.11, 2.15. */
static void check_accepts(const char *text, const char *expected) {
    const struct framework *const frameworks[] = {&v2_6, &v2_11, &v2_15};
    for (size_t i = 0; i < 3; i++)
        if (accepts(text, frameworks[i]) != (expected[i] == 'o'))
            fail_msg("'%s' on %s: expected %c", text, frameworks[i]->name, expected[i]);
}

TEST(each_release_accepts_its_own_values) {
    USE_STATE;
    static const struct {
        const char *text, *expected;
    } rows[] = {{"garbage_collection_threshold:1.2", "eee"},
                {"garbage_collection_threshold:0", "eee"},
                {"garbage_collection_threshold:1.0", "eee"},
                {"garbage_collection_threshold:0.8", "ooo"},
                {"garbage_collection_threshold:.5", "ooo"},
                {"garbage_collection_threshold:x", "eee"},
                {"garbage_collection_threshold:", "eee"},
                {"garbage_collection_threshold", "eee"},
                {"max_split_size_mb:2", "eee"},
                {"max_split_size_mb:19", "eee"},
                {"max_split_size_mb:20", "eoo"},
                {"max_split_size_mb:21", "ooo"},
                {"max_split_size_mb:-21", "eee"},
                {"max_split_size_mb:99999999999999999999999", "eee"},
                {"max_split_size_mb:18446744073709551615", "ooo"},
                {"large_segment_size_mb:40,max_split_size_mb:30", "eee"},
                {"large_segment_size_mb:40,max_non_split_rounding_mb:20", "eee"},
                {"large_segment_size_mb:40,max_split_size_mb:40", "eoo"},
                {"max_non_split_rounding_mb:19", "eee"},
                {"max_non_split_rounding_mb:20", "eoo"},
                {"max_non_split_rounding_mb:21", "ooo"},
                {"large_segment_size_mb:10", "eee"},
                {"large_segment_size_mb:11", "eoo"},
                {"large_segment_size_mb:18446744073709551615", "eee"},
                {"per_process_memory_fraction:1.5", "eee"},
                {"per_process_memory_fraction:0.5", "eoo"},
                {"throw_on_cudamalloc_oom:True", "eeo"},
                {"roundup_power2_divisions:3", "eee"},
                {"roundup_power2_divisions:0", "eee"},
                {"roundup_power2_divisions:1", "ooo"},
                {"roundup_power2_divisions:[3:2]", "eee"},
                {"roundup_power2_divisions:[300:4]", "eee"},
                {"roundup_power2_divisions:[256:3]", "eee"},
                {"roundup_power2_divisions:[256:4", "eee"},
                {"roundup_power2_divisions:[]", "eee"},
                {"roundup_power2_divisions:[256:0,>:4]", "ooo"},
                {"expandable_segments:true", "eee"},
                {"expandable_segments:True", "ooo"},
                {"release_lock_on_cudamalloc:1", "eee"},
                {"release_lock_on_cudamalloc:none", "eee"},
                {"release_lock_on_cudamalloc:True", "ooo"},
                {"no_such_key:1", "eee"},
                {"graph_capture_record_stream_reuse:True", "eoo"},
                {"expandable_segments_reserve:0.5", "eeo"},
                {"expandable_segments_reserve:40G", "eeo"},
                {"expandable_segments_reserve:0", "eee"},
                {"expandable_segments_reserve:1.5", "eee"},
                {"expandable_segments_reserve:0G", "eee"},
                {"expandable_segments_reserve_by_class:[a:0.25,b:8G]", "eeo"},
                {"expandable_segments_reserve_by_class:[:0.25]", "eee"},
                {"backend:native", "ooo"},
                {"backend:cudaMallocAsync", "ooo"},
                {"backend:other", "eee"},
                {"pinned_num_register_threads:8,pinned_use_cuda_host_register:True", "ooo"},
                {"", "ooo"},
                {" max_split_size_mb : 32 , expandable_segments:True ,", "ooo"},
                {",max_split_size_mb:32", "eee"},
                {"max_split_size_mb:32 expandable_segments:True", "eee"},
                {"max_split_size_mb:[32]", "eee"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_accepts(rows[i].text, rows[i].expected);
}

static void check_divisions(const char *list, const struct framework *framework,
                            const uint32_t expected[ALLOC_DIVISION_SLOTS]) {
    char text[128];
    struct alloc_settings settings;
    struct error err;
    snprintf(text, sizeof text, "roundup_power2_divisions:%s", list);
    assert_ok(alloc_settings_parse(text, framework, &settings, &err), err);
    for (size_t i = 0; i < ALLOC_DIVISION_SLOTS; i++)
        if (settings.divisions[i] != expected[i])
            fail_msg("%s on %s: slot %zu is %u, expected %u", list, framework->name, i,
                     settings.divisions[i], expected[i]);
}

TEST(rounding_lists_fill_their_slots) {
    USE_STATE;
    static const struct {
        const char *list;
        uint32_t old[ALLOC_DIVISION_SLOTS], new[ALLOC_DIVISION_SLOTS];
    } rows[] = {
        {"[64:8,128:2,256:2,512:2,1024:1,>:4]",
         {8, 8, 8, 8, 8, 8, 8, 2, 2, 2, 4, 4, 4, 4, 4, 4},
         {8, 8, 8, 8, 8, 8, 8, 2, 2, 2, 1, 4, 4, 4, 4, 4}},
        {"[256:1,512:2,1024:4,>:8]",
         {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8},
         {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8}},
        {"[1:2,4:8,16:4,64:2,>:1]",
         {2, 0, 8, 0, 4, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
         {2, 0, 8, 0, 4, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {"[256:4,64:8]",
         {4, 4, 4, 4, 4, 4, 8, 4, 4, 0, 0, 0, 0, 0, 0, 0},
         {4, 4, 4, 4, 4, 4, 8, 4, 4, 0, 0, 0, 0, 0, 0, 0}},
        {"[>:8]",
         {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
         {0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
        {"[65536:2]",
         {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
         {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
        {"4",
         {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
         {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_divisions(rows[i].list, &v2_6, rows[i].old);
        check_divisions(rows[i].list, &v2_11, rows[i].new);
        check_divisions(rows[i].list, &v2_15, rows[i].new);
    }
}

TEST(values_arrive_in_bytes) {
    USE_STATE;
    struct alloc_settings s;
    struct error err;
    assert_ok(alloc_settings_parse("max_split_size_mb:128,garbage_collection_threshold:0.6,"
                                   "large_segment_size_mb:32,per_process_memory_fraction:0.25,"
                                   "expandable_segments:True,throw_on_cudamalloc_oom:True",
                                   NULL, &s, &err),
              err);
    assert_bytes_equal(s.max_split_bytes, 128 * MIB);
    assert_bytes_equal(s.large_segment_bytes, 32 * MIB);
    assert_bytes_equal(s.max_non_split_rounding_bytes, 32 * MIB);
    assert_true(s.garbage_collection_threshold == 0.6 && s.memory_fraction == 0.25);
    assert_true(s.expandable_segments && s.throw_on_cudamalloc_oom);
    alloc_settings_default(&s);
    assert_bytes_equal(s.max_split_bytes, UINT64_MAX);
    assert_true(s.memory_fraction == 1 && s.large_segment_bytes == 20 * MIB);
}

TEST(a_change_resets_three_and_keeps_the_rest) {
    USE_STATE;
    struct alloc_settings s;
    struct error err;
    assert_ok(alloc_settings_parse("max_split_size_mb:128,garbage_collection_threshold:0.6,"
                                   "roundup_power2_divisions:8,large_segment_size_mb:32,"
                                   "max_non_split_rounding_mb:64,expandable_segments:True",
                                   NULL, &s, &err),
              err);
    assert_ok(alloc_settings_change("", NULL, &s, &err), err);
    assert_bytes_equal(s.max_split_bytes, UINT64_MAX);
    assert_true(s.garbage_collection_threshold == 0);
    assert_int_equal(s.divisions[3], 0);
    assert_true(s.expandable_segments);
    assert_bytes_equal(s.max_non_split_rounding_bytes, 64 * MIB);
    assert_bytes_equal(s.large_segment_bytes, 32 * MIB);
    assert_false(alloc_settings_change("max_split_size_mb:31", NULL, &s, &err));
    assert_false(alloc_settings_change("backend:cudaMallocAsync", NULL, &s, &err));
    assert_true(s.expandable_segments);
}

TEST(messages_say_what_was_found_and_known) {
    USE_STATE;
    struct alloc_settings s;
    struct error err;
    assert_false(alloc_settings_parse("expandable_segment:True", &v2_6, &s, &err));
    assert_non_null(strstr(err.text, "unknown key 'expandable_segment'; known: max_split_size_mb"));
    assert_null(strstr(err.text, "large_segment_size_mb"));
    assert_false(alloc_settings_parse("expandable_segments:yes", NULL, &s, &err));
    assert_string_equal(err.text, "expandable_segments: found 'yes', expected True or False");
    assert_false(alloc_settings_parse("max_split_size_mb:32:64", NULL, &s, &err));
    char longest[200];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_false(alloc_settings_parse(longest, NULL, &s, &err));
    assert_int_equal(err.code, ERROR_BAD_INPUT);
}

SUITE(cmocka_unit_test(each_release_accepts_its_own_values),
      cmocka_unit_test(rounding_lists_fill_their_slots), cmocka_unit_test(values_arrive_in_bytes),
      cmocka_unit_test(a_change_resets_three_and_keeps_the_rest),
      cmocka_unit_test(messages_say_what_was_found_and_known))
