/* snapshot_build.h: the state while records become a timeline; private to snapshot_*.c.
 *
 * A trace is a window: its first entry is rarely the first allocation. Two passes over each
 * device's entries:
 *   lives  finds what block or segment each entry speaks of; a free of a block that no entry
 *          allocated means a block alive at the start; so does a block of the final state that no
 *          entry speaks of
 *   emit   goes forward again, with all blocks of the start known, and gives each block its size
 *          by the gap it lands in
 * Source of the rules: c10/cuda/CUDACachingAllocator.cpp (record_trace, snapshot) and
 * torch/csrc/cuda/memory_snapshot.cpp; docs/formats.md. */
#ifndef SNAPSHOT_BUILD_H
#define SNAPSHOT_BUILD_H

#include "addrmap.h"
#include "attr.h"
#include "caching_sizes.h"
#include "facts.h"
#include "snapshot.h"
#include "timeline.h"

enum { MAX_DEVICES = 256, MAX_OPEN_PHASES = 4096 };
#define MAX_RECORD_BYTES (UINT64_C(1) << 46) /* a size above it is damage: 64 TiB */
#define MAX_ADDRESS (UINT64_C(1) << 62)
#define MAX_SUM_BYTES (UINT64_C(1) << 60)

/* An entry of a trace and the block or segment of the timeline that it speaks of, by its action. */
struct build_event {
    uint32_t entry, ref;
};

/* Mapped memory: a plain segment or a piece of a reservation. */
struct build_range {
    uint64_t start, end;
    uint32_t segment; /* of the timeline; TIMELINE_NONE: not yet made */
    uint32_t stack;
    uint64_t stream, pool_id[2];
    bool small_pool, expandable;
};

/* Frames of equal content have the same number. */
struct build_frame {
    struct timeline_frame value;
    uint32_t number;
};

struct build_stack_slot {
    uint64_t hash;
    uint32_t stack; /* 0: free */
};

struct build_device {
    uint32_t ordinal;
    ARRAY(struct build_event) events;
    size_t next; /* the event to emit next */
    uint64_t time_us;
    struct addrmap live;     /* lives: address -> block; emit: the blocks alive now */
    struct addrmap segments; /* lives: address -> plain segment alive now */
    struct addrmap finals;   /* start -> range: the reservations' pieces at the end */
    struct addrmap ranges;   /* start -> range: mapped now (emit) */
    uint32_t near_range;     /* the one found last; NO_HANDLE after a change */
    ARRAY(uint32_t) start_blocks;
    ARRAY(uint32_t) open_phases; /* the innermost is last */
    bool has_maps;
    struct trace_device_facts facts;
};

struct build {
    struct snapshot *s;
    struct timeline *tl;
    struct trace_facts *facts;
    struct error *err;
    struct caching_sizes rules;
    ARRAY(struct build_device) devices; /* by ordinal */
    ARRAY(struct build_range) ranges;
    ARRAY(uint32_t) strings; /* text of the pickle -> string of the timeline + 1; 0: not yet */
    ARRAY(struct build_frame) frames; /* by frame record; made when the first stack is */
    ARRAY(uint32_t) list_stacks;      /* chunk of a list of frames -> stack + 1; 0: not yet */
    ARRAY(struct build_stack_slot) stack_slots; /* stacks by content: open addressing */
    struct addrmap streams;                     /* handle -> index */
    ARRAY(uint8_t) guessed; /* by block: alive at the start, its size by the gap behind it */
    uint64_t clock_ns[UINT8_MAX + 1]; /* by device: of the newest event */
    bool requested_unknown, time_unknown;
};

/* Fails with the error of exhausted host memory. Always false. */
bool build_no_memory(struct build *b);
/* Counts a repaired or skipped record; the first one's text is kept. */
void build_warn(struct build *b, const char *format, ...) ATTR_PRINTF(2, 3);
bool build_device(struct build *b, uint32_t ordinal, struct build_device **device);
bool build_stream(struct build *b, uint64_t handle, uint16_t *index);
/* The timeline's string for a text of the pickle, made fit to print. */
bool build_string(struct build *b, uint32_t text, uint32_t *string);

/* snapshot_stacks.c: the stack of a list of frames; 0 for none. */
bool build_stack(struct build *b, uint32_t frames_list, uint32_t *stack);

/* snapshot_lives.c */
bool build_lives(struct build *b, struct build_device *d, uint32_t trace_list);
bool build_final_segment(struct build *b, struct build_device *d,
                         const struct snapshot_segment *segment);
bool build_start(struct build *b, struct build_device *d);

/* snapshot_ranges.c: mapped memory. */
bool ranges_add(struct build *b, struct addrmap *map, const struct build_range *range);
/* Takes [start, end) out; *first is the segment of the first piece hit, TIMELINE_NONE when nothing
 * was there. */
bool ranges_cut(struct build *b, struct addrmap *map, uint64_t start, uint64_t end,
                uint32_t *first);
/* The range that holds an address; NULL: none. */
struct build_range *ranges_find(struct build *b, const struct addrmap *map, uint64_t address);

/* snapshot_place.c: the blocks alive now, and their sizes. */
bool place_start_blocks(struct build *b, struct build_device *d);
/* False with *lost set: a block that was never freed is alive at the very address. */
bool place_block(struct build *b, struct build_device *d, uint32_t block, uint32_t *lost);

/* snapshot_emit.c, snapshot_phases.c */
bool build_emit(struct build *b);
bool build_push(struct build *b, const struct timeline_event *event, uint32_t *index);
bool build_phase(struct build *b, const struct snapshot_annotation *annotation);

/* snapshot_facts.c */
bool build_entry_facts(struct build *b, struct build_device *d);
bool build_facts(struct build *b);

static inline bool build_usable(const struct snapshot_entry *e) {
    return (e->has & (HAS_ADDRESS | HAS_SIZE)) == (HAS_ADDRESS | HAS_SIZE) &&
           e->size <= MAX_RECORD_BYTES && e->address <= MAX_ADDRESS;
}

#endif
