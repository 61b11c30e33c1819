/* snapshot.h: a PyTorch memory snapshot as records, between its pickle and its timeline. Private to
 * snapshot*.c.
 *
 *   snapshot_decode.c   pickle -> records of this file (dicts are folded as they are filled)
 *   snapshot_import.c   the order of the steps below, device by device
 *   snapshot_build.c    what all of them use
 *   snapshot_stacks.c   lists of frames -> interned stacks of the timeline
 *   snapshot_lives.c    a device's trace and final state -> blocks and segments, with the state at
 *                       its start
 *   snapshot_emit.c     all traces and annotations in one order -> events, phases, block sizes
 *   snapshot_facts.c    what `vramsim info` shows
 *
 * Source of the keys: snapshot formats of PyTorch 1.13 to 2.15 (torch/csrc/cuda/memory_snapshot.cpp
 * and Module.cpp). */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "pickle.h"

struct error;
struct timeline;
struct trace_facts;
struct trace_options;

/* Known texts. They are interned first, in this order, so that a text's id is its key. */
#define SNAPSHOT_KEYS(X)                                                                           \
    X(NONE, "")                                                                                    \
    X(SEGMENTS, "segments")                                                                        \
    X(DEVICE_TRACES, "device_traces")                                                              \
    X(ALLOCATOR_SETTINGS, "allocator_settings")                                                    \
    X(EXTERNAL_ANNOTATIONS, "external_annotations")                                                \
    X(DEVICE, "device")                                                                            \
    X(ADDRESS, "address")                                                                          \
    X(TOTAL_SIZE, "total_size")                                                                    \
    X(ALLOCATED_SIZE, "allocated_size")                                                            \
    X(ACTIVE_SIZE, "active_size")                                                                  \
    X(REQUESTED_SIZE, "requested_size")                                                            \
    X(STREAM, "stream")                                                                            \
    X(SEGMENT_TYPE, "segment_type")                                                                \
    X(SEGMENT_POOL_ID, "segment_pool_id")                                                          \
    X(IS_EXPANDABLE, "is_expandable")                                                              \
    X(FRAMES, "frames")                                                                            \
    X(BLOCKS, "blocks")                                                                            \
    X(SIZE, "size")                                                                                \
    X(STATE, "state")                                                                              \
    X(HISTORY, "history")                                                                          \
    X(REAL_SIZE, "real_size")                                                                      \
    X(ADDR, "addr")                                                                                \
    X(ACTION, "action")                                                                            \
    X(DEVICE_FREE, "device_free")                                                                  \
    X(TIME_US, "time_us")                                                                          \
    X(POOL_ID, "pool_id")                                                                          \
    X(STAGE, "stage")                                                                              \
    X(NAME, "name")                                                                                \
    X(FILENAME, "filename")                                                                        \
    X(LINE, "line")                                                                                \
    X(ALLOC_CONF, "PYTORCH_CUDA_ALLOC_CONF")                                                       \
    X(MAX_SPLIT_SIZE, "max_split_size")                                                            \
    X(EXPANDABLE_SEGMENTS, "expandable_segments")                                                  \
    X(ROUNDUP_DIVISIONS, "roundup_power2_divisions")                                               \
    X(GC_THRESHOLD, "garbage_collection_threshold")                                                \
    X(LARGE, "large")                                                                              \
    X(SMALL, "small")                                                                              \
    X(INACTIVE, "inactive")                                                                        \
    X(ACTIVE_ALLOCATED, "active_allocated")                                                        \
    X(ACTIVE_PENDING_FREE, "active_pending_free")                                                  \
    X(ACTIVE_AWAITING_FREE, "active_awaiting_free")                                                \
    X(START, "START")                                                                              \
    X(END, "END")                                                                                  \
    X(ALLOC, "alloc")                                                                              \
    X(FREE_REQUESTED, "free_requested")                                                            \
    X(FREE_COMPLETED, "free_completed")                                                            \
    X(FREE, "free")                                                                                \
    X(SEGMENT_ALLOC, "segment_alloc")                                                              \
    X(SEGMENT_FREE, "segment_free")                                                                \
    X(SEGMENT_MAP, "segment_map")                                                                  \
    X(SEGMENT_UNMAP, "segment_unmap")                                                              \
    X(OOM, "oom")                                                                                  \
    X(SNAPSHOT, "snapshot")                                                                        \
    X(ANNOTATE, "annotate")                                                                        \
    X(HOST_SEGMENTS, "host_segments")                                                              \
    X(HOST_TRACES, "host_traces")

enum snapshot_key {
#define X(id, text) KEY_##id,
    SNAPSHOT_KEYS(X)
#undef X
        KEY_COUNT
};

/* What a dict turned out to be. */
enum snapshot_role {
    ROLE_NONE, /* not known yet: its pairs wait in `pairs` */
    ROLE_TOP,
    ROLE_SETTINGS,
    ROLE_SEGMENT,
    ROLE_BLOCK,
    ROLE_HISTORY,
    ROLE_ENTRY,
    ROLE_ANNOTATION,
    ROLE_FRAME,
    ROLE_COUNT
};

#define NO_HANDLE UINT32_MAX /* no container there */

/* `has` bits of a record: the keys that were there with a value of the right kind. */
enum snapshot_has {
    HAS_ADDRESS = 1 << 0,
    HAS_SIZE = 1 << 1,
    HAS_STREAM = 1 << 2,
    HAS_TIME = 1 << 3,
    HAS_REQUESTED = 1 << 4,
    HAS_DEVICE_FREE = 1 << 5,
    HAS_DEVICE = 1 << 6
};

/* Members named *_list, *_tuple, *_dict are handles of containers; texts are ids in the pickle's
 * strings. */
struct snapshot_entry {
    uint64_t address, size, stream, time_us; /* an oom keeps device_free in `address` */
    uint32_t action, frames_list, pool_tuple;
    uint16_t has;
};

struct snapshot_segment {
    uint64_t address, total, requested, stream;
    uint32_t device, type, blocks_list, frames_list, pool_tuple;
    uint16_t has;
    bool expandable;
};

struct snapshot_block {
    uint64_t address, size, requested;
    uint32_t state, frames_list, history_list;
    uint16_t has;
};

struct snapshot_history {
    uint64_t real_size;
    uint32_t frames_list;
    uint16_t has;
};

struct snapshot_annotation {
    uint64_t time_us;
    uint32_t stage, name, device;
    uint16_t has;
};

struct snapshot_frame {
    uint32_t name, file, line;
};

struct snapshot_settings {
    uint32_t conf, divisions_dict;
    uint64_t max_split; /* UINT64_MAX: unlimited */
    bool known, expandable;
};

/* Pairs of dicts whose role is not known, chained from the container's record (index + 1, 0 ends
 * the chain). */
struct snapshot_pair {
    struct pickle_value key, value;
    uint32_t previous;
};

/* Lists keep the handles of their containers in `items`, in chunks since several may grow in turns.
 * The container's record is the first chunk + 1. */
struct snapshot_chunk {
    uint32_t first, count, next,
        last;    /* next: chunk + 1; last: of the first chunk, the chain's last chunk */
    bool shared; /* more than one list begins with it: it is not changed any more */
};

struct snapshot {
    struct pickle pickle;
    struct pickle_value root;
    uint32_t segments_list, traces_list, annotations_list;
    uint32_t host_segments_list, host_traces_list; /* pinned memory: counted, not shown */
    bool is_list;             /* the outermost value is the list of segments (1.13) */
    ARRAY(uint32_t) top_keys; /* texts */
    struct snapshot_settings settings;
    ARRAY(struct snapshot_entry) entries;
    ARRAY(struct snapshot_segment) segments;
    ARRAY(struct snapshot_block) blocks;
    ARRAY(struct snapshot_history) histories;
    ARRAY(struct snapshot_annotation) annotations;
    ARRAY(struct snapshot_frame) frames;
    ARRAY(struct snapshot_pair) pairs;
    ARRAY(struct snapshot_chunk) chunks;
    ARRAY(uint32_t) items;
    uint64_t items_shared;  /* that lists have in common with earlier ones */
    ARRAY(uint64_t) tuples; /* two numbers each: pool ids */
    /* how many more list items may be visited: sharing cannot multiply the work */
    uint64_t items_left;
    const struct trace_options *options;
};

/* Reads the pickle. On failure snapshot_fini is still to be called. */
bool snapshot_decode(struct snapshot *s, const void *data, size_t length,
                     const struct trace_options *options, struct error *err);
void snapshot_fini(struct snapshot *s);

/* Items of all lists together. */
static inline uint64_t snapshot_items(const struct snapshot *s) {
    return s->items.count + s->items_shared;
}
/* Visits the containers of a list in order. A handle that is no list is an empty one. */
struct snapshot_walk {
    uint32_t chunk, index; /* chunk + 1; 0: at the end */
};
void snapshot_walk_begin(struct snapshot *s, uint32_t list, struct snapshot_walk *walk);
bool snapshot_walk_next(struct snapshot *s, struct snapshot_walk *walk, uint32_t *handle);
/* Items of a list, containers or not. */
uint32_t snapshot_list_count(const struct snapshot *s, uint32_t list);
/* The record of a container of that role, else NO_HANDLE. */
uint32_t snapshot_record(const struct snapshot *s, uint32_t handle, enum snapshot_role role);
/* A tuple of two numbers; zeros when it is none. */
void snapshot_pool_id(const struct snapshot *s, uint32_t tuple, uint64_t pool_id[2]);

#endif
