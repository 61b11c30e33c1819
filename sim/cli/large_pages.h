/* large_pages.h: the heap in pages of 2 MiB where the system has them on request (Linux, glibc). A run's memory is touched for
 * the first time all along; with small pages a tenth of its time goes into that. Nothing else changes, and nothing fails. */
#ifndef LARGE_PAGES_H
#define LARGE_PAGES_H

/* Before the program's first allocation of any size. */
void large_pages_for_heap(void);

#endif
