/* What a person likes, as text: there and back, and what cannot be read. */
#include "suite.h"

#include <string.h>

#include "settings.h"
#include "viz_fixture.h"
#include "viz_session.h"

static void read_fails(const char *text, const char *expected) {
    struct settings s = {.scale_percent = 77};
    struct error err = {0};
    assert_false(settings_read(text, &s, &err));
    assert_string_equal(err.text, expected);
    assert_true(s.has == 0 && s.scale_percent == 77);
}

TEST(settings_are_read_as_they_were_written) {
    USE_STATE;
    struct fixture random = {.random = 6};
    for (int i = 0; i < 500; i++) {
        struct settings s = {.theme = (enum theme_id)fixture_random_below(&random, THEME_COUNT),
                             .language = (enum language)fixture_random_below(&random, 2),
                             .scale_percent = 50 + (int)fixture_random_below(&random, 351),
                             .axis = (enum ruler_mode)fixture_random_below(&random, 2)};
        s.has = (unsigned)fixture_random_below(&random, 1u << SETTINGS_COUNT);
        s.grouping = (enum owner_grouping)fixture_random_below(&random, OWNER_GROUPING_COUNT);
        for (int k = 0; k < SPLIT_COUNT; k++) {
            s.shown[k] = fixture_random_below(&random, 2) == 0;
            s.share[k] = 1 + (int)fixture_random_below(&random, 4000);
        }
        struct text text = {0};
        struct settings read = {0};
        struct error err = {0};
        settings_write(&s, &text);
        assert_ok(settings_read(text_get(&text), &read, &err), err);
        text_fini(&text);
        assert_int_equal(read.has, s.has);
        assert_int_equal(settings_changes(&s, &read) & s.has, 0);
        struct settings merged = s;
        settings_take(&merged, &read, read.has);
        assert_int_equal(settings_changes(&s, &merged), 0);
    }
}

TEST(a_line_that_is_no_setting_is_named) {
    USE_STATE;
    read_fails("# a comment\n\ntheme light\ntheme pink\n", "line 4: 'theme pink': not a setting");
    read_fails("scale 49\n", "line 1: 'scale 49': not a setting");
    read_fails("scale 100%\n", "line 1: 'scale 100%': not a setting");
    read_fails("tabs on\n", "line 1: 'tabs on': not a setting");
    read_fails("tabs maybe 30\n", "line 1: 'tabs maybe 30': not a setting");
    read_fails("theme\n", "line 1: 'theme': not a setting");
    read_fails("theme light dark\n", "line 1: 'theme light dark': not a setting");
    read_fails("sound loud", "line 1: 'sound loud': not a setting");
}

TEST(settings_come_back_in_another_window) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false);
    const struct app_options options = {.width = 1000, .height = 700};
    struct session s = session_open(&options, a, NULL), other = session_open(&options, a, NULL);
    struct settings left;
    session_play(&s, "key t\nkey Ctrl+L\nkey Ctrl++\nkey c\nkey x\nkey F6\ndrag 100 485 100 400\n");
    settings_of(s.app, &left);
    settings_apply(other.app, &left);
    struct settings now;
    settings_of(other.app, &now);
    assert_int_equal(settings_changes(&left, &now), 0);
    assert_true(now.theme == THEME_LIGHT && now.language == LANGUAGE_CHINESE);
    assert_true(now.scale_percent == 125 && !now.shown[SPLIT_SIDE]);
    session_frame(&other);
    session_close(&s);
    session_close(&other);
    a->has &= ~(uint32_t)TIMELINE_HAS_OWNER; /* a trace that knows no modules */
    s = session_open(&options, a, NULL);
    uint64_t usual = session_value(&s, "grouping");
    settings_apply(s.app, &left); /* by module path */
    assert_int_equal(session_value(&s, "grouping"), usual);
    session_close(&s);
    timeline_destroy(a);
}

SUITE(cmocka_unit_test(settings_are_read_as_they_were_written),
      cmocka_unit_test(a_line_that_is_no_setting_is_named),
      cmocka_unit_test(settings_come_back_in_another_window))
