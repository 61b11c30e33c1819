/* array.h: growing arrays as one typed macro. ARRAY(T) is {T *at; size_t count, capacity}; zero bytes are empty.
 *
 * array_push(&a, value) and array_reserve(&a, n) return false when host memory is exhausted and leave the array as it
 * was. array_at asserts the bound. array_fini frees. */
#ifndef ARRAY_H
#define ARRAY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "xalloc.h"

#define ARRAY(T)                                                                                   \
    struct {                                                                                       \
        T *at;                                                                                     \
        size_t count, capacity;                                                                    \
    }

/* `at` points to a pointer of any object type; it is copied as bytes, so nothing is read by a wrong type. */
static inline bool array_resize(void *at, size_t *capacity, size_t next, size_t item) {
    if (next > SIZE_MAX / item)
        return false;
    void *old;
    memcpy(&old, at, sizeof old);
    void *moved = xrealloc(old, next * item);
    if (!moved)
        return false;
    memcpy(at, &moved, sizeof moved);
    *capacity = next;
    return true;
}

static inline bool array_grow(void *at, size_t *capacity, size_t need, size_t item) {
    size_t next = *capacity ? *capacity : 8;
    while (next < need) {
        if (next > SIZE_MAX / 2)
            return false;
        next *= 2;
    }
    return array_resize(at, capacity, next, item);
}

/* By a sixteenth, for arrays that are most of a program's memory. */
static inline bool array_grow_tight(void *at, size_t *capacity, size_t need, size_t item) {
    return need <= SIZE_MAX / 2 && array_resize(at, capacity, need + need / 16 + 8, item);
}

#define array_reserve_tight(a, need)                                                               \
    ((need) <= (a)->capacity ||                                                                    \
     array_grow_tight((void *)&(a)->at, &(a)->capacity, (need), sizeof *(a)->at))
#define array_reserve(a, need)                                                                     \
    ((need) <= (a)->capacity ||                                                                    \
     array_grow((void *)&(a)->at, &(a)->capacity, (need), sizeof *(a)->at))
#define array_push(a, value)                                                                       \
    (array_reserve((a), (a)->count + 1) && ((a)->at[(a)->count++] = (value), true))
#define array_at(a, index) (assert((size_t)(index) < (a)->count), &(a)->at[index])
#define array_last(a) (assert((a)->count > 0), &(a)->at[(a)->count - 1])
#define array_pop(a) (assert((a)->count > 0), (a)->at[--(a)->count])
#define array_clear(a) ((a)->count = 0)
#define array_bytes(a) ((a)->capacity * sizeof *(a)->at)
#define array_fini(a) (xfree((a)->at), (a)->at = NULL, (a)->count = (a)->capacity = 0)

#endif
