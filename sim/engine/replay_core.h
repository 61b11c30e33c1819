/* replay_core.h: the inside of a replay; private to replay*.c.
 *
 *   replay.c         configuration, candidates of frameworks, the loop over events, results
 *   replay_serve.c   one request of the log: what the allocator is asked, how the answer compares
 *   replay_world.c   what the allocator asks: addresses, events; what it did, against the trace
 *   replay_answer.c  the new timeline
 *   replay_start.c   the state before the first event; replay_fill.c: as a what-if has made it
 *   replay_layout.c  the state after the last
 *   replay_pack.c    a first run for the lifetimes, for an allocator that packs */
#ifndef REPLAY_CORE_H
#define REPLAY_CORE_H

#include "attr.h"
#include "error.h"
#include "replay.h"
#include "spans.h"

/* Without a known device nothing is refused; sums stay far from the end of the range. */
#define REPLAY_NO_LIMIT (UINT64_C(1) << 60)
#define REPLAY_DEVICES 256
#define USES_LOGGED UINT32_MAX /* the log itself names another stream's use of the block */

struct replay_device {
    struct replay *replay;
    struct alloc *al;
    struct replay_device_result result;
    uint64_t total_bytes, capacity_bytes;
    bool capacity_known;
    uint64_t loaded;        /* plain segments and reservations of the start; reproduce only */
    uint64_t reserve_bytes; /* of a reservation, where the device is unknown; 0: by the device */

    /* The recorded answers about segments, in order, and the first that nothing has matched yet. */
    ARRAY(uint32_t) answers;
    size_t next_answer;

    /* The request being served. */
    uint32_t now;      /* its event; while filling: TIMELINE_NONE */
    uint32_t limit;    /* recorded answers before this event belong to it */
    uint32_t previous; /* the event of the request before it */
    uint32_t block;    /* of the real timeline; TIMELINE_NONE: none */
    bool took_memory;
    bool filling; /* the state before the first event is being made */
    bool stopped;

    struct spans space;   /* plain segments and reservations of the model; reproduce only */
    struct spans mapped;  /* the model's memory -> segment of the new timeline */
    struct spans pending; /* address of a pending block, one byte -> block of the new timeline */
    uint64_t fresh;       /* next address for memory that the trace does not have */
};

struct replay {
    const struct timeline *real;
    const struct replay_config *config;
    const struct framework *framework;
    struct alloc_settings settings;
    struct lifetimes *lifetimes;    /* (optional) by ordinal: see alloc_config */
    const struct packing *packings; /* likewise */
    struct timeline *tl;
    uint32_t *blocks; /* block of the real timeline -> of the new one; TIMELINE_NONE: not live */
    uint32_t *phases; /* likewise */
    uint32_t *uses;   /* by block of the real timeline: 0, USES_LOGGED or fake stream + 1 */
    ARRAY(uint32_t) origins; /* block of the new timeline -> of the real one; TIMELINE_NONE: none */
    ARRAY(struct replay_device) devices;
    uint8_t slot[REPLAY_DEVICES]; /* ordinal -> index into devices + 1; 0: none */
    uint32_t fake_streams;        /* a count: handed out so far */
    ARRAY(uint32_t) idle_streams;
    struct error error; /* the first one; code ERROR_NONE: none */
};

/* Host memory is exhausted. */
void replay_fail_memory(struct replay *r);
/* Counts a difference at event `event` of the real timeline and keeps the first one's texts. */
void replay_differ(struct replay_device *d, uint32_t event, const char *recorded,
                   const char *format, ...) ATTR_PRINTF(4, 5);

static inline bool replay_ok(const struct replay *r) {
    return r->error.code == ERROR_NONE;
}

static inline bool replay_is_release(const struct timeline_event *e) {
    return e->kind == EVENT_SEGMENT_FREE || e->kind == EVENT_SEGMENT_UNMAP;
}

static inline bool replay_is_growth(const struct timeline_event *e) {
    return e->kind == EVENT_SEGMENT_ALLOC || e->kind == EVENT_SEGMENT_MAP;
}

/* The first recorded answer that is not matched and belongs to the request being served; NULL. */
const struct timeline_event *replay_next_answer(const struct replay_device *d);
uint64_t replay_stream(const struct timeline *tl, uint16_t index);

/* replay_world.c */
struct alloc_world replay_world(struct replay_device *d);
/* Notes a use of the block by a stream that no program has: it ends with the recorded completion.
 */
void replay_use_fake_stream(struct replay_device *d, uint32_t block, uint64_t address);

/* replay_start.c: loads or fills the model. */
bool replay_start(struct replay_device *d, struct error *err);
/* Before the model is made: how large reservations must be at least. */
bool replay_measure_reservations(struct replay_device *d);

/* replay_serve.c */
void replay_serve_alloc(struct replay_device *d, uint32_t event);
void replay_serve_free(struct replay_device *d, uint32_t event);
void replay_serve_stream_use(struct replay_device *d, uint32_t event);
void replay_serve_empty_cache(struct replay_device *d, uint32_t event);
void replay_serve_oom(struct replay_device *d, uint32_t event);
void replay_serve_end(struct replay_device *d);
/* Asks for a block that was alive at the start. */
bool replay_fill_block(struct replay_device *d, uint32_t block);

/* replay_answer.c: all of these may set the replay's error. */
bool answer_begin(struct replay *r);
void answer_alloc(struct replay_device *d, const struct alloc_entry *entry);
void answer_free_requested(struct replay_device *d, const struct alloc_entry *entry);
void answer_free_completed(struct replay_device *d, const struct alloc_entry *entry);
void answer_segment(struct replay_device *d, const struct alloc_entry *entry);
void answer_oom(struct replay_device *d, const struct alloc_entry *entry);
void answer_copy(struct replay_device *d, uint32_t event); /* phases, stream uses, empty_cache */
/* The memory of the start, loaded from the real timeline. */
void answer_start_segment(struct replay_device *d, const struct timeline_segment *segment);
void answer_start_block(struct replay_device *d, uint32_t block);

/* replay_fill.c */
void answer_forget_block(struct replay *r, uint32_t block);
void answer_end_fill(struct replay_device *d);

/* replay.c: one replay by one release's rules; `lifetimes` and `packings` by ordinal, see struct
 * replay. */
bool replay_once(const struct timeline *real, const struct replay_config *config,
                 const struct framework *framework, struct lifetimes *lifetimes,
                 const struct packing *packings, struct replay_result *out, struct error *err);
/* replay_pack.c: twice, for an allocator that packs. */
bool replay_twice(const struct timeline *real, const struct replay_config *config,
                  const struct framework *framework, struct replay_result *out, struct error *err);

/* replay_layout.c: false: they differ, and that is counted. */
bool replay_compare_layout(struct replay_device *d);

#endif
