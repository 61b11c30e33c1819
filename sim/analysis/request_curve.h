/* request_curve.h: allocated and reserved along the requests of a run: request by request the same for
 * the same program under another allocator, where events are not. */
#ifndef REQUEST_CURVE_H
#define REQUEST_CURVE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"

struct error;
struct timeline;

/* The highest values of a column's requests; a failed request's column has those before it. */
struct request_point {
    uint64_t allocated, reserved;
};

struct request_curve {
    ARRAY(struct request_point) points; /* as far as the run goes */
};

/* Requests for memory and frees. */
uint32_t request_curve_count(const struct timeline *tl, uint8_t device);
/* `requests` of the longer of two runs are shared out over at most `columns` (> 0). False: host
 * memory. request_curve_fini() frees. */
bool request_curve_build(const struct timeline *tl, uint8_t device, uint32_t requests,
                         uint32_t columns, struct request_curve *out, struct error *err);
void request_curve_fini(struct request_curve *curve);

/* The event of the request that is `ordinal`-th from 0; TIMELINE_NONE: there are fewer. And how many
 * requests there are up to and with an event. */
uint32_t request_curve_event(const struct timeline *tl, uint8_t device, uint32_t ordinal);
uint32_t request_curve_ordinal(const struct timeline *tl, uint8_t device, uint32_t event);

#endif
