/* Pure parts: view, ruler, axis, layout, texts, keys. */
#include "suite.h"

#include <math.h>
#include <string.h>

#include "axis.h"
#include "font.h"
#include "i18n.h"
#include "keys.h"
#include "label.h"
#include "layout.h"
#include "lod.h"
#include "ruler.h"
#include "theme.h"
#include "utf8.h"
#include "view.h"
#include "viz_fixture.h"
#include "x_resources.h"

TEST(pixels_and_positions_round_trip) {
    USE_STATE;
    const struct view views[] = {{0, 1000, 0, 1e9}, {123456, 123460, 5e9, 6e9}, {-1, 9, 0, 1}};
    for (int k = 0; k < 3; k++)
        for (int x = 0; x < 1600; x++) {
            double position = view_position(&views[k], x + 0.5, 1600);
            assert_int_equal(view_x(&views[k], position, 1600), x);
            double bytes = view_bytes_at(&views[k], x, 1600);
            assert_int_equal(view_height_of(&views[k], bytes, 1600), x);
        }
}

TEST(wild_positions_stay_in_an_int) {
    USE_STATE;
    const struct view view = {0, 1e-3, 0, 1};
    assert_int_equal(view_x(&view, 1e300, 1600), VIEW_FAR);
    assert_int_equal(view_x(&view, -1e300, 1600), -VIEW_FAR);
    assert_int_equal(view_x(&view, NAN, 1600), -VIEW_FAR);
    assert_int_equal(view_height_of(&view, 1.8e19, 900), VIEW_FAR);
}

TEST(zoom_keeps_the_point_and_the_limits) {
    USE_STATE;
    const struct view_limits limits = {-1, 1e6, 4, 1e9};
    struct fixture random = {.random = 3};
    struct view view;
    view_fit_x(&view, &limits);
    view_fit_y(&view, &limits);
    for (int i = 0; i < 20000; i++) {
        double at = view_position(&view, (double)fixture_random_below(&random, 1600), 1600);
        double before = (at - view.x0) / (view.x1 - view.x0);
        double factor = 0.5 + (double)fixture_random_below(&random, 1500) / 1000;
        struct view old = view;
        switch (fixture_random_below(&random, 3)) {
        case 0:
            view_zoom_x(&view, &limits, at, factor);
            if (view.x0 > limits.first && view.x1 < limits.last)
                assert_true(fabs((at - view.x0) / (view.x1 - view.x0) - before) < 1e-6);
            break;
        case 1:
            view_pan_x(&view, &limits, (factor - 1) * (view.x1 - view.x0));
            assert_true(fabs((view.x1 - view.x0) - (old.x1 - old.x0)) < 1e-6);
            break;
        default:
            view_zoom_y(&view, &limits, (view.y0 + view.y1) / 2, factor);
        }
        assert_true(view.x0 >= limits.first && view.x1 <= limits.last + 1e-9 && view.x0 < view.x1);
        assert_true(view.y0 >= 0 && view.y1 <= limits.top + 1e-6 && view.y0 < view.y1);
    }
}

TEST(moments_and_positions_round_trip) {
    USE_STATE;
    struct timeline *tl = fixture_random(9, 3000, 30);
    struct lod lod;
    struct error err = {0};
    assert_ok(lod_build(&lod, tl, 0, NULL, &err), err);
    for (int mode = RULER_EVENTS; mode <= RULER_TIME; mode++) {
        struct ruler ruler = ruler_of(&lod, (enum ruler_mode)mode);
        for (uint32_t m = 0; m < lod.moments; m++) {
            double position = ruler_position(&ruler, m);
            uint32_t found = ruler_moment(&ruler, position), lower = ruler_lower(&ruler, position);
            assert_true(found >= m && ruler_position(&ruler, found) == position);
            assert_true(lower <= m && ruler_position(&ruler, lower) == position);
        }
        assert_int_equal(ruler_moment(&ruler, -1e18), 0);
        assert_int_equal(ruler_moment(&ruler, 1e18), lod.moments - 1);
        assert_int_equal(ruler_lower(&ruler, 1e18), lod.moments);
    }
    lod_fini(&lod);
    timeline_destroy(tl);
}

TEST(ticks_are_round_and_inside) {
    USE_STATE;
    char text[AXIS_TEXT_BYTES];
    struct axis a = axis_ticks(AXIS_BYTES, 0, 85e9, 9);
    assert_int_equal(a.count, 8);
    assert_string_equal(axis_text(AXIS_BYTES, a.first + a.step, a.step, text), "10 GiB");
    assert_string_equal(axis_text(AXIS_BYTES, 1100 * 1048576.0, 1, text), "1100 MiB");
    assert_string_equal(axis_text(AXIS_BYTES, 1280 * 1048576.0, 1, text), "1.25 GiB");
    assert_string_equal(axis_text(AXIS_BYTES, 1536 * 1048576.0, 1, text), "1.5 GiB");
    a = axis_ticks(AXIS_NS, 0, 1.3e8, 12);
    assert_string_equal(axis_text(AXIS_NS, a.first + a.step, a.step, text), "20 ms");
    assert_string_equal(axis_text(AXIS_NS, 1250, 50, text), "1.25 us");
    a = axis_ticks(AXIS_EVENT, 10, 12, 100);
    assert_true(a.step == 1 && a.count == 3);
    a = axis_ticks(AXIS_EVENT, 5, 5, 10);
    assert_int_equal(a.count, 0);
}

TEST(panes_do_not_overlap_at_any_size) {
    USE_STATE;
    for (int w = 1; w < 3000; w += 97)
        for (int h = 1; h < 2000; h += 61) {
            bool shown[SPLIT_COUNT];
            int share[SPLIT_COUNT];
            layout_usual(shown, share);
            shown[SPLIT_MAP] = shown[SPLIT_STRIP] = w % 2;
            share[SPLIT_TABS] = h % 90;
            struct layout_wish wish = {w, h, 16, 100, 3, h % 2, shown, share, w % 5, w % 3 == 0};
            struct layout l;
            layout_compute(&wish, &l);
            const struct rect *all[] = {&l.title,  &l.overview, &l.phases, &l.timeline,
                                        &l.legend, &l.details,  &l.map,    &l.strip,
                                        &l.tab,    &l.tab_bar,  &l.status, &l.rows};
            for (int i = 0; i < 12; i++) {
                assert_true(all[i]->x >= 0 && all[i]->y >= 0 && all[i]->w >= 0 && all[i]->h >= 0);
                assert_true(all[i]->x + all[i]->w <= w && all[i]->y + all[i]->h <= h);
                for (int k = 0; k < i; k++)
                    assert_true(
                        all[i]->w == 0 || all[i]->h == 0 || all[k]->w == 0 || all[k]->h == 0 ||
                        all[i]->x >= all[k]->x + all[k]->w || all[k]->x >= all[i]->x + all[i]->w ||
                        all[i]->y >= all[k]->y + all[k]->h || all[k]->y >= all[i]->y + all[i]->h);
            }
            assert_true(l.plot.w > 0 && l.plot.h > 0);
        }
}

TEST(bad_text_reads_as_replacement) {
    USE_STATE;
    const struct {
        const char *text;
        uint32_t codes[4];
    } cases[] = {
        {"a\xe4\xb8\xad", {'a', 0x4e2d, 0, 0}},
        {"\xff\xc0\x80", {UTF8_REPLACEMENT, UTF8_REPLACEMENT, UTF8_REPLACEMENT, 0}},
        {"\xe4\xb8", {UTF8_REPLACEMENT, UTF8_REPLACEMENT, 0, 0}},
        {"\xe2\x80\xae", {UTF8_REPLACEMENT, 0, 0, 0}}, /* right-to-left override */
        {"\x1b[", {UTF8_REPLACEMENT, '[', 0, 0}},
        {"\xed\xa0\x80", {UTF8_REPLACEMENT, 0, 0, 0}}, /* half of a surrogate pair */
        {"\xf0\x9f\x98\x80", {0x1f600, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *at = cases[i].text, *end = at + strlen(at);
        for (int k = 0; k < 4; k++)
            assert_int_equal(utf8_next(&at, end), cases[i].codes[k]);
    }
}

TEST(long_paths_are_shortened_in_the_middle) {
    USE_STATE;
    struct font *font = font_create_embedded();
    assert_non_null(font);
    char out[64];
    const char *path = "model.layers.3.mlp.gate_proj";
    assert_string_equal(font_shorten(font, path, 1000, 13, false, out, sizeof out), path);
    font_shorten(font, path, 7 * 16, 13, false, out, sizeof out);
    assert_true(font_width(font, out, strlen(out), 13, false) <= 7 * 16);
    assert_true(strncmp(out, "model.", 6) == 0 && strcmp(out + strlen(out) - 4, "proj") == 0);
    assert_string_equal(font_shorten(font, path, 2, 13, false, out, sizeof out), "");
    char long_text[3001]; /* and one that has more bytes than there is room */
    memset(long_text, 'x', 3000);
    long_text[3000] = '\0';
    font_shorten(font, long_text, 100000, 13, false, out, sizeof out);
    assert_true(strlen(out) < sizeof out);
    font_destroy(font);
}

TEST(what_no_font_has_is_a_box_with_its_code) {
    USE_STATE;
    struct font *font = font_create_embedded();
    const struct glyph *box = font_glyph(font, 0x9f98, 13, false);
    assert_int_equal(box->advance, 14);
    assert_non_null(box->coverage);
    const struct glyph *letter = font_glyph(font, 'A', 26, false);
    assert_int_equal(letter->height, 32); /* whole factors */
    font_destroy(font);
}

TEST(every_text_is_in_both_languages) {
    USE_STATE;
    for (int i = 0; i < TEXT_COUNT; i++) {
        assert_true(*i18n_text(LANGUAGE_ENGLISH, (enum text_id)i) != '\0');
        assert_true(*i18n_text(LANGUAGE_CHINESE, (enum text_id)i) != '\0');
    }
    assert_int_equal(i18n_language("zh_CN.UTF-8"), LANGUAGE_CHINESE);
    assert_int_equal(i18n_language("de_DE"), LANGUAGE_ENGLISH);
    assert_int_equal(i18n_language(NULL), LANGUAGE_ENGLISH);
}

TEST(each_key_means_one_thing_and_has_a_name) {
    USE_STATE;
    bool bound[ACTION_COUNT] = {false};
    for (size_t i = 0; keys_binding(i); i++) {
        const struct binding *b = keys_binding(i);
        char name[KEY_NAME_BYTES];
        uint32_t key;
        unsigned mods;
        for (size_t k = 0; k < i; k++)
            assert_false(keys_binding(k)->key == b->key && keys_binding(k)->mods == b->mods);
        assert_true(keys_parse(keys_name(b, name), &key, &mods));
        assert_int_equal(key, b->key);
        assert_int_equal(mods, b->mods);
        assert_int_equal(keys_find(key, mods), b->action);
        bound[b->action] = true;
    }
    for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
        assert_true(bound[i]);
    uint32_t key;
    unsigned mods;
    assert_false(keys_parse("Hyper+x", &key, &mods));
    assert_false(keys_parse("", &key, &mods));
    assert_false(keys_parse("F13", &key, &mods));
}

TEST(figures_are_exact) {
    USE_STATE;
    char text[LABEL_BYTES];
    assert_string_equal(label_bytes_exact(67381510144, text), "62.75 GiB (67,381,510,144)");
    assert_string_equal(label_difference(512, 1024, text), "-512 B");
    assert_string_equal(label_difference(7, 7, text), "0 B");
    assert_string_equal(label_time(68520000, text), "68.520 ms");
    assert_string_equal(label_time(UINT64_MAX, text), "18446744073.709 s");
    assert_string_equal(label_bytes_exact(UINT64_MAX, text),
                        "16.00 EiB (18,446,744,073,709,551,615)");
}

TEST(a_screen_of_many_dots_is_told_by_its_resources) {
    USE_STATE;
    assert_int_equal(x_resources_scale_percent(NULL), 0);
    assert_int_equal(x_resources_scale_percent(""), 0);
    assert_int_equal(x_resources_scale_percent("Xft.dpi:\t96\n"), 100);
    assert_int_equal(x_resources_scale_percent("Xft.antialias:\t1\nXft.dpi:\t144\n"), 150);
    assert_int_equal(x_resources_scale_percent("Xft.dpi: 120"), 125);
    assert_int_equal(x_resources_scale_percent("*Xft.dpi: 120\nXft.dpi: many\n"), 0);
    assert_int_equal(x_resources_scale_percent("Xft.dpi: 1e9\n"), 0);
}

SUITE(cmocka_unit_test(a_screen_of_many_dots_is_told_by_its_resources),
      cmocka_unit_test(pixels_and_positions_round_trip),
      cmocka_unit_test(wild_positions_stay_in_an_int),
      cmocka_unit_test(zoom_keeps_the_point_and_the_limits),
      cmocka_unit_test(moments_and_positions_round_trip),
      cmocka_unit_test(ticks_are_round_and_inside),
      cmocka_unit_test(panes_do_not_overlap_at_any_size),
      cmocka_unit_test(bad_text_reads_as_replacement),
      cmocka_unit_test(long_paths_are_shortened_in_the_middle),
      cmocka_unit_test(what_no_font_has_is_a_box_with_its_code),
      cmocka_unit_test(every_text_is_in_both_languages),
      cmocka_unit_test(each_key_means_one_thing_and_has_a_name),
      cmocka_unit_test(figures_are_exact))
