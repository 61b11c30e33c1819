/* Parameters as rows: steps, bounds, taking back, another run in the same window. */
#include "suite.h"

#include <string.h>

#include "failing_alloc.h"
#include "parameters.h"
#include "viz_fixture.h"
#include "viz_session.h"

static const struct parameter rows[] = {
    {.name = "batch",
     .help = "sequences a step",
     .value = "1",
     .usual = "1",
     .kind = PARAMETER_INTEGER,
     .has_min = true,
     .min = 1},
    {.name = "dtype",
     .help = "of the weights",
     .value = "bf16",
     .usual = "bf16",
     .choices = "fp32|bf16|fp16",
     .kind = PARAMETER_CHOICE},
    {.name = "tied", .help = "", .value = "false", .usual = "false", .kind = PARAMETER_BOOLEAN},
    {.name = "dropout",
     .help = "a share",
     .value = "0.1",
     .usual = "0.1",
     .kind = PARAMETER_NUMBER,
     .has_min = true,
     .has_max = true,
     .min = 0,
     .max = 1},
    {.name = "widths",
     .help = "of the layers",
     .value = "8,16",
     .usual = "8",
     .kind = PARAMETER_TEXT},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void steps(struct parameter p, enum parameter_step step, bool up, const char *expected) {
    char next[PARAMETER_VALUE];
    bool moved = parameter_next(&p, step, up, next);
    assert_true(moved == (expected != NULL));
    if (moved)
        assert_string_equal(next, expected);
}

static struct parameter with(int row, const char *value) {
    struct parameter p = rows[row];
    p.value = value;
    p.choices = p.choices ? p.choices : "";
    return p;
}

TEST(values_step_inside_their_bounds) {
    USE_STATE;
    steps(with(0, "1"), PARAMETER_STEP, true, "2");
    steps(with(0, "1"), PARAMETER_STEP, false, NULL);
    steps(with(0, "4096"), PARAMETER_STEP, true, "4608");
    steps(with(0, "4608"), PARAMETER_STEP, false, "4096");
    steps(with(0, "4096"), PARAMETER_ONE, false, "4095");
    steps(with(0, "3"), PARAMETER_TWICE, true, "6");
    steps(with(0, "3"), PARAMETER_TWICE, false, "1");
    steps(with(0, "many"), PARAMETER_STEP, true, NULL);
    steps(with(0, "9223372036854775807"), PARAMETER_TWICE, true, NULL);
    steps(with(1, "fp32"), PARAMETER_STEP, false, NULL);
    steps(with(1, "fp32"), PARAMETER_STEP, true, "bf16");
    steps(with(1, "fp16"), PARAMETER_STEP, true, NULL);
    steps(with(1, "fp16"), PARAMETER_STEP, false, "bf16");
    steps(with(1, "fp8"), PARAMETER_STEP, true, NULL);
    steps(with(2, "true"), PARAMETER_STEP, true, "false");
    steps(with(3, "0.1"), PARAMETER_STEP, true, "0.15");
    steps(with(3, "0"), PARAMETER_STEP, false, NULL);
    steps(with(3, "1"), PARAMETER_STEP, true, NULL);
    steps(with(3, "0.3"), PARAMETER_TWICE, true, "0.6");
    steps(with(4, "8,16"), PARAMETER_STEP, true, NULL);
}

TEST(ranges_are_told) {
    USE_STATE;
    const char *const expected[ROWS] = {">= 1", "fp32 | bf16 | fp16", "true | false", "0 .. 1", ""};
    for (int i = 0; i < ROWS; i++) {
        char text[PARAMETER_VALUE];
        struct parameter p = with(i, "1");
        parameter_range(&p, text);
        assert_string_equal(text, expected[i]);
    }
}

TEST(changes_are_taken_back_in_order) {
    USE_STATE;
    struct parameters p = {0};
    size_t row = 9;
    assert_true(parameters_set(&p, rows, ROWS));
    assert_true(parameters_change(&p, 0, "2") && parameters_change(&p, 1, "fp32") &&
                parameters_change(&p, 0, "3"));
    assert_string_equal(p.rows.at[0].value, "3");
    assert_true(parameters_undo(&p, &row) && row == 0);
    assert_string_equal(p.rows.at[0].value, "2");
    assert_true(parameters_undo(&p, &row) && row == 1);
    assert_true(parameter_is_usual(&p.rows.at[1]) && !parameter_is_usual(&p.rows.at[0]));
    assert_true(parameters_undo(&p, &row) && !parameters_undo(&p, &row));
    assert_string_equal(p.rows.at[0].value, "1");
    parameters_fini(&p);
}

TEST(a_changed_row_asks_for_a_run_that_comes_in_the_same_window) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false),
                    *b = fixture_llama("made_up.lua", true);
    struct session s = session_open(&(struct app_options){.width = 1200, .height = 700}, a, NULL);
    struct error err = {0};
    session_play(&s, "key Alt+P\nkey Right\nexpect parameters 0\n"); /* none: the cursor's key */
    assert_int_equal(app_take_request(s.app), APP_NOTHING);
    assert_true(app_set_parameters(s.app, rows, ROWS));
    uint64_t before = session_value(&s, "events");
    session_play(&s, "key p\nkey t\nkey Down\nkey Right\nexpect parameters.changed 1\n");
    assert_int_equal(app_take_request(s.app), APP_RUN_AGAIN);
    assert_string_equal(app_parameters(s.app)->rows.at[0].value, "2");
    session_frame(&s);
    const struct app_options options = {.width = 1200, .height = 700, .embedded_font = true};
    struct app *old = s.app; /* what the host does */
    s.app = app_create(&options, b, a, &err);
    assert_non_null(s.app);
    app_adopt(s.app, old, true);
    app_carry_parameters(s.app, old);
    app_destroy(old);
    session_play(&s, "expect theme 1\nexpect tab 6\nexpect row 1\nexpect parameters.changed 1\n");
    assert_int_equal(session_value(&s, "cursor.moment"), session_value(&s, "peak.event") + 1);
    assert_true(session_value(&s, "events") != before && s.app->b.tl == a);
    app_run_failed(s.app, "layers.lua:3: heads must divide hidden");
    assert_string_equal(app_parameters(s.app)->rows.at[0].value, "1");
    session_golden(&s, &pane_parameters, "parameters-failed.txt");
    session_play(&s, "key Right\nkey Ctrl+Z\nexpect parameters.changed 0\n");
    session_golden(&s, &pane_parameters, "parameters-english.txt");
    session_play(&s, "key Ctrl+L\nkey Ctrl++\nkey Ctrl++\n");
    session_golden(&s, &pane_parameters, "parameters-chinese-150.txt");
    session_play(&s, "key Ctrl++\nkey Ctrl++\nresize 1600 1000\n");
    session_golden(&s, &pane_parameters, "parameters-chinese-200.txt");
    session_close(&s);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(a_click_on_the_chosen_value_changes_it) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false);
    struct session s = session_open(&(struct app_options){.width = 1200, .height = 700}, a, NULL);
    assert_true(app_set_parameters(s.app, rows, ROWS));
    session_play(&s, "key Alt+P\n");
    session_frame(&s);
    const struct rect *r = &s.app->layout.tab;
    const struct table_state *state = &s.app->tables[panes_tab_index(&pane_parameters)];
    int y = r->y + state->head + state->row / 2, x = r->x + r->w - 14 - 260 - 130;
    char line[64];
    snprintf(line, sizeof line, "click %d %d\n", x - 10, y);
    session_play(&s, line); /* chooses */
    session_play(&s, "expect row 1\nexpect parameters.changed 0\n");
    session_play(&s, line); /* more */
    session_play(&s, "expect parameters.changed 1\n");
    assert_string_equal(app_parameters(s.app)->rows.at[0].value, "2");
    snprintf(line, sizeof line, "click %d %d\n", x - 150, y);
    session_play(&s, line); /* less */
    assert_string_equal(app_parameters(s.app)->rows.at[0].value, "1");
    session_close(&s);
    timeline_destroy(a);
}

TEST(every_allocation_of_parameters_may_fail) {
    USE_STATE;
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        struct parameters p = {0};
        xalloc_set_hook(failing_alloc_hook, &f);
        bool good = parameters_set(&p, rows, ROWS) && parameters_change(&p, 0, "2");
        parameters_fini(&p);
        bool reached = f.seen >= n;
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_true(good == !reached);
        if (!reached)
            break;
    }
}

SUITE(cmocka_unit_test(values_step_inside_their_bounds), cmocka_unit_test(ranges_are_told),
      cmocka_unit_test(changes_are_taken_back_in_order),
      cmocka_unit_test(a_changed_row_asks_for_a_run_that_comes_in_the_same_window),
      cmocka_unit_test(a_click_on_the_chosen_value_changes_it),
      cmocka_unit_test(every_allocation_of_parameters_may_fail))
