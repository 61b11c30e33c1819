/* request_curve.c: see request_curve.h. */
#include "request_curve.h"

#include <string.h>

#include "counters.h"
#include "error.h"
#include "timeline.h"

static bool is_request(const struct timeline *tl, uint8_t device, uint32_t event) {
    const struct timeline_event *e = &tl->events.at[event];
    return e->device == device && (e->kind == EVENT_ALLOC || e->kind == EVENT_FREE_REQUESTED);
}

uint32_t request_curve_count(const struct timeline *tl, uint8_t device) {
    return request_curve_ordinal(tl, device, TIMELINE_NONE);
}

uint32_t request_curve_ordinal(const struct timeline *tl, uint8_t device, uint32_t event) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < tl->events.count && i <= event; i++)
        count += is_request(tl, device, i);
    return count;
}

uint32_t request_curve_event(const struct timeline *tl, uint8_t device, uint32_t ordinal) {
    for (uint32_t i = 0; i < tl->events.count; i++)
        if (is_request(tl, device, i) && ordinal-- == 0)
            return i;
    return TIMELINE_NONE;
}

static void raise_to(struct request_point *p, const struct counters *c) {
    p->allocated = c->allocated > p->allocated ? c->allocated : p->allocated;
    p->reserved = c->reserved > p->reserved ? c->reserved : p->reserved;
}

bool request_curve_build(const struct timeline *tl, uint8_t device, uint32_t requests,
                         uint32_t columns, struct request_curve *out, struct error *err) {
    struct counters c;
    uint64_t ordinal = 0;
    memset(out, 0, sizeof *out);
    counters_start(tl, device, &c);
    if (requests < columns)
        columns = requests ? requests : 1;
    for (uint32_t i = 0; i < tl->events.count; i++) {
        counters_apply(tl, device, i, &c);
        if (!is_request(tl, device, i))
            continue;
        size_t column = requests ? (size_t)(ordinal * columns / requests) : 0;
        ordinal++;
        while (out->points.count <= column)
            if (!array_push(&out->points, ((struct request_point){c.allocated, c.reserved}))) {
                request_curve_fini(out);
                return error_host_memory(err);
            }
        raise_to(&out->points.at[column], &c);
    }
    return true;
}

void request_curve_fini(struct request_curve *curve) {
    array_fini(&curve->points);
}
