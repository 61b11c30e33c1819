/* ruler.h: what the x axis measures: which position a moment has.
 *
 *   RULER_EVENTS  moment m at position m - 1: what event e makes begins at e; before the first
 * event at -1 RULER_TIME    nanoseconds since the first event; moments 0 and 1 both at 0 (doubles
 * are exact for 104 days) */
#ifndef RULER_H
#define RULER_H

#include <stdint.h>

struct lod;
struct view_limits;

enum ruler_mode { RULER_EVENTS, RULER_TIME };

struct ruler {
    const struct lod *lod;
    enum ruler_mode mode;
};

/* RULER_TIME becomes RULER_EVENTS where the time is unknown. */
struct ruler ruler_of(const struct lod *lod, enum ruler_mode mode);
double ruler_position(const struct ruler *ruler, uint32_t moment);
/* The moment that lasts at `position`: the last one that begins at or before it. */
uint32_t ruler_moment(const struct ruler *ruler, double position);
/* The first moment at or after `position`; `moments` when there is none. */
uint32_t ruler_lower(const struct ruler *ruler, double position);
/* `first`, `last` and `min_span`; leaves `top`. */
void ruler_limits(const struct ruler *ruler, struct view_limits *limits);

#endif
