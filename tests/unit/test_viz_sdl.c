/* The window under SDL's dummy driver: pushed events reach the application, what is shown is what
 * was painted. */
#include "suite.h"

#include <SDL.h>
#include <string.h>

#include "app.h"
#include "draw.h"
#include "input.h"
#include "keys.h"
#include "raster.h"
#include "script.h"
#include "sdl_window.h"
#include "text.h"
#include "viz_fixture.h"
#include "viz_strange.h"

struct session {
    struct timeline *tl, *other;
    struct app *app;
    struct window *window;
};

enum { WIDTH = 900, HEIGHT = 600 };

static struct session session_of(const char *driver, struct timeline *tl, struct timeline *other) {
    struct session s = {.tl = tl, .other = other};
    struct error err = {0};
    struct app_options options = {.width = WIDTH, .height = HEIGHT, .embedded_font = true};
    SDL_setenv("SDL_VIDEODRIVER", driver, 1);
    s.app = app_create(&options, s.tl, s.other, &err);
    assert_non_null(s.app);
    s.window = window_create(s.app, options.width, options.height, &err);
    if (!s.window)
        fail_msg("%s", err.text);
    return s;
}

static struct session session_open(void) {
    return session_of("dummy", fixture_llama("made_up.lua", false),
                      fixture_llama("recompute.pickle", true));
}

static void session_close(struct session *s) {
    window_destroy(s->window);
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

static void step(struct session *s) {
    struct error err = {0};
    assert_ok(window_step(s->window, 0, &err), err);
}

static SDL_Keycode sym_of(uint32_t key) {
    static const struct {
        uint32_t key;
        SDL_Keycode sym;
    } keys[] = {
        {KEY_LEFT, SDLK_LEFT},    {KEY_RIGHT, SDLK_RIGHT},    {KEY_UP, SDLK_UP},
        {KEY_DOWN, SDLK_DOWN},    {KEY_PAGE_UP, SDLK_PAGEUP}, {KEY_PAGE_DOWN, SDLK_PAGEDOWN},
        {KEY_HOME, SDLK_HOME},    {KEY_END, SDLK_END},        {KEY_ESCAPE, SDLK_ESCAPE},
        {KEY_ENTER, SDLK_RETURN}, {KEY_TAB, SDLK_TAB},        {KEY_BACKSPACE, SDLK_BACKSPACE}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].key == key)
            return keys[i].sym;
    return key >= KEY_F1 && key <= KEY_F12 ? SDLK_F1 + (SDL_Keycode)(key - KEY_F1)
                                           : (SDL_Keycode)key;
}

static void push_key(uint32_t key, unsigned mods) {
    unsigned sdl = (mods & MOD_SHIFT ? KMOD_LSHIFT : 0u) | (mods & MOD_CTRL ? KMOD_LCTRL : 0u) |
                   (mods & MOD_ALT ? KMOD_LALT : 0u);
    SDL_Event e = {.key = {.type = SDL_KEYDOWN, .state = SDL_PRESSED}};
    e.key.keysym.sym = sym_of(key);
    e.key.keysym.mod = (Uint16)sdl;
    assert_int_equal(SDL_PushEvent(&e), 1);
    SDL_Event up = {.key = {.type = SDL_KEYUP}};
    assert_int_equal(SDL_PushEvent(&up), 1);
}

static void push_motion(int x, int y) {
    SDL_Event e = {.motion = {.type = SDL_MOUSEMOTION, .x = x, .y = y}};
    assert_int_equal(SDL_PushEvent(&e), 1);
}

static void push_button(bool down, int x, int y, int button) {
    SDL_Event e = {.button = {.type = down ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP,
                              .button = (Uint8)button,
                              .clicks = 1,
                              .x = x,
                              .y = y}};
    assert_int_equal(SDL_PushEvent(&e), 1);
}

static void push_wheel(float y) {
    SDL_Event e = {.wheel = {.type = SDL_MOUSEWHEEL, .y = (int)y, .preciseY = y}};
    assert_int_equal(SDL_PushEvent(&e), 1);
}

/* Each key, pushed through SDL, leaves the state that it leaves without a window. */
TEST(every_binding_arrives) {
    USE_STATE;
    struct session s = session_open();
    struct error err = {0};
    struct app_options options = {.width = 900, .height = 600, .embedded_font = true};
    struct app *twin = app_create(&options, s.tl, s.other, &err);
    struct draw_list list = {0};
    assert_non_null(twin);
    step(&s);
    assert_ok(app_frame(twin, &list, &err), err);
    for (size_t i = 0; keys_binding(i); i++) {
        const struct binding *b = keys_binding(i);
        bool writes = b->action == ACTION_SAVE_PNG || b->action == ACTION_SAVE_SVG ||
                      b->action == ACTION_EXPORT;
        if (b->action == ACTION_FULL_SCREEN) { /* the size changes: there and back */
            push_key(b->key, b->mods);
            step(&s);
            push_key(b->key, b->mods);
        }
        bool moves = b->action == ACTION_PLAY || b->action == ACTION_FULL_SCREEN;
        if (writes || moves) /* files; time passes between two steps */
            continue;
        struct input in = {.kind = INPUT_KEY, .key = b->key, .mods = b->mods};
        push_key(b->key, b->mods);
        step(&s);
        app_input(twin, &in);
        if (b->action == ACTION_GO_TO || b->action == ACTION_SEARCH) { /* else it takes the next */
            struct input escape = {.kind = INPUT_KEY, .key = KEY_ESCAPE};
            assert_true(SDL_IsTextInputActive());
            push_key(KEY_ESCAPE, 0);
            step(&s);
            app_input(twin, &escape);
            assert_false(SDL_IsTextInputActive());
        }
        assert_ok(app_frame(twin, &list, &err), err);
        for (unsigned k = 0; app_query_name(k); k++) {
            uint64_t wanted = 0;
            app_query(twin, app_query_name(k), &wanted);
            uint64_t got = value(&s, app_query_name(k));
            char name[KEY_NAME_BYTES];
            bool is_size =
                strcmp(app_query_name(k), "width") == 0 || strcmp(app_query_name(k), "height") == 0;
            if (got != wanted && !is_size)
                fail_msg("%s: %s is %llu, expected %llu", keys_name(b, name), app_query_name(k),
                         (unsigned long long)got, (unsigned long long)wanted);
        }
        assert_int_equal(app_wants_quit(s.app), b->action == ACTION_QUIT);
    }
    char *copied = SDL_GetClipboardText();
    assert_non_null(strstr(copied, "model.layers"));
    SDL_free(copied);
    draw_fini(&list);
    app_destroy(twin);
    session_close(&s);
}

TEST(the_mouse_scrubs_zooms_and_selects) {
    USE_STATE;
    struct session s = session_open();
    step(&s);
    uint64_t end = value(&s, "cursor.moment");
    push_motion(200, 300);
    push_button(true, 200, 300, SDL_BUTTON_LEFT);
    step(&s);
    uint64_t left = value(&s, "cursor.moment");
    push_motion(300, 310);
    push_motion(400, 320);
    step(&s);
    uint64_t right = value(&s, "cursor.moment");
    assert_true(left < right && right < end);
    push_button(false, 400, 320, SDL_BUTTON_LEFT);
    push_motion(250, 300);
    step(&s);
    assert_int_equal(value(&s, "cursor.moment"), right); /* released: a motion is only a motion */
    push_wheel(3.5f);
    step(&s);
    uint64_t span = value(&s, "view.last") - value(&s, "view.first");
    assert_true(span < end * 2 / 3);
    push_motion(100, 300);
    push_button(true, 100, 300, SDL_BUTTON_MIDDLE);
    push_motion(200, 300);
    push_button(false, 200, 300, SDL_BUTTON_MIDDLE);
    step(&s);
    assert_true(value(&s, "view.last") - value(&s, "view.first") < span / 2);
    session_close(&s);
}

TEST(a_resized_or_left_window_goes_on) {
    USE_STATE;
    struct session s = session_open();
    step(&s);
    SDL_Window *window = SDL_GetWindowFromID(1);
    assert_non_null(window);
    SDL_SetWindowSize(window, 320, 200);
    step(&s);
    step(&s);
    assert_int_equal(value(&s, "width"), 320);
    assert_int_equal(value(&s, "height"), 200);
    push_motion(100, 100);
    push_button(true, 100, 100, SDL_BUTTON_LEFT);
    SDL_Event lost = {
        .window = {.type = SDL_WINDOWEVENT, .windowID = 1, .event = SDL_WINDOWEVENT_FOCUS_LOST}};
    SDL_PushEvent(&lost);
    step(&s);
    uint64_t at = value(&s, "cursor.moment");
    push_motion(200, 100);
    step(&s);
    assert_int_equal(value(&s, "cursor.moment"), at);
    SDL_Event quit = {.type = SDL_QUIT};
    SDL_PushEvent(&quit);
    step(&s);
    assert_true(app_wants_quit(s.app));
    session_close(&s);
}

/* Exactly the pixels of raster.h, with all blocks. */
static void assert_shown(struct session *s, const char *what) {
    struct error err = {0};
    size_t count = (size_t)WIDTH * HEIGHT;
    uint32_t *shown = malloc(count * 4), *painted = calloc(count, 4);
    struct draw_list list = {0};
    struct canvas canvas = {.pixels = painted, .width = WIDTH, .height = HEIGHT, .pitch = WIDTH};
    assert_true(shown && painted);
    for (int i = 0; i < 2 || app_is_busy(s->app); i++)
        assert_ok(window_step(s->window, 2, &err), err);
    assert_ok(window_read(s->window, shown, &err), err);
    assert_ok(app_frame(s->app, &list, &err), err);
    raster_paint(&canvas, &list, app_font(s->app));
    for (size_t i = 0; i < count; i++)
        if ((shown[i] & 0xffffff) != painted[i])
            fail_msg("%s: pixel %zu: %06x shown, %06x painted", what, i, shown[i], painted[i]);
    draw_fini(&list);
    free(shown);
    free(painted);
}

TEST(the_window_shows_what_was_painted_by_any_driver) {
    USE_STATE;
    static const char *const drivers[] = {"dummy", "offscreen"};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i <= STRANGE_COUNT; i++) {
            struct timeline *tl = i < STRANGE_COUNT ? strange_make((enum strange)i)
                                                    : fixture_llama("made_up.lua", false);
            struct session s = session_of(drivers[d], tl, NULL);
            push_key('p', 0);
            push_motion(300, 250);
            assert_shown(&s, i < STRANGE_COUNT ? strange_names[i] : "a usual run");
            session_close(&s);
        }
}

TEST(a_script_plays_in_the_window) {
    USE_STATE;
    struct session s = session_open();
    struct script script;
    struct text out = {0};
    struct error err = {0};
    script_start(&script, "test", "key p\nexpect cursor.event 4021\nshow cursor.event\n");
    assert_ok(window_play(s.window, &script, &out, &err), err);
    assert_string_equal(text_get(&out), "cursor.event 4021\n");
    text_fini(&out);
    session_close(&s);
}

static void push_text(const char *text, bool composed) {
    SDL_Event e = {.type = composed ? SDL_TEXTEDITING : SDL_TEXTINPUT};
    snprintf(composed ? e.edit.text : e.text.text, 32, "%s", text);
    SDL_PushEvent(&e);
}

TEST(text_arrives_only_while_a_field_is_open) {
    USE_STATE;
    struct session s = session_open();
    step(&s);
    assert_false(SDL_IsTextInputActive());
    push_text("size>1GiB", false);
    step(&s);
    assert_int_equal(value(&s, "search"), 0);
    push_key('/', 0);
    step(&s);
    assert_true(SDL_IsTextInputActive());
    push_text("size>10M", false);
    push_text("\xe5\xb1\x82", true);
    step(&s);
    assert_int_equal(value(&s, "search.bad"), 1);
    push_text("iB", false);
    step(&s);
    assert_int_equal(value(&s, "search"), 1);
    uint64_t found = value(&s, "search.count");
    assert_int_equal(SDL_SetClipboardText(" cat:activation\n"), 0);
    push_key('v', MOD_CTRL);
    step(&s);
    assert_true(value(&s, "search.count") < found && value(&s, "search.count") > 0);
    for (int i = 0; i < 16; i++)
        push_key(KEY_BACKSPACE, 0);
    step(&s);
    assert_int_equal(value(&s, "search.count"), found);
    push_key(KEY_TAB, 0);
    step(&s);
    assert_false(SDL_IsTextInputActive());
    assert_int_equal(value(&s, "search"), 1);
    session_close(&s);
}

SUITE(cmocka_unit_test(every_binding_arrives), cmocka_unit_test(the_mouse_scrubs_zooms_and_selects),
      cmocka_unit_test(a_resized_or_left_window_goes_on),
      cmocka_unit_test(the_window_shows_what_was_painted_by_any_driver),
      cmocka_unit_test(a_script_plays_in_the_window),
      cmocka_unit_test(text_arrives_only_while_a_field_is_open))
