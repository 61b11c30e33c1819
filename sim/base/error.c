/* error.c: see error.h. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *err, enum error_code code, const char *format, ...) {
    if (!err)
        return false;
    err->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

bool error_wrap(struct error *err, const char *format, ...) {
    if (!err)
        return false;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (used < 0 || (size_t)used >= sizeof err->text - 2)
        return false;
    snprintf(err->text + used, sizeof err->text - (size_t)used, ": %.*s",
             (int)(sizeof err->text - (size_t)used - 3), old);
    return false;
}

bool error_host_memory(struct error *err) {
    return error_set(err, ERROR_HOST_MEMORY, "this machine's memory is exhausted");
}

const char *error_code_text(enum error_code code) {
    static const char *const texts[] = {
#define X(name, text) text,
        ERROR_CODES(X)
#undef X
    };
    return (unsigned)code < ERROR_CODE_COUNT ? texts[code] : "unknown error";
}
