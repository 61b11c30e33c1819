/* timeline.h: what happened to device memory, as plain data: the one thing that reports, charts, viewer, comparison and
 * replay read, whoever wrote it (the engine or an importer).
 *
 *   events  in program order; 32 bytes each; `ref` points into blocks, segments, phases or ooms
 *   blocks  one a lifetime: address reuse makes a new block       segments  one a cudaMalloc or a mapped range
 *   phases  nested spans over the events                          stacks    interned frames, traces only
 *
 * Two parts. The request log (ALLOC, FREE_REQUESTED, STREAM_USE, EMPTY_CACHE, phases) does not depend on an allocator;
 * the answers (addresses, block sizes, SEGMENT_*, FREE_COMPLETED, OOM) are an allocator's. event_is_request() tells.
 * Units: bytes, nanoseconds. What a source does not know has its `has` bit off, and is never shown as zero.
 * Ownership: the timeline owns all it points to; strings live in `strings` and are named by id (0 = none).
 * Device memory at an event = what counters.h says *after* that event. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "category.h"
#include "dtype.h"
#include "strtab.h"

struct error;

/* kind, PyTorch's action name, is a request */
#define EVENT_KINDS(X)                                                                             \
    X(ALLOC, "alloc", true)                    /* ref = block; bytes = requested */                \
    X(FREE_REQUESTED, "free_requested", true)  /* ref = block; bytes = requested */                \
    X(FREE_COMPLETED, "free_completed", false) /* ref = block; bytes = requested */                \
    X(SEGMENT_ALLOC, "segment_alloc", false)   /* ref = segment; bytes = segment's */              \
    X(SEGMENT_FREE, "segment_free", false)     /* likewise */                                      \
    X(SEGMENT_MAP, "segment_map", false)       /* ref = segment (reservation); bytes mapped */     \
    X(SEGMENT_UNMAP, "segment_unmap", false)   /* likewise */                                      \
    X(OOM, "oom", false)                       /* ref = ooms; bytes = rounded request */           \
    X(STREAM_USE, "record_stream", true)       /* ref = block; stream = the using one */           \
    X(EMPTY_CACHE, "empty_cache", true)        /* */                                               \
    X(PHASE_BEGIN, "phase_begin", true)        /* ref = phase */                                   \
    X(PHASE_END, "phase_end", true)            /* ref = phase */                                   \
    X(SNAPSHOT, "snapshot", false)             /* bytes = active, a check value */                 \
    X(OTHER, "other", false)                   /* counted, without effect */

enum event_kind {
#define X(id, name, is_request) EVENT_##id,
    EVENT_KINDS(X)
#undef X
        EVENT_KIND_COUNT
};

#define TIMELINE_NONE UINT32_MAX       /* no such event, block, segment, phase */
#define TIMELINE_NO_ADDRESS UINT64_MAX /* of one block or segment, where the source does not tell */

struct timeline_event {
    uint64_t time_ns; /* host clock; since the start (simulation) or since 1970 (traces) */
    uint64_t bytes;
    uint64_t address;
    uint32_t ref;
    uint16_t stream; /* index into streams */
    uint8_t kind;    /* enum event_kind */
    uint8_t device;  /* ordinal; index into devices */
};

struct timeline_block {
    uint64_t address, requested_bytes;
    uint64_t block_bytes; /* the allocator's: rounding and unsplit rest included */
    uint32_t alloc_event; /* TIMELINE_NONE: alive before the first event */
    /* FREE_REQUESTED; TIMELINE_NONE: never (or before the first event, see pending_at_start) */
    uint32_t free_event;
    uint32_t complete_event; /* FREE_COMPLETED; TIMELINE_NONE: never */
    uint32_t segment;        /* TIMELINE_NONE: unknown */
    uint32_t owner;          /* string: module path, "model.layers.3.mlp.gate_proj" */
    uint32_t op;             /* string: the op that asked, "aten::mm", "MmBackward0" */
    uint32_t name;           /* string: the tensor's name where it has one, "weight", "exp_avg" */
    uint32_t stack;          /* index into stacks; 0 = none */
    uint32_t phase;          /* innermost at allocation; TIMELINE_NONE: none */
    uint16_t stream;
    uint8_t category; /* enum category */
    uint8_t dtype;    /* enum dtype */
    uint8_t device;
    bool small_pool;
    /* freed before the first event, completion still to come: active, not allocated */
    bool pending_at_start;
};

struct timeline_segment {
    uint64_t address, bytes;
    uint32_t alloc_event; /* TIMELINE_NONE: there before the first event */
    uint32_t free_event;
    uint64_t pool_id[2]; /* (0, 0): the default pool */
    uint32_t stack;
    uint16_t stream;
    uint8_t device;
    bool small_pool, expandable;
};

struct timeline_phase {
    uint32_t name;                   /* string: "forward", "step 1" */
    uint32_t begin_event, end_event; /* of the PHASE_* events; end TIMELINE_NONE: open at the end */
    uint32_t parent;                 /* TIMELINE_NONE: outermost */
    uint16_t depth;                  /* 0 = outermost */
    uint8_t device;
};

struct timeline_frame {
    uint32_t function, file; /* strings */
    uint32_t line;
};

/* frames.at[first .. first + count), innermost first */
struct timeline_stack {
    uint32_t first, count;
};

struct timeline_device {
    uint32_t name;                       /* string: "NVIDIA A100-SXM4-80GB" */
    uint64_t total_bytes, context_bytes; /* valid with has TIMELINE_HAS_DEVICE */
};

struct timeline_oom {
    uint32_t event;
    uint64_t requested_bytes, rounded_bytes, segment_bytes;
    uint64_t device_free_bytes, allocated_bytes, reserved_bytes;
    uint32_t op, owner; /* strings */
    uint32_t message;   /* string: as the framework words it; 0 = unknown */
};

enum timeline_has {
    TIMELINE_HAS_TIME = 1 << 0,
    TIMELINE_HAS_ADDRESS = 1 << 1,
    TIMELINE_HAS_BLOCK_BYTES = 1 << 2,
    TIMELINE_HAS_REQUESTED = 1 << 3,
    TIMELINE_HAS_SEGMENTS = 1 << 4, /* reserved is known */
    TIMELINE_HAS_STREAM = 1 << 5,
    TIMELINE_HAS_CATEGORY = 1 << 6,
    TIMELINE_HAS_OWNER = 1 << 7,
    TIMELINE_HAS_STACK = 1 << 8,
    TIMELINE_HAS_PHASE = 1 << 9,
    TIMELINE_HAS_DEVICE = 1 << 10,
    TIMELINE_HAS_HISTORY = 1 << 11, /* events were recorded; off: a single state */
    /* What poor sources lack; most sources need not speak of it. Blocks (segments) that are the
     * differences between totals, or versions of a tensor: not each of them is an allocation */
    TIMELINE_SUMS_BLOCKS = 1 << 16,
    TIMELINE_SUMS_SEGMENTS = 1 << 17,
    TIMELINE_DEVICE_USE = 1 << 18,     /* reserved is what all programs had of the device */
    TIMELINE_FREES_BY_SIZE = 1 << 19,  /* a free names no block: it ends the newest of its size */
    TIMELINE_NO_COMPLETIONS = 1 << 20, /* each stands behind its request: active is unknown */
    TIMELINE_RELATIVE = 1 << 21        /* what lived before the first event is unknown, not zero */
};

/* The sums of counters.h, as far as a source tells them. */
enum timeline_figure {
    FIGURE_ALLOCATED,
    FIGURE_ACTIVE,
    FIGURE_REQUESTED,
    FIGURE_RESERVED,   /* of the program's allocator */
    FIGURE_PLACEMENT,  /* which block lies where in which segment */
    FIGURE_DEVICE_USE, /* `reserved` is this, not that of an allocator */
};

struct timeline {
    uint32_t has; /* enum timeline_has */
    struct strtab strings;
    ARRAY(struct timeline_event) events;
    ARRAY(struct timeline_block) blocks;
    ARRAY(struct timeline_segment) segments;
    ARRAY(struct timeline_phase) phases;
    ARRAY(struct timeline_frame) frames;
    ARRAY(struct timeline_stack) stacks; /* at[0] is the empty one */
    ARRAY(struct timeline_oom) ooms;
    ARRAY(struct timeline_device) devices;
    ARRAY(uint64_t) streams; /* raw handles; at[0] = 0, the default stream */
    uint32_t title;          /* string: the file it came from */
    uint32_t source_kind;    /* string: "simulation", "pytorch snapshot" */
    uint32_t framework;      /* string: "pytorch-2.15"; 0 = unknown */
    uint32_t alloc_settings; /* string: PYTORCH_ALLOC_CONF */
    uint32_t warnings;       /* records skipped or repaired by the importer */
    uint32_t first_warning;  /* string */
};

struct timeline *timeline_create(void);                    /* NULL: host memory exhausted */
struct timeline *timeline_copy(const struct timeline *tl); /* equal in all; NULL: likewise */
void timeline_destroy(struct timeline *tl);
size_t timeline_bytes(const struct timeline *tl); /* of host memory */

/* Each returns the new index, or TIMELINE_NONE when host memory is exhausted (or 2^32 - 1 records are there). */
uint32_t timeline_add_event(struct timeline *tl, const struct timeline_event *event);
uint32_t timeline_add_block(struct timeline *tl, const struct timeline_block *block);
uint32_t timeline_add_segment(struct timeline *tl, const struct timeline_segment *segment);
uint32_t timeline_add_phase(struct timeline *tl, const struct timeline_phase *phase);
/* The index of a stream handle, added when new. False: host memory, or more than 65,535 streams. */
bool timeline_stream(struct timeline *tl, uint64_t handle, uint16_t *index);
/* Interns a text; 0 (none) when host memory is exhausted. */
uint32_t timeline_string(struct timeline *tl, const char *text);
const char *timeline_text(const struct timeline *tl, uint32_t string);

bool timeline_knows(const struct timeline *tl, enum timeline_figure figure);
/* The device that a reader who names none means: the one with the most blocks; a rank of a run on
 * several cards has no other. */
uint8_t timeline_main_device(const struct timeline *tl);

bool event_is_request(enum event_kind kind);
const char *event_kind_name(enum event_kind kind);

/* Bounds of all indexes, pairing of records and events, a block's events in order, sums that do not go below zero or
 * above what is reserved, clocks of each device that do not go back, live blocks of a device that do not overlap. Every
 * producer's tests call it. */
bool timeline_check(const struct timeline *tl, struct error *err);

struct text;
/* One line a record, stable: the form of golden tests and of `vramsim dump`. `requests_only` leaves the answers out. */
void timeline_dump(const struct timeline *tl, bool requests_only, struct text *out);

#endif
