/* liveness.h: what is alive after an event. `event` TIMELINE_NONE stands for the state before the
 * first event.
 *
 * A block is live from ALLOC until FREE_COMPLETED (PyTorch's "active"), a plain segment from
 * SEGMENT_ALLOC until SEGMENT_FREE. */
#ifndef LIVENESS_H
#define LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

struct timeline_block;
struct timeline_segment;

bool block_is_live(const struct timeline_block *block, uint32_t event);
/* Live, but its FREE_REQUESTED has been: active, no longer allocated. */
bool block_is_pending(const struct timeline_block *block, uint32_t event);
bool segment_is_live(const struct timeline_segment *segment, uint32_t event);

#endif
