/* selection.c: see selection.h. */
#include "selection.h"

void selection_start(struct selection *s) {
    s->pin = s->mark = s->first = s->end = SELECTION_NONE;
}

void selection_set_range(struct selection *s, uint32_t a, uint32_t b) {
    s->first = s->end = SELECTION_NONE;
    if (a == b)
        return;
    s->first = a < b ? a : b;
    s->end = a < b ? b : a;
}

bool selection_clear(struct selection *s) {
    if (selection_has_range(s))
        s->first = s->end = SELECTION_NONE;
    else if (s->pin != SELECTION_NONE)
        s->pin = SELECTION_NONE;
    else if (s->mark != SELECTION_NONE)
        s->mark = SELECTION_NONE;
    else
        return false;
    return true;
}
