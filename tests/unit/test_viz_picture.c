/* Goldens: draw lists as text, pixels with difference 0. VRAMSIM_REBASE=1 rewrites them: read the
 * difference. A failure leaves what was made (and for pixels the difference) in the working
 * directory. */
#include "suite.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "draw.h"
#include "file.h"
#include "font.h"
#include "keys.h"
#include "picture.h"
#include "png_file.h"
#include "raster.h"
#include "script.h"
#include "svg.h"
#include "text.h"
#include "utf8.h"
#include "viz_fixture.h"

#define GOLDEN SOURCE_DIR "/tests/viz/golden/"

static bool rebase(void) {
    const char *wish = getenv("VRAMSIM_REBASE");
    return wish && *wish == '1';
}

static void compare_text(const char *name, const struct text *got) {
    char path[512], *want;
    size_t length;
    struct error err = {0};
    assert_false(got->failed);
    snprintf(path, sizeof path, "%s%s", GOLDEN, name);
    if (rebase())
        assert_ok(file_write(path, text_get(got), got->length, &err), err);
    assert_ok(file_read(path, 16 << 20, &want, &length, &err), err);
    bool same = length == got->length && memcmp(want, text_get(got), length) == 0;
    xfree(want);
    if (same)
        return;
    snprintf(path, sizeof path, "actual-%s", name);
    assert_ok(file_write(path, text_get(got), got->length, &err), err);
    fail_msg("%s differs: see %s, VRAMSIM_REBASE=1 accepts it", name, path);
}

static uint32_t *decode(const void *data, size_t length, uint32_t *width, uint32_t *height) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, data, length));
    image.format = PNG_FORMAT_BGRA; /* 0xAARRGGBB in memory order of little-endian machines */
    uint32_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(pixels);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    *width = image.width;
    *height = image.height;
    return pixels;
}

static void write_difference(const char *name, const uint32_t *a, const uint32_t *b, int width,
                             int height) {
    struct canvas canvas = {.width = width, .height = height, .pitch = (size_t)width};
    struct text out = {0};
    struct error err = {0};
    char path[300];
    canvas.pixels = calloc((size_t)width * (size_t)height, sizeof *canvas.pixels);
    assert_non_null(canvas.pixels);
    for (int i = 0; i < width * height; i++)
        canvas.pixels[i] = a[i] == b[i] ? (a[i] >> 2 & 0x3f3f3f) : 0xff0000;
    snprintf(path, sizeof path, "difference-%s", name);
    if (png_file_write(&canvas, &out, &err))
        file_write(path, text_get(&out), out.length, &err);
    text_fini(&out);
    free(canvas.pixels);
}

/* PNG bytes vary with zlib: decoded pixels are compared. */
static void compare_picture(const char *name, const struct text *got) {
    char path[512], *want;
    size_t length;
    struct error err = {0};
    uint32_t w, h, golden_w, golden_h;
    snprintf(path, sizeof path, "%s%s", GOLDEN, name);
    if (rebase())
        assert_ok(file_write(path, text_get(got), got->length, &err), err);
    assert_ok(file_read(path, 64 << 20, &want, &length, &err), err);
    uint32_t *a = decode(text_get(got), got->length, &w, &h);
    uint32_t *b = decode(want, length, &golden_w, &golden_h);
    bool sized = w == golden_w && h == golden_h;
    bool same = sized && memcmp(a, b, (size_t)w * h * sizeof *a) == 0;
    if (!same) {
        snprintf(path, sizeof path, "actual-%s", name);
        file_write(path, text_get(got), got->length, &err);
        if (sized)
            write_difference(name, a, b, (int)w, (int)h);
    }
    free(a);
    free(b);
    xfree(want);
    if (!same)
        fail_msg("%s differs: see actual-%s and difference-%s", name, name, name);
}

/* A few blocks by hand: small enough to be read as text. */
static struct timeline *tiny(void) {
    struct fixture f = fixture_start("tiny.lua");
    fixture_device(&f, "A card <of> 1 GiB & more", UINT64_C(1) << 30, 50 << 20);
    f.tl->framework = timeline_string(f.tl, "pytorch-2.15");
    fixture_begin(&f, "step 1");
    fixture_begin(&f, "forward");
    uint32_t last = 0;
    for (uint32_t i = 0; i < CATEGORY_COUNT; i++) {
        f.time_ns += 1000000;
        char owner[32];
        snprintf(owner, sizeof owner, "model.layers.%u.mlp", i);
        last = fixture_alloc(&f, (60u << 20) - i * (3u << 20), (enum category)i, owner, "aten::mm");
    }
    fixture_end(&f);
    fixture_begin(&f, "backward");
    for (uint32_t i = 0; i <= last; i += 2) {
        f.time_ns += 500000;
        fixture_free(&f, i);
    }
    fixture_end(&f);
    fixture_end(&f);
    struct timeline_oom oom = {.event = (uint32_t)f.tl->events.count,
                               .rounded_bytes = UINT64_C(2) << 30};
    fixture_need(array_push(&f.tl->ooms, oom));
    fixture_event(&f, EVENT_OOM, 0, UINT64_C(2) << 30);
    return f.tl;
}

static void dump_of(const struct app_options *options, const struct timeline *a,
                    const struct timeline *b, const char *commands, struct text *out) {
    struct error err = {0};
    struct draw_list list = {0};
    struct script script;
    struct app *app = app_create(options, a, b, &err);
    assert_non_null(app);
    app_go_to(app, app_peak(app));
    script_start(&script, "golden", commands ? commands : "");
    while (!script_is_done(&script))
        assert_ok(script_step(&script, app, out, &err), err);
    assert_ok(app_frame(app, &list, &err), err);
    draw_dump(&list, out);
    draw_fini(&list);
    app_destroy(app);
}

#define SEARCHING "key /\ntype cat:grad size>1MiB\nkey Enter\nkey Tab\nkey l\nkey F2\n"

TEST(draw_lists_are_as_they_were) {
    USE_STATE;
    struct timeline *a = tiny();
    const struct {
        const char *name;
        bool two;
        struct app_options options;
        const char *script; /* what is done at the peak; NULL: nothing */
    } cases[] = {
        {"draw-english.txt", false, {.width = 800, .height = 500}, NULL},
        {"draw-chinese.txt",
         false,
         {.width = 800, .height = 500, .language = LANGUAGE_CHINESE},
         NULL},
        {"draw-150.txt", false, {.width = 1200, .height = 750, .scale_percent = 150}, NULL},
        {"draw-200.txt", false, {.width = 1600, .height = 1000, .scale_percent = 200}, NULL},
        {"draw-two.txt", true, {.width = 800, .height = 500, .theme = THEME_LIGHT}, NULL},
        {"draw-search.txt", false, {.width = 800, .height = 500}, SEARCHING},
        {"draw-search-chinese.txt",
         false,
         {.width = 800, .height = 500, .language = LANGUAGE_CHINESE},
         SEARCHING},
        {"draw-go-to.txt",
         false,
         {.width = 800, .height = 500},
         "key F2\nkey g\ntype moon\nkey Enter\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct app_options options = cases[i].options;
        struct text out = {0};
        options.embedded_font = true;
        dump_of(&options, a, cases[i].two ? a : NULL, cases[i].script, &out);
        compare_text(cases[i].name, &out);
        text_fini(&out);
    }
    timeline_destroy(a);
}

/* Grows up to the capacity and fails there: peak, capacity and out-of-memory in one place. */
static struct timeline *full(void) {
    struct fixture f = fixture_start("full.lua");
    fixture_device(&f, "A card", UINT64_C(1) << 30, 50 << 20);
    fixture_begin(&f, "step 1");
    for (int i = 0; i < 30; i++) {
        f.time_ns += 1000000;
        fixture_alloc(&f, 30u << 20, CATEGORY_ACTIVATION, "model", "aten::mm");
    }
    fixture_end(&f);
    struct timeline_oom oom = {.event = (uint32_t)f.tl->events.count,
                               .rounded_bytes = UINT64_C(2) << 30};
    fixture_need(array_push(&f.tl->ooms, oom));
    fixture_event(&f, EVENT_OOM, 0, UINT64_C(2) << 30);
    return f.tl;
}

static bool is_plate(const struct draw_command *c) {
    return c->kind == DRAW_RECT && c->color >> 24 == 0xd8;
}

static void assert_plates_apart(const struct draw_list *list) {
    int plates = 0;
    for (size_t i = 0; i < list->commands.count; i++) {
        const struct draw_command *a = &list->commands.at[i];
        plates += is_plate(a);
        for (size_t k = 0; is_plate(a) && k < i; k++) {
            const struct draw_command *b = &list->commands.at[k];
            assert_false(is_plate(b) && a->x < b->x + b->w && b->x < a->x + a->w &&
                         a->y < b->y + b->h && b->y < a->y + a->h);
        }
    }
    assert_int_equal(plates, 3);
}

TEST(plates_of_one_place_are_apart) {
    USE_STATE;
    struct timeline *tl = full();
    static const int sizes[][2] = {{900, 500}, {1200, 700}, {1600, 900}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct app_options options = {
            .width = sizes[i][0], .height = sizes[i][1], .picture = true, .embedded_font = true};
        struct draw_list list = {0};
        struct error err = {0};
        struct app *app = app_create(&options, tl, NULL, &err);
        assert_non_null(app);
        assert_ok(app_frame(app, &list, &err), err);
        assert_plates_apart(&list);
        draw_fini(&list);
        app_destroy(app);
    }
    timeline_destroy(tl);
}

static struct timeline *with_events(uint32_t events) {
    struct fixture f = fixture_start("few.lua");
    fixture_device(&f, "A card", UINT64_C(1) << 30, 0);
    if (events > 0)
        fixture_segment(&f, 20u << 20);
    return f.tl;
}

/* Both languages, the three themes and scales, a second file, out of memory, what is hardly anything. */
TEST(pixels_are_as_they_were) {
    USE_STATE;
    struct timeline *a = tiny(), *b = fixture_random(8, 3000, 60), *c = fixture_random(9, 3000, 40);
    struct timeline *oom = full(), *none = with_events(0), *one = with_events(1);
    const struct {
        const char *name;
        const struct timeline *tl, *overlay;
        struct picture_options options;
    } cases[] = {
        {"tiny-dark.png", a, NULL, {.width = 900, .height = 560}},
        {"tiny-light-chinese.png",
         a,
         NULL,
         {.width = 900, .height = 560, .theme = THEME_LIGHT, .language = LANGUAGE_CHINESE}},
        {"random-200.png", b, NULL, {.width = 1280, .height = 800, .scale_percent = 200}},
        {"tiny-contrast-150.png",
         a,
         NULL,
         {.width = 1200, .height = 760, .scale_percent = 150, .theme = THEME_CONTRAST}},
        {"tiny-chinese-200.png",
         a,
         NULL,
         {.width = 1400, .height = 900, .scale_percent = 200, .language = LANGUAGE_CHINESE}},
        {"overlay.png", b, c, {.width = 900, .height = 600, .theme = THEME_LIGHT}},
        {"below.png", b, c, {.width = 900, .height = 600, .state = "compare=below;group=op"}},
        {"zoomed.png",
         b,
         NULL,
         {.width = 900, .height = 560, .state = "axis=events;at=event 70;view=50..90;pin=3"}},
        {"oom.png", oom, NULL, {.width = 900, .height = 560, .at = "oom"}},
        {"no-event.png", none, NULL, {.width = 640, .height = 400}},
        {"one-event.png", one, NULL, {.width = 640, .height = 400, .theme = THEME_LIGHT}},
        {"small.png", a, NULL, {.width = 320, .height = 200}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct picture_options options = cases[i].options;
        struct text out = {0};
        struct error err = {0};
        options.embedded_font = true;
        assert_ok(picture_render(cases[i].tl, cases[i].overlay, &options, PICTURE_PNG, &out, &err),
                  err);
        compare_picture(cases[i].name, &out);
        text_fini(&out);
    }
    struct timeline *all[] = {a, b, c, oom, none, one};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        timeline_destroy(all[i]);
}

static void assert_drawable(struct font *font, const char *text) {
    const char *end = text + strlen(text);
    for (const char *at = text; at < end;) {
        uint32_t code = utf8_next(&at, end);
        if (!font_has(font, code))
            fail_msg("U+%04X of '%s' is not in the embedded font (viz/core/font_han)",
                     (unsigned)code, text);
    }
}

/* The interface is legible on a machine without any font. */
TEST(every_text_of_the_interface_is_in_the_embedded_font) {
    USE_STATE;
    struct font *font = font_create_embedded();
    assert_non_null(font);
    for (int language = LANGUAGE_ENGLISH; language <= LANGUAGE_CHINESE; language++) {
        for (int i = 0; i < TEXT_COUNT; i++)
            assert_drawable(font, i18n_text((enum language)language, (enum text_id)i));
        for (int i = 0; i < ACTION_COUNT; i++)
            assert_drawable(font, keys_doc((enum action)i, (enum language)language));
        for (int i = 0; i < CATEGORY_COUNT; i++)
            assert_drawable(font, i18n_category((enum language)language, (enum category)i));
    }
    font_destroy(font);
}

/* What no font has is a box with its code: wider than it is empty, and another code is another box. */
TEST(what_no_font_has_can_still_be_looked_up) {
    USE_STATE;
    struct font *font = font_create_embedded();
    assert_non_null(font);
    const struct glyph *a = font_glyph(font, 0x9f98, 13, false);
    const struct glyph *b = font_glyph(font, 0x9f99, 13, false);
    assert_non_null(a->coverage);
    assert_int_equal(a->advance, 14);
    assert_int_equal(a->height, 16);
    assert_int_not_equal(memcmp(a->coverage, b->coverage, (size_t)a->width * (size_t)a->height), 0);
    const struct glyph *wide = font_glyph(font, 0x663e, 13, false);
    assert_int_equal(wide->advance, 16);
    font_destroy(font);
}

/* Only where one is installed: the glyph comes from it, not from the embedded font. */
TEST(a_font_of_the_system_draws_chinese_where_there_is_one) {
    USE_STATE;
    struct error err = {0};
    struct font *font = font_create(getenv("VRAMSIM_FONT"), &err);
    assert_non_null(font);
    if (!font_has(font, 0x9f98)) {
        print_message("SKIPPED: no font with Chinese characters is installed\n");
        font_destroy(font);
        return;
    }
    const struct glyph *glyph = font_glyph(font, 0x9f98, 26, false);
    assert_non_null(glyph->coverage);
    assert_in_range(glyph->advance, 20, 32);
    unsigned shades = 0; /* outlines have soft edges */
    for (int i = 0; i < glyph->width * glyph->height; i++)
        shades += glyph->coverage[i] > 0 && glyph->coverage[i] < 255;
    assert_in_range(shades, 10, 2000);
    font_destroy(font);
}

TEST(svg_is_as_it_was_and_escapes_its_texts) {
    USE_STATE;
    struct timeline *a = tiny();
    struct picture_options options = {.width = 1200, .height = 500, .embedded_font = true};
    struct text out = {0};
    struct error err = {0};
    assert_ok(picture_render(a, NULL, &options, PICTURE_SVG, &out, &err), err);
    assert_non_null(strstr(text_get(&out), "&lt;of&gt; 1 GiB &amp; more"));
    compare_text("tiny.svg", &out);
    text_fini(&out);
    timeline_destroy(a);
}

TEST(the_same_picture_twice_is_the_same_bytes) {
    USE_STATE;
    struct timeline *a = fixture_llama("made_up.lua", false);
    struct picture_options options = {0}; /* with the fonts of this machine */
    struct text out[2] = {0};
    struct error err = {0};
    for (int i = 0; i < 2; i++)
        assert_ok(picture_render(a, NULL, &options, PICTURE_PNG, &out[i], &err), err);
    assert_int_equal(out[0].length, out[1].length);
    assert_memory_equal(out[0].at, out[1].at, out[0].length);
    for (int i = 0; i < 2; i++)
        text_fini(&out[i]);
    timeline_destroy(a);
}

TEST(a_font_knows_what_it_has) {
    USE_STATE;
    struct font *font = font_create_embedded();
    assert_non_null(font);
    assert_true(font_has(font, 'A'));
    assert_true(font_has(font, 0x663e));     /* of the interface */
    assert_false(font_has(font, 0x9f98));    /* a box with its code */
    assert_int_equal(font_missing(font), 0); /* asked for alone: nothing is drawn */
    font_destroy(font);
}

TEST(bad_sizes_are_refused) {
    USE_STATE;
    struct timeline *a = tiny();
    struct text out = {0};
    struct error err = {0};
    struct picture_options options = {.width = 10, .height = 20};
    int w = 1, h = 2;
    assert_false(picture_render(a, NULL, &options, PICTURE_PNG, &out, &err));
    assert_string_equal(err.text, "size 10x20: each side must be 64 to 16384 pixels");
    assert_false(picture_parse_size("1600", &w, &h, &err));
    assert_false(picture_parse_size("1600x900x", &w, &h, &err));
    assert_false(picture_parse_size("-1x900", &w, &h, &err));
    assert_int_equal(w, 1);
    assert_ok(picture_parse_size("1600x900", &w, &h, &err), err);
    assert_int_equal(h, 900);
    timeline_destroy(a);
}

TEST(clips_and_blends_stay_inside) {
    USE_STATE;
    struct draw_list list = {0};
    uint32_t pixels[8 * 8];
    struct canvas canvas = {.pixels = pixels, .width = 8, .height = 8, .pitch = 8};
    draw_start(&list, 8, 8);
    draw_rect(&list, -5, -5, 100, 100, 0xff000000);
    draw_clip(&list, 2, 2, 4, 4);
    draw_rect(&list, -100, -100, 1000, 1000, 0xff0000ff);
    draw_line(&list, -50, -50, 50, 50, 0xffffffff);
    draw_unclip(&list);
    draw_rect(&list, 7, 7, 5, 5, 0x80ffffff);
    raster_paint(&canvas, &list, NULL);
    assert_int_equal(pixels[0], 0);
    assert_int_equal(pixels[2 * 8 + 3], 0x0000ff);
    assert_int_equal(pixels[3 * 8 + 3], 0xffffff);
    assert_int_equal(pixels[6 * 8 + 6], 0);
    assert_int_equal(pixels[63], 0x808080);
    draw_fini(&list);
}

/* Chinese alone is no reason for a word, characters of a trace that became boxes are. */
TEST(only_a_character_that_became_a_box_is_told) {
    USE_STATE;
    struct timeline *a = tiny();
    struct error err = {0};
    const struct app_options options = {
        .width = 900, .height = 560, .language = LANGUAGE_CHINESE, .embedded_font = true};
    char line[PICTURE_HINT_BYTES];
    for (int boxes = 0; boxes < 2; boxes++) {
        struct text out = {0};
        if (boxes)
            a->title = timeline_string(a, "\xe9\xbe\x98.lua"); /* U+9F98 */
        struct app *app = app_create(&options, a, NULL, &err);
        assert_non_null(app);
        assert_ok(picture_of(app, PICTURE_PNG, &out, &err), err);
        assert_int_equal(font_missing(app_font(app)), boxes ? 0x9f98 : 0);
        app_destroy(app);
        text_fini(&out);
    }
    assert_null(picture_font_hint(0, line));
    assert_non_null(strstr(picture_font_hint(0x9f98, line), "U+9F98"));
    timeline_destroy(a);
}

SUITE(cmocka_unit_test(draw_lists_are_as_they_were),
      cmocka_unit_test(plates_of_one_place_are_apart), cmocka_unit_test(pixels_are_as_they_were),
      cmocka_unit_test(every_text_of_the_interface_is_in_the_embedded_font),
      cmocka_unit_test(what_no_font_has_can_still_be_looked_up),
      cmocka_unit_test(a_font_of_the_system_draws_chinese_where_there_is_one),
      cmocka_unit_test(svg_is_as_it_was_and_escapes_its_texts),
      cmocka_unit_test(the_same_picture_twice_is_the_same_bytes),
      cmocka_unit_test(a_font_knows_what_it_has), cmocka_unit_test(bad_sizes_are_refused),
      cmocka_unit_test(only_a_character_that_became_a_box_is_told),
      cmocka_unit_test(clips_and_blends_stay_inside))
