/* profiler.h: a Chrome trace of torch.profiler as records, between its JSON and its timeline.
 * Private to profiler*.c.
 *
 *   profiler_read.c     JSON -> records of this file, and what is counted of all events
 *   profiler_ops.c      which op each memory event stands in
 *   profiler_build.c    records -> timeline: `[memory]` events in the order of their times
 *   profiler_facts.c    what `vramsim info` shows
 *
 * Source of the keys: Kineto's and PyTorch's writers of 1.9 (no address, no totals) to 2.15;
 * docs/formats.md. */
#ifndef PROFILER_H
#define PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "facts.h"
#include "strtab.h"

struct error;
struct timeline;
struct trace_options;

enum { PROFILER_CPU = 0 }; /* Device Type; 1 CUDA, 6 HIP, 12 XPU, 13 MPS */

/* `has` bits: the keys that were there with a usable number. */
enum profiler_has {
    PROFILER_ADDRESS = 1 << 0,
    PROFILER_ALLOCATED = 1 << 1,
    PROFILER_RESERVED = 1 << 2,
    PROFILER_BYTES = 1 << 3,
    PROFILER_TIME = 1 << 4,
    PROFILER_TYPE = 1 << 5
};

/* A `[memory]` event, or an `[OutOfMemory]` one. */
struct profiler_memory {
    uint64_t time_ns, index; /* index: "Ev Idx", 0 where there is none */
    uint64_t address, allocated, reserved;
    int64_t bytes;
    uint64_t thread;
    int32_t type, device; /* as written */
    uint32_t order;       /* in the file */
    uint32_t op;          /* in `names`; 0: outside any op, or not looked for */
    uint8_t has;
    bool is_oom;
};

/* What ran on a host thread: an op, or a label of the program's. */
struct profiler_span {
    uint64_t begin_ns, end_ns, thread;
    uint32_t name; /* in `names` */
    bool is_annotation;
};

struct profiler_card {
    uint64_t id, total_bytes;
    uint32_t name; /* in `names` */
};

struct profiler {
    struct strtab names;
    ARRAY(struct profiler_memory) memory;
    ARRAY(struct profiler_span) spans;
    ARRAY(struct profiler_card) cards;
    ARRAY(uint64_t) streams; /* device << 32 | stream, of kernels */
    struct trace_counts phases, categories, top_keys;
    uint64_t events, kernels, skipped; /* skipped: memory events without a usable number */
    uint64_t schema_version, base_time_ns, rank;
    bool has_events, has_schema_version, has_rank;
};

/* False: not JSON, no traceEvents, a limit. profiler_fini() in any case. */
bool profiler_read(struct profiler *p, const uint8_t *data, size_t length,
                   const struct trace_options *options, struct error *err);
void profiler_fini(struct profiler *p);
/* Puts the memory events into the order in which they happened: by time, then index. */
void profiler_sort(struct profiler *p);
/* Fills in `op` of sorted events: the innermost op of their thread that does more than take memory.
 * False: host memory. */
bool profiler_find_ops(struct profiler *p);
/* Of sorted events. */
bool profiler_build(struct profiler *p, struct timeline *tl, struct error *err);
/* Of sorted events; `was_sorted`: the file's order is that of time. */
bool profiler_facts(const struct profiler *p, bool was_sorted, struct trace_facts *facts);

/* Of a GPU; others are of the host. */
static inline bool profiler_is_device(const struct profiler_memory *m) {
    return m->type != PROFILER_CPU;
}

#endif
