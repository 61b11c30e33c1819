/* json_parse.h: what stands in it comes in order, bad JSON is refused with its place, memory that
 * runs out is an error. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "importer.h"
#include "json_parse.h"
#include "text.h"

struct log {
    struct text text;
    int stop_at; /* the value that ends the parse; 0: none */
    int seen;
};

static int add(void *context, const char *text, size_t length) {
    struct log *log = context;
    text_add_bytes(&log->text, text, length);
    text_add(&log->text, " ");
    return ++log->seen != log->stop_at;
}

static int on_null(void *context) {
    return add(context, "null", 4);
}

static int on_boolean(void *context, int value) {
    return add(context, value ? "true" : "false", value ? 4 : 5);
}

static int on_string(void *context, const unsigned char *text, size_t length) {
    return add(context, (const char *)text, length);
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    return add(context, (const char *)text, length) && add(context, ":", 1);
}

static int on_begin_object(void *context) {
    return add(context, "{", 1);
}

static int on_end_object(void *context) {
    return add(context, "}", 1);
}

static int on_begin_array(void *context) {
    return add(context, "[", 1);
}

static int on_end_array(void *context) {
    return add(context, "]", 1);
}

static const struct json_handlers handlers = {.null = on_null,
                                              .boolean = on_boolean,
                                              .number = add,
                                              .string = on_string,
                                              .key = on_key,
                                              .begin_object = on_begin_object,
                                              .end_object = on_end_object,
                                              .begin_array = on_begin_array,
                                              .end_array = on_end_array};

static bool parse(const char *text, const struct trace_options *options, struct log *log,
                  struct error *err) {
    *err = (struct error){0};
    return json_parse((const uint8_t *)text, strlen(text), &handlers, log, options, err);
}

TEST(values_come_in_order_and_numbers_as_written) {
    USE_STATE;
    struct log log = {0};
    struct error err;
    assert_ok(parse(" {\"a\": [1, -2.50e3, true, false, null, \"x\\u00e9\\n\"], \"b\":{}} ", NULL,
                    &log, &err),
              err);
    assert_string_equal(text_get(&log.text),
                        "{ a : [ 1 -2.50e3 true false null x\xc3\xa9\n ] b : { } } ");
    text_fini(&log.text);
}

TEST(what_is_no_json_is_refused_with_its_place) {
    USE_STATE;
    static const char *const bad[] = {"",    "{",    "[1,]",  "{\"a\" 1}", "[1] [2]", "[\"\xff\"]",
                                      "nul", "[01]", "{1:2}", "\"abc",     "[1}",     "[\"\\x\"]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct log log = {0};
        struct error err;
        assert_false(parse(bad[i], NULL, &log, &err));
        assert_int_equal(err.code, ERROR_BAD_INPUT);
        assert_non_null(strstr(err.text, "byte"));
        assert_null(strchr(err.text, '\n'));
        text_fini(&log.text);
    }
}

TEST(escapes_are_characters) {
    USE_STATE;
    struct log log = {0};
    struct error err;
    assert_ok(parse("[\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00|\\/\\b\\f\\r\\t\\\"\\\\|a "
                    "longer text with \xc3\xa9 and a \\u000a\"]",
                    NULL, &log, &err),
              err);
    assert_string_equal(text_get(&log.text),
                        "[ A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80|/\b\f\r\t\"\\|a longer text with "
                        "\xc3\xa9 and a \n ] ");
    text_fini(&log.text);
}

TEST(the_grammar_is_that_of_json) {
    USE_STATE;
    static const char *const good[] = {"0",
                                       "-0",
                                       "1.5E+10",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       " [ [ ] , { } ] ",
                                       "{\"\":0}",
                                       "[{\"a\":[]},\"\",-1]",
                                       "null"};
    static const char *const bad[] = {"-",          "1.",
                                      "1e",         ".5",
                                      "+1",         "[,1]",
                                      "[1 2]",      "{,}",
                                      "{\"a\"}",    "{\"a\":}",
                                      "{\"a\":1,}", "]",
                                      "[1]]",       "truefalse",
                                      "[tru]",      "nan",
                                      "'a'",        "\"a\nb",
                                      "\"\\u12",    "\"\\ud83d\\u1",
                                      "[1,,2]",     "{\"a\":1 \"b\":2}",
                                      "00",         "-01"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct log log = {0};
        struct error err;
        assert_ok(parse(good[i], NULL, &log, &err), err);
        text_fini(&log.text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct log log = {0};
        struct error err;
        if (parse(bad[i], NULL, &log, &err))
            fail_msg("taken for JSON: %s", bad[i]);
        assert_non_null(strstr(err.text, "byte"));
        text_fini(&log.text);
    }
}

TEST(depth_has_an_end) {
    USE_STATE;
    char text[2 * JSON_DEPTH + 3] = "";
    struct log log = {0};
    struct error err;
    memset(text, '[', JSON_DEPTH);
    memset(text + JSON_DEPTH, ']', JSON_DEPTH);
    assert_ok(parse(text, NULL, &log, &err), err);
    memset(text, '[', JSON_DEPTH + 1);
    assert_false(parse(text, NULL, &log, &err));
    assert_string_equal(err.text, "JSON nested deeper than 256");
    text_fini(&log.text);
}

TEST(a_handler_ends_the_parse) {
    USE_STATE;
    struct log log = {.stop_at = 3};
    struct error err;
    assert_false(parse("[1, 2, 3, 4]", NULL, &log, &err));
    assert_string_equal(text_get(&log.text), "[ 1 2 ");
    text_fini(&log.text);
}

static bool no_progress(void *user, uint64_t done, uint64_t total) {
    (void)user;
    (void)done;
    (void)total;
    return false;
}

TEST(a_parse_can_be_interrupted) {
    USE_STATE;
    const struct trace_options options = {.progress = no_progress};
    struct log log = {0};
    struct error err;
    assert_false(parse("[1]", &options, &log, &err));
    assert_int_equal(err.code, ERROR_INTERRUPTED);
    text_fini(&log.text);
}

/* A text of many megabytes with an escape at its end, which must be put together. */
TEST(a_value_above_the_limit_is_refused) {
    USE_STATE;
    size_t length = 3u << 20;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, 'x', length);
    text[0] = text[length - 1] = '"';
    text[length - 3] = '\\';
    text[length - 2] = 'n';
    text[length] = '\0';
    struct trace_options options = {.max_memory_bytes = 1 << 20};
    struct log log = {0};
    struct error err;
    assert_false(parse(text, &options, &log, &err));
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_non_null(strstr(err.text, "--max-memory"));
    options.max_memory_bytes = 64 << 20;
    assert_ok(parse(text, &options, &log, &err), err);
    assert_int_equal(log.text.length, length - 3 + 1); /* quotes and the escape; a blank */
    text_fini(&log.text);
    free(text);
}

/* Handlers that take no memory themselves. */
static int pass(void *context) {
    (void)context;
    return 1;
}

static int pass_boolean(void *context, int value) {
    (void)value;
    return pass(context);
}

static int pass_text(void *context, const unsigned char *text, size_t length) {
    (void)text;
    (void)length;
    return pass(context);
}

static int pass_number(void *context, const char *text, size_t length) {
    (void)text;
    (void)length;
    return pass(context);
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    static const struct json_handlers quiet = {.null = pass,
                                               .boolean = pass_boolean,
                                               .number = pass_number,
                                               .string = pass_text,
                                               .key = pass_text,
                                               .begin_object = pass,
                                               .end_object = pass,
                                               .begin_array = pass,
                                               .end_array = pass};
    struct text deep = {0};
    for (int i = 0; i < 250; i++)
        text_add(&deep, "[\"a\\n\",");
    text_add(&deep, "1");
    for (int i = 0; i < 250; i++)
        text_add(&deep, "]");
    struct failing_alloc f = {.fail_at = 1};
    for (bool done = false; !done; f.fail_at++) {
        struct error err = {0};
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        done = json_parse((const uint8_t *)text_get(&deep), deep.length, &quiet, NULL, NULL, &err);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(err.code, done ? ERROR_NONE : ERROR_HOST_MEMORY);
        assert_true(f.fail_at < 1000);
    }
    assert_true(f.fail_at > 2);
    text_fini(&deep);
}

TEST(numbers_are_read_without_a_double) {
    USE_STATE;
    uint64_t u;
    int64_t i;
    assert_true(json_number_u64("18446744073709551615", 20, &u) && u == UINT64_MAX);
    assert_false(json_number_u64("18446744073709551616", 20, &u));
    for (uint64_t n = 7, count = 1; count < 20; count++, n = n * 10 + count % 10) {
        char digits[24], broken[24];
        size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
        assert_true(json_number_u64(digits, length, &u) && u == n);
        for (size_t at = 0; at < length; at++)
            for (const char *c = "/:-.e ~\xb1"; *c; c++) {
                memcpy(broken, digits, sizeof digits);
                broken[at] = *c;
                assert_false(json_number_u64(broken, length, &u));
            }
    }
    assert_false(json_number_u64("1.0", 3, &u) || json_number_u64("-1", 2, &u) ||
                 json_number_u64("", 0, &u) || json_number_u64("1e3", 3, &u));
    assert_true(json_number_i64("-9223372036854775807", 20, &i) && i == -INT64_MAX);
    assert_false(json_number_i64("9223372036854775808", 19, &i) || json_number_i64("-", 1, &i));
    assert_true(json_number_thousandths("1669783687464300.1239", 21, &u));
    assert_bytes_equal(u, UINT64_C(1669783687464300123));
    assert_true(json_number_thousandths("5.1", 3, &u) && u == 5100);
    assert_false(json_number_thousandths("-5", 2, &u) || json_number_thousandths("1e3", 3, &u) ||
                 json_number_thousandths("18446744073709552", 17, &u));
}

SUITE(cmocka_unit_test(values_come_in_order_and_numbers_as_written),
      cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
      cmocka_unit_test(escapes_are_characters), cmocka_unit_test(the_grammar_is_that_of_json),
      cmocka_unit_test(depth_has_an_end), cmocka_unit_test(a_handler_ends_the_parse),
      cmocka_unit_test(a_parse_can_be_interrupted),
      cmocka_unit_test(a_value_above_the_limit_is_refused),
      cmocka_unit_test(every_failing_allocation_is_handed_up),
      cmocka_unit_test(numbers_are_read_without_a_double))
