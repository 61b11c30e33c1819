/* sdl_window.c: see sdl_window.h.
 *
 * The picture is painted by the CPU and shown through one streaming texture of SDL's software
 * renderer. With that renderer SDL would present through OpenGL unless
 * SDL_HINT_FRAMEBUFFER_ACCELERATION says no: slower, and it starts a driver. Coordinates and
 * modifiers are taken from the events alone: pushed events do not change SDL's own state. */
#include "sdl_window.h"

#include <SDL.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "draw.h"
#include "error.h"
#include "file.h"
#include "input.h"
#include "raster.h"
#include "script.h"
#include "sdl_scale.h"
#include "state.h"
#include "text.h"
#include "xalloc.h"

enum { DROPS = 2 };

struct window {
    struct app *app;
    SDL_Window *handle;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    struct draw_list list;
    uint32_t *pixels;
    int width, height;    /* of the output, in pixels */
    int units_w, units_h; /* of the window, in its own units: HiDPI makes them differ */
    int mouse_x, mouse_y; /* pixels, of the last event that told */
    unsigned mods;        /* of the last key event: mouse events have none */
    uint32_t ticks;
    SDL_Event motion; /* the last of several: only that one counts */
    bool moved, full_screen, exposed;
    char *dropped[DROPS]; /* SDL's */
    int drop_count;
    struct window_host host;
    bool typing; /* text input is on, as the application wants it */
    SDL_Rect caret;
    char title[256];
};

static bool sdl_error(struct error *err, const char *what) {
    return error_set(err, ERROR_IO_WRITE, "%s: %s", what, SDL_GetError());
}

/* The output's size may change with the window's or with the display it is on. */
static bool resize(struct window *w, struct error *err) {
    int width, height;
    SDL_GetWindowSize(w->handle, &w->units_w, &w->units_h);
    if (SDL_GetRendererOutputSize(w->renderer, &width, &height) != 0)
        return sdl_error(err, "cannot ask for the window's size");
    if (width < 1 || height < 1 || (width == w->width && height == w->height))
        return true;
    uint32_t *pixels = xcalloc((size_t)width * (size_t)height, sizeof *pixels);
    if (!pixels)
        return error_host_memory(err);
    SDL_Texture *texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_RGB888,
                                             SDL_TEXTUREACCESS_STREAMING, width, height);
    if (!texture) {
        xfree(pixels);
        return sdl_error(err, "cannot make a texture");
    }
    if (w->texture)
        SDL_DestroyTexture(w->texture);
    xfree(w->pixels);
    w->texture = texture;
    w->pixels = pixels;
    w->width = width;
    w->height = height;
    struct input in = {.kind = INPUT_RESIZE, .x = width, .y = height};
    app_input(w->app, &in);
    return true;
}

/* Without a display SDL falls back to a driver that shows nothing; only a user who names it wants
 * that. */
static bool is_invisible(void) {
    const char *driver = SDL_GetCurrentVideoDriver();
    return !SDL_GetHint(SDL_HINT_VIDEODRIVER) &&
           (!driver || strcmp(driver, "offscreen") == 0 || strcmp(driver, "dummy") == 0);
}

static bool open_window(struct window *w, int width, int height, struct error *err) {
    SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "0");
    SDL_SetHint(SDL_HINT_IME_SHOW_UI, "1");
    SDL_SetHint(SDL_HINT_IME_SUPPORT_EXTENDED_TEXT, "1");
    if (SDL_Init(SDL_INIT_VIDEO) != 0)
        return sdl_error(err, "no window can be opened");
    if (is_invisible())
        return error_set(err, ERROR_IO_WRITE,
                         "no window can be opened: no display (DISPLAY or WAYLAND_DISPLAY)");
    SDL_EnableScreenSaver();
    SDL_StopTextInput(); /* else an input method takes the letters */
    w->handle = SDL_CreateWindow("vramsim", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, width,
                                 height, SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (!w->handle)
        return sdl_error(err, "no window can be opened");
    SDL_SetWindowMinimumSize(w->handle, 160, 100);
    w->renderer = SDL_CreateRenderer(w->handle, -1, SDL_RENDERER_SOFTWARE);
    return w->renderer || sdl_error(err, "no renderer");
}

static uint64_t clock_ns(void) {
    uint64_t each = SDL_GetPerformanceFrequency(), now = SDL_GetPerformanceCounter();
    return now / each * 1000000000 + now % each * 1000000000 / each;
}

struct window *window_create(struct app *app, int width, int height, struct error *err) {
    struct window *w = xcalloc(1, sizeof *w);
    if (!w) {
        error_host_memory(err);
        return NULL;
    }
    w->app = app;
    app_use_layers(app, clock_ns);
    w->mouse_x = w->mouse_y = -1;
    if (open_window(w, width, height, err) && resize(w, err)) {
        w->exposed = true;
        w->ticks = SDL_GetTicks();
        return w;
    }
    window_destroy(w);
    return NULL;
}

void window_destroy(struct window *w) {
    if (!w)
        return;
    if (w->texture)
        SDL_DestroyTexture(w->texture);
    if (w->renderer)
        SDL_DestroyRenderer(w->renderer);
    if (w->handle)
        SDL_DestroyWindow(w->handle);
    while (w->drop_count > 0)
        SDL_free(w->dropped[--w->drop_count]);
    SDL_Quit();
    draw_fini(&w->list);
    xfree(w->pixels);
    xfree(w);
}

static unsigned mods_of(unsigned sdl) {
    return (sdl & KMOD_SHIFT ? MOD_SHIFT : 0u) | (sdl & KMOD_CTRL ? MOD_CTRL : 0u) |
           (sdl & KMOD_ALT ? MOD_ALT : 0u);
}

static uint32_t key_of(SDL_Keycode sym) {
    static const struct {
        SDL_Keycode sym;
        uint32_t key;
    } keys[] = {
        {SDLK_LEFT, KEY_LEFT},      {SDLK_RIGHT, KEY_RIGHT},    {SDLK_UP, KEY_UP},
        {SDLK_DOWN, KEY_DOWN},      {SDLK_PAGEUP, KEY_PAGE_UP}, {SDLK_PAGEDOWN, KEY_PAGE_DOWN},
        {SDLK_HOME, KEY_HOME},      {SDLK_END, KEY_END},        {SDLK_RETURN, KEY_ENTER},
        {SDLK_KP_ENTER, KEY_ENTER}, {SDLK_ESCAPE, KEY_ESCAPE},  {SDLK_TAB, KEY_TAB},
        {SDLK_KP_PLUS, '+'},        {SDLK_KP_MINUS, '-'},       {SDLK_BACKSPACE, KEY_BACKSPACE},
        {SDLK_DELETE, KEY_DELETE},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].sym == sym)
            return keys[i].key;
    if (sym >= SDLK_F1 && sym <= SDLK_F12)
        return KEY_F1 + (uint32_t)(sym - SDLK_F1);
    return sym >= ' ' && sym < 0x7f ? (uint32_t)sym : 0;
}

static int to_pixels(int units, int pixels, int whole_units) {
    return whole_units > 0 ? (int)((int64_t)units * pixels / whole_units) : units;
}

static void locate(struct window *w, struct input *in, int x, int y) {
    in->x = w->mouse_x = to_pixels(x, w->width, w->units_w);
    in->y = w->mouse_y = to_pixels(y, w->height, w->units_h);
    in->mods = w->mods;
}

static void on_button(struct window *w, const SDL_MouseButtonEvent *e) {
    struct input in = {.kind = e->type == SDL_MOUSEBUTTONDOWN ? INPUT_PRESS : INPUT_RELEASE,
                       .button = e->button == SDL_BUTTON_LEFT     ? BUTTON_LEFT
                                 : e->button == SDL_BUTTON_MIDDLE ? BUTTON_MIDDLE
                                                                  : BUTTON_RIGHT,
                       .clicks = e->clicks};
    locate(w, &in, e->x, e->y);
    SDL_CaptureMouse(in.kind == INPUT_PRESS ? SDL_TRUE : SDL_FALSE);
    app_input(w->app, &in);
}

static void on_wheel(struct window *w, const SDL_MouseWheelEvent *e) {
    double sign = e->direction == SDL_MOUSEWHEEL_FLIPPED ? -1 : 1;
    double y = (double)e->preciseY != 0 ? (double)e->preciseY : e->y;
    double x = (double)e->preciseX != 0 ? (double)e->preciseX : e->x;
    struct input in = {.kind = INPUT_WHEEL,
                       .x = w->mouse_x,
                       .y = w->mouse_y,
                       .wheel = y * sign,
                       .wheel_x = x * sign,
                       .mods = w->mods};
    app_input(w->app, &in);
}

static bool on_window(struct window *w, const SDL_WindowEvent *e, struct error *err) {
    struct input leave = {.kind = INPUT_LEAVE};
    switch (e->event) {
    case SDL_WINDOWEVENT_SIZE_CHANGED:
        return resize(w, err);
    case SDL_WINDOWEVENT_EXPOSED:
        w->exposed = true;
        break;
    case SDL_WINDOWEVENT_LEAVE:
    case SDL_WINDOWEVENT_FOCUS_LOST:
        w->mods = 0;
        app_input(w->app, &leave);
        break;
    default:
        break;
    }
    return true;
}

static void on_text(struct window *w, enum input_kind kind, const char *text) {
    struct input in = {.kind = kind, .text = text};
    app_input(w->app, &in);
}

static bool on_event(struct window *w, const SDL_Event *e, struct error *err) {
    struct input in = {0};
    switch (e->type) {
    case SDL_QUIT:
        in.kind = INPUT_QUIT;
        app_input(w->app, &in);
        break;
    case SDL_KEYUP:
        w->mods = mods_of(e->key.keysym.mod);
        break;
    case SDL_KEYDOWN:
        in.kind = INPUT_KEY;
        in.key = key_of(e->key.keysym.sym);
        in.mods = w->mods = mods_of(e->key.keysym.mod);
        app_input(w->app, &in);
        break;
    case SDL_TEXTINPUT:
        on_text(w, INPUT_TEXT, e->text.text);
        break;
    case SDL_TEXTEDITING:
        on_text(w, INPUT_EDIT, e->edit.text);
        break;
    case SDL_TEXTEDITING_EXT:
        on_text(w, INPUT_EDIT, e->editExt.text);
        SDL_free(e->editExt.text);
        break;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        on_button(w, &e->button);
        break;
    case SDL_MOUSEWHEEL:
        on_wheel(w, &e->wheel);
        break;
    case SDL_DROPFILE:
        if (w->drop_count < DROPS)
            w->dropped[w->drop_count++] = e->drop.file;
        else
            SDL_free(e->drop.file);
        break;
    case SDL_WINDOWEVENT:
        return on_window(w, &e->window, err);
    default:
        break;
    }
    return true;
}

static void flush_motion(struct window *w) {
    struct input in = {.kind = INPUT_MOTION};
    if (!w->moved)
        return;
    w->moved = false;
    locate(w, &in, w->motion.motion.x, w->motion.motion.y);
    app_input(w->app, &in);
}

/* Of motions that follow each other the last one is enough. */
static bool take_event(struct window *w, const SDL_Event *e, struct error *err) {
    if (e->type == SDL_MOUSEMOTION) {
        w->motion = *e;
        w->moved = true;
        return true;
    }
    flush_motion(w);
    return on_event(w, e, err);
}

/* The first free name, so that no picture replaces another. */
static bool save(struct window *w, enum picture_kind kind, const char *extension,
                 struct error *err) {
    char path[64];
    for (int i = 1; i < 10000; i++) {
        snprintf(path, sizeof path, "vramsim-%d.%s", i, extension);
        SDL_RWops *there = SDL_RWFromFile(path, "rb");
        if (!there)
            return script_save(w->app, kind, path, err);
        SDL_RWclose(there);
    }
    return error_set(err, ERROR_IO_WRITE, "%s: too many pictures here", path);
}

static bool copy(struct window *w, void (*write)(struct app *, struct text *), struct error *err) {
    struct text text = {0};
    write(w->app, &text);
    bool copied = text.failed
                      ? error_host_memory(err)
                      : SDL_SetClipboardText(text_get(&text)) == 0 || sdl_error(err, "cannot copy");
    text_fini(&text);
    return copied;
}

static bool paste(struct window *w, struct error *err) {
    char *text = SDL_GetClipboardText();
    if (!text)
        return sdl_error(err, "cannot paste");
    on_text(w, INPUT_TEXT, text);
    SDL_free(text);
    return true;
}

static bool serve_request(struct window *w, struct error *err) {
    enum app_request request = app_take_request(w->app);
    switch (request) {
    case APP_NOTHING:
        break;
    case APP_SAVE_PNG:
        return save(w, PICTURE_PNG, "png", err);
    case APP_SAVE_SVG:
        return save(w, PICTURE_SVG, "svg", err);
    case APP_EXPORT:
        return save(w, PICTURE_CSV, "csv", err);
    case APP_FULL_SCREEN:
        w->full_screen = !w->full_screen;
        SDL_SetWindowFullscreen(w->handle, w->full_screen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
        break;
    case APP_COPY:
        return copy(w, app_copy, err);
    case APP_COPY_STATE:
        return copy(w, state_write, err);
    case APP_RUN_AGAIN:
    case APP_SHOW_ROWS:
    case APP_RELOAD:
    case APP_CANCEL:
        if (w->host.request)
            w->host.request(w->host.user, request);
        break;
    case APP_PASTE:
        return paste(w, err);
    }
    return true;
}

/* What the user asked for and could not be done is said in the title; the viewer goes on. */
static void update_title(struct window *w, const struct error *failed) {
    char title[sizeof w->title];
    if (failed)
        snprintf(title, sizeof title, "vramsim: %.200s", failed->text);
    else
        app_title(w->app, title, sizeof title);
    if (strcmp(title, w->title) == 0)
        return;
    memcpy(w->title, title, sizeof title);
    SDL_SetWindowTitle(w->handle, title);
}

static bool show(struct window *w, struct error *err) {
    if (!app_frame(w->app, &w->list, err))
        return false;
    struct canvas canvas = {
        .pixels = w->pixels, .width = w->width, .height = w->height, .pitch = (size_t)w->width};
    raster_paint(&canvas, &w->list, app_font(w->app));
    if (SDL_UpdateTexture(w->texture, NULL, w->pixels, w->width * 4) != 0 ||
        SDL_RenderCopy(w->renderer, w->texture, NULL, NULL) != 0)
        return sdl_error(err, "cannot show the picture");
    SDL_RenderPresent(w->renderer);
    w->exposed = false;
    return true;
}

static void hand_over_drops(struct window *w) {
    if (w->drop_count > 0 && w->host.dropped)
        w->host.dropped(w->host.user, (const char *const *)w->dropped, w->drop_count);
    while (w->drop_count > 0)
        SDL_free(w->dropped[--w->drop_count]);
}

static int to_units(int pixels, int units, int whole_pixels) {
    return whole_pixels > 0 ? (int)((int64_t)pixels * units / whole_pixels) : pixels;
}

/* Text input is on while the application wants text and at no other time: else an input method would
 * take the letters that are keys. Its window is put beside the caret. */
static void update_typing(struct window *w) {
    int x, y, width, height;
    bool typing = app_wants_text(w->app, &x, &y, &width, &height);
    SDL_Rect caret = {to_units(x, w->units_w, w->width), to_units(y, w->units_h, w->height),
                      to_units(width, w->units_w, w->width) + 1,
                      to_units(height, w->units_h, w->height)};
    if (typing != w->typing)
        (typing ? SDL_StartTextInput : SDL_StopTextInput)();
    if (typing && (!w->typing || memcmp(&caret, &w->caret, sizeof caret) != 0))
        SDL_SetTextInputRect(&caret);
    w->typing = typing;
    w->caret = caret;
}

static void tick(struct window *w) {
    uint32_t now = SDL_GetTicks();
    struct input in = {.kind = INPUT_TICK, .milliseconds = now - w->ticks};
    w->ticks = now;
    app_input(w->app, &in);
}

bool window_step(struct window *w, int wait_ms, struct error *err) {
    SDL_Event event;
    struct error failed = {0};
    bool served = true;
    int waited = wait_ms > 0 ? SDL_WaitEventTimeout(&event, wait_ms) : SDL_PollEvent(&event);
    while (waited) { /* all that are there: they cost nothing until they are drawn */
        if (!take_event(w, &event, err))
            return false;
        served = serve_request(w, &failed) && served; /* the next one may ask for something else */
        waited = SDL_PollEvent(&event);
    }
    flush_motion(w);
    hand_over_drops(w);
    tick(w);
    served = serve_request(w, &failed) && served;
    bool shown = true;
    if (app_is_dirty(w->app) || w->exposed || !served) {
        update_title(w, served ? NULL : &failed);
        shown = show(w, err);
    }
    update_typing(w);
    return shown;
}

/* Nothing to do: until something happens. */
int window_wait_ms(const struct window *w) {
    return app_is_busy(w->app) ? 1 : app_is_playing(w->app) ? 16 : 1000;
}

int window_scale_percent(const struct window *w) {
    return sdl_scale_percent(w->width, w->units_w);
}

void window_set_host(struct window *w, const struct window_host *host) {
    w->host = *host;
}

void window_set_app(struct window *w, struct app *app) {
    struct input size = {.kind = INPUT_RESIZE, .x = w->width, .y = w->height};
    w->app = app;
    w->exposed = true;
    app_use_layers(app, clock_ns);
    app_input(app, &size);
}

bool window_run(struct window *w, struct error *err) {
    while (!app_wants_quit(w->app))
        if (!window_step(w, window_wait_ms(w), err))
            return false;
    return true;
}

bool window_play(struct window *w, struct script *script, struct text *out, struct error *err) {
    while (!script_is_done(script) && !app_wants_quit(w->app))
        if (!script_step(script, w->app, out, err) || !window_step(w, 16, err))
            return false;
    return true;
}

bool window_read(struct window *w, uint32_t *pixels, struct error *err) {
    return SDL_RenderReadPixels(w->renderer, NULL, SDL_PIXELFORMAT_RGB888, pixels, w->width * 4) ==
               0 ||
           sdl_error(err, "cannot read the window");
}
