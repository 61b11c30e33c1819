/* keys.c: see keys.h. Symbols that need Shift on some keyboards are listed both ways. */
#include "keys.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

static const struct binding bindings[] = {
    {'p', 0, ACTION_PEAK},
    {'n', 0, ACTION_NEXT_PEAK},
    {'n', MOD_SHIFT, ACTION_PREVIOUS_PEAK},
    {KEY_LEFT, 0, ACTION_CURSOR_LEFT},
    {KEY_RIGHT, 0, ACTION_CURSOR_RIGHT},
    {KEY_LEFT, MOD_SHIFT, ACTION_CURSOR_LEFT_PIXEL},
    {KEY_RIGHT, MOD_SHIFT, ACTION_CURSOR_RIGHT_PIXEL},
    {',', 0, ACTION_PREVIOUS_EVENT},
    {'.', 0, ACTION_NEXT_EVENT},
    {'[', 0, ACTION_PREVIOUS_PHASE},
    {']', 0, ACTION_NEXT_PHASE},
    {'g', 0, ACTION_GO_TO},
    {'/', 0, ACTION_SEARCH},
    {'f', MOD_CTRL, ACTION_SEARCH},
    {'j', 0, ACTION_NEXT_MATCH},
    {'k', 0, ACTION_PREVIOUS_MATCH},
    {'l', 0, ACTION_ONLY_MATCHES},
    {'a', MOD_CTRL, ACTION_SEARCH_NONE},
    {'a', 0, ACTION_PAN_LEFT},
    {'d', 0, ACTION_PAN_RIGHT},
    {'w', 0, ACTION_ZOOM_IN},
    {'+', 0, ACTION_ZOOM_IN},
    {'=', 0, ACTION_ZOOM_IN},
    {'=', MOD_SHIFT, ACTION_ZOOM_IN},
    {'+', MOD_SHIFT, ACTION_ZOOM_IN},
    {'s', 0, ACTION_ZOOM_OUT},
    {'-', 0, ACTION_ZOOM_OUT},
    {'w', MOD_SHIFT, ACTION_ZOOM_BYTES_IN},
    {'s', MOD_SHIFT, ACTION_ZOOM_BYTES_OUT},
    {'0', 0, ACTION_WHOLE},
    {KEY_HOME, 0, ACTION_WHOLE},
    {'y', 0, ACTION_FIT_BYTES},
    {'x', 0, ACTION_AXIS},
    {'v', 0, ACTION_COMPARE},
    {'s', MOD_ALT, ACTION_NEXT_SECOND},
    {'f', MOD_ALT, ACTION_NEXT_FIRST},
    {'a', MOD_ALT, ACTION_ALIGN},
    {'d', MOD_ALT, ACTION_FIRST_DIFFERENCE},
    {KEY_LEFT, MOD_ALT, ACTION_NUDGE_LEFT},
    {KEY_RIGHT, MOD_ALT, ACTION_NUDGE_RIGHT},
    {KEY_LEFT, MOD_ALT | MOD_SHIFT, ACTION_NUDGE_LEFT_EVENT},
    {KEY_RIGHT, MOD_ALT | MOD_SHIFT, ACTION_NUDGE_RIGHT_EVENT},
    {KEY_UP, MOD_ALT, ACTION_STRETCH_MORE},
    {KEY_DOWN, MOD_ALT, ACTION_STRETCH_LESS},
    {'0', MOD_ALT, ACTION_ALIGN_RESET},
    {'c', 0, ACTION_NEXT_GROUPING},
    {'c', MOD_SHIFT, ACTION_PREVIOUS_GROUPING},
    {'c', MOD_ALT, ACTION_NEXT_BANDS},
    {'c', MOD_ALT | MOD_SHIFT, ACTION_PREVIOUS_BANDS},
    {KEY_TAB, 0, ACTION_NEXT_TAB},
    {KEY_TAB, MOD_SHIFT, ACTION_PREVIOUS_TAB},
    {KEY_ENTER, 0, ACTION_CHOOSE},
    {'b', 0, ACTION_PIN_ALLOC},
    {'e', 0, ACTION_PIN_FREE},
    {'m', 0, ACTION_MARK},
    {'r', 0, ACTION_RANGE},
    {'f', 0, ACTION_FIT_SELECTION},
    {KEY_UP, 0, ACTION_ROW_UP},
    {KEY_DOWN, 0, ACTION_ROW_DOWN},
    {'o', 0, ACTION_SORT},
    {'o', MOD_SHIFT, ACTION_SORT_REVERSE},
    {KEY_PAGE_UP, 0, ACTION_PAGE_UP},
    {KEY_PAGE_DOWN, 0, ACTION_PAGE_DOWN},
    {'1', 0, ACTION_ISOLATE_1},
    {'2', 0, ACTION_ISOLATE_2},
    {'3', 0, ACTION_ISOLATE_3},
    {'4', 0, ACTION_ISOLATE_4},
    {'5', 0, ACTION_ISOLATE_5},
    {'6', 0, ACTION_ISOLATE_6},
    {'7', 0, ACTION_ISOLATE_7},
    {'8', 0, ACTION_ISOLATE_8},
    {'9', 0, ACTION_ISOLATE_9},
    {KEY_F2, 0, ACTION_OWNERS},
    {KEY_F2, MOD_SHIFT, ACTION_EVENTS},
    {'h', 0, ACTION_FOLLOW},
    {'h', MOD_SHIFT, ACTION_FOLLOW_ROW},
    {KEY_F7, 0, ACTION_LIFETIMES},
    {KEY_F8, 0, ACTION_ICICLE},
    {KEY_BACKSPACE, 0, ACTION_ICICLE_UP},
    {'p', MOD_ALT, ACTION_PARAMETERS},
    {KEY_LEFT, MOD_CTRL | MOD_SHIFT, ACTION_PARAMETER_LESS},
    {KEY_RIGHT, MOD_CTRL | MOD_SHIFT, ACTION_PARAMETER_MORE},
    {KEY_LEFT, MOD_CTRL, ACTION_PARAMETER_HALF},
    {KEY_RIGHT, MOD_CTRL, ACTION_PARAMETER_TWICE},
    {'z', MOD_CTRL, ACTION_PARAMETER_UNDO},
    {KEY_F9, 0, ACTION_DIFFERENCE},
    {KEY_F10, 0, ACTION_RANGE_TAB},
    {KEY_F3, 0, ACTION_STRIP},
    {'q', 0, ACTION_LEVEL},
    {KEY_F4, 0, ACTION_MAP},
    {KEY_UP, MOD_SHIFT, ACTION_MAP_UP},
    {KEY_DOWN, MOD_SHIFT, ACTION_MAP_DOWN},
    {'+', MOD_ALT, ACTION_MAP_IN},
    {'=', MOD_ALT, ACTION_MAP_IN},
    {'-', MOD_ALT, ACTION_MAP_OUT},
    {KEY_F6, 0, ACTION_SIDE},
    {' ', 0, ACTION_PLAY},
    {'<', 0, ACTION_SLOWER},
    {'<', MOD_SHIFT, ACTION_SLOWER},
    {',', MOD_SHIFT, ACTION_SLOWER},
    {'>', 0, ACTION_FASTER},
    {'>', MOD_SHIFT, ACTION_FASTER},
    {'.', MOD_SHIFT, ACTION_FASTER},
    {'c', MOD_CTRL | MOD_SHIFT, ACTION_COPY_STATE},
    {'c', MOD_CTRL, ACTION_COPY},
    {'e', MOD_CTRL, ACTION_EXPORT},
    {KEY_F12, 0, ACTION_SAVE_PNG},
    {'s', MOD_CTRL, ACTION_SAVE_PNG},
    {'s', MOD_CTRL | MOD_SHIFT, ACTION_SAVE_SVG},
    {'t', 0, ACTION_THEME},
    {'l', MOD_CTRL, ACTION_LANGUAGE},
    {'+', MOD_CTRL, ACTION_SCALE_UP},
    {'=', MOD_CTRL, ACTION_SCALE_UP},
    {'=', MOD_CTRL | MOD_SHIFT, ACTION_SCALE_UP},
    {'-', MOD_CTRL, ACTION_SCALE_DOWN},
    {'0', MOD_CTRL, ACTION_SCALE_RESET},
    {KEY_F11, 0, ACTION_FULL_SCREEN},
    {KEY_F5, 0, ACTION_RELOAD},
    {'?', 0, ACTION_HELP},
    {'?', MOD_SHIFT, ACTION_HELP},
    {'/', MOD_SHIFT, ACTION_HELP},
    {KEY_F1, 0, ACTION_HELP},
    {KEY_ESCAPE, 0, ACTION_CLEAR},
    {'q', MOD_CTRL, ACTION_QUIT},
};

static const struct {
    uint32_t key;
    const char *name;
} named[] = {
    {KEY_LEFT, "Left"},           {KEY_RIGHT, "Right"},    {KEY_UP, "Up"},     {KEY_DOWN, "Down"},
    {KEY_PAGE_UP, "PgUp"},        {KEY_PAGE_DOWN, "PgDn"}, {KEY_HOME, "Home"}, {KEY_END, "End"},
    {KEY_ENTER, "Enter"},         {KEY_ESCAPE, "Esc"},     {KEY_TAB, "Tab"},   {' ', "Space"},
    {KEY_BACKSPACE, "Backspace"}, {KEY_DELETE, "Delete"},
};

static const struct {
    unsigned mod;
    const char *name;
} mod_names[] = {{MOD_CTRL, "Ctrl+"}, {MOD_ALT, "Alt+"}, {MOD_SHIFT, "Shift+"}};

enum { BINDINGS = sizeof bindings / sizeof bindings[0], NAMED = sizeof named / sizeof named[0] };

const struct binding *keys_binding(size_t index) {
    return index < BINDINGS ? &bindings[index] : NULL;
}

enum action keys_find(uint32_t key, unsigned mods) {
    for (size_t i = 0; i < BINDINGS; i++)
        if (bindings[i].key == key && bindings[i].mods == mods)
            return bindings[i].action;
    return ACTION_NONE;
}

const char *keys_doc(enum action action, enum language language) {
    static const struct {
        const char *english, *chinese;
    } docs[ACTION_COUNT] = {{"", ""},
#define X(id, english, chinese) {english, chinese},
                            ACTIONS(X)
#undef X
    };
    return language == LANGUAGE_CHINESE ? docs[action].chinese : docs[action].english;
}

const char *keys_name(const struct binding *binding, char out[KEY_NAME_BYTES]) {
    char key[8] = {0};
    const char *name = key;
    if (binding->key > KEY_F1 - 1 && binding->key <= KEY_F12)
        snprintf(key, sizeof key, "F%u", (unsigned)(binding->key - KEY_F1 + 1) % 100);
    else
        key[0] = (char)(binding->mods ? toupper((int)(binding->key & 0x7f))
                                      : (int)(binding->key & 0x7f));
    for (size_t i = 0; i < NAMED; i++)
        if (named[i].key == binding->key)
            name = named[i].name;
    snprintf(out, KEY_NAME_BYTES, "%s%s%s%s", binding->mods & MOD_CTRL ? "Ctrl+" : "",
             binding->mods & MOD_ALT ? "Alt+" : "", binding->mods & MOD_SHIFT ? "Shift+" : "",
             name);
    return out;
}

static bool same_name(const char *a, const char *b, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i]))
            return false;
    return true;
}

static const char *parse_mods(const char *name, unsigned *mods) {
    *mods = 0;
    for (size_t i = 0; i < sizeof mod_names / sizeof mod_names[0];) {
        size_t length = strlen(mod_names[i].name);
        if (strlen(name) > length && same_name(name, mod_names[i].name, length)) {
            *mods |= mod_names[i].mod;
            name += length;
            i = 0;
        } else {
            i++;
        }
    }
    return name;
}

bool keys_parse(const char *name, uint32_t *key, unsigned *mods) {
    name = parse_mods(name, mods);
    size_t length = strlen(name);
    for (size_t i = 0; i < NAMED; i++)
        if (length == strlen(named[i].name) && same_name(name, named[i].name, length)) {
            *key = named[i].key;
            return true;
        }
    int number = 0;
    char rest;
    if (length > 1 && tolower((unsigned char)name[0]) == 'f' &&
        sscanf(name + 1, "%2d%c", &number, &rest) == 1 && number >= 1 && number <= 12) {
        *key = KEY_F1 + (uint32_t)number - 1;
        return true;
    }
    if (length != 1 || (unsigned char)name[0] <= ' ' || (unsigned char)name[0] > '~')
        return false;
    if (*mods == 0 && isupper((unsigned char)name[0]))
        *mods |= MOD_SHIFT;
    *key = (uint32_t)tolower((unsigned char)name[0]);
    return true;
}
