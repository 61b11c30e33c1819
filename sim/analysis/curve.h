/* curve.h: the timeline resampled to a number of columns, for charts of any width.
 *
 * Each column keeps the highest allocated, active and reserved of its events, so no spike is lost.
 * by_category is the state where active is highest in the column: its sum is that height. A column
 * without events repeats the state before it. On the time axis the state in which a column begins
 * counts in it; on the event axis the columns share out the states after each event. */
#ifndef CURVE_H
#define CURVE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "category.h"

struct error;
struct timeline;

enum curve_axis { CURVE_BY_EVENT, CURVE_BY_TIME };

struct curve_options {
    uint8_t device;
    enum curve_axis axis;
    uint32_t columns;                /* > 0 */
    uint32_t first_event, end_event; /* [first, end); end 0: all */
};

struct curve_column {
    uint64_t allocated, active, reserved;
    uint64_t by_category[CATEGORY_COUNT];
    uint32_t first_event, end_event; /* [first, end); equal: no event */
    uint32_t top_event;              /* where active is highest; TIMELINE_NONE: before the column */
};

struct curve {
    ARRAY(struct curve_column) columns;
    uint32_t first_event, end_event;
    uint64_t begin_ns, end_ns; /* the clock at the first and the last event */
};

/* False: host memory. curve_fini() frees. */
bool curve_build(const struct timeline *tl, const struct curve_options *options, struct curve *out,
                 struct error *err);
void curve_fini(struct curve *curve);

/* The column an event lies in (of its [first_event, end_event), else the nearest). */
uint32_t curve_column_of(const struct curve *curve, uint32_t event);

#endif
