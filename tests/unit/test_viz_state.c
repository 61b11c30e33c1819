/* What is shown as a line of text, and the table at the cursor as a file. */
#include "suite.h"

#include "app.h"
#include "input.h"
#include "keys.h"
#include "picture.h"
#include "state.h"
#include "text.h"
#include "viz_fixture.h"

static struct app *open_app(const struct timeline *a, const struct timeline *b) {
    struct app_options options = {.width = 900, .height = 600, .embedded_font = true};
    struct error err = {0};
    struct app *app = app_create(&options, a, b, &err);
    assert_non_null(app);
    return app;
}

static void press(struct app *app, const char *name) {
    struct input in = {.kind = INPUT_KEY};
    assert_true(keys_parse(name, &in.key, &in.mods));
    app_input(app, &in);
}

static void assert_state(struct app *app, const char *expected) {
    struct text out = {0};
    state_write(app, &out);
    assert_string_equal(text_get(&out), expected);
    text_fini(&out);
}

static void assert_refused(struct app *app, const char *state, const char *why) {
    struct error err = {0};
    assert_false(state_apply(app, state, &err));
    assert_int_equal(err.code, ERROR_USAGE);
    assert_string_equal(err.text, why);
}

TEST(a_state_applied_is_the_state_written) {
    USE_STATE;
    struct timeline *tl = fixture_llama("a.lua", false);
    static const char *const states[] = {
        "axis=time;group=module;at=event 1000",
        "axis=events;tab=off;side=off;group=op;search=cat:act size>1KiB;only=activation;at=event "
        "1200;mark=event 7;"
        "range=10..20;pin=3;view=100..2000;bytes=0..99999",
        "axis=events;group=stack;at=start;view=17..27",
        "axis=time;bands=module;group=size;at=event 1000",
        "axis=time;bands=size;group=module;only=> 4 KiB, <= 64 KiB;at=event 1000",
        "axis=time;bands=module;group=module;only=others;at=event 1000",
    };
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        struct app *app = open_app(tl, NULL);
        struct error err = {0};
        assert_ok(state_apply(app, states[i], &err), err);
        assert_state(app, states[i]);
        app_destroy(app);
    }
    timeline_destroy(tl);
}

TEST(whatever_the_keys_did_is_written_and_shown_again) {
    USE_STATE;
    struct timeline *a = fixture_llama("a.lua", false), *b = fixture_llama("b.lua", true);
    static const char *const keys[] = {"p",     "w",           "w",     "d", "Shift+W", "c",
                                       "x",     "v",           "2",     "n", "m",       "Alt+C",
                                       "3",     "Alt+Shift+C", "Alt+C", "4", "a",       "r",
                                       "Enter", "F2",          "F6",    "w", "Right",   "y"};
    for (size_t count = 0; count <= sizeof keys / sizeof keys[0]; count++) {
        struct app *app = open_app(a, b), *again = open_app(a, b);
        struct text state = {0};
        struct error err = {0};
        for (size_t i = 0; i < count; i++)
            press(app, keys[i]);
        state_write(app, &state);
        assert_ok(state_apply(again, text_get(&state), &err), err);
        assert_state(again, text_get(&state));
        text_fini(&state);
        app_destroy(app);
        app_destroy(again);
    }
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(wrong_states_say_what_is_expected) {
    USE_STATE;
    struct timeline *tl = fixture_llama("a.lua", false);
    struct app *app = open_app(tl, NULL);
    assert_refused(app, "grup=op",
                   "state: unknown field 'grup' (did you mean 'group'?); known: axis compare tab "
                   "side map track level bands group search only at mark range pin view bytes");
    assert_refused(app, "group=colour",
                   "state: group=colour: expected module, path, category, op, name, stack, dtype, "
                   "stream, size");
    assert_refused(app, "bands=colour",
                   "state: bands=colour: expected module, path, category, op, name, stack, dtype, "
                   "stream, size");
    assert_refused(app, "bands=dtype;only=activation",
                   "state: only=activation: expected all, others or a band's name, as the legend "
                   "has it");
    struct error none = {0};
    assert_ok(state_apply(app, "bands=category", &none), none);
    assert_refused(app, "view=9..3",
                   "state: view=9..3: expected whole, or the first and last event, as 100..2000");
    assert_refused(app, "axis=time; axis=events", "state: axis stands twice");
    assert_refused(app, "tab", "state: tab: a value is expected: tab=NAME|off");
    assert_refused(app, "only=everything",
                   "state: only=everything: expected all or a category such as activation");
    struct error err = {0};
    assert_ok(state_apply(app, "", &err), err);
    assert_ok(state_apply(app, ";; group=op", &err), err);
    app_destroy(app);
    timeline_destroy(tl);
}

/* The sum of a column of the table, which the JSON names as a whole too. */
TEST(the_rows_of_a_file_sum_to_the_moment) {
    USE_STATE;
    struct timeline *tl = fixture_llama("a, \"b\".lua", false);
    struct app *app = open_app(tl, NULL);
    struct text csv = {0}, json = {0};
    struct error err = {0};
    uint64_t allocated = 0, sum = 0;
    char expected[64];
    assert_ok(state_apply(app, "at=peak", &err), err);
    assert_true(app_query(app, "cursor.allocated", &allocated));
    assert_ok(picture_of(app, PICTURE_CSV, &csv, &err), err);
    for (const char *at = strchr(text_get(&csv), '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
        const char *comma = strchr(at, ',');
        sum += strtoull(comma + 1, NULL, 10);
    }
    assert_bytes_equal(sum, allocated);
    assert_ok(picture_of(app, PICTURE_JSON, &json, &err), err);
    snprintf(expected, sizeof expected, "\"total_bytes\": %llu,", (unsigned long long)allocated);
    assert_non_null(strstr(text_get(&json), expected));
    assert_non_null(strstr(text_get(&json), "\"file\": \"a, \\\"b\\\".lua\""));
    text_fini(&csv);
    text_fini(&json);
    app_destroy(app);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(a_state_applied_is_the_state_written),
      cmocka_unit_test(whatever_the_keys_did_is_written_and_shown_again),
      cmocka_unit_test(wrong_states_say_what_is_expected),
      cmocka_unit_test(the_rows_of_a_file_sum_to_the_moment))
