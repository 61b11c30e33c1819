/* The forms of a run: goldens of whole pages, and the small rules one by one. */
#include "suite.h"

#include "chart_term.h"
#include "failing_alloc.h"
#include "format.h"
#include "golden.h"
#include "json_out.h"
#include "report.h"
#include "text.h"
#include "tl_build.h"
#include "tl_random.h"
#include "tl_samples.h"

static const struct report_param params[] = {
    {"hidden", "4096"},      {"layers", "32"},
    {"batch", "1"},          {"seq", "2048"},
    {"dtype", "bf16"},       {"attention", "sdpa"},
    {"optimizer", "adamw"},  {"optimizer_impl", "foreach"},
    {"set_to_none", "true"}, {"tie_embeddings", "false"},
};

static struct report_run training_run(void) {
    return (struct report_run){.scenario = "scenarios/small.lua",
                               .framework = "pytorch-2.15",
                               .device = "A100-80GB",
                               .params = params,
                               .param_count = sizeof params / sizeof params[0],
                               .has_alloc_retries = true};
}

static void assert_page(const char *sample, const struct report_run *run,
                        const struct report_style *style, const char *path) {
    struct timeline *tl = tl_build(sample);
    struct report r;
    struct error err = {0};
    struct text t = {0};
    assert_ok(report_init(&r, tl, run, &err), err);
    assert_ok(report_text(&r, style, &t, &err), err);
    assert_golden(text_get(&t), path);
    text_fini(&t);
    report_fini(&r);
    timeline_destroy(tl);
}

TEST(report_of_a_training_run) {
    USE_STATE;
    struct report_run run = training_run();
    struct report_style style = {.width = 100, .chart_height = 12};
    assert_page(tl_training, &run, &style, "tests/report/training.txt");
}

TEST(an_estimate_has_its_columns) {
    USE_STATE;
    struct report_run run = training_run();
    run.estimate = "llama7b";
    run.note = "optimizer_impl=foreach adds a copy of the parameters at the peak: 67.5 GB against "
               "54.4 GB with forloop.";
    struct report_style style = {0};
    assert_page(tl_training, &run, &style, "tests/report/estimate.txt");
}

/* `end` as the caller knows it; unknown: what follows the last failure decides. */
static void check_ooms(const char *text, enum report_end end, bool fits, uint32_t caught) {
    struct report_run run = {.end = end};
    struct timeline *tl = tl_build(text);
    struct report r;
    struct error err = {0};
    assert_ok(report_init(&r, tl, &run, &err), err);
    assert_int_equal(r.fits, fits);
    assert_int_equal(r.caught, caught);
    assert_ptr_equal(r.oom, r.fits ? r.ooms.first : r.ooms.last);
    report_fini(&r);
    timeline_destroy(tl);
}

TEST(a_run_that_goes_on_after_an_out_of_memory_fits) {
    USE_STATE;
    const char *ends = "segment s0 2MiB small\nalloc a 512 at=s0+0\noom 1GiB\nfree a\n";
    const char *goes_on = "segment s0 2MiB small\noom 1GiB\noom 2GiB\nalloc a 512 at=s0+0\n";
    check_ooms(ends, REPORT_END_UNKNOWN, false, 0);
    check_ooms(ends, REPORT_END_FINISHED, true, 1);
    check_ooms(goes_on, REPORT_END_UNKNOWN, true, 2);
    check_ooms(goes_on, REPORT_END_RAN_OUT, false, 1);
    check_ooms("segment s0 2MiB small\nalloc a 512 at=s0+0\n", REPORT_END_UNKNOWN, true, 0);
}

TEST(report_of_a_run_out_of_memory_says_by_how_much) {
    USE_STATE;
    struct report_run run = {.scenario = "scenarios/big.lua",
                             .need = {.bytes = 1241 * MIB, .has_expandable = true}};
    struct report_style style = {.width = 80, .chart_height = 6, .has_unicode = true};
    struct timeline *tl = tl_build(tl_out_of_memory);
    tl->ooms.at[0].segment_bytes = 600 * MIB;
    tl->ooms.at[0].device_free_bytes = 412 * MIB;
    tl->ooms.at[0].allocated_bytes = tl->ooms.at[0].reserved_bytes = 512 * MIB;
    struct report r;
    struct error err = {0};
    struct text t = {0};
    assert_ok(report_init(&r, tl, &run, &err), err);
    assert_false(r.fits);
    assert_ok(report_text(&r, &style, &t, &err), err);
    assert_golden(text_get(&t), "tests/report/oom.txt");
    t.length = 0;
    report_json(&r, &t);
    assert_golden(text_get(&t), "tests/report/oom.json");
    text_fini(&t);
    report_fini(&r);
    timeline_destroy(tl);
}

TEST(json_csv_and_summary_of_a_training_run) {
    USE_STATE;
    struct timeline *tl = tl_build(tl_training);
    struct report_run run = training_run();
    struct report r;
    struct error err = {0};
    struct text t = {0};
    assert_ok(report_init(&r, tl, &run, &err), err);
    report_json(&r, &t);
    assert_golden(text_get(&t), "tests/report/training.json");
    t.length = 0;
    assert_ok(report_csv(tl, 0, &t, &err), err);
    assert_golden(text_get(&t), "tests/report/training.csv");
    t.length = 0;
    report_summary(&r, &t);
    assert_golden(text_get(&t), "tests/report/training_summary.txt");
    text_fini(&t);
    report_fini(&r);
    timeline_destroy(tl);
}

static void assert_chart(const char *sample, struct chart_term_options options, const char *path) {
    struct timeline *tl = tl_build(sample);
    struct error err = {0};
    struct text t = {0};
    assert_ok(chart_term_write(tl, &options, &t, &err), err);
    assert_golden(text_get(&t), path);
    text_fini(&t);
    timeline_destroy(tl);
}

TEST(charts_in_letters_blocks_and_colours) {
    USE_STATE;
    struct chart_term_options options = {.width = 90, .height = 10};
    assert_chart(tl_training, options, "tests/report/chart_ascii.txt");
    options.has_unicode = options.by_time = true;
    assert_chart(tl_training, options, "tests/report/chart_by_time.txt");
    options.has_colour = true;
    assert_chart(tl_training, options, "tests/report/chart_colour.txt");
    options.has_unicode = options.by_time = false;
    assert_chart(tl_training, options, "tests/report/chart_colour_ascii.txt");
}

TEST(a_chart_of_any_size_keeps_to_its_width) {
    USE_STATE;
    struct timeline *tl = tl_random(9, 300);
    struct error err = {0};
    for (uint32_t width = 0; width < 300; width += 37)
        for (uint32_t height = 0; height < 40; height += 13) {
            struct text t = {0};
            struct chart_term_options options = {.width = width, .height = height};
            assert_ok(chart_term_write(tl, &options, &t, &err), err);
            uint32_t shown = width < 40 ? 40 : width;
            const char *line = strchr(text_get(&t), '\n') + 1; /* below the peak's mark */
            for (uint32_t i = 0; i < (height < 4 ? 4 : height); i++, line = strchr(line, '\n') + 1)
                assert_true(strcspn(line, "\n") <= shown);
            text_fini(&t);
        }
    timeline_destroy(tl);
    tl = tl_build("");
    struct text t = {0};
    struct chart_term_options options = {.width = 60, .height = 5};
    assert_ok(chart_term_write(tl, &options, &t, &err), err);
    text_fini(&t);
    timeline_destroy(tl);
}

TEST(foreign_texts_cannot_steer_the_terminal_or_break_the_formats) {
    USE_STATE;
    struct text t = {0};
    format_safe(&t, "a\x1b[2Jb\xc2\x9b"
                    "c\xff"
                    "\xe4\xb8\xad");
    assert_string_equal(text_get(&t), "a?[2Jb?c?\xe4\xb8\xad");
    t.length = 0;
    format_safe_cut(&t, "abcdefgh", 6);
    assert_string_equal(text_get(&t), "abc...");
    t.length = 0;
    struct json j;
    json_begin(&j, &t);
    json_object(&j, NULL);
    json_text(&j, "a\"b", "line\n\ttab \\ \x01 \xff \xc3\xa9 \xed\xa0\x80");
    json_text(&j, "none", NULL);
    json_end(&j);
    json_finish(&j);
    assert_string_equal(text_get(&t),
                        "{\n  \"a\\\"b\": \"line\\n\\ttab \\\\ \\u0001 \\ufffd \xc3\xa9 "
                        "\\ufffd\\ufffd\\ufffd\",\n  \"none\": null\n}\n");
    t.length = 0;
    struct timeline *tl = tl_build("alloc a 512 op=x,y\n");
    tl->blocks.at[0].owner = timeline_string(tl, "say \"hi\"");
    struct error err = {0};
    assert_ok(report_csv(tl, 0, &t, &err), err);
    assert_non_null(strstr(text_get(&t), ",unknown,\"x,y\",\"say \"\"hi\"\"\",\n"));
    timeline_destroy(tl);
    text_fini(&t);
}

TEST(numbers_of_json_are_exact) {
    USE_STATE;
    struct text t = {0};
    struct json j;
    json_begin(&j, &t);
    json_array(&j, NULL);
    json_u64(&j, NULL, UINT64_MAX);
    json_i64(&j, NULL, INT64_MIN);
    json_double(&j, NULL, 0.1);
    json_double(&j, NULL, 1.0 / 3);
    json_double(&j, NULL, 1e300 * 1e300);
    json_array(&j, NULL);
    json_end(&j);
    json_end(&j);
    json_finish(&j);
    assert_string_equal(text_get(&t),
                        "[\n  18446744073709551615,\n  -9223372036854775808,\n  0.1,\n  "
                        "0.3333333333333333,\n  null,\n  []\n]\n");
    text_fini(&t);
}

TEST(an_unknown_source_is_not_shown_as_zero) {
    USE_STATE;
    struct timeline *tl = tl_build("alloc a 512\n");
    struct report_run run = {0};
    struct report r;
    struct error err = {0};
    struct text t = {0};
    assert_ok(report_init(&r, tl, &run, &err), err);
    struct report_style style = {0};
    assert_ok(report_text(&r, &style, &t, &err), err);
    assert_non_null(strstr(text_get(&t), "reserved               unknown to the source"));
    t.length = 0;
    report_json(&r, &t);
    assert_non_null(strstr(text_get(&t), "\"reserved_bytes\": null"));
    assert_non_null(strstr(text_get(&t), "\"device\": null"));
    t.length = 0;
    report_summary(&r, &t);
    assert_non_null(strstr(text_get(&t), "| Non-releasable memory |          - |"));
    text_fini(&t);
    report_fini(&r);
    timeline_destroy(tl);
}

static bool write_everything(const struct timeline *tl, const struct report_run *run,
                             struct error *err) {
    struct report r;
    struct text t = {0};
    struct report_style style = {.chart_height = 5};
    if (!report_init(&r, tl, run, err))
        return false;
    bool ok = report_text(&r, &style, &t, err);
    report_json(&r, &t);
    report_summary(&r, &t);
    ok = ok && report_csv(tl, 0, &t, err) && !t.failed;
    text_fini(&t);
    report_fini(&r);
    return ok;
}

TEST(exhausted_host_memory_is_an_error) {
    USE_STATE;
    struct timeline *tl = tl_build(tl_training);
    struct report_run run = training_run();
    struct failing_alloc f = {0};
    bool done = false;
    for (f.fail_at = 1; !done; f.fail_at++) {
        f.seen = 0;
        struct error err = {0};
        xalloc_set_hook(failing_alloc_hook, &f);
        done = write_everything(tl, &run, &err);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
    }
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(report_of_a_training_run), cmocka_unit_test(an_estimate_has_its_columns),
      cmocka_unit_test(a_run_that_goes_on_after_an_out_of_memory_fits),
      cmocka_unit_test(report_of_a_run_out_of_memory_says_by_how_much),
      cmocka_unit_test(json_csv_and_summary_of_a_training_run),
      cmocka_unit_test(charts_in_letters_blocks_and_colours),
      cmocka_unit_test(a_chart_of_any_size_keeps_to_its_width),
      cmocka_unit_test(foreign_texts_cannot_steer_the_terminal_or_break_the_formats),
      cmocka_unit_test(numbers_of_json_are_exact),
      cmocka_unit_test(an_unknown_source_is_not_shown_as_zero),
      cmocka_unit_test(exhausted_host_memory_is_an_error))
