/* ruler.c: see ruler.h. */
#include "ruler.h"

#include "lod.h"
#include "timeline.h"
#include "view.h"

struct ruler ruler_of(const struct lod *lod, enum ruler_mode mode) {
    return (struct ruler){lod, lod->time_known ? mode : RULER_EVENTS};
}

double ruler_position(const struct ruler *ruler, uint32_t moment) {
    if (ruler->mode == RULER_EVENTS)
        return (double)moment - 1;
    if (moment == 0)
        return 0;
    const struct timeline *tl = ruler->lod->tl;
    uint32_t event = moment < ruler->lod->moments ? moment - 1 : ruler->lod->moments - 2;
    return (double)(tl->events.at[event].time_ns - tl->events.at[0].time_ns);
}

uint32_t ruler_lower(const struct ruler *ruler, double position) {
    uint32_t low = 0, high = ruler->lod->moments;
    if (ruler->mode == RULER_EVENTS) {
        double moment = position + 1;
        if (!(moment > 0))
            return 0;
        if (moment >= high)
            return high;
        uint32_t whole = (uint32_t)moment;
        return whole < moment ? whole + 1 : whole;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ruler_position(ruler, middle) < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t ruler_moment(const struct ruler *ruler, double position) {
    uint32_t low = 0, high = ruler->lod->moments; /* first moment after `position` */
    if (ruler->mode == RULER_EVENTS) {
        double moment = position + 1;
        if (!(moment > 0))
            return 0;
        return moment >= high - 1 ? high - 1 : (uint32_t)moment;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ruler_position(ruler, middle) <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

void ruler_limits(const struct ruler *ruler, struct view_limits *limits) {
    limits->first = -1;
    limits->min_span = ruler->mode == RULER_EVENTS ? 4 : 20;
    limits->last = (double)ruler->lod->moments - 1;
    if (ruler->mode == RULER_TIME) {
        limits->first = 0;
        double span = ruler_position(ruler, ruler->lod->moments - 1);
        limits->last = span + span / 100; /* so that the last state is seen */
    }
}
