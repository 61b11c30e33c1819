/* selection.h: what a person has singled out in the first timeline, apart from the cursor: a pinned
 * block, a second cursor (the mark), a range of moments. Plain data; every pane reads it. */
#ifndef SELECTION_H
#define SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#define SELECTION_NONE UINT32_MAX

struct selection {
    uint32_t pin;  /* block; SELECTION_NONE: none */
    uint32_t mark; /* moment; SELECTION_NONE: none */
    /* the events first .. end - 1, which lead from moment `first` to moment `end`; first < end, or
     * both SELECTION_NONE */
    uint32_t first, end;
};

void selection_start(struct selection *s); /* nothing */
static inline bool selection_has_range(const struct selection *s) {
    return s->first != SELECTION_NONE;
}
/* Between two moments in either order; the same twice: no range. */
void selection_set_range(struct selection *s, uint32_t a, uint32_t b);
/* Lets go of the innermost: the range, the pin, the mark. False: there was nothing. */
bool selection_clear(struct selection *s);

#endif
