/* phases.h: which phase an event lies in, and its path: "step 2/forward".
 *
 * Phases nest; an event lies in the innermost phase that is open after it. The PHASE_BEGIN event
 * itself lies inside, the PHASE_END event outside. */
#ifndef PHASES_H
#define PHASES_H

#include <stdint.h>

struct text;
struct timeline;

/* The innermost phase open after `event`; TIMELINE_NONE: none. One pass over the phases. */
uint32_t phase_at(const struct timeline *tl, uint8_t device, uint32_t event);

/* Appends "outer/inner", nothing for TIMELINE_NONE. Control characters of foreign names become '?'.
 */
void phase_path(const struct timeline *tl, uint32_t phase, struct text *out);

#endif
