/* end_state.h: what is mapped and what lives when a timeline ends: the segments of a memory snapshot. */
#ifndef END_STATE_H
#define END_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "spans.h"

struct error;
struct timeline;

struct end_state {
    ARRAY(struct spans) mapped; /* of each device; values are segments */
    /* blocks that are not completed, by device and address */
    ARRAY(uint32_t) live;
};

bool end_state_find(const struct timeline *tl, struct end_state *out, struct error *err);
void end_state_fini(struct end_state *state);

#endif
