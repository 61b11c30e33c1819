/* sort.c: see sort.h. */
#include "sort.h"

#include <assert.h>
#include <string.h>

struct heap {
    unsigned char *at;
    size_t size;
    sort_order *order;
    const void *user;
};

static void swap(const struct heap *heap, size_t i, size_t k) {
    unsigned char item[SORT_ITEM_BYTES], *a = heap->at + i * heap->size,
                                         *b = heap->at + k * heap->size;
    memcpy(item, a, heap->size);
    memcpy(a, b, heap->size);
    memcpy(b, item, heap->size);
}

static int compare(const struct heap *heap, size_t i, size_t k) {
    return heap->order(heap->at + i * heap->size, heap->at + k * heap->size, heap->user);
}

/* The last in the order rises to the root. */
static void sift(const struct heap *heap, size_t at, size_t count) {
    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && compare(heap, child, child + 1) < 0)
            child++;
        if (compare(heap, at, child) >= 0)
            return;
        swap(heap, at, child);
    }
}

void sort_items(void *items, size_t count, size_t size, sort_order *order, const void *user) {
    assert(size <= SORT_ITEM_BYTES);
    const struct heap heap = {items, size, order, user};
    for (size_t i = count / 2; i-- > 0;)
        sift(&heap, i, count);
    for (size_t i = count; i-- > 1;) {
        swap(&heap, 0, i);
        sift(&heap, 0, i);
    }
}
