/* report.h: what a run says, computed once from its timeline, and the writers of its forms.
 *
 *   report_init -> struct report -> report_text     the report for people (chart_term.h, estimate_table.h)
 *                                   report_json     the same for programs
 *                                   report_summary  the table of torch.cuda.memory_summary()
 *   report_csv                                      one row an event
 *
 * Every writer appends to a struct text and prints nothing; check text.failed once at the end.
 * Timeline and run must outlive the report. Figures are of one device. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fragmentation.h"
#include "holder_tree.h"
#include "holders.h"
#include "ooms.h"
#include "peak.h"
#include "pools.h"
#include "steps.h"

struct error;
struct room_report;
struct text;
struct timeline;
struct timeline_oom;

struct report_param {
    const char *name, *value;
};

/* A run that did not fit, simulated again. */
struct report_need {
    uint64_t bytes; /* of the device, without a limit; 0: unknown */
    bool has_expandable, fits_with_expandable;
    uint64_t expandable_bytes; /* of the device, with expandable_segments:True */
};

/* How a run with an out-of-memory ended. A trace does not say: what follows the last one tells. */
enum report_end { REPORT_END_UNKNOWN, REPORT_END_FINISHED, REPORT_END_RAN_OUT };

/* What the caller knows beside the timeline. NULL and 0: unknown or none. */
struct report_run {
    const char *scenario;                            /* path; NULL: the timeline's title */
    const char *framework, *device, *alloc_settings; /* NULL: as the timeline has them */
    const struct report_param *params; /* hidden, layers, dtype, attention, optimizer, ... */
    size_t param_count;
    const char *estimate; /* a textbook estimate to print beside this run's figures, NULL: none */
    const char *note; /* what the reader should know of this run's variants; one or more lines */
    enum report_end end;
    const struct room_report *room; /* fragmentation at some moment; NULL: none */
    struct report_need need;
    uint64_t max_split_bytes; /* 0: unlimited */
    bool context_is_given;    /* the device's context is the user's, no estimate */
    bool has_alloc_retries;
    uint64_t alloc_retries;
    uint8_t device_ordinal;
};

/* The value of a parameter, NULL when there is none of that name. */
const char *report_param(const struct report_run *run, const char *name);

struct report {
    const struct timeline *tl;
    const struct report_run *run;
    uint8_t device;
    bool fits; /* no out-of-memory, or the program caught each and went on to its end */
    struct ooms ooms;
    uint32_t caught;                /* of them */
    const struct timeline_oom *oom; /* the one that ended the run, else the first; NULL: none */
    struct peaks peaks;
    struct steps steps;
    struct holder_sum categories[CATEGORY_COUNT]; /* the holders at the peak of allocated */
    struct holder_tree modules;
    struct holder_list ops; /* traces without ops: by source line */
    bool ops_are_frames;
    struct holder_blocks blocks;
    struct fragmentation fragmentation; /* at the peak of allocated */
    struct pools pools;                 /* after the last event */
};

bool report_init(struct report *report, const struct timeline *tl, const struct report_run *run,
                 struct error *err);
void report_fini(struct report *report);

struct report_style {
    bool has_colour, has_unicode;
    uint32_t width;        /* characters; 0: 100 */
    uint32_t chart_height; /* rows; 0: no chart */
    bool by_time;          /* the chart's axis; else by event */
};

/* False: host memory. */
bool report_text(const struct report *report, const struct report_style *style, struct text *out,
                 struct error *err);
void report_json(const struct report *report, struct text *out);
void report_summary(const struct report *report, struct text *out);
/* Header: index,time_ns,kind,bytes,allocated,active,reserved,category,op,owner,phase (RFC 4180,
 * LF). */
bool report_csv(const struct timeline *tl, uint8_t device, struct text *out, struct error *err);

struct json;
struct step;
/* Members of a step's open object: what is reserved and not in use at its peak of allocated, and the
 * largest free block then; null where that is not known or would take long (very many steps). */
void report_json_step(const struct timeline *tl, uint8_t device, const struct step *step,
                      size_t steps, struct json *j);

/* Parts, for other writers: "step 2/forward", "before the first event". */
void report_place(const struct timeline *tl, uint8_t device, uint32_t event, struct text *out);
const char *report_device_name(const struct report *report); /* "" unknown */
const char *report_framework(const struct report *report);   /* "" unknown */
const char *report_title(const struct report *report);
/* By how much the failed request exceeds what the device had free; 0: unknown. */
uint64_t report_shortfall(const struct timeline_oom *oom);

#endif
