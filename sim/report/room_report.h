/* room_report.h: the part of reports on fragmentation at one moment: what is free, which live blocks
 * keep which segments, the largest request that would be served, what must go first. */
#ifndef ROOM_REPORT_H
#define ROOM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "fragmentation.h"
#include "pinning.h"
#include "room.h"

struct error;
struct json;
struct text;
struct timeline;

struct room_report_options {
    uint8_t device;
    uint32_t event;      /* TIMELINE_NONE: before the first */
    const char *where;   /* the moment in words: "the peak of reserved"; NULL: only its event */
    uint64_t need_bytes; /* a request to find room for; 0: none */
    struct caching_sizes sizes;
    uint16_t stream;
    bool is_brief;     /* without the table of segments */
    bool has_capacity; /* what the process can get of the device, in all */
    uint64_t capacity_bytes;
};

struct room_report {
    const struct timeline *tl;
    struct room_report_options options;
    struct fragmentation fragmentation;
    struct pinning pinning;
    struct room room;
};

/* The moment, an event of an out-of-memory of this device. */
bool room_report_is_oom(const struct room_report *report);
/* The options' strings and the timeline must outlive the report. False: host memory. */
bool room_report_init(struct room_report *report, const struct timeline *tl,
                      const struct room_report_options *options, struct error *err);
void room_report_fini(struct room_report *report);
void room_report_text(const struct room_report *report, struct text *out);
/* An object. */
void room_report_json(const struct room_report *report, const char *key, struct json *j);

#endif
