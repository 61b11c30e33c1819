/* large_pages.c: see large_pages.h. */
#include "large_pages.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 2 << 20,
    HEAP = 8 * PAGE, /* asked of the system at once; only what is touched is taken */
    APART = 8 << 20  /* larger blocks stand apart, to be moved and given back without a copy */
};

void large_pages_for_heap(void) {
    mallopt(M_TOP_PAD, HEAP);
    mallopt(M_MMAP_THRESHOLD, APART);
    mallopt(M_TRIM_THRESHOLD, HEAP);
    char *first = calloc(1, 1);
    size_t before = (PAGE - (uintptr_t)first % PAGE) % PAGE; /* the first whole page of this size */
    uintptr_t begin = (uintptr_t)first + before, end = (uintptr_t)sbrk(0);
    if (first && begin < end && end - begin <= 2 * (uintptr_t)HEAP)
        madvise(first + before, end - begin, MADV_HUGEPAGE); /* refused: small pages, as without */
    free(first);
}
#else
void large_pages_for_heap(void) {
}
#endif
