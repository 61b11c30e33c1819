/* input.h: what a window (or a script, or a test) tells the application. Coordinates are pixels of
 * the picture. */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>

enum input_kind {
    INPUT_KEY,     /* key, mods */
    INPUT_WHEEL,   /* x, y, wheel (up > 0), wheel_x (right > 0), mods */
    INPUT_MOTION,  /* x, y, mods */
    INPUT_PRESS,   /* x, y, button, clicks, mods */
    INPUT_RELEASE, /* x, y, button, mods */
    INPUT_LEAVE,   /* the pointer, or the focus: a drag ends */
    INPUT_RESIZE,  /* x, y: the new size */
    INPUT_TICK,    /* milliseconds: time has passed */
    INPUT_TEXT,    /* text: typed or pasted, while the application wants text (app_wants_text) */
    INPUT_EDIT,    /* text: what an input method composes, not typed yet; "": no more */
    INPUT_QUIT
};

/* Printable keys are their ASCII code, letters in lower case. */
enum key {
    KEY_LEFT = 0x100,
    KEY_RIGHT,
    KEY_UP,
    KEY_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_ENTER,
    KEY_ESCAPE,
    KEY_TAB,
    KEY_BACKSPACE,
    KEY_DELETE,
    KEY_F1 = 0x201, /* F2 = KEY_F1 + 1 ... */
    KEY_F2 = 0x202,
    KEY_F3 = 0x203,
    KEY_F4 = 0x204,
    KEY_F5 = 0x205,
    KEY_F6 = 0x206,
    KEY_F7 = 0x207,
    KEY_F8 = 0x208,
    KEY_F9 = 0x209,
    KEY_F10 = 0x20a,
    KEY_F11 = 0x20b,
    KEY_F12 = 0x20c
};

enum modifier { MOD_SHIFT = 1, MOD_CTRL = 2, MOD_ALT = 4 };

enum { BUTTON_LEFT = 1, BUTTON_MIDDLE = 2, BUTTON_RIGHT = 3 };

struct input {
    enum input_kind kind;
    unsigned mods; /* enum modifier */
    uint32_t key;
    int x, y;
    int button, clicks;
    double wheel, wheel_x;
    uint32_t milliseconds;
    const char *text; /* UTF-8, untrusted; NULL: none. Read before app_input returns. */
};

#endif
