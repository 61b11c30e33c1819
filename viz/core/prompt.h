/* prompt.h: a text field of one line: UTF-8, a caret, what an input method composes, a history.
 * Plain data, no allocation: what does not fit is not taken. Zero bytes are an empty field.
 *
 * Bad sequences and control characters are left out when text comes in, so what is in the field is
 * valid UTF-8; a line break or tab becomes a space. */
#ifndef PROMPT_H
#define PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROMPT_BYTES = 512, PROMPT_COMPOSED = 128, PROMPT_HISTORY = 16 };

struct prompt {
    char text[PROMPT_BYTES]; /* always ends with a zero byte */
    size_t length, caret;    /* bytes; the caret stands before a character or at the end */
    char composed[PROMPT_COMPOSED];
    char kept[PROMPT_BYTES]; /* what was typed before history was looked through */
    char history[PROMPT_HISTORY][PROMPT_BYTES];
    unsigned history_count, history_at; /* 0: the newest, behind it; history_at 0: the text typed */
};

/* The caret at the end. */
void prompt_set(struct prompt *prompt, const char *text);
void prompt_type(struct prompt *prompt, const char *text);
void prompt_compose(struct prompt *prompt, const char *text);
/* Keys that edit, move the caret, look through the history. False: not one of them. */
bool prompt_key(struct prompt *prompt, uint32_t key, unsigned mods);
/* Keeps the text as the newest of the history, unless it is empty or the newest already. */
void prompt_remember(struct prompt *prompt);

#endif
