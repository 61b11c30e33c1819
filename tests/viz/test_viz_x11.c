/* A real window, run by with_xvfb.sh: every key and every action of the mouse, pressed by xdotool, does
 * what it does without a window; what stands on the screen is what was painted, for strange runs and
 * sizes too. */
#include "suite.h"

#include <SDL.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "attr.h"
#include "draw.h"
#include "font.h"
#include "input.h"
#include "keys.h"
#include "raster.h"
#include "sdl_window.h"
#include "viz_fixture.h"
#include "viz_strange.h"

enum { WIDTH = 900, HEIGHT = 600, PATIENCE_MS = 20000, DOUBLE_MS = 60 };

struct session {
    struct timeline *tl, *other;
    struct app *app, *twin; /* the twin has no window */
    struct window *window;
    char id[32]; /* of the window, for xdotool */
    int seen;    /* input events that SDL has told of */
    int x, y;    /* of the pointer */
};

static struct app *make_app(const struct timeline *a, const struct timeline *b) {
    struct error err = {0};
    struct app_options options = {.width = WIDTH, .height = HEIGHT, .embedded_font = true};
    struct app *app = app_create(&options, a, b, &err);
    assert_non_null(app);
    return app;
}

static int count_input(void *user, SDL_Event *e) {
    int *seen = user;
    *seen += e->type == SDL_KEYDOWN || e->type == SDL_KEYUP || e->type == SDL_MOUSEWHEEL ||
             e->type == SDL_MOUSEBUTTONDOWN || e->type == SDL_MOUSEBUTTONUP ||
             e->type == SDL_MOUSEMOTION;
    return 0;
}

static void ATTR_PRINTF(2, 3) xdo(const struct session *s, const char *format, ...) {
    char command[300], line[400];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(line, sizeof line, "WINDOW=%s; xdotool %s", s->id, command);
    if (system(line) != 0)
        fail_msg("%s", line);
}

static void step(struct session *s, int wait_ms) {
    struct error err = {0};
    assert_ok(window_step(s->window, wait_ms, &err), err);
}

static void find_window(struct session *s) {
    for (int i = 0; i < 100 && !s->id[0]; i++) {
        step(s, 50);
        FILE *pipe = popen("xdotool search --onlyvisible --name '^vramsim:' 2>/dev/null", "r");
        assert_non_null(pipe);
        if (!fgets(s->id, sizeof s->id, pipe))
            s->id[0] = '\0';
        s->id[strcspn(s->id, "\n")] = '\0';
        pclose(pipe);
    }
    assert_true(s->id[0]);
}

static void open_session(struct session *s, struct timeline *a, struct timeline *b) {
    struct error err = {0};
    *s = (struct session){.tl = a, .other = b};
    SDL_SetHint(SDL_HINT_MOUSE_DOUBLE_CLICK_TIME, "60"); /* DOUBLE_MS */
    s->app = make_app(a, b);
    s->twin = make_app(a, b);
    s->window = window_create(s->app, WIDTH, HEIGHT, &err);
    if (!s->window)
        fail_msg("%s", err.text);
    SDL_AddEventWatch(count_input, &s->seen);
    find_window(s);
    xdo(s, "windowmove --sync $WINDOW 0 0 windowfocus $WINDOW mousemove 1279 799");
    for (int i = 0; i < 5; i++)
        step(s, 20); /* the motion that Xvfb begins with */
}

static void close_session(struct session *s) {
    SDL_DelEventWatch(count_input, &s->seen);
    window_destroy(s->window);
    app_destroy(s->app);
    app_destroy(s->twin);
    timeline_destroy(s->tl);
    timeline_destroy(s->other);
}

static uint64_t value(struct app *app, const char *name) {
    uint64_t v = 0;
    assert_true(app_query(app, name, &v));
    return v;
}

/* The first value in which the two differ; NULL: none. */
static const char *difference(struct session *s) {
    for (unsigned i = 0; app_query_name(i); i++)
        if (value(s->app, app_query_name(i)) != value(s->twin, app_query_name(i)))
            return app_query_name(i);
    return NULL;
}

static void draw_twin(struct session *s) {
    struct draw_list list = {0};
    struct error err = {0};
    assert_ok(app_frame(s->twin, &list, &err), err);
    draw_fini(&list);
}

/* Steps until the window has seen `events` more, and is then as its twin. */
static void until_same(struct session *s, int before, int events, const char *what) {
    const char *differs = "events";
    draw_twin(s);
    for (int waited = 0; waited < PATIENCE_MS && differs; waited += 10) {
        step(s, 10);
        differs = s->seen - before < events ? "events" : difference(s);
    }
    if (differs && strcmp(differs, "events") == 0)
        fail_msg("%s: %d events have come, expected %d", what, s->seen - before, events);
    if (differs)
        fail_msg("%s: %s is %llu, expected %llu", what, differs,
                 (unsigned long long)value(s->app, differs),
                 (unsigned long long)value(s->twin, differs));
}

static void twin_input(struct session *s, enum input_kind kind, int x, int y, int button,
                       unsigned mods, double wheel) {
    struct input in = {
        .kind = kind, .x = x, .y = y, .button = button, .clicks = 1, .mods = mods, .wheel = wheel};
    app_input(s->twin, &in);
}

/* As xdotool calls it; what needs Shift on the keyboard of Xvfb (US) comes with it. */
static const char *key_name(uint32_t key, char out[16]) {
    static const struct {
        uint32_t key;
        const char *name;
    } names[] = {{KEY_LEFT, "Left"},     {KEY_RIGHT, "Right"},   {KEY_UP, "Up"},
                 {KEY_DOWN, "Down"},     {KEY_PAGE_UP, "Prior"}, {KEY_PAGE_DOWN, "Next"},
                 {KEY_HOME, "Home"},     {KEY_END, "End"},       {KEY_ENTER, "Return"},
                 {KEY_ESCAPE, "Escape"}, {KEY_TAB, "Tab"},       {KEY_BACKSPACE, "BackSpace"},
                 {' ', "space"},         {',', "comma"},         {'.', "period"},
                 {'[', "bracketleft"},   {']', "bracketright"},  {'=', "equal"},
                 {'-', "minus"},         {'/', "slash"},         {'\'', "apostrophe"},
                 {';', "semicolon"},     {'\\', "backslash"},    {'`', "grave"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].key == key)
            return names[i].name;
    if (key >= KEY_F1 && key <= KEY_F12)
        snprintf(out, 16, "F%u", (unsigned)(key - KEY_F1 + 1));
    else
        snprintf(out, 16, "%c", (char)key);
    return out;
}

/* Keys that this keyboard has only above others: SDL names the key, not the sign on it. */
static bool is_above_another(uint32_t key) {
    return key < 0x80 && strchr("+<>?:\"{}|~!@#$%^&*()_", (int)key) != NULL;
}

/* Files would be written, time would pass, the run be read again, or the window close. */
static bool is_left_out(enum action action) {
    return action == ACTION_SAVE_PNG || action == ACTION_SAVE_SVG || action == ACTION_EXPORT ||
           action == ACTION_PLAY || action == ACTION_FULL_SCREEN || action == ACTION_QUIT;
}

static void press_key(struct session *s, uint32_t key, unsigned mods, const char *what) {
    char name[16];
    int before = s->seen;
    struct input in = {.kind = INPUT_KEY, .key = key, .mods = mods};
    app_input(s->twin, &in);
    xdo(s, "key %s%s%s%s", mods & MOD_CTRL ? "ctrl+" : "", mods & MOD_ALT ? "alt+" : "",
        mods & MOD_SHIFT ? "shift+" : "", key_name(key, name));
    int keys = 1 + !!(mods & MOD_CTRL) + !!(mods & MOD_ALT) + !!(mods & MOD_SHIFT);
    until_same(s, before, 2 * keys, what);
}

TEST(every_key_does_what_it_does_without_a_window) {
    USE_STATE;
    struct session s;
    int pressed = 0;
    open_session(&s, fixture_llama("made_up.lua", false), fixture_llama("recompute.pickle", true));
    for (size_t i = 0; keys_binding(i); i++) {
        const struct binding *b = keys_binding(i);
        char name[KEY_NAME_BYTES];
        if (is_left_out(b->action) || is_above_another(b->key))
            continue;
        press_key(&s, b->key, b->mods, keys_name(b, name));
        if (b->action == ACTION_GO_TO || b->action == ACTION_SEARCH) /* else it takes the next */
            press_key(&s, KEY_ESCAPE, 0, "Esc in a field");
        pressed++;
    }
    assert_true(pressed > 60);
    close_session(&s);
}

TEST(what_is_left_out_above_works_too) {
    USE_STATE;
    struct session s;
    char folder[] = "/tmp/vramsim-x11-XXXXXX";
    open_session(&s, fixture_llama("made_up.lua", false), NULL);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    xdo(&s, "key F12 ctrl+shift+s ctrl+e space");
    const char *const files[] = {"vramsim-1.png", "vramsim-1.svg", "vramsim-1.csv"};
    for (int i = 0; i < 3; i++) {
        for (int waited = 0; access(files[i], R_OK) != 0; waited++) {
            step(&s, 10);
            assert_true(waited < PATIENCE_MS / 10);
        }
        unlink(files[i]);
    }
    for (int i = 0; !app_is_playing(s.app); i++) {
        step(&s, 10);
        assert_true(i < PATIENCE_MS / 10);
    }
    xdo(&s, "key ctrl+q");
    for (int i = 0; !app_wants_quit(s.app); i++) {
        step(&s, 10);
        assert_true(i < PATIENCE_MS / 10);
    }
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
    close_session(&s);
}

/* Where it is already nothing is told. */
static void move_to(struct session *s, int x, int y, unsigned mods) {
    int before = s->seen;
    if (x == s->x && y == s->y)
        return;
    s->x = x;
    s->y = y;
    twin_input(s, INPUT_MOTION, x, y, 0, mods, 0);
    xdo(s, "mousemove --window $WINDOW %d %d", x, y);
    until_same(s, before, 1, "motion");
}

/* xdotool's buttons are X's; `keys` of a modifier are held meanwhile. */
static void drag(struct session *s, int button, unsigned mods, int x0, int y0, int x1, int y1) {
    static const char *const held[] = {"", "shift", "ctrl"};
    move_to(s, x0, y0, 0);
    SDL_Delay(2 * DOUBLE_MS); /* or it would be the second of a double click */
    int before = s->seen;
    if (mods)
        xdo(s, "keydown %s", held[mods]);
    twin_input(s, INPUT_PRESS, x0, y0, button, mods, 0);
    xdo(s, "mousedown %d", button);
    until_same(s, before, 1 + !!mods, "press");
    move_to(s, x1, y1, mods);
    before = s->seen;
    twin_input(s, INPUT_RELEASE, x1, y1, button, mods, 0);
    xdo(s, "mouseup %d", button);
    if (mods)
        xdo(s, "keyup %s", held[mods]);
    until_same(s, before, 1 + !!mods, "release");
}

static void turn(struct session *s, int button, unsigned mods, int x, int y) {
    static const char *const held[] = {"", "shift", "ctrl"};
    move_to(s, x, y, 0);
    int before = s->seen;
    twin_input(s, INPUT_WHEEL, x, y, 0, mods, button == 4 ? 1 : -1);
    if (mods)
        xdo(s, "keydown %s click %d keyup %s", held[mods], button, held[mods]);
    else
        xdo(s, "click %d", button);
    until_same(s, before, mods ? 3 : 1, "wheel");
}

static void double_click(struct session *s, int x, int y) {
    move_to(s, x, y, 0);
    int before = s->seen;
    for (int i = 1; i <= 2; i++) {
        struct input in = {.kind = INPUT_PRESS, .x = x, .y = y, .button = BUTTON_LEFT, .clicks = i};
        app_input(s->twin, &in);
        in.kind = INPUT_RELEASE;
        app_input(s->twin, &in);
    }
    xdo(s, "click --repeat 2 --delay 10 1");
    until_same(s, before, 4, "double click");
}

TEST(every_action_of_the_mouse_does_what_it_does_without_a_window) {
    USE_STATE;
    struct session s;
    open_session(&s, fixture_llama("made_up.lua", false), NULL);
    drag(&s, 1, 0, 200, 250, 400, 260);         /* scrubs */
    turn(&s, 4, 0, 300, 250);                   /* zooms time */
    turn(&s, 4, MOD_CTRL, 300, 250);            /* finely */
    turn(&s, 4, MOD_SHIFT, 300, 250);           /* zooms bytes */
    drag(&s, 1, 0, 300, 250, 200, 240);         /* pans */
    drag(&s, 1, 0, 300, 250, 300, 250);         /* a click */
    drag(&s, 3, 0, 220, 250, 350, 250);         /* a range */
    drag(&s, 1, MOD_SHIFT, 240, 250, 380, 250); /* another */
    drag(&s, 2, 0, 200, 250, 300, 250);         /* zooms to a range */
    double_click(&s, 320, 250);                 /* the whole */
    drag(&s, 1, 0, 200, 70, 320, 70);           /* the overview's brush */
    drag(&s, 1, 0, 260, 70, 300, 70);           /* moves it */
    drag(&s, 1, 0, 220, 110, 300, 110);         /* the phases scrub */
    turn(&s, 5, 0, 300, 250);
    turn(&s, 5, 0, 300, 500);           /* a table scrolls */
    drag(&s, 1, 0, 300, 480, 300, 480); /* a row is chosen */
    for (int y = 300; y < 460; y += 4)  /* wherever the border is: it may be dragged */
        drag(&s, 1, 0, 400, y, 400, y);
    close_session(&s);
}

/* The 32-bit pixels of an X window dump: its header says where they begin. */
static uint32_t dump_word(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static unsigned char *read_screen(size_t *first, size_t *pitch) {
    const char *path = getenv("XVFB_SCREEN");
    FILE *file = path ? fopen(path, "rb") : NULL;
    assert_non_null(file);
    enum { SCREEN_BYTES = 1280 * 800 * 4 + 65536 };
    unsigned char *dump = malloc(SCREEN_BYTES);
    assert_non_null(dump);
    size_t length = fread(dump, 1, SCREEN_BYTES, file);
    fclose(file);
    assert_true(length > 1280 * 800 * 4);
    /* words of the header: 0 its length, 11 bits a pixel, 12 bytes a row, 19 colours of 12 bytes */
    assert_int_equal(dump_word(dump + 4 * 11), 32);
    *pitch = dump_word(dump + 4 * 12);
    *first = dump_word(dump) + (size_t)12 * dump_word(dump + 4 * 19);
    return dump;
}

/* What stands on the screen; the window is in its corner. */
static size_t screen_differences(const uint32_t *painted, int width, int height) {
    size_t first, pitch, different = 0;
    unsigned char *dump = read_screen(&first, &pitch);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const unsigned char *p = dump + first + (size_t)y * pitch + (size_t)x * 4;
            uint32_t shown = (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
            different += shown != painted[(size_t)y * (size_t)width + (size_t)x];
        }
    free(dump);
    return different;
}

static void assert_shown(struct session *s, const char *what) {
    struct draw_list list = {0};
    struct error err = {0};
    for (int i = 0; i < 2 || app_is_busy(s->app); i++)
        step(s, 5);
    int width = (int)value(s->app, "width"), height = (int)value(s->app, "height");
    uint32_t *painted = calloc((size_t)width * (size_t)height, 4);
    uint32_t *shown = calloc((size_t)width * (size_t)height, 4);
    assert_true(painted && shown);
    struct canvas canvas = {
        .pixels = painted, .width = width, .height = height, .pitch = (size_t)width};
    assert_ok(app_frame(s->app, &list, &err), err);
    raster_paint(&canvas, &list, app_font(s->app));
    assert_ok(window_read(s->window, shown, &err), err);
    size_t different = 0, on_screen = 1;
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++)
        different += (shown[i] & 0xffffff) != painted[i];
    for (int i = 0; i < 100 && on_screen > 0; i++) { /* the server draws when it comes to it */
        step(s, 10);
        on_screen = screen_differences(painted, width, height);
    }
    if (different || on_screen)
        fail_msg("%s: %zu pixels differ, %zu on the screen", what, different, on_screen);
    draw_fini(&list);
    free(painted);
    free(shown);
}

TEST(a_window_is_resized_loses_the_focus_and_shows_what_was_painted) {
    USE_STATE;
    static const int sizes[][2] = {{320, 200}, {1280, 800}, {160, 100}, {700, 500}};
    struct session s;
    open_session(&s, fixture_llama("made_up.lua", false), NULL);
    assert_shown(&s, "at first");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char what[32];
        snprintf(what, sizeof what, "%d x %d", sizes[i][0], sizes[i][1]);
        xdo(&s, "windowsize $WINDOW %d %d", sizes[i][0], sizes[i][1]);
        for (int k = 0; value(s.app, "width") != (uint64_t)sizes[i][0]; k++) {
            step(&s, 10);
            assert_true(k < PATIENCE_MS / 10);
        }
        assert_shown(&s, what);
    }
    /* a drag ends where the focus goes elsewhere */
    xdo(&s, "mousemove --window $WINDOW 300 200 mousedown 1");
    for (int i = 0; i < 20; i++)
        step(&s, 10);
    xdo(&s, "windowunmap --sync $WINDOW");
    for (int i = 0; i < 20; i++)
        step(&s, 10);
    uint64_t moment = value(s.app, "cursor.moment");
    xdo(&s, "windowmap --sync $WINDOW mousemove --window $WINDOW 200 200 mouseup 1");
    for (int i = 0; i < 20; i++)
        step(&s, 10);
    assert_int_equal(value(s.app, "cursor.moment"), moment);
    assert_shown(&s, "shown again");
    close_session(&s);
}

TEST(strange_runs_are_shown_as_painted) {
    USE_STATE;
    for (int i = 0; i < STRANGE_COUNT; i++) {
        struct session s;
        open_session(&s, strange_make((enum strange)i), NULL);
        assert_shown(&s, strange_names[i]);
        xdo(&s, "key p w w x d mousemove --window $WINDOW 200 250 click 4");
        assert_shown(&s, strange_names[i]);
        close_session(&s);
    }
}

/* The display says 144 dots an inch, by a property that xprop sets as xrdb does. */
TEST(a_display_of_many_dots_is_found) {
    USE_STATE;
    struct session s;
    open_session(&s, fixture_llama("made_up.lua", false), NULL);
    assert_int_equal(window_scale_percent(s.window), 100);
    if (system("xprop -root -f RESOURCE_MANAGER 8s -set RESOURCE_MANAGER 'Xft.dpi:\t144\n' "
               "2>/dev/null") == 0)
        assert_int_equal(window_scale_percent(s.window), 150);
    close_session(&s);
}

SUITE(cmocka_unit_test(every_key_does_what_it_does_without_a_window),
      cmocka_unit_test(what_is_left_out_above_works_too),
      cmocka_unit_test(every_action_of_the_mouse_does_what_it_does_without_a_window),
      cmocka_unit_test(a_window_is_resized_loses_the_focus_and_shows_what_was_painted),
      cmocka_unit_test(strange_runs_are_shown_as_painted),
      cmocka_unit_test(a_display_of_many_dots_is_found))
