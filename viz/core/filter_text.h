/* filter_text.h: one test of a text: has it, is it, matches it. ASCII letters in any case. */
#ifndef FILTER_TEXT_H
#define FILTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct error;

enum filter_how {
    FILTER_HAS,  /* somewhere in it */
    FILTER_IS,   /* the whole; "*" stands for any characters but "." */
    FILTER_REGEX /* POSIX, extended, somewhere in it */
};

/* Ownership: init copies; fini frees. Zero bytes may be freed. */
struct filter_text {
    enum filter_how how;
    char *text; /* in lower case unless a regular expression */
    void *regex;
};

/* False: a regular expression that is none (ERROR_USAGE, what is wrong), or host memory. */
bool filter_text_init(struct filter_text *test, enum filter_how how, const char *text,
                      size_t length, struct error *err);
void filter_text_fini(struct filter_text *test);
bool filter_text_passes(const struct filter_text *test, const char *text);

#endif
