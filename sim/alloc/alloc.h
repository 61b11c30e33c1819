/* alloc.h: models of device-memory allocators, as plans of addresses. No memory is touched; an
 * address is a number.
 *
 * An allocator is one file and one row of the table in alloc.c. The world around it (what the
 * driver can give, streams, events) comes in through struct alloc_world; what it did goes out as a
 * list of entries, the same that PyTorch's trace holds. Rules and their sources:
 * docs/allocators.md. Ownership: the model owns its segments and blocks; an address is valid from
 * alloc_take until alloc_free. One thread at a time; two models are independent. */
#ifndef ALLOC_H
#define ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc_settings.h"

struct error;
struct framework;
struct lifetimes;
struct packing;
struct alloc;

enum alloc_entry_kind {
    ALLOC_ENTRY_ALLOC,          /* bytes = requested, block_bytes = the block's size */
    ALLOC_ENTRY_FREE_REQUESTED, /* likewise */
    ALLOC_ENTRY_FREE_COMPLETED, /* likewise */
    ALLOC_ENTRY_SEGMENT_ALLOC,  /* bytes = the segment's */
    ALLOC_ENTRY_SEGMENT_FREE,
    ALLOC_ENTRY_SEGMENT_MAP, /* bytes mapped at address */
    ALLOC_ENTRY_SEGMENT_UNMAP,
    ALLOC_ENTRY_OOM /* bytes = ROUNDED request; address = the device's free bytes, as PyTorch's
                       entry has it */
};

struct alloc_entry {
    enum alloc_entry_kind kind;
    uint64_t address, bytes, block_bytes;
    uint64_t stream;          /* raw handle */
    uint64_t segment_address; /* of a block: its segment's or reservation's start; of a segment
                                 entry: address */
    uint64_t pool_id[2];
    bool small_pool, expandable;
};

/* Everything an allocator asks of its surroundings. `entry` may be NULL. With all three event
 * functions NULL every event is complete as soon as it is recorded. */
struct alloc_world {
    void *user;
    void (*entry)(void *user, const struct alloc_entry *entry);
    /* Records an event on `stream` now and returns its id. */
    uint64_t (*event_record)(void *user, uint64_t stream);
    bool (*event_done)(void *user, uint64_t event);
    void (*event_wait)(void *user, uint64_t event); /* the host waits; done from then on */
    void (*stream_wait)(
        void *user,
        uint64_t stream); /* the host waits for all work queued on stream; may be NULL */
    /* (optional) Work queued on `stream` from now on runs after `event`, since the program made the
     * stream wait for it. NULL: no program does. */
    bool (*stream_follows)(void *user, uint64_t stream, uint64_t event);
    /* (optional) The driver makes `stream` wait for `event`; the host goes on. */
    void (*stream_wait_event)(void *user, uint64_t stream, uint64_t event);
    /* (optional) The address of a new segment or reservation of `bytes`, for replays that know it;
     * 0: the driver refuses. NULL: addresses grow from ALLOC_FIRST_ADDRESS in steps of 2 MiB and
     * never return. */
    uint64_t (*plan_address)(void *user, uint64_t bytes, bool reservation);
};

#define ALLOC_FIRST_ADDRESS UINT64_C(0x7f0000000000)

struct alloc_config {
    const struct framework
        *framework; /* version switches: tie rule, redirection ...; NULL: the newest */
    struct alloc_settings settings;
    uint64_t total_bytes;    /* what the driver reports as the device's memory */
    uint64_t capacity_bytes; /* what the process can really get: total minus context and other
                                processes */
    struct alloc_world world;
    /* (optional; borrowed) for the ideal allocators, see packing.h: where to note the lifetimes of
     * this run's blocks, and where the blocks of a run with known lifetimes go */
    struct lifetimes *lifetimes;
    const struct packing *packing;
};

enum alloc_result { ALLOC_OK, ALLOC_OOM, ALLOC_HOST_MEMORY };

/* One statistic: PyTorch's four fields. */
struct alloc_stat {
    uint64_t current, peak, allocated, freed;
};

enum alloc_pool_class {
    ALLOC_POOL_ALL,
    ALLOC_POOL_SMALL,
    ALLOC_POOL_LARGE,
    ALLOC_POOL_CLASS_COUNT
};

/* torch.cuda.memory_stats(), by its names. */
struct alloc_stats {
    struct alloc_stat allocation[ALLOC_POOL_CLASS_COUNT], allocated_bytes[ALLOC_POOL_CLASS_COUNT];
    struct alloc_stat active[ALLOC_POOL_CLASS_COUNT], active_bytes[ALLOC_POOL_CLASS_COUNT];
    struct alloc_stat requested_bytes[ALLOC_POOL_CLASS_COUNT];
    struct alloc_stat segment[ALLOC_POOL_CLASS_COUNT], reserved_bytes[ALLOC_POOL_CLASS_COUNT];
    struct alloc_stat inactive_split[ALLOC_POOL_CLASS_COUNT];
    struct alloc_stat inactive_split_bytes[ALLOC_POOL_CLASS_COUNT];
    struct alloc_stat oversize_allocations, oversize_segments;
    uint64_t num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free;
    uint64_t num_oom_rejections;
    int64_t max_split_size; /* as the allocator was built; -1: unlimited */
};

/* The figures of the last out-of-memory, as PyTorch's message states them. */
struct alloc_oom {
    uint64_t requested_bytes, rounded_bytes, segment_bytes;
    uint64_t device_total_bytes, device_free_bytes;
    uint64_t allowed_bytes;                   /* the limit; 0 = none */
    uint64_t allocated_bytes, reserved_bytes; /* by the framework */
    uint64_t private_pool_bytes;              /* free bytes held in private pools */
    bool rejected;                            /* by throw_on_cudamalloc_oom, without a retry */
};

/* Hooks of one allocator. */
struct alloc_ops {
    const char *name, *doc;
    bool needs_device;   /* takes a share of the device: without knowing it there is no answer */
    bool heeds_settings; /* those of PYTORCH_ALLOC_CONF */
    /* config.packing, from an earlier run of the same requests, makes it better */
    bool packs;
    /* NULL + *err on bad settings or exhausted host memory. */
    struct alloc *(*create)(const struct alloc_config *config, struct error *err);
    void (*destroy)(struct alloc *al);
    enum alloc_result (*take)(struct alloc *al, uint64_t bytes, uint64_t stream, uint64_t *address);
    void (*free)(struct alloc *al, uint64_t address);
    enum alloc_result (*record_stream)(struct alloc *al, uint64_t address,
                                       uint64_t stream);            /* (optional) ignored */
    enum alloc_result (*empty_cache)(struct alloc *al);             /* (optional) ignored */
    void (*set_memory_fraction)(struct alloc *al, double fraction); /* (optional) ignored */
    const struct alloc_stats *(*stats)(const struct alloc *al);
    const struct alloc_oom *(*last_oom)(const struct alloc *al);
    /* (optional) the words of an out-of-memory; else a plain sentence */
    void (*write_oom)(const struct alloc_oom *oom, unsigned device_ordinal, char *out, size_t size);
};

/* Every implementation's struct begins with this. */
struct alloc {
    const struct alloc_ops *ops;
};

/* The table: rows in order, NULL after the last; row 0 is the default, "native". */
const struct alloc_ops *alloc_row(size_t index);
const struct alloc_ops *alloc_find(const char *name);
/* The row that `backend:...` of the settings asks for. */
const struct alloc_ops *alloc_of_backend(enum alloc_backend backend);

struct alloc *alloc_create(const struct alloc_ops *ops, const struct alloc_config *config,
                           struct error *err);
void alloc_destroy(struct alloc *al);
/* Takes `bytes` (> 0: empty tensors never get here) on `stream`. ALLOC_OOM when the retry path has
 * failed too: the state stays valid, alloc_last_oom() has the figures. */
enum alloc_result alloc_take(struct alloc *al, uint64_t bytes, uint64_t stream, uint64_t *address);
/* `address` must be live (taken and not freed); so must it be for record_stream. Never needs host
 * memory. */
void alloc_free(struct alloc *al, uint64_t address);
/* Both ALLOC_OK or ALLOC_HOST_MEMORY. */
enum alloc_result alloc_record_stream(struct alloc *al, uint64_t address, uint64_t stream);
enum alloc_result alloc_empty_cache(struct alloc *al);
/* torch.cuda.set_per_process_memory_fraction, 0 <= fraction <= 1. */
void alloc_set_memory_fraction(struct alloc *al, double fraction);
const struct alloc_stats *alloc_get_stats(const struct alloc *al);
const struct alloc_oom *alloc_last_oom(const struct alloc *al);

enum { ALLOC_OOM_MESSAGE_BYTES = 1024 };

/* The words of the last out-of-memory, for device `device_ordinal`: PyTorch's own where the
 * allocator is PyTorch's. At most `size` bytes with the final NUL; ALLOC_OOM_MESSAGE_BYTES are
 * enough. */
void alloc_write_oom(const struct alloc *al, unsigned device_ordinal, char *out, size_t size);

/* PyTorch 2.15's own words ("CUDA out of memory. Tried to allocate ..."), for device
 * `device_ordinal`, without the lines that name other processes. Writes at most `size` bytes with
 * the final NUL; ALLOC_OOM_MESSAGE_BYTES are enough. */
void alloc_oom_message(const struct alloc_oom *oom, unsigned device_ordinal, char *out,
                       size_t size);

#endif
