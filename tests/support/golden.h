/* golden.h: compares a text with a file of the repository. VRAMSIM_REGOLD=1 in the environment
 * rewrites the files; the diff is then read like any other change. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "suite.h"
#include "xalloc.h"

/* `path` is relative to the repository. */
static inline void assert_golden(const char *text, const char *path) {
    char full[1024];
    struct error err = {0};
    snprintf(full, sizeof full, "%s/%s", SOURCE_DIR, path);
    const char *regold = getenv("VRAMSIM_REGOLD");
    if (regold && *regold == '1') {
        assert_ok(file_write(full, text, strlen(text), &err), err);
        return;
    }
    char *expected = NULL;
    size_t length = 0;
    assert_ok(file_read(full, 1 << 24, &expected, &length, &err), err);
    if (strcmp(text, expected) == 0) {
        xfree(expected);
        return;
    }
    size_t line = 1, at = 0;
    for (; text[at] == expected[at]; at++)
        line += text[at] == '\n';
    while (at > 0 && text[at - 1] != '\n')
        at--;
    fail_msg("%s:%zu:\n found    '%.*s'\n expected '%.*s'", path, line,
             (int)strcspn(text + at, "\n"), text + at, (int)strcspn(expected + at, "\n"),
             expected + at);
}

#endif
