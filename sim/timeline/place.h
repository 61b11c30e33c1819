/* place.h: a moment of a timeline as people name it.
 *
 *   moment m     the state after m events; 0 is before the first
 *   peak, reserved           the first moment of the most allocated, of the most reserved
 *   oom                      the last request that failed
 *   start, end
 *   event N, N               after event N, from 0
 *   time 12.5ms, 12.5ms      the last event at or before that time since the first (ns, us, ms, s)
 *   divergence               after the first request that another timeline does not have there
 *   step 2 backward          a phase begins: names from the outside in, inner ones may be left out;
 *                            "/" between them, as reports write it; `end` and `peak` after the names
 *                            are those of the phase */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct timeline;

/* `other` may be NULL: then there is no divergence. False (ERROR_USAGE): what is wrong with `text` (which
 * the caller names), or that this timeline has no such moment; ERROR_HOST_MEMORY. */
bool place_find(const struct timeline *tl, const struct timeline *other, uint8_t device,
                const char *text, uint32_t *moment, struct error *err);
/* The moment of `tl` after the first request (allocation or free, of one device) that differs: another
 * kind, other bytes, the free of another block. *differs false: none does. False: host memory. */
bool place_divergence(const struct timeline *tl, const struct timeline *other, uint8_t device,
                      bool *differs, uint32_t *moment, struct error *err);

#endif
