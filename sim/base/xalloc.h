/* xalloc.h: the one way to host memory. Every allocation goes through a replaceable hook, so that tests can fail the
 * n-th one. NULL means exhausted: callers hand up error_host_memory(). Memory of a failed xrealloc stays valid. */
#ifndef XALLOC_H
#define XALLOC_H

#include <stddef.h>

/* `old` NULL: allocate; `bytes` 0: free and return NULL; else resize. */
typedef void *xalloc_hook(void *user, void *old, size_t bytes);

void *xalloc(size_t bytes);                /* not cleared; bytes > 0 */
void *xcalloc(size_t count, size_t bytes); /* cleared; NULL on overflow too */
void *xrealloc(void *old, size_t bytes);   /* bytes > 0 */
void xfree(void *old);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);

/* Replaces the hook of the calling thread (NULL: the C library's again). For tests only. */
void xalloc_set_hook(xalloc_hook *hook, void *user);

#endif
