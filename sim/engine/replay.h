/* replay.h: a timeline's requests through an allocator model.
 *
 *   timeline --(request log)--> replay <-> allocator --(its answers)--> a new timeline
 *
 * To reproduce: the allocator starts in the state that the timeline had before its first event,
 * gets the addresses that the driver gave, and must answer as the timeline says: every address,
 * every segment taken or given back, every out-of-memory, and the layout at the end. That proves
 * model and importer apart from any model of a training step. What-if: other settings, allocator or
 * device; only the request log counts. Blocks alive at the start are asked for first, in address
 * order (their true order is unknown).
 *
 * A recorded trace does not tell everything that the program asked for; what is missing is derived:
 *   record_stream   a free whose completion stands apart from it waits for the recorded completion
 *   empty_cache     segments given back where no request stands that could be the cause
 *   private pools   a request goes to the pool of the segment that served it
 * Rules: docs/replay.md, and of the allocator docs/allocators.md. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "alloc.h"
#include "array.h"
#include "timeline.h"

struct error;

/* Zero bytes: what-if with the timeline's own settings and device, by the native allocator. */
struct replay_config {
    bool reproduce; /* the native allocator only; the timeline must know addresses and segments */
    const struct framework *framework;     /* NULL: the timeline's; unknown there: see `guessed` */
    const struct alloc_ops *allocator;     /* NULL: the settings' backend */
    const struct alloc_settings *settings; /* NULL: the timeline's alloc_settings */
    const char *settings_text; /* (optional) how `settings` were written, for the new timeline */
    double memory_fraction;    /* set_per_process_memory_fraction at the start; 0: not called */
    /* 0: the timeline's device; unknown there: what its out-of-memory shows; without one no limit */
    uint64_t total_bytes, capacity_bytes;
    /* (optional) after each request of the log; `event` is the timeline's */
    void (*observe)(void *user, uint8_t device, uint32_t event, const struct alloc *al);
    void *user;
    /* (optional) now and then, in bytes of the log; false ends the replay with ERROR_INTERRUPTED. A
     * release that the timeline does not name costs two replays, each from 0. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *progress_user;
};

/* Block and segment bytes along a timeline, of one device. */
struct replay_figures {
    uint64_t start_active, start_blocks, start_reserved;
    uint64_t peak_allocated, peak_active, peak_requested, peak_reserved;
    uint64_t end_allocated, end_active, end_reserved;
};

struct replay_figures replay_figures_of(const struct timeline *tl, uint8_t device);

enum { REPLAY_TEXT_BYTES = 160 };

struct replay_difference {
    bool found;
    uint32_t event; /* of the timeline; its count: the end */
    char recorded[REPLAY_TEXT_BYTES], model[REPLAY_TEXT_BYTES]; /* what each says */
};

struct replay_device_result {
    uint8_t device;
    struct replay_figures recorded, model;
    uint64_t capacity_bytes;        /* of the process; 0: not known, nothing was refused */
    uint64_t allocs;                /* requests that the timeline says were served */
    uint64_t addr_ok;               /* ... at the same address */
    uint64_t cache_hits;            /* requests that the model served without new memory */
    uint64_t segments, segments_ok; /* segment_alloc and segment_map entries; predicted ones */
    uint64_t releases, releases_ok; /* segment_free and segment_unmap entries; predicted ones */
    bool layout_equal;              /* at the end, block by block; false in a what-if */
    uint64_t retries, ooms;         /* the model's */
    uint64_t recorded_ooms;
    uint64_t empty_caches; /* derived ones */
    uint64_t ties_settled; /* the order of two segments of the start, learned from the trace */
    uint64_t differences;  /* 0 in a what-if */
    struct replay_difference first;
    uint32_t stopped_at; /* the event whose request ran out of memory in a what-if; else
                            TIMELINE_NONE */
};

struct replay_result {
    const struct framework *framework; /* whose rules were used */
    bool guessed; /* the timeline does not name its framework: each tie rule was tried, newest
                     first, and the first that fits or the one that got furthest was kept */
    bool equal;   /* reproduce: no difference on any device */
    ARRAY(struct replay_device_result) devices; /* those with memory or events */
    /* The same requests with the model's answers; blocks, phases and ooms have indexes of their
     * own. Ends at `stopped_at`. */
    struct timeline *timeline;
};

/* On success the caller frees with replay_result_fini. BAD_INPUT: the timeline lacks what a
 * reproduction needs, or its start state contradicts itself; INTERRUPTED; HOST_MEMORY. `real` is not changed. */
bool replay_run(const struct timeline *real, const struct replay_config *config,
                struct replay_result *out, struct error *err);
void replay_result_fini(struct replay_result *result);

#endif
