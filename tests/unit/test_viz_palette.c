/* Colours that can be told apart, and palettes from files. */
#include "suite.h"

#include <math.h>
#include <string.h>

#include "app.h"
#include "colour.h"
#include "draw.h"
#include "palette.h"
#include "text.h"
#include "viz_fixture.h"

/* Pairs of Sharma, Wu and Dalal's table 1. */
TEST(the_measure_is_that_of_its_source) {
    USE_STATE;
    static const struct {
        struct lab p, q;
        double difference;
    } pairs[] = {
        {{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
        {{50, 3.1571, -77.2803}, {50, 0, -82.7485}, 2.8615},
        {{50, 0, 0}, {50, -1, 2}, 2.3669},
        {{50, 2.5, 0}, {73, 25, -18}, 27.1492},
        {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
        {{2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}, 0.9082},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        double found = ciede2000(pairs[i].p, pairs[i].q);
        if (fabs(found - pairs[i].difference) > 0.00005)
            fail_msg("pair %zu: %.5f, expected %.4f", i, found, pairs[i].difference);
    }
}

/* Categories from the bottom, one of each hue; those that share one differ by a pattern. */
static const enum category hues[] = {
    CATEGORY_OUTSIDE,   CATEGORY_PARAMETER,     CATEGORY_OPTIMIZER,
    CATEGORY_GRADIENT,  CATEGORY_INPUT,         CATEGORY_ACTIVATION,
    CATEGORY_TEMPORARY, CATEGORY_COMMUNICATION, CATEGORY_UNKNOWN};
enum { HUES = sizeof hues / sizeof hues[0] };

static double nearest_apart(size_t by) {
    double least = 1000;
    for (int sight = 0; sight < SIGHT_COUNT; sight++)
        for (size_t i = 0; i + by < HUES; i++) {
            struct lab p = colour_lab(theme_band(hues[i]).color, (enum sight)sight);
            struct lab q = colour_lab(theme_band(hues[i + by]).color, (enum sight)sight);
            double d = ciede2000(p, q);
            least = d < least ? d : least;
        }
    return least;
}

TEST(neighbours_differ_in_every_sight) {
    USE_STATE;
    double next = nearest_apart(1), second = nearest_apart(2);
    if (next < 17.85 || second < 12.35)
        fail_msg("neighbours %.2f, expected 17.9; next but one %.2f, expected 12.4", next, second);
}

TEST(categories_of_one_hue_differ_by_a_pattern) {
    USE_STATE;
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        for (unsigned k = 0; k < i; k++) {
            struct band_style a = theme_band((enum category)i), b = theme_band((enum category)k);
            assert_false(a.color == b.color && a.pattern == b.pattern);
        }
}

TEST(texts_have_contrast) {
    USE_STATE;
    static const struct {
        enum theme_id theme;
        double ink, faint;
    } least[] = {{THEME_DARK, 13.5, 6.4}, {THEME_LIGHT, 15.4, 5.8}, {THEME_CONTRAST, 21, 21}};
    for (size_t i = 0; i < THEME_COUNT; i++) {
        const struct theme *t = theme_get(least[i].theme);
        double ink = palette_contrast(t->ink, t->plot), faint = palette_contrast(t->faint, t->plot);
        if (ink < least[i].ink - 0.05 || faint < least[i].faint - 0.05)
            fail_msg("theme %zu: ink %.2f, faint %.2f", i, ink, faint);
    }
    for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
        struct band_style style = theme_band((enum category)i);
        if (palette_contrast(style.color, style.on) < 5.15)
            fail_msg("label on %s: %.2f", category_key((enum category)i),
                     palette_contrast(style.color, style.on));
    }
}

TEST(a_palette_file_changes_what_it_names) {
    USE_STATE;
    struct palette p;
    struct error err = {0};
    palette_start(&p);
    assert_ok(
        palette_parse("# mine\n\nactivation=102030\n kv_cache = #FFEE00 dots\n", "f", &p, &err),
        err);
    assert_int_equal(p.bands[CATEGORY_ACTIVATION].color, 0xff102030);
    assert_int_equal(p.bands[CATEGORY_ACTIVATION].on, 0xffffffff);
    assert_int_equal(p.bands[CATEGORY_KV_CACHE].color, 0xffffee00);
    assert_int_equal(p.bands[CATEGORY_KV_CACHE].pattern, PATTERN_DOTS);
    assert_int_equal(p.bands[CATEGORY_KV_CACHE].on, 0xff000000);
    assert_int_equal(p.bands[CATEGORY_GRADIENT].color, theme_band(CATEGORY_GRADIENT).color);
}

static void assert_refused(const char *text, const char *why) {
    struct palette p;
    struct error err = {0};
    palette_start(&p);
    assert_false(palette_parse(text, "mine", &p, &err));
    assert_int_equal(err.code, ERROR_USAGE);
    assert_string_equal(err.text, why);
}

TEST(mistakes_are_told_with_their_line) {
    USE_STATE;
    assert_refused(
        "\nactivations = 102030",
        "mine:2: unknown category 'activations' (did you mean 'activation'?); as activation");
    assert_refused("activation = 10203",
                   "mine:1: '10203': expected six hexadecimal digits, as 0072B2");
    assert_refused("activation = 102030 stripes",
                   "mine:1: unknown pattern 'stripes': none, diagonals, dots or hatch");
    assert_refused("activation 102030", "mine:1: expected category = RRGGBB [pattern]");
    assert_refused("activation = 102030 dots more", "mine:1: expected category = RRGGBB [pattern]");
}

TEST(what_is_drawn_has_the_palettes_colours) {
    USE_STATE;
    struct timeline *tl = fixture_llama("a.lua", false);
    struct palette p;
    struct error err = {0};
    palette_start(&p);
    assert_ok(palette_parse("parameter = 123456\n", "f", &p, &err), err);
    struct app_options options = {
        .width = 900, .height = 600, .embedded_font = true, .palette = &p, .picture = true};
    struct app *app = app_create(&options, tl, NULL, &err);
    assert_non_null(app);
    struct draw_list list = {0};
    bool drawn = false;
    assert_ok(app_frame(app, &list, &err), err);
    for (size_t i = 0; i < list.styles.count; i++) {
        drawn = drawn || list.styles.at[i].color == 0xff123456;
        assert_true(list.styles.at[i].color != theme_band(CATEGORY_PARAMETER).color);
    }
    for (size_t i = 0; i < list.commands.count; i++)
        assert_true(list.commands.at[i].color != theme_band(CATEGORY_PARAMETER).color);
    assert_true(drawn);
    draw_fini(&list);
    app_destroy(app);
    timeline_destroy(tl);
}

SUITE(cmocka_unit_test(the_measure_is_that_of_its_source),
      cmocka_unit_test(neighbours_differ_in_every_sight),
      cmocka_unit_test(categories_of_one_hue_differ_by_a_pattern),
      cmocka_unit_test(texts_have_contrast), cmocka_unit_test(a_palette_file_changes_what_it_names),
      cmocka_unit_test(mistakes_are_told_with_their_line),
      cmocka_unit_test(what_is_drawn_has_the_palettes_colours))
