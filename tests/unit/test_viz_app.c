/* The application without a window: input, scripts, hostile sizes, failing memory. */
#include "suite.h"

#include <string.h>

#include "app.h"
#include "draw.h"
#include "failing_alloc.h"
#include "input.h"
#include "keys.h"
#include "picture.h"
#include "text.h"
#include "viz_fixture.h"
#include "viz_play.h"
#include "viz_strange.h"

struct session {
    struct timeline *tl, *other;
    struct app *app;
};

static struct session session_open(bool two, int width, int height) {
    struct session s = {.tl = fixture_llama("made_up.lua", false)};
    struct error err = {0};
    struct app_options options = {.width = width, .height = height, .embedded_font = true};
    s.other = two ? fixture_llama("recompute.pickle", true) : NULL;
    s.app = app_create(&options, s.tl, s.other, &err);
    assert_non_null(s.app);
    return s;
}

static void session_close(struct session *s) {
    app_destroy(s->app);
    timeline_destroy(s->tl);
    timeline_destroy(s->other);
}

static uint64_t value(struct session *s, const char *name) {
    uint64_t v = 0;
    if (!app_query(s->app, name, &v))
        fail_msg("%s: no such value", name);
    return v;
}

/* Runs the commands; the error's text is compared where one is expected. */
static void play(struct session *s, const char *commands, const char *expected_error) {
    struct error err = {0};
    bool good = viz_try(s->app, commands, &err);
    if (expected_error)
        assert_string_equal(err.text, expected_error);
    else if (!good)
        fail_msg("%s", err.text);
}

TEST(p_finds_the_peak_and_the_owners_sum_to_it) {
    USE_STATE;
    struct session s = session_open(false, 1280, 800);
    play(&s,
         "expect cursor.moment 7492\nkey p\nexpect cursor.allocated 67381510144\n"
         "expect cursor.owners 67381510144\nexpect cursor.event 4021\n"
         "key ,\nexpect cursor.event 4020\nkey .\nkey .\nexpect cursor.event 4022\n"
         "goto start\nexpect cursor.moment 0\nexpect cursor.allocated 0\nkey ,\n"
         "expect cursor.moment 0\ngoto end\nkey .\nexpect cursor.moment 7492\n"
         "goto peak\nexpect cursor.event 4021\ngoto event 5\nexpect cursor.event 5\n",
         NULL);
    session_close(&s);
}

TEST(a_drag_scrubs_and_pans_when_zoomed_in) {
    USE_STATE;
    struct session s = session_open(false, 1280, 800);
    play(&s, "drag 300 400 500 400\n", NULL);
    uint64_t here = value(&s, "cursor.moment");
    assert_true(here > 1000 && here < 4022);
    play(&s, "click 700 400\n", NULL);
    assert_true(value(&s, "cursor.moment") > here);
    here = value(&s, "cursor.moment");
    play(&s, "wheel 700 400 8\n", NULL);
    uint64_t first = value(&s, "view.first"), last = value(&s, "view.last");
    assert_true(first <= here && here <= last && last - first < 2000);
    play(&s, "drag 700 400 500 400\n", NULL); /* pans: the cursor stays */
    assert_int_equal(value(&s, "cursor.moment"), here);
    assert_true(value(&s, "view.first") > first);
    play(&s, "drag 300 110 500 110\n", NULL); /* on the phases: scrubs */
    assert_true(value(&s, "cursor.moment") != here);
    play(&s, "key 0\nexpect view.first 0\nexpect view.last 7492\n", NULL);
    play(&s, "drag 300 70 400 70\n", NULL); /* brush on the overview */
    assert_true(value(&s, "view.first") > 0 && value(&s, "view.last") < 7492);
    session_close(&s);
}

TEST(local_peaks_phases_and_play_move_the_cursor) {
    USE_STATE;
    struct session s = session_open(false, 1280, 800);
    play(&s, "goto start\nkey n\n", NULL);
    uint64_t first = value(&s, "cursor.moment");
    play(&s, "key n\n", NULL);
    assert_true(first > 0 && value(&s, "cursor.moment") > first);
    play(&s, "key N\n", NULL);
    assert_int_equal(value(&s, "cursor.moment"), first);
    play(&s, "goto start\nkey ]\nexpect cursor.moment 1\nkey ]\n", NULL);
    play(&s, "goto start\nkey Space\nexpect playing 1\ntick 5000ms\n", NULL);
    uint64_t middle = value(&s, "cursor.moment");
    assert_true(middle > 1000 && middle < 7000);
    play(&s, "tick 6000ms\nexpect playing 0\nexpect cursor.moment 7492\ntick 1000ms\n", NULL);
    session_close(&s);
}

TEST(every_binding_does_what_it_says) {
    USE_STATE;
    struct session s = session_open(true, 1280, 800);
    const struct {
        const char *key, *name;
        uint64_t before, after;
    } changes[] = {
        {"t", "theme", 0, 1},
        {"c", "grouping", 0, 1},
        {"C", "grouping", 1, 0},
        {"Alt+C", "bands", 2, 3},
        {"Alt+Shift+C", "bands", 3, 2},
        {"v", "compare", 0, 1},
        {"1", "isolated", 0, 1},
        {"Esc", "isolated", 1, 0},
        {"x", "axis", 0, 1},
        {"F1", "help", 0, 1},
        {"Esc", "help", 1, 0},
        {"g", "field", 0, 1},
        {"Esc", "field", 1, 0},
        {"/", "field", 0, 2},
        {"Tab", "field", 2, 0},
        {"Ctrl+F", "field", 0, 2},
        {"Esc", "field", 2, 0},
        {"l", "only", 0, 1},
        {"l", "only", 1, 0},
        {"?", "help", 0, 1},
        {"Shift+/", "help", 1, 0},
        {"Ctrl++", "scale", 100, 125},
        {"Ctrl+-", "scale", 125, 100},
        {"Ctrl+=", "scale", 100, 125},
        {"Ctrl+0", "scale", 125, 100},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char line[64];
        assert_int_equal(value(&s, changes[i].name), changes[i].before);
        snprintf(line, sizeof line, "key %s", changes[i].key);
        play(&s, line, NULL);
        assert_int_equal(value(&s, changes[i].name), changes[i].after);
    }
    struct draw_list list = {0};
    struct error err = {0};
    for (size_t i = 0; keys_binding(i); i++) {
        const struct binding *b = keys_binding(i);
        struct input in = {.kind = INPUT_KEY, .key = b->key, .mods = b->mods};
        app_input(s.app, &in);
        assert_int_equal(app_wants_quit(s.app), b->action == ACTION_QUIT);
        assert_ok(app_frame(s.app, &list, &err), err);
        struct input escape = {.kind = INPUT_KEY, .key = KEY_ESCAPE};
        if (value(&s, "field") != 0) /* else it takes the next */
            app_input(s.app, &escape);
    }
    draw_fini(&list);
    session_close(&s);
}

TEST(a_timeline_differs_from_itself_by_nothing) {
    USE_STATE;
    struct session s = {.tl = fixture_llama("a", false)};
    struct error err = {0};
    struct app_options options = {.embedded_font = true};
    s.app = app_create(&options, s.tl, s.tl, &err);
    assert_non_null(s.app);
    for (uint32_t m = 0; m < 7493; m += 97) {
        app_go_to(s.app, m);
        assert_bytes_equal(value(&s, "overlay.allocated"), value(&s, "cursor.allocated"));
    }
    session_close(&s);
}

TEST(scripts_say_where_and_why) {
    USE_STATE;
    struct session s = session_open(false, 640, 400);
    play(&s, "# nothing\n\nkey p\nexpect cursor.allocated 5\n",
         "test:4: cursor.allocated is 67381510144, expected 5");
    play(&s, "dance\n", "test:1: 'dance': no such command");
    play(&s, "key Hyper\n", "test:1: 'Hyper': no such key");
    play(&s, "wheel 1 2\n", "test:1: wheel: 2 words follow, expected 3");
    play(&s, "wheel 1 2 nan\n", "test:1: 'nan': a number is expected");
    play(&s, "resize 0 5\n", "test:1: 0 x 5: not a size");
    play(&s, "tick 16\n", "test:1: tick '16': milliseconds, as 16ms");
    play(&s, "goto moon\n",
         "test:1: state: at=moon: no such moment; expected peak, reserved, oom, start, end, event "
         "N, time T, divergence or a phase such as step 2 backward");
    play(&s, "expect cursor.allocated -1\n", "test:1: '-1': a whole number is expected");
    play(&s, "a b c d e f g h i j k l m\n", "test:1: more than 12 words");
    session_close(&s);
}

TEST(any_size_and_any_timeline_can_be_drawn) {
    USE_STATE;
    enum { COUNT = STRANGE_COUNT + 1 };
    struct timeline *all[COUNT] = {[STRANGE_COUNT] = fixture_random(3, 3000, 3000)};
    for (int i = 0; i < STRANGE_COUNT; i++)
        all[i] = strange_make((enum strange)i);
    const int sizes[][2] = {{1, 1}, {64, 64}, {320, 200}, {1600, 900}, {3000, 40}, {40, 3000}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct session s = {.tl = all[i]};
            struct error err = {0};
            struct draw_list list = {0};
            struct app_options options = {
                .width = sizes[k][0], .height = sizes[k][1], .embedded_font = true};
            s.app = app_create(&options, all[i], all[(i + 1) % COUNT], &err);
            assert_non_null(s.app);
            play(&s,
                 "key p\nkey w\nkey w\nmove 150 120\nkey x\nkey w\nkey W\nkey Alt+C\nkey ]\nkey "
                 "Space\n"
                 "tick 100ms\nwheel 30 30 -3\n",
                 NULL);
            assert_ok(app_frame(s.app, &list, &err), err);
            play(&s, "key F1\nkey v\n", NULL);
            assert_ok(app_frame(s.app, &list, &err), err);
            struct text png = {0};
            assert_ok(picture_png(&list, app_font(s.app), &png, &err), err);
            text_fini(&png);
            draw_fini(&list);
            app_destroy(s.app);
        }
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        timeline_destroy(all[i]);
}

/* Random input on a random timeline: nothing but that it goes on. */
TEST(random_input_breaks_nothing) {
    USE_STATE;
    struct timeline *a = fixture_random(5, 20000, 100), *b = fixture_random(6, 15000, 100);
    struct error err = {0};
    struct app_options options = {.width = 900, .height = 600, .embedded_font = true};
    struct app *app = app_create(&options, a, b, &err);
    struct draw_list list = {0};
    struct fixture random = {.random = 99};
    static const char *const texts[] = {
        NULL,    "mlp ",    "size>",   "1MiB ",        "life<2ms ",   "cat:grad ",
        "~a.*b", " alive",  "!",       "\xe5\xb1\x82", "\xff\n",      "step 2",
        "peak",  "\"never", "before ", "divergence",   "op=aten::* ", "phase:step "};
    size_t bindings = 0;
    while (keys_binding(bindings))
        bindings++;
    for (int i = 0; i < 3000; i++) {
        struct input in = {.kind = (enum input_kind)fixture_random_below(&random, INPUT_QUIT)};
        const struct binding *key = keys_binding(fixture_random_below(&random, bindings));
        in.key = key->key;
        in.mods = key->mods;
        in.x = (int)fixture_random_below(&random, 1200) - 100;
        in.y = (int)fixture_random_below(&random, 900) - 100;
        in.button = 1 + (int)fixture_random_below(&random, 3);
        in.clicks = 1 + (int)fixture_random_below(&random, 2);
        in.wheel = (double)fixture_random_below(&random, 21) - 10;
        in.wheel_x = (double)fixture_random_below(&random, 5) - 2;
        in.milliseconds = (uint32_t)fixture_random_below(&random, 200);
        in.text = texts[fixture_random_below(&random, sizeof texts / sizeof texts[0])];
        app_input(app, &in);
        if (i % 10 == 0)
            assert_ok(app_frame(app, &list, &err), err);
    }
    draw_fini(&list);
    app_destroy(app);
    timeline_destroy(a);
    timeline_destroy(b);
}

TEST(every_allocation_may_fail) {
    USE_STATE;
    struct timeline *a = fixture_random(1, 300, 20), *b = fixture_random(2, 200, 20);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct failing_alloc f = {.fail_at = n};
        struct error err = {0};
        struct text out = {0};
        struct picture_options options = {.width = 640, .height = 400, .embedded_font = true};
        xalloc_set_hook(failing_alloc_hook, &f);
        bool good = picture_render(a, b, &options, PICTURE_PNG, &out, &err);
        text_fini(&out);
        bool reached = f.seen >= n;
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        failures += !good;
        if (!reached)
            break;
    }
    assert_true(failures > 30); /* a glyph that cannot be kept is left out; all else is an error */
    timeline_destroy(a);
    timeline_destroy(b);
}

static void copied(struct session *s, const char *expected) {
    struct text out = {0};
    app_copy(s->app, &out);
    if (!strstr(text_get(&out), expected))
        fail_msg("'%s' is not in:\n%s", expected, text_get(&out));
    text_fini(&out);
}

TEST(the_table_is_copied_with_exact_bytes) {
    USE_STATE;
    struct session s = session_open(false, 640, 400);
    struct text out = {0};
    play(&s, "key p\n", NULL);
    copied(&s, "AdamW\t13476298752\t0.2000\t1\t13476298752\t");
    app_export(s.app, &out);
    assert_non_null(strstr(text_get(&out), "AdamW,13476298752,0.2000,1,13476298752,"));
    text_fini(&out);
    session_close(&s);
}

/* The rows in the order of the table: what its first cell is. */
static void first_row_is(struct session *s, const char *expected) {
    struct text out = {0};
    app_export(s->app, &out);
    const char *row = strchr(text_get(&out), '\n');
    assert_non_null(row);
    if (strncmp(row + 1, expected, strlen(expected)) != 0)
        fail_msg("the first row is not %s:\n%s", expected, text_get(&out));
    text_fini(&out);
}

static void frame(struct session *s) {
    struct draw_list list = {0};
    struct error err = {0};
    assert_ok(app_frame(s->app, &list, &err), err);
    draw_fini(&list);
}

TEST(a_block_is_pinned_with_all_that_is_known_of_it) {
    USE_STATE;
    struct session s = session_open(false, 1280, 800);
    play(&s, "key p\nkey Enter\n", NULL);
    uint64_t pin = value(&s, "pin");
    const struct timeline_block *b = &s.tl->blocks.at[pin];
    assert_int_equal(b->alloc_event, value(&s, "cursor.event"));
    char expected[128];
    snprintf(expected, sizeof expected, "(%llu,", (unsigned long long)b->block_bytes / 1000000000);
    copied(&s, expected);
    play(&s, "key e\n", NULL);
    assert_int_equal(value(&s, "cursor.event"), b->free_event);
    play(&s, "key b\n", NULL);
    assert_int_equal(value(&s, "cursor.event"), b->alloc_event);
    play(&s, "key f\n", NULL);
    assert_true(value(&s, "view.first") <= b->alloc_event);
    assert_true(value(&s, "view.last") >= b->free_event && value(&s, "view.last") < 7000);
    frame(&s);
    play(&s, "key Esc\nexpect pin 4294967295\n", NULL);
    session_close(&s);
}

TEST(a_mark_and_a_range_between_two_cursors) {
    USE_STATE;
    struct session s = session_open(false, 1280, 800);
    play(&s,
         "goto event 100\nkey r\nexpect range.first 4294967295\nkey m\nexpect mark 101\n"
         "goto event 50\nkey r\nexpect range.first 51\nexpect range.end 101\nkey f\n",
         NULL);
    assert_true(value(&s, "view.last") < 200);
    frame(&s);
    play(&s,
         "key r\nexpect range.first 4294967295\nkey Esc\nexpect mark 4294967295\nkey 0\n"
         "drag 300 400 500 400 right\n",
         NULL);
    uint64_t first = value(&s, "range.first"), end = value(&s, "range.end");
    assert_true(first > 0 && end > first && end < 7492);
    play(&s, "drag 500 400 300 400 shift\n", NULL);
    assert_int_equal(value(&s, "range.first"), first);
    assert_int_equal(value(&s, "range.end"), end);
    session_close(&s);
}

TEST(owners_sort_by_a_click_on_their_heads) {
    USE_STATE;
    struct session s = session_open(false, 1280, 800);
    play(&s, "key p\n", NULL);
    frame(&s);
    int row = 0; /* of the heads */
    for (int y = 520; y < 580 && row == 0; y++) {
        char line[64];
        snprintf(line, sizeof line, "click 960 %d\n", y);
        play(&s, line, NULL);
        if (value(&s, "sort") != 0)
            row = y;
    }
    assert_true(row > 0);
    assert_int_equal(value(&s, "sort"), 3); /* blocks */
    first_row_is(&s, "model.layers.*.");
    play(&s, "key Down\nkey Down\nexpect row 2\nkey PgDn\n", NULL);
    assert_true(value(&s, "row") > 2);
    session_close(&s);
}

TEST(borders_between_panes_are_dragged) {
    USE_STATE;
    struct session s = session_open(false, 1280, 800);
    uint64_t tabs = value(&s, "share.tabs"), side = value(&s, "share.side");
    int border = 0;
    for (int y = 300; y < 700 && border == 0; y++) {
        char line[64];
        snprintf(line, sizeof line, "drag 100 %d 100 300\n", y);
        play(&s, line, NULL);
        if (value(&s, "share.tabs") != tabs)
            border = y;
    }
    assert_true(border > 0 && value(&s, "share.tabs") > tabs);
    play(&s, "drag 950 200 800 200\n", NULL);
    assert_int_equal(value(&s, "share.side"), side + 150);
    frame(&s);
    play(&s, "key F2\n", NULL);
    frame(&s);
    session_close(&s);
}

SUITE(cmocka_unit_test(p_finds_the_peak_and_the_owners_sum_to_it),
      cmocka_unit_test(a_drag_scrubs_and_pans_when_zoomed_in),
      cmocka_unit_test(local_peaks_phases_and_play_move_the_cursor),
      cmocka_unit_test(every_binding_does_what_it_says),
      cmocka_unit_test(a_timeline_differs_from_itself_by_nothing),
      cmocka_unit_test(scripts_say_where_and_why),
      cmocka_unit_test(any_size_and_any_timeline_can_be_drawn),
      cmocka_unit_test(random_input_breaks_nothing), cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(the_table_is_copied_with_exact_bytes),
      cmocka_unit_test(a_block_is_pinned_with_all_that_is_known_of_it),
      cmocka_unit_test(a_mark_and_a_range_between_two_cursors),
      cmocka_unit_test(owners_sort_by_a_click_on_their_heads),
      cmocka_unit_test(borders_between_panes_are_dragged))
