/* filter_text.c: see filter_text.h. */
#include "filter_text.h"

#include <regex.h>
#include <string.h>

#include "error.h"
#include "xalloc.h"

enum { REGEX_BYTES = 256 };

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* What the C library would take hours or all memory for is refused: repeated counts, and
 * references back to a group. */
static bool check_regex(const char *text, size_t length, struct error *err) {
    size_t counts = 0;
    if (length == 0 || length >= REGEX_BYTES)
        return error_set(err, ERROR_USAGE, "~: a regular expression of 1 to %d bytes is expected",
                         REGEX_BYTES - 1);
    for (size_t i = 0; i < length; i++) {
        bool escaped = text[i] == '\\' && i + 1 < length;
        if (escaped && text[i + 1] >= '0' && text[i + 1] <= '9')
            return error_set(err, ERROR_USAGE, "~%.*s: \\%c (back to a group) is not known",
                             (int)length, text, text[i + 1]);
        i += escaped;
        counts += !escaped && text[i] == '{';
    }
    return counts <= 1 ||
           error_set(err, ERROR_USAGE, "~%.*s: one {count} at most", (int)length, text);
}

static bool compile(struct filter_text *test, size_t length, struct error *err) {
    regex_t *regex = NULL;
    if (!check_regex(test->text, length, err))
        return false;
    regex = xcalloc(1, sizeof *regex);
    if (!regex)
        return error_host_memory(err);
    int code = regcomp(regex, test->text, REG_EXTENDED | REG_NOSUB | REG_ICASE);
    if (code == 0) {
        test->regex = regex;
        return true;
    }
    char why[128];
    regerror(code, regex, why, sizeof why);
    xfree(regex);
    return error_set(err, ERROR_USAGE, "~%s: %s", test->text, why);
}

bool filter_text_init(struct filter_text *test, enum filter_how how, const char *text,
                      size_t length, struct error *err) {
    *test = (struct filter_text){.how = how, .text = xcalloc(length + 1, 1)};
    if (!test->text)
        return error_host_memory(err);
    for (size_t i = 0; i < length; i++)
        test->text[i] = how == FILTER_REGEX ? text[i] : lower(text[i]);
    if (how != FILTER_REGEX || compile(test, length, err))
        return true;
    filter_text_fini(test);
    return false;
}

void filter_text_fini(struct filter_text *test) {
    if (test->regex)
        regfree(test->regex);
    xfree(test->regex);
    xfree(test->text);
    memset(test, 0, sizeof *test);
}

static bool has(const char *text, const char *part) {
    if (!*part)
        return true;
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && lower(text[i]) == part[i])
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

/* One star may take more characters when what follows it fails: the last one met is enough, as a
 * star before it could not have done better, unless a "." stands between. */
static bool is(const char *text, const char *pattern) {
    const char *star = NULL, *taken = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*pattern == lower(*text)) {
            pattern++;
            text++;
        } else if (star && *taken != '.') {
            pattern = star;
            text = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool filter_text_passes(const struct filter_text *test, const char *text) {
    switch (test->how) {
    case FILTER_HAS:
        return has(text, test->text);
    case FILTER_IS:
        return is(text, test->text);
    case FILTER_REGEX:
        return regexec(test->regex, text, 0, NULL, 0) == 0;
    }
    return false;
}
