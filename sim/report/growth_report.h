/* growth_report.h: what grew and what shrank from one run to the next: the result of `vramsim compare`, of one device.
 *
 * The figures side by side (pair_report.h), the requests matched (compare.h), then the rows of growth.h that differ. */
#ifndef GROWTH_REPORT_H
#define GROWTH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "growth.h"
#include "pair_report.h"

struct error;
struct json;
struct text;

/* What the second side may have more than the first. */
struct growth_limit {
    double share;   /* of the first side's peak; 0.02 = 2 % */
    uint64_t bytes; /* or so many; the larger counts */
};

struct growth_report {
    struct pair_report pair;
    struct growth growth;
    struct growth_limit limit;
    uint64_t requests_in_both, requests_only[GROWTH_SIDES];
    bool has_reserved;                 /* both sides know their segments */
    bool has_allocated, is_device_use; /* likewise; reserved is what all had of the device */
};

/* Sides as for pair_report_init. False: host memory, or too many requests; fini frees in either
 * case. */
bool growth_report_init(struct growth_report *report, uint8_t device,
                        const struct pair_side sides[PAIR_SIDES], struct growth_limit limit,
                        struct error *err);
void growth_report_fini(struct growth_report *report);
/* Does the second side's peak of allocated or of reserved (where both know it) lie above the first
 * side's by more than the limit, or does it alone run out of memory? */
bool growth_report_is_over(const struct growth_report *report);
void growth_report_text(const struct growth_report *report, uint32_t width, uint32_t chart_height,
                        struct text *out);
/* Members of an object that is open. */
void growth_report_json(const struct growth_report *report, struct json *j);

#endif
