/* facts.h: what a trace file holds, apart from its timeline: the figures of `vramsim info`.
 *
 * A `has` bit that is off means unknown, never zero. Filled by an importer; trace_facts_fini frees.
 * Zero bytes are an empty one. Names of members are those of the JSON keys where there is one. */
#ifndef FACTS_H
#define FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "sha256.h"

enum trace_facts_has {
    TRACE_FACTS_SHA256 = 1 << 0,
    TRACE_FACTS_PICKLE = 1 << 1,      /* protocol, opcodes, top_keys */
    TRACE_FACTS_STATE = 1 << 2,       /* segments, blocks and their sums at the end */
    TRACE_FACTS_REQUESTED = 1 << 3,   /* requested */
    TRACE_FACTS_TIME = 1 << 4,        /* time_us_first, time_us_last */
    TRACE_FACTS_ANNOTATIONS = 1 << 5, /* the file has a list of them, perhaps an empty one */
    TRACE_FACTS_HOST = 1 << 6         /* pinned memory of the host was recorded: host_* */
};

/* A name and how often it occurs, in order of first use. */
struct trace_count {
    char *name;
    uint64_t count;
};

struct trace_counts {
    ARRAY(struct trace_count) list;
};

/* One for each device that has events. start_*, end_*, peak_* are block and segment bytes along the
 * trace. */
struct trace_device_facts {
    uint32_t device;
    uint64_t events;
    struct trace_counts actions;
    uint64_t alloc_bytes_total, alloc_bytes_largest; /* requested; valid when there is an alloc */
    uint64_t start_active, start_blocks, start_reserved;
    uint64_t peak_active, peak_reserved;
    uint64_t peak_allocated, peak_requested;
    uint64_t end_active, end_reserved;
};

/* A figure of sources other than snapshots: its JSON key, in an object of an object where there is
 * one (`group`, `sub`: "devices", "1:0"). Those of one object stand together. */
enum trace_figure_kind {
    TRACE_FIGURE_COUNT,
    TRACE_FIGURE_BYTES,
    TRACE_FIGURE_BOOL,
    TRACE_FIGURE_TEXT
};

struct trace_figure {
    char *group, *sub, *name; /* group, sub: may be NULL */
    char *text;               /* of a TEXT */
    uint64_t value;           /* of any other */
    enum trace_figure_kind kind;
};

struct trace_facts {
    uint32_t has;        /* enum trace_facts_has */
    const char *kind;    /* "snapshot" */
    const char *packing; /* "gzip", "zstd"; NULL: plain */
    uint64_t bytes;      /* of the file as it lies there */
    uint64_t bytes_unpacked;
    uint8_t sha256[SHA256_BYTES]; /* of the file as it lies there */
    uint32_t protocol;
    struct trace_counts opcodes;  /* by name, sorted; the count is 1 */
    struct trace_counts top_keys; /* in the file's order */
    uint64_t segments, blocks;
    struct trace_counts blocks_by_state, segments_by_type;
    uint64_t streams, expandable;
    uint64_t reserved, allocated, active, requested, largest_free_block; /* at the end */
    uint64_t stack_depth_max, external_annotations;
    uint64_t host_segments, host_reserved, host_events;
    uint64_t time_us_first, time_us_last;
    ARRAY(struct trace_device_facts) devices;
    ARRAY(struct trace_figure) figures; /* in the order in which they are shown */
};

void trace_facts_fini(struct trace_facts *facts);
/* Counts a name once more. False: host memory exhausted. */
bool trace_counts_add(struct trace_counts *counts, const char *name, uint64_t count);
/* 0 when the name is not there. */
uint64_t trace_counts_get(const struct trace_counts *counts, const char *name);
void trace_counts_sort(struct trace_counts *counts);
void trace_counts_fini(struct trace_counts *counts);

/* Adds a figure; texts are copied. False: host memory. */
bool trace_figure_add(struct trace_facts *facts, const char *group, const char *sub,
                      const char *name, enum trace_figure_kind kind, uint64_t value);
bool trace_figure_text(struct trace_facts *facts, const char *group, const char *sub,
                       const char *name, const char *text);
/* All counts of a group. */
bool trace_figure_counts(struct trace_facts *facts, const char *group,
                         const struct trace_counts *counts);
/* NULL: it is not there. */
const struct trace_figure *trace_figure_find(const struct trace_facts *facts, const char *group,
                                             const char *name);

#endif
