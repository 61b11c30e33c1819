/* failing_alloc.h: makes the n-th host allocation fail, for all n: for (f.fail_at = 1;;
 * f.fail_at++) ... */
#ifndef FAILING_ALLOC_H
#define FAILING_ALLOC_H

#include <stdlib.h>

#include "xalloc.h"

struct failing_alloc {
    size_t fail_at, seen; /* fail_at 0: never */
    long live;            /* allocations not yet freed */
};

static inline void *failing_alloc_hook(void *user, void *old, size_t bytes) {
    struct failing_alloc *f = user;
    if (bytes == 0) {
        f->live -= old != NULL;
        free(old);
        return NULL;
    }
    if (++f->seen == f->fail_at)
        return NULL;
    void *p = realloc(old, bytes);
    f->live += p && !old;
    return p;
}

#endif
