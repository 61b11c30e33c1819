/* failing_alloc.h: makes the n-th host allocation fail, for all n: for (f.fail_at = 1;;
 * f.fail_at++) ... */
#ifndef FAILING_ALLOC_H
#define FAILING_ALLOC_H

#include "suite.h"

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

/* `session` (true: all went well) with its first allocation failing, its second, and so on, until none
 * does; nothing may be left of any. Returns how many sessions that took. */
static inline size_t fail_each_allocation(bool (*session)(void)) {
    struct failing_alloc f = {.fail_at = 1};
    for (bool done = false; !done; f.fail_at++) {
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        done = session();
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_true(f.fail_at < 1000);
    }
    return f.fail_at - 1;
}

#endif
