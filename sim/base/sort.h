/* sort.h: sorting in place by an order that needs to know more than two items: qsort has nowhere to
 * say it. A heap sort: no memory, O(n log n) always; not stable, so the order must be total for the
 * result not to depend on where the items began. */
#ifndef SORT_H
#define SORT_H

#include <stddef.h>

/* Below 0: x comes before y. */
typedef int sort_order(const void *x, const void *y, const void *user);

/* `size`: bytes of an item, at most SORT_ITEM_BYTES. */
enum { SORT_ITEM_BYTES = 512 };
void sort_items(void *items, size_t count, size_t size, sort_order *order, const void *user);

#endif
