/* xalloc.c: see xalloc.h. The hook is the only mutable state of its kind; it is per thread and set by tests alone. */
#include "xalloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local xalloc_hook *current_hook;
static _Thread_local void *current_user;

void xalloc_set_hook(xalloc_hook *hook, void *user) {
    current_hook = hook;
    current_user = user;
}

void *xrealloc(void *old, size_t bytes) {
    return current_hook ? current_hook(current_user, old, bytes) : realloc(old, bytes);
}

void *xalloc(size_t bytes) {
    return current_hook ? current_hook(current_user, NULL, bytes) : malloc(bytes);
}

void *xcalloc(size_t count, size_t bytes) {
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return NULL;
    void *p = xalloc(count * bytes > 0 ? count * bytes : 1);
    if (p)
        memset(p, 0, count * bytes);
    return p;
}

void xfree(void *old) {
    if (!old)
        return;
    if (current_hook)
        current_hook(current_user, old, 0);
    else
        free(old);
}

char *xstrndup(const char *text, size_t length) {
    char *copy = xalloc(length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *xstrdup(const char *text) {
    return xstrndup(text, strlen(text));
}
