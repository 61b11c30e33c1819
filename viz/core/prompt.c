/* prompt.c: see prompt.h. */
#include "prompt.h"

#include <string.h>

#include "input.h"
#include "utf8.h"

static bool is_rest(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t before(const struct prompt *p, size_t at) {
    while (at > 0 && is_rest(p->text[--at]))
        ;
    return at;
}

static size_t after(const struct prompt *p, size_t at) {
    while (at < p->length && is_rest(p->text[++at]))
        ;
    return at;
}

/* Appends the good characters of `text` to `out` as far as they fit; how many bytes they are. */
static size_t clean(const char *text, char *out, size_t room) {
    const char *end = text + strlen(text);
    size_t length = 0;
    while (text < end) {
        const char *start = text;
        uint32_t code = utf8_next(&text, end);
        bool blank = *start == '\n' || *start == '\t' || *start == '\r';
        char bytes[4];
        if (code == UTF8_REPLACEMENT && !blank)
            continue;
        size_t count = utf8_put(blank ? ' ' : code, bytes);
        if (length + count > room)
            break;
        memcpy(out + length, bytes, count);
        length += count;
    }
    return length;
}

static void cut(struct prompt *p, size_t from, size_t to) {
    memmove(p->text + from, p->text + to, p->length - to + 1);
    p->length -= to - from;
    p->caret = from;
}

void prompt_set(struct prompt *p, const char *text) {
    p->length = clean(text, p->text, sizeof p->text - 1);
    p->text[p->length] = '\0';
    p->caret = p->length;
    p->composed[0] = '\0';
    p->history_at = 0;
}

void prompt_type(struct prompt *p, const char *text) {
    char good[PROMPT_BYTES];
    size_t count = clean(text, good, sizeof p->text - 1 - p->length);
    memmove(p->text + p->caret + count, p->text + p->caret, p->length - p->caret + 1);
    memcpy(p->text + p->caret, good, count);
    p->length += count;
    p->caret += count;
    p->composed[0] = '\0';
    p->history_at = 0;
}

void prompt_compose(struct prompt *p, const char *text) {
    p->composed[clean(text, p->composed, sizeof p->composed - 1)] = '\0';
}

/* `history_at` 1 is the newest of the kept texts, 0 what was being typed. */
static void look_back(struct prompt *p, int by) {
    unsigned at = p->history_at;
    if (by > 0 ? at >= p->history_count : at == 0)
        return;
    if (at == 0)
        memcpy(p->kept, p->text, sizeof p->kept);
    at = by > 0 ? at + 1 : at - 1;
    prompt_set(p, at == 0 ? p->kept : p->history[at - 1]);
    p->history_at = at;
}

/* Back over blanks, then over what is no blank. */
static size_t word_before(const struct prompt *p) {
    size_t at = p->caret;
    while (at > 0 && p->text[at - 1] == ' ')
        at--;
    while (at > 0 && p->text[at - 1] != ' ')
        at--;
    return at;
}

static bool edit(struct prompt *p, uint32_t key, unsigned mods) {
    bool words = (mods & (MOD_CTRL | MOD_ALT)) != 0;
    switch (key) {
    case KEY_BACKSPACE:
        cut(p, words ? word_before(p) : before(p, p->caret), p->caret);
        break;
    case KEY_DELETE:
        cut(p, p->caret, after(p, p->caret));
        break;
    case 'u':
        cut(p, 0, p->caret);
        break;
    case 'w':
        cut(p, word_before(p), p->caret);
        break;
    default:
        return false;
    }
    p->history_at = 0;
    return true;
}

static bool move(struct prompt *p, uint32_t key, unsigned mods) {
    switch (key) {
    case KEY_LEFT:
        p->caret = mods & MOD_CTRL ? word_before(p) : before(p, p->caret);
        break;
    case KEY_RIGHT:
        p->caret = after(p, p->caret);
        break;
    case KEY_HOME:
        p->caret = 0;
        break;
    case KEY_END:
        p->caret = p->length;
        break;
    case KEY_UP:
        look_back(p, 1);
        break;
    case KEY_DOWN:
        look_back(p, -1);
        break;
    default:
        return false;
    }
    return true;
}

bool prompt_key(struct prompt *p, uint32_t key, unsigned mods) {
    if (p->composed[0] && (key == KEY_BACKSPACE || key == KEY_DELETE || key >= KEY_LEFT))
        return true; /* the input method's */
    if (key < 0x80 && !(mods & MOD_CTRL))
        return false;
    return edit(p, key, mods) || move(p, key, mods);
}

void prompt_remember(struct prompt *p) {
    p->history_at = 0;
    if (p->length == 0 || (p->history_count > 0 && strcmp(p->history[0], p->text) == 0))
        return;
    memmove(p->history[1], p->history[0], sizeof p->history - sizeof p->history[0]);
    memcpy(p->history[0], p->text, sizeof p->text);
    if (p->history_count < PROMPT_HISTORY)
        p->history_count++;
}
