/* pair_report.h: one run twice, as it was and under another allocator: figures, fragmentation and
 * curves side by side. Of one device.
 *
 *   pair_report_init -> struct pair_report -> pair_report_text    for people
 *                                             pair_report_json    for programs
 *                                             pair_report_csv     one row a request
 *
 * The timelines and names must outlive the report. */
#ifndef PAIR_REPORT_H
#define PAIR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "fragmentation.h"
#include "ooms.h"
#include "peak.h"
#include "request_curve.h"
#include "steps.h"

struct error;
struct json;
struct text;
struct timeline;

enum { PAIR_SIDES = 2 }; /* as it was, as it would be */

struct pair_side {
    const struct timeline *tl;
    const char *name; /* of the column: "recorded", "simulated", "model" */
    const char *key;  /* in JSON; NULL: "recorded", then "model" */
    bool has_retries;
    uint64_t retries;
    bool ran_out; /* its last out-of-memory ended it */
    /* found by pair_report_init */
    struct counters start;
    struct peaks peaks;
    struct fragmentation fragmentation; /* at the peak of reserved */
    struct ooms ooms;
    struct steps steps;
    struct request_curve curve;
};

struct pair_report {
    uint8_t device;
    struct pair_side side[PAIR_SIDES];
    uint32_t requests; /* of the longer one */
};

/* The sides' first members are the caller's. False: host memory; fini frees in either case. */
bool pair_report_init(struct pair_report *report, uint8_t device,
                      const struct pair_side sides[PAIR_SIDES], struct error *err);
void pair_report_fini(struct pair_report *report);
/* `width` characters; `chart_height` rows, 0: no chart. */
void pair_report_text(const struct pair_report *report, uint32_t width, uint32_t chart_height,
                      struct text *out);
/* Members of an object that is open. */
void pair_report_json(const struct pair_report *report, struct json *j);
/* Header: request,recorded_allocated,recorded_reserved,model_allocated,model_reserved. False: host
 * memory. */
bool pair_report_csv(const struct pair_report *report, struct text *out, struct error *err);

#endif
