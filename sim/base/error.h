/* error.h: one failure, as a code and a text that gathers context on its way up to main.
 *
 * Three kinds of failure are never mixed: a bug is an assert; bad input, files and host memory are a struct error;
 * out of memory on the simulated device is a result in the timeline.
 * The place that knows sets the text, each caller may add what it was doing, main prints one line and picks the exit
 * code. Text: lower case, no full stop, what was found and what was expected, with the place. */
#ifndef ERROR_H
#define ERROR_H

#include <stdbool.h>

#include "attr.h"

#define ERROR_CODES(X)                                                                             \
    X(NONE, "no error")                                                                            \
    X(USAGE, "bad command line")                                                                   \
    X(BAD_SCENARIO, "bad scenario")                                                                \
    X(BAD_INPUT, "bad input")                                                                      \
    X(IO_READ, "cannot read")                                                                      \
    X(IO_WRITE, "cannot write")                                                                    \
    X(LIMIT, "limit exceeded")                                                                     \
    X(HOST_MEMORY, "out of host memory")                                                           \
    X(INTERRUPTED, "interrupted")

enum error_code {
#define X(name, text) ERROR_##name,
    ERROR_CODES(X)
#undef X
        ERROR_CODE_COUNT
};

struct error {
    enum error_code code;
    char text[1024];
};

/* Sets code and text. Always false, so that `return error_set(...)` reads well. `err` may be NULL. */
bool error_set(struct error *err, enum error_code code, const char *format, ...) ATTR_PRINTF(3, 4);
/* Puts "context: " before the text. Always false. */
bool error_wrap(struct error *err, const char *format, ...) ATTR_PRINTF(2, 3);
/* The error of a failed host allocation. Always false. */
bool error_host_memory(struct error *err);
const char *error_code_text(enum error_code code);

#endif
